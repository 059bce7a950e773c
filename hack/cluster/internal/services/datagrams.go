package services

import (
	"errors"
	"net"
	"sync"
	"time"
)

const sessionIdle = 30 * time.Second

// datagrams forwards UDP: each client address has a session with one backend.
type datagrams struct {
	conn net.PacketConn
	pick func() (string, bool)

	mu       sync.Mutex
	sessions map[string]net.Conn
}

func newDatagrams(address string, pick func() (string, bool)) (*datagrams, error) {
	conn, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, err
	}
	d := &datagrams{conn: conn, pick: pick, sessions: map[string]net.Conn{}}
	go d.receive()
	return d, nil
}

func (d *datagrams) receive() {
	buffer := make([]byte, 64<<10)
	for {
		n, client, err := d.conn.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil {
			continue
		}
		if backend := d.session(client); backend != nil {
			backend.SetDeadline(time.Now().Add(sessionIdle))
			backend.Write(buffer[:n]) // a lost datagram is none of our business
		}
	}
}

func (d *datagrams) session(client net.Addr) net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	if backend := d.sessions[client.String()]; backend != nil {
		return backend
	}
	address, ok := d.pick()
	if !ok {
		return nil
	}
	backend, err := net.Dial("udp", address)
	if err != nil {
		return nil
	}
	d.sessions[client.String()] = backend
	go d.answer(client, backend)
	return backend
}

func (d *datagrams) answer(client net.Addr, backend net.Conn) {
	defer func() {
		d.mu.Lock()
		delete(d.sessions, client.String())
		d.mu.Unlock()
		backend.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := backend.Read(buffer)
		if err != nil {
			return
		}
		if _, err := d.conn.WriteTo(buffer[:n], client); err != nil {
			return
		}
	}
}

func (d *datagrams) close() {
	d.conn.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, backend := range d.sessions {
		backend.Close()
	}
}
