package agent

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

const (
	firstBackoff   = 500 * time.Millisecond
	longestBackoff = 10 * time.Second
)

// container is one container of a pod, over all its restarts.
type container struct {
	pod  *pod
	spec *v1.Container
	log  string

	mu             sync.Mutex // guards everything below
	process        *exec.Cmd
	root           string // of its file system, as seen in its mount namespace
	state, last    v1.ContainerState
	ready, started bool
	finished       bool // it will not run again
	restarts       int32
}

func newContainer(p *pod, spec *v1.Container) *container {
	c := &container{pod: p, spec: spec, log: filepath.Join(p.dir, spec.Name+".log")}
	c.state.Waiting = &v1.ContainerStateWaiting{Reason: reasonStart}
	return c
}

// run starts the container again and again, as policy says, until the pod
// stops. It returns the last exit code.
func (c *container) run(ctx context.Context, policy v1.RestartPolicy) int32 {
	defer func() { c.update(func() { c.finished = true }) }()
	for backoff := time.Duration(0); ; backoff = min(max(2*backoff, firstBackoff), longestBackoff) {
		select {
		case <-c.pod.stopping:
			return 1
		case <-time.After(backoff):
		}
		began := time.Now()
		code, ok := c.once(ctx)
		if !ok { // it never started; the reason is in its state
			continue
		}
		if policy == v1.RestartPolicyNever || policy == v1.RestartPolicyOnFailure && code == 0 {
			return code
		}
		if isClosed(c.pod.stopping) {
			return code
		}
		if time.Since(began) > longestBackoff {
			backoff = 0
		}
		c.update(func() {
			c.last, c.restarts = c.state, c.restarts+1
			if backoff > 0 {
				c.state = v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reasonCrash}}
			}
		})
	}
}

// once runs the container's process from start to end. It is not ok when
// there was nothing to run; the reason is in the container's state then.
func (c *container) once(ctx context.Context) (code int32, ok bool) {
	image, known := c.pod.node.Images[imageName(c.spec.Image)]
	if !known && len(c.spec.Command) == 0 {
		c.wait(reasonImage, "no local command stands for this image")
		return 0, false
	}
	log, err := openLog(c.log)
	if err != nil {
		c.wait(reasonConfig, err.Error())
		return 0, false
	}
	defer log.Close()
	spec, err := c.command(ctx, image, log)
	if err != nil {
		c.wait(reasonConfig, err.Error())
		return 0, false
	}
	process, err := c.pod.sandbox.start(spec)
	if err != nil {
		c.wait(reasonCreate, err.Error())
		return 0, false
	}
	return c.follow(ctx, process, spec.root()), true
}

// command describes the process that the specification asks for.
func (c *container) command(ctx context.Context, image layout.Image, log *logFile) (command, error) {
	who, err := c.identity(image)
	if err != nil {
		return command{}, err
	}
	env, argv, err := c.pod.environment(ctx, c.spec, image)
	if err != nil {
		return command{}, err
	}
	scratch := filepath.Join(c.pod.dir, "scratch", fmt.Sprintf("%s-%d", c.spec.Name, c.restarts))
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return command{}, err
	}
	spec := command{
		argv: argv, env: env, dir: filepath.Join("/", c.spec.WorkingDir), hostname: c.pod.api.Name,
		scratch: scratch, output: log, identity: who, readOnlyRoot: c.readOnlyRoot(),
	}
	for target, source := range image.Mounts {
		spec.mounts = append(spec.mounts, mount{source: source, target: target, readOnly: true})
	}
	spec.mounts = append(spec.mounts, mount{source: c.pod.resolverFile(), target: "/etc/resolv.conf", readOnly: true})
	for _, m := range c.spec.VolumeMounts {
		spec.mounts = append(spec.mounts, mount{
			source: filepath.Join(c.pod.volumes.path(m.Name), m.SubPath), target: m.MountPath,
			readOnly: m.ReadOnly || c.pod.volumes.fromAPI(m.Name),
		})
	}
	return spec, nil
}

// follow keeps the container's state until its process has ended.
func (c *container) follow(ctx context.Context, process *exec.Cmd, root string) int32 {
	began := metav1.Now()
	c.update(func() {
		c.process, c.root = process, root
		c.state = v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: began}}
		c.started, c.ready = c.spec.StartupProbe == nil, c.spec.StartupProbe == nil && c.spec.ReadinessProbe == nil
	})
	c.pod.say(v1.EventTypeNormal, "Started", "Started container "+c.spec.Name)
	alive, end := context.WithCancel(ctx)
	go c.probe(alive)
	go func() {
		select {
		case <-c.pod.stopping:
			c.end(alive)
		case <-alive.Done():
		}
	}()
	process.Wait()
	end()
	code := exitCode(process)
	reason := "Completed"
	if code != 0 {
		reason = "Error"
		c.pod.say(v1.EventTypeWarning, "Failed", fmt.Sprintf("Container %s ended with exit code %d", c.spec.Name, code))
	}
	c.update(func() {
		c.process, c.ready, c.started = nil, false, false
		c.state = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, StartedAt: began, FinishedAt: metav1.Now(),
		}}
	})
	return code
}

func exitCode(process *exec.Cmd) int32 {
	if status, ok := process.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int32(status.Signal())
	}
	return int32(process.ProcessState.ExitCode())
}

// end runs the preStop hook, asks the process to stop and insists after the grace period.
func (c *container) end(alive context.Context) {
	if alive.Err() != nil {
		return
	}
	limited, cancel := context.WithTimeout(alive, c.pod.grace())
	defer cancel()
	if c.spec.Lifecycle != nil && c.spec.Lifecycle.PreStop != nil {
		if err := c.hook(limited, c.spec.Lifecycle.PreStop); err != nil {
			fmt.Printf("preStop of %s/%s: %v\n", c.pod.api.Name, c.spec.Name, err)
		}
	}
	c.signal(syscall.SIGTERM)
	<-limited.Done()
	if alive.Err() == nil {
		c.signal(syscall.SIGKILL)
	}
}

func (c *container) update(change func()) {
	c.mu.Lock()
	change()
	c.mu.Unlock()
	c.pod.change()
}

// wait records why the container does not run yet.
func (c *container) wait(reason, message string) {
	c.mu.Lock()
	same := c.state.Waiting != nil && c.state.Waiting.Message == message
	c.mu.Unlock()
	if !same {
		c.pod.say(v1.EventTypeWarning, reason, message)
		c.update(func() {
			c.state = v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}
		})
	}
}

func (c *container) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil {
		c.process.Process.Signal(s)
	}
}

func (c *container) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.finished
}

func (c *container) status() v1.ContainerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	started := c.started
	return v1.ContainerStatus{
		Name: c.spec.Name, Image: c.spec.Image, ImageID: c.spec.Image,
		ContainerID: "process://" + string(c.pod.api.UID) + "/" + c.spec.Name,
		State:       c.state, LastTerminationState: c.last, RestartCount: c.restarts,
		Ready: c.ready, Started: &started,
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
