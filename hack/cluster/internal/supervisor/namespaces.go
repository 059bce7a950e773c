package supervisor

import (
	"net"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// bridgeAddress is locally administered.
var bridgeAddress = net.HardwareAddr{0x02, 0, 0, 0, 0, 1}

// setUpNamespaces prepares the cluster's own namespaces: a private view of the
// mounts, and a network that consists of loopback and the pods' bridge.
func setUpNamespaces() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return err
	}
	// A bridge without an address of its own takes the lowest one of its ports: with every pod that
	// comes or goes all others would lose sight of the node until they ask for it again.
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: layout.PodBridge, HardwareAddr: bridgeAddress}}
	if err := netlink.LinkAdd(bridge); err != nil {
		return err
	}
	address, err := netlink.ParseAddr(layout.NodeIP + "/24")
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(bridge, address); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		return err
	}
	for _, cidr := range []string{layout.ServiceCIDR, layout.GatewayCIDR} {
		if err := makeLocal(lo, cidr); err != nil {
			return err
		}
	}
	// A node prepared for gateways on its own network that do not run as root.
	return os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0o644)
}

// makeLocal lets every address of the range be bound, as in 127.0.0.0/8.
func makeLocal(lo netlink.Link, cidr string) error {
	destination, err := netlink.ParseIPNet(cidr)
	if err != nil {
		return err
	}
	return netlink.RouteAdd(&netlink.Route{
		LinkIndex: lo.Attrs().Index, Dst: destination, Type: unix.RTN_LOCAL,
		Scope: netlink.SCOPE_HOST, Table: unix.RT_TABLE_LOCAL,
	})
}
