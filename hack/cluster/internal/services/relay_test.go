package services

import (
	"bufio"
	"net"
	"testing"
	"time"
)

// echo answers each line with itself.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				for lines := bufio.NewScanner(c); lines.Scan(); {
					c.Write(append(lines.Bytes(), '\n'))
				}
				c.Close()
			}()
		}
	}()
	return listener.Addr().String()
}

func startRelay(t *testing.T, faults *Faults) *relay {
	t.Helper()
	backend := echo(t)
	r, err := newRelay("127.0.0.1:0", faults, func() (string, bool) { return backend, true })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

func dial(t *testing.T, r *relay) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func ask(c net.Conn, patience time.Duration) error {
	c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write([]byte("hello\n")); err != nil {
		return err
	}
	_, err := bufio.NewReader(c).ReadString('\n')
	return err
}

func TestRelayFaults(t *testing.T) {
	faults := &Faults{}
	r := startRelay(t, faults)
	c := dial(t, r)
	if err := ask(c, 5*time.Second); err != nil {
		t.Fatal("a good relay:", err)
	}
	faults.SetDelay(50 * time.Millisecond)
	begin := time.Now()
	if err := ask(c, 5*time.Second); err != nil || time.Since(begin) < 100*time.Millisecond {
		t.Errorf("delay: %v after %v", err, time.Since(begin))
	}
	faults.SetCut(true)
	if err := ask(c, 100*time.Millisecond); err == nil {
		t.Error("silence was broken")
	}
	faults.SetCut(false)
	if err := ask(dial(t, r), 5*time.Second); err == nil {
		t.Error("a connection was accepted although they are refused")
	}
	faults.Clear()
	fresh := dial(t, r)
	if err := ask(fresh, 5*time.Second); err != nil {
		t.Error("after the faults:", err)
	}
	if r.drop() == 0 {
		t.Error("no connection was there to drop")
	}
	if err := ask(fresh, 5*time.Second); err == nil {
		t.Error("a dropped connection answered")
	}
}
