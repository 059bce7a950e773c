package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	reasonStart  = "ContainerCreating"
	reasonImage  = "ErrImagePull"
	reasonConfig = "CreateContainerConfigError"
	reasonCreate = "CreateContainerError"
	reasonCrash  = "CrashLoopBackOff"
)

// pod runs one pod from its volumes to its end.
type pod struct {
	node    *Node
	api     *v1.Pod // as first seen; only its identity and spec are used
	dir     string
	began   metav1.Time
	sandbox *sandbox
	volumes *volumes

	inits, containers []*container

	stopOnce sync.Once
	stopping chan struct{} // closed when the pod has to end
	done     chan struct{} // closed when it has ended
	changed  chan struct{} // asks for a status report

	mu    sync.Mutex // guards since
	since map[v1.PodConditionType]v1.PodCondition
}

func newPod(n *Node, api *v1.Pod) *pod {
	p := &pod{
		node: n, api: api, began: metav1.Now(),
		dir:      filepath.Join(n.Dir, api.Namespace+"_"+api.Name+"_"+string(api.UID)),
		stopping: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}, 1),
		since: map[v1.PodConditionType]v1.PodCondition{},
	}
	p.volumes = newVolumes(p)
	for i := range api.Spec.InitContainers {
		p.inits = append(p.inits, newContainer(p, &api.Spec.InitContainers[i]))
	}
	for i := range api.Spec.Containers {
		p.containers = append(p.containers, newContainer(p, &api.Spec.Containers[i]))
	}
	return p
}

func (p *pod) run(ctx context.Context) {
	defer close(p.done)
	defer p.cleanUp()
	go p.report(ctx)
	p.change()
	ready := p.retry(func() error { return p.volumes.write(ctx) }) &&
		p.retry(func() (err error) { p.sandbox, err = p.newSandbox(); return err }) &&
		p.retry(p.writeResolver)
	if !ready {
		return
	}
	p.change()
	ctx, end := context.WithCancel(ctx)
	defer end()
	go p.volumes.renewTokens(ctx)
	var running sync.WaitGroup
	defer p.change()
	defer running.Wait()
	for _, c := range p.inits {
		if sidecar := c.spec.RestartPolicy != nil && *c.spec.RestartPolicy == v1.ContainerRestartPolicyAlways; sidecar {
			running.Go(func() { c.run(ctx, v1.RestartPolicyAlways) })
			continue
		}
		policy := p.api.Spec.RestartPolicy
		if policy == v1.RestartPolicyAlways {
			policy = v1.RestartPolicyOnFailure
		}
		if code := c.run(ctx, policy); code != 0 {
			return
		}
	}
	for _, c := range p.containers {
		running.Go(func() { c.run(ctx, p.api.Spec.RestartPolicy) })
	}
}

func (p *pod) newSandbox() (*sandbox, error) {
	if p.api.Spec.HostNetwork {
		return &sandbox{ip: p.node.hostIP()}, nil
	}
	var sysctls []v1.Sysctl
	if s := p.api.Spec.SecurityContext; s != nil {
		sysctls = s.Sysctls
	}
	return p.node.network.create(sysctls)
}

func (n *Node) hostIP() string { return n.network.gateway.String() }

// retry repeats step until it works; it reports false when the pod has to end first.
func (p *pod) retry(step func() error) bool {
	for {
		err := step()
		if err == nil {
			return true
		}
		for _, c := range p.containers {
			c.wait(reasonStart, err.Error())
		}
		select {
		case <-p.stopping:
			return false
		case <-time.After(retryDelay):
		}
	}
}

// stop ends the pod: politely first, by force when grace is over. It returns
// when nothing of the pod runs any more.
func (p *pod) stop(grace time.Duration) {
	p.stopOnce.Do(func() { close(p.stopping) })
	for wait := grace; ; wait = retryDelay {
		select {
		case <-p.done:
			return
		case <-time.After(wait):
		}
		for _, c := range p.all() {
			c.signal(syscall.SIGKILL)
		}
	}
}

func (p *pod) all() []*container { return slices.Concat(p.inits, p.containers) }

func (p *pod) grace() time.Duration {
	if s := p.api.Spec.TerminationGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return 30 * time.Second
}

func (p *pod) cleanUp() {
	if p.sandbox != nil {
		p.node.network.remove(p.sandbox)
	}
	os.RemoveAll(filepath.Join(p.dir, "volumes"))
	os.RemoveAll(filepath.Join(p.dir, "scratch"))
}

func (p *pod) change() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}
