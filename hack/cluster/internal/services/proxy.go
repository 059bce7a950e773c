// Package services makes Services work inside the cluster's network: it answers
// ClusterIPs and load balancer addresses by forwarding in this process (no
// packet filter is needed), gives addresses to LoadBalancer Services, and is the cluster's DNS.
package services

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// settle is how long changes are collected before the table is computed again.
const settle = 10 * time.Millisecond

// Proxy forwards what is sent to Services. Make one with New.
type Proxy struct {
	client   kubernetes.Interface
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	synced   []cache.InformerSynced
	changed  chan struct{}
	api      *relay
	faults   Faults

	mu   sync.Mutex // guards open
	open map[frontend]*forward
}

// forward is one open frontend.
type forward struct {
	backends atomic.Pointer[[]string]
	next     atomic.Uint32
	closing  func()
}

// New watches Services and slices through the factory, which the caller starts.
// The API server's own address is answered from the start.
func New(client kubernetes.Interface, factory informers.SharedInformerFactory) (*Proxy, error) {
	p := &Proxy{client: client, changed: make(chan struct{}, 1), open: map[frontend]*forward{}}
	server := net.JoinHostPort(layout.NodeIP, strconv.Itoa(layout.APIServerPort))
	var err error
	p.api, err = newRelay(net.JoinHostPort(layout.APIServiceIP, strconv.Itoa(layout.APIServicePort)), &p.faults,
		func() (string, bool) { return server, true })
	if err != nil {
		return nil, fmt.Errorf("relay to the API server: %w", err)
	}
	core, endpoints := factory.Core().V1().Services(), factory.Discovery().V1().EndpointSlices()
	p.services, p.slices = core.Lister(), endpoints.Lister()
	for _, informer := range []cache.SharedIndexInformer{core.Informer(), endpoints.Informer()} {
		p.synced = append(p.synced, informer.HasSynced)
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { p.touch() },
			UpdateFunc: func(any, any) { p.touch() },
			DeleteFunc: func(any) { p.touch() },
		}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Faults acts on the way from pods to the API server.
func (p *Proxy) Faults() *Faults { return &p.faults }

// DropAPIConnections resets every connection of a pod to the API server.
func (p *Proxy) DropAPIConnections() int { return p.api.drop() }

// Run keeps the forwards up to date until ctx ends.
func (p *Proxy) Run(ctx context.Context) {
	if !cache.WaitForCacheSync(ctx.Done(), p.synced...) {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.changed:
			time.Sleep(settle)
			p.sync(ctx)
		}
	}
}

func (p *Proxy) touch() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *Proxy) sync(ctx context.Context) {
	all, err := p.services.List(labels.Everything())
	if err != nil {
		fmt.Println("services:", err)
		return
	}
	endpointSlices, err := p.slices.List(labels.Everything())
	if err != nil {
		fmt.Println("endpoint slices:", err)
		return
	}
	assignLoadBalancers(ctx, p.client, all)
	p.update(buildTable(all, byService(endpointSlices)))
}

func byService(endpointSlices []*discovery.EndpointSlice) map[string][]*discovery.EndpointSlice {
	result := map[string][]*discovery.EndpointSlice{}
	for _, s := range endpointSlices {
		key := s.Namespace + "/" + s.Labels[discovery.LabelServiceName]
		result[key] = append(result[key], s)
	}
	return result
}

// update opens, changes and closes forwards as the table says.
func (p *Proxy) update(wanted table) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(wanted, frontend{v1.ProtocolTCP, net.JoinHostPort(layout.APIServiceIP, strconv.Itoa(layout.APIServicePort))})
	for _, f := range slices.Collect(maps.Keys(p.open)) {
		if wanted[f] == nil {
			p.open[f].closing()
			delete(p.open, f)
		}
	}
	for f, backends := range wanted {
		if known := p.open[f]; known != nil {
			known.backends.Store(&backends)
			continue
		}
		opened, err := openForward(f, backends)
		if err != nil {
			fmt.Printf("service address %s: %v\n", f.address, err)
			continue
		}
		p.open[f] = opened
	}
}

func openForward(f frontend, backends []string) (*forward, error) {
	opened := &forward{}
	opened.backends.Store(&backends)
	switch f.protocol {
	case v1.ProtocolTCP:
		r, err := newRelay(f.address, nil, opened.pick)
		if err != nil {
			return nil, err
		}
		opened.closing = r.close
	case v1.ProtocolUDP:
		d, err := newDatagrams(f.address, opened.pick)
		if err != nil {
			return nil, err
		}
		opened.closing = d.close
	default:
		return nil, fmt.Errorf("protocol %s is not supported", f.protocol)
	}
	return opened, nil
}

// pick takes the backends in turn.
func (f *forward) pick() (string, bool) {
	backends := *f.backends.Load()
	if len(backends) == 0 {
		return "", false
	}
	return backends[int(f.next.Add(1))%len(backends)], true
}
