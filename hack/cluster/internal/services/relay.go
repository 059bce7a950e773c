package services

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const dialTimeout = 5 * time.Second

// Faults make a relay behave badly on purpose. The zero value is a good relay.
type Faults struct {
	mu      sync.Mutex
	changed chan struct{}
	delay   time.Duration
	refuse  bool
	silent  bool
}

// SetDelay holds back every piece of data by d, in both directions.
func (f *Faults) SetDelay(d time.Duration) { f.set(func() { f.delay = d }) }

// SetCut refuses new connections; when silent, data just stops flowing instead,
// as when a cable is pulled.
func (f *Faults) SetCut(silent bool) { f.set(func() { f.refuse, f.silent = !silent, silent }) }

// Clear ends all faults.
func (f *Faults) Clear() { f.set(func() { f.delay, f.refuse, f.silent = 0, false, false }) }

func (f *Faults) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// hold returns when a piece of data may pass on.
func (f *Faults) hold() {
	for {
		f.mu.Lock()
		delay, silent := f.delay, f.silent
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		changed := f.changed
		f.mu.Unlock()
		if !silent {
			time.Sleep(delay)
			return
		}
		<-changed
	}
}

func (f *Faults) refuses() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refuse
}

// relay accepts TCP connections and passes their bytes to a backend.
type relay struct {
	listener net.Listener
	pick     func() (string, bool)
	faults   *Faults // nil for a relay that never misbehaves

	mu    sync.Mutex
	pairs map[net.Conn]net.Conn
}

func newRelay(address string, faults *Faults, pick func() (string, bool)) (*relay, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	r := &relay{listener: listener, pick: pick, faults: faults, pairs: map[net.Conn]net.Conn{}}
	go r.accept()
	return r, nil
}

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		go r.serve(client)
	}
}

func (r *relay) serve(client net.Conn) {
	backend, ok := r.dial()
	if !ok {
		reset(client)
		return
	}
	r.mu.Lock()
	r.pairs[client] = backend
	r.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { r.copy(backend, client) })
	both.Go(func() { r.copy(client, backend) })
	both.Wait()
	r.mu.Lock()
	delete(r.pairs, client)
	r.mu.Unlock()
	client.Close()
	backend.Close()
}

// dial connects to a backend; like kube-proxy it does not hide that one is gone,
// but a backend that vanished this very moment deserves a second choice.
func (r *relay) dial() (net.Conn, bool) {
	for range 3 {
		if r.faults != nil && r.faults.refuses() {
			return nil, false
		}
		address, ok := r.pick()
		if !ok {
			return nil, false
		}
		if backend, err := net.DialTimeout("tcp", address, dialTimeout); err == nil {
			return backend, true
		}
	}
	return nil, false
}

func (r *relay) copy(to, from net.Conn) {
	var err error
	if r.faults == nil {
		_, err = io.Copy(to, from)
	} else {
		err = r.copySlowly(to, from)
	}
	if err != nil {
		reset(to)
		reset(from)
		return
	}
	if half, ok := to.(*net.TCPConn); ok {
		half.CloseWrite()
	}
}

func (r *relay) copySlowly(to, from net.Conn) error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		r.faults.hold()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// drop resets all connections and reports how many there were.
func (r *relay) drop() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for client, backend := range r.pairs {
		reset(client)
		reset(backend)
	}
	return len(r.pairs)
}

// close stops accepting; connections live on until they end, as with kube-proxy.
func (r *relay) close() { r.listener.Close() }

func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}
