package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probe keeps the container's readiness up to date and ends it when it is not alive.
func (c *container) probe(ctx context.Context) {
	if p := c.spec.StartupProbe; p != nil {
		if !c.startsUp(ctx, p) {
			c.end(ctx)
			return
		}
		c.update(func() { c.started, c.ready = true, c.spec.ReadinessProbe == nil })
	}
	if p := c.spec.LivenessProbe; p != nil {
		go c.watch(ctx, p, true, func(err error) {
			c.unhealthy("Liveness", err)
			c.end(ctx)
		})
	}
	if p := c.spec.ReadinessProbe; p != nil {
		c.watch(ctx, p, false, func(err error) {
			c.unhealthy("Readiness", err)
			c.update(func() { c.ready = err == nil && ctx.Err() == nil })
		})
	}
}

func (c *container) unhealthy(probe string, err error) {
	if err != nil && !isClosed(c.pod.stopping) {
		c.pod.say(v1.EventTypeWarning, "Unhealthy", probe+" probe failed: "+err.Error())
	}
}

// startsUp reports whether the probe passed before it failed too often.
func (c *container) startsUp(ctx context.Context, p *v1.Probe) bool {
	for failures := int32(1); ; failures++ {
		err := c.attempt(ctx, p)
		if err == nil || ctx.Err() != nil {
			return true
		}
		if failures >= p.FailureThreshold {
			c.unhealthy("Startup", err)
			return false
		}
		pause(ctx, p.PeriodSeconds)
	}
}

// watch calls report, with the last failure or nil, whenever enough results in a row contradict healthy. It
// asks more often than the probe says while the container is not healthy, so
// that tests need not wait.
func (c *container) watch(ctx context.Context, p *v1.Probe, healthy bool, report func(error)) {
	pause(ctx, p.InitialDelaySeconds)
	for row := int32(0); ctx.Err() == nil; {
		err := c.attempt(ctx, p)
		ok := err == nil
		enough := p.SuccessThreshold
		if !ok {
			enough = p.FailureThreshold
		}
		if ok == healthy {
			row = 0
		} else if row++; row >= enough {
			healthy, row = ok, 0
			report(err)
		}
		if healthy {
			pause(ctx, p.PeriodSeconds)
		} else {
			sleep(ctx, retryDelay)
		}
	}
}

func pause(ctx context.Context, seconds int32) {
	sleep(ctx, time.Duration(seconds)*time.Second)
}

func (c *container) attempt(ctx context.Context, p *v1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.TimeoutSeconds)*time.Second)
	defer cancel()
	switch {
	case p.HTTPGet != nil:
		return c.get(ctx, p.HTTPGet)
	case p.TCPSocket != nil:
		return c.dial(ctx, p.TCPSocket.Host, c.port(p.TCPSocket.Port))
	case p.GRPC != nil:
		return c.dial(ctx, "", p.GRPC.Port) // only connects
	case p.Exec != nil:
		return c.runInside(ctx, p.Exec.Command)
	}
	return nil
}

// hook runs what a lifecycle handler says.
func (c *container) hook(ctx context.Context, h *v1.LifecycleHandler) error {
	switch {
	case h.Sleep != nil:
		pause(ctx, int32(h.Sleep.Seconds))
	case h.HTTPGet != nil:
		return c.get(ctx, h.HTTPGet)
	case h.Exec != nil:
		return c.runInside(ctx, h.Exec.Command)
	}
	return nil
}

// runInside runs a command in the container; it fails with what the command printed.
func (c *container) runInside(ctx context.Context, argv []string) error {
	if len(argv) == 0 {
		return errors.New("no command")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Env = []string{"PATH=" + defaultPath}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &output, &output, time.Second
	if err := c.exec(cmd); err != nil {
		return fmt.Errorf("%w: %s", err, output.String())
	}
	return nil
}

func (c *container) dial(ctx context.Context, host string, port int32) error {
	if host == "" {
		host = c.pod.sandbox.ip
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
	if err == nil {
		conn.Close()
	}
	return err
}

func (c *container) get(ctx context.Context, g *v1.HTTPGetAction) error {
	host, scheme := g.Host, "http"
	if host == "" {
		host = c.pod.sandbox.ip
	}
	if g.Scheme == v1.URISchemeHTTPS {
		scheme = "https"
	}
	url := fmt.Sprintf("%s://%s%s", scheme, net.JoinHostPort(host, strconv.Itoa(int(c.port(g.Port)))), g.Path)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	for _, h := range g.HTTPHeaders {
		request.Header.Add(h.Name, h.Value)
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // as the real kubelet does
	}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode >= 400 {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

func (c *container) port(p intstr.IntOrString) int32 {
	for _, declared := range c.spec.Ports {
		if p.Type == intstr.String && declared.Name == p.StrVal {
			return declared.ContainerPort
		}
	}
	return p.IntVal
}
