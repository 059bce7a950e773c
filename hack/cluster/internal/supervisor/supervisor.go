// Package supervisor is the first process of the cluster: it prepares the
// namespaces, keeps etcd and the API server running, is the node agent and the
// service proxy, and carries out fault commands.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/agent"
	"trickstercache.org/trickster-gateway/hack/cluster/internal/controlplane"
	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
	"trickstercache.org/trickster-gateway/hack/cluster/internal/objects"
	"trickstercache.org/trickster-gateway/hack/cluster/internal/services"
)

const (
	// Etcd and ControlPlane are the subcommands that the supervisor keeps running.
	Etcd         = "etcd"
	ControlPlane = "control-plane"

	ownerPipe = 3 // file descriptor of owned clusters

	dialAgain = 200 * time.Millisecond
)

type cluster struct {
	settings  layout.Settings
	client    kubernetes.Interface
	etcd, api *process
	proxy     *services.Proxy
	node      *agent.Node
}

// Run starts the cluster and ends only when it cannot go on.
func Run(ctx context.Context, settings layout.Settings) error {
	if settings.Owned {
		go endWithOwner()
	}
	if err := setUpNamespaces(); err != nil {
		return fmt.Errorf("namespaces: %w", err)
	}
	c := &cluster{
		settings: settings,
		etcd:     newProcess(settings.State, Etcd),
		api:      newProcess(settings.State, ControlPlane),
	}
	go c.etcd.keep()
	go c.api.keep()
	config, err := clientcmd.BuildConfigFromFlags("", settings.State.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS = -1
	config.Dial = dialWhenUp
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	return c.run(ctx, config)
}

func (c *cluster) run(ctx context.Context, config *rest.Config) error {
	factory := informers.NewSharedInformerFactory(c.client, 0)
	var err error
	if c.proxy, err = services.New(c.client, factory); err != nil {
		return err
	}
	if err := controlplane.WaitReady(ctx); err != nil {
		return err
	}
	failed := make(chan error, 3)
	go func() { failed <- fmt.Errorf("control socket: %w", c.serveControl(ctx)) }()
	go func() { failed <- fmt.Errorf("DNS: %w", c.proxy.ServeDNS()) }()
	c.node = &agent.Node{Client: c.client, Images: c.settings.Images, Dir: c.settings.State.Pods()}
	go func() { failed <- c.node.Run(ctx, factory, func() { factory.Start(ctx.Done()) }) }()
	go c.proxy.Run(ctx)

	if err := objects.Apply(ctx, config, c.settings.Apply); err != nil {
		return err
	}
	if err := os.WriteFile(c.settings.State.Path("ready"), nil, 0o644); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// dialWhenUp waits while nothing listens. Who failed instead would try more and
// more seldom, and see the pods of a cluster that is back a minute later.
func dialWhenUp(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, network, address)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(dialAgain):
		}
	}
}

// endWithOwner ends the cluster when the process that started it is gone,
// however that came about: the kernel closes the other end of the pipe.
func endWithOwner() {
	buffer := make([]byte, 1)
	os.NewFile(ownerPipe, "owner").Read(buffer)
	os.Exit(0)
}
