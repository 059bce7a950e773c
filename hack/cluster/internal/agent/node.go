// Package agent is a stand-in for the Kubernetes node agent. It runs the
// containers of pods as local processes: each pod has its own network
// namespace on a bridge and its own view of the files that volumes provide.
// There is one node, and it takes every pod.
package agent

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

const heartbeat = 10 * time.Second

// imageName is the last path element of an image reference without its tag.
func imageName(reference string) string {
	reference, _, _ = strings.Cut(reference, "@")
	name, _, _ := strings.Cut(path.Base(reference), ":")
	return name
}

// Node is the node agent. Set the exported fields, then Run.
type Node struct {
	Client kubernetes.Interface
	Images map[string]layout.Image
	// Dir holds the volumes and logs of pods.
	Dir string

	network *network
	mu      sync.Mutex // guards pods
	pods    map[types.UID]*pod
}

// Run registers the node and serves pods until ctx ends. The factory is
// started by the caller, after ready has been called.
func (n *Node) Run(ctx context.Context, factory informers.SharedInformerFactory, ready func()) error {
	var err error
	if n.network, err = newNetwork(layout.PodBridge, layout.PodCIDR, layout.NodeIP); err != nil {
		return fmt.Errorf("pod network: %w", err)
	}
	n.pods = map[types.UID]*pod{}
	if err := n.register(ctx); err != nil {
		return fmt.Errorf("register node: %w", err)
	}
	if err := n.watch(ctx, factory); err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- n.serve() }()
	ready()
	for tick := time.Tick(heartbeat); ; {
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return nil
		case <-tick:
			if err := n.beat(ctx); err != nil {
				fmt.Println("heartbeat:", err)
			}
		}
	}
}

func (n *Node) watch(ctx context.Context, factory informers.SharedInformerFactory) error {
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { n.observe(ctx, o.(*v1.Pod)) },
		UpdateFunc: func(_, o any) { n.observe(ctx, o.(*v1.Pod)) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			if p := n.forget(o.(*v1.Pod).UID); p != nil {
				go p.stop(0)
			}
		},
	})
	if err != nil {
		return err
	}
	// What pods mount follows the objects that it comes from.
	for _, informer := range []cache.SharedIndexInformer{
		factory.Core().V1().Secrets().Informer(), factory.Core().V1().ConfigMaps().Informer(),
	} {
		changed := func(o any) {
			if object, ok := o.(metav1.Object); ok {
				n.refreshVolumes(ctx, object)
			}
		}
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: changed, UpdateFunc: func(_, o any) { changed(o) },
		}); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) register(ctx context.Context) error {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   layout.NodeName,
		Labels: map[string]string{v1.LabelHostname: layout.NodeName, v1.LabelOSStable: "linux"},
	}}
	if _, err := n.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	return n.beat(ctx)
}

func (n *Node) beat(ctx context.Context) error {
	node, err := n.Client.CoreV1().Nodes().Get(ctx, layout.NodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	now := metav1.Now()
	since := now
	for _, c := range node.Status.Conditions {
		if c.Type == v1.NodeReady {
			since = c.LastTransitionTime
		}
	}
	room := v1.ResourceList{
		v1.ResourcePods:   resource.MustParse("250"),
		v1.ResourceCPU:    resource.MustParse("64"),
		v1.ResourceMemory: resource.MustParse("64Gi"),
	}
	node.Status = v1.NodeStatus{
		Capacity: room, Allocatable: room,
		Addresses: []v1.NodeAddress{
			{Type: v1.NodeInternalIP, Address: layout.NodeIP},
			{Type: v1.NodeHostName, Address: layout.NodeName},
		},
		DaemonEndpoints: v1.NodeDaemonEndpoints{KubeletEndpoint: v1.DaemonEndpoint{Port: layout.AgentPort}},
		Conditions: []v1.NodeCondition{{
			Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: now, LastTransitionTime: since,
		}},
	}
	_, err = n.Client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

// observe binds new pods to this node and starts or stops those bound to it.
func (n *Node) observe(ctx context.Context, api *v1.Pod) {
	deleted := api.DeletionTimestamp != nil
	ended := api.Status.Phase == v1.PodSucceeded || api.Status.Phase == v1.PodFailed
	switch {
	case api.Spec.NodeName == "" && !deleted:
		go n.bind(ctx, api)
	case api.Spec.NodeName != layout.NodeName || ended && !deleted:
	case !deleted:
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.pods[api.UID] == nil {
			p := newPod(n, api)
			n.pods[api.UID] = p
			go p.run(ctx)
		}
	default:
		go n.end(ctx, api)
	}
}

// end stops a pod that was deleted and takes it out of the API.
func (n *Node) end(ctx context.Context, api *v1.Pod) {
	grace := time.Duration(0)
	if api.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*api.DeletionGracePeriodSeconds) * time.Second
	}
	n.mu.Lock()
	p := n.pods[api.UID]
	n.mu.Unlock()
	if p != nil {
		p.stop(grace)
	}
	now := int64(0)
	options := metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(api.UID))}
	n.untilItWorks(ctx, "delete pod "+api.Name, func() error {
		return n.Client.CoreV1().Pods(api.Namespace).Delete(ctx, api.Name, options)
	})
}

func (n *Node) bind(ctx context.Context, api *v1.Pod) {
	n.untilItWorks(ctx, "bind pod "+api.Name, func() error {
		return n.Client.CoreV1().Pods(api.Namespace).Bind(ctx, &v1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: api.Name, UID: api.UID},
			Target:     v1.ObjectReference{Kind: "Node", Name: layout.NodeName},
		}, metav1.CreateOptions{})
	})
}

func (n *Node) forget(uid types.UID) *pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.pods[uid]
	delete(n.pods, uid)
	return p
}

func (n *Node) podsOf(namespace string) []*pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	var result []*pod
	for _, p := range n.pods {
		if p.api.Namespace == namespace {
			result = append(result, p)
		}
	}
	return result
}
