package agent

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

// network hands out pod addresses and network namespaces attached to a bridge.
type network struct {
	bridge  netlink.Link
	subnet  *net.IPNet
	gateway net.IP

	mu     sync.Mutex
	used   map[byte]bool
	latest byte
}

// sandbox is the network of one pod. Without a namespace of its own (host
// network) ns is nil.
type sandbox struct {
	ip   string
	ns   *os.File
	link string
	last byte
}

func newNetwork(bridge, cidr, gateway string) (*network, error) {
	link, err := netlink.LinkByName(bridge)
	if err != nil {
		return nil, err
	}
	_, subnet, err := net.ParseCIDR(cidr)
	if err != nil {
		return nil, err
	}
	return &network{bridge: link, subnet: subnet, gateway: net.ParseIP(gateway), used: map[byte]bool{}, latest: 1}, nil
}

// create makes a namespace with an address that was not in use recently.
func (n *network) create(sysctls []v1.Sysctl) (*sandbox, error) {
	last, err := n.take()
	if err != nil {
		return nil, err
	}
	ip := append(net.IP(nil), n.subnet.IP.To4()...)
	ip[3] = last
	s := &sandbox{ip: ip.String(), link: fmt.Sprintf("pod%d", last), last: last}
	if s.ns, err = newNamespace(sysctls); err == nil {
		err = n.attach(s, ip)
	}
	if err != nil {
		n.remove(s)
		return nil, err
	}
	return s, nil
}

// take prefers addresses that have been free for long: connections to a pod
// that is gone must not reach its successor by accident.
func (n *network) take() (byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range 253 {
		if n.latest++; n.latest == 255 {
			n.latest = 2
		}
		if !n.used[n.latest] {
			n.used[n.latest] = true
			return n.latest, nil
		}
	}
	return 0, errors.New("no pod address left")
}

func (n *network) attach(s *sandbox, ip net.IP) error {
	veth := &netlink.Veth{
		LinkAttrs:     netlink.LinkAttrs{Name: s.link, MasterIndex: n.bridge.Attrs().Index},
		PeerName:      "eth0",
		PeerNamespace: netlink.NsFd(int(s.ns.Fd())),
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("veth: %w", err)
	}
	if err := netlink.LinkSetUp(veth); err != nil {
		return err
	}
	inside, err := netlink.NewHandleAt(netns.NsHandle(s.ns.Fd()))
	if err != nil {
		return err
	}
	defer inside.Close()
	for _, name := range []string{"lo", "eth0"} {
		link, err := inside.LinkByName(name)
		if err != nil {
			return err
		}
		if name == "eth0" {
			if err := inside.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: n.subnet.Mask}}); err != nil {
				return err
			}
		}
		if err := inside.LinkSetUp(link); err != nil {
			return err
		}
	}
	return inside.RouteAdd(&netlink.Route{Gw: n.gateway})
}

func (n *network) remove(s *sandbox) {
	if s.link == "" {
		return
	}
	if link, err := netlink.LinkByName(s.link); err == nil {
		netlink.LinkDel(link)
	}
	if s.ns != nil {
		s.ns.Close()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.used, s.last)
}

// newNamespace creates a network namespace and returns a file that keeps it alive.
func newNamespace(sysctls []v1.Sysctl) (*os.File, error) {
	type result struct {
		ns  *os.File
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends with this goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- result{err: err}
			return
		}
		for _, s := range sysctls {
			// Files below /proc/sys/net show the namespace of the thread that opens them.
			file := filepath.Join("/proc/sys", strings.ReplaceAll(s.Name, ".", "/"))
			if err := os.WriteFile(file, []byte(s.Value), 0o644); err != nil {
				done <- result{err: fmt.Errorf("sysctl %s: %w", s.Name, err)}
				return
			}
		}
		ns, err := os.Open("/proc/thread-self/ns/net")
		done <- result{ns, err}
	}()
	r := <-done
	return r.ns, r.err
}
