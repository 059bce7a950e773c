package agent

import (
	"context"
	"encoding/json"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// report keeps the pod's status in the API up to date. A pod whose containers
// have all ended gets a last report.
func (p *pod) report(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-p.changed:
		case <-p.done:
			ended = true
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": p.api.UID},
			"status":   p.status(),
		})
		if err != nil {
			panic(err) // a status is always JSON
		}
		_, err = p.node.Client.CoreV1().Pods(p.api.Namespace).Patch(ctx, p.api.Name,
			types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil && !ended && !apierrors.IsNotFound(err) {
			time.AfterFunc(retryDelay, p.change)
		}
	}
}

func (p *pod) status() v1.PodStatus {
	s := v1.PodStatus{
		Phase: v1.PodPending, StartTime: &p.began,
		HostIP: p.node.hostIP(), HostIPs: []v1.HostIP{{IP: p.node.hostIP()}},
	}
	if p.sandbox != nil {
		s.PodIP, s.PodIPs = p.sandbox.ip, []v1.PodIP{{IP: p.sandbox.ip}}
	}
	initialized, ready := true, true
	for _, c := range p.inits {
		status := c.status()
		s.InitContainerStatuses = append(s.InitContainerStatuses, status)
		initialized = initialized && (status.Ready || status.State.Terminated != nil && status.State.Terminated.ExitCode == 0)
	}
	for _, c := range p.containers {
		status := c.status()
		s.ContainerStatuses = append(s.ContainerStatuses, status)
		ready = ready && status.Ready
	}
	s.Phase = p.phase(s.ContainerStatuses)
	s.Conditions = []v1.PodCondition{
		p.condition(v1.PodInitialized, initialized),
		p.condition(v1.ContainersReady, ready),
		p.condition(v1.PodReady, ready),
	}
	return s
}

func (p *pod) phase(statuses []v1.ContainerStatus) v1.PodPhase {
	phase, ended, failed := v1.PodPending, 0, false
	for i, status := range statuses {
		if status.State.Waiting == nil || status.RestartCount > 0 {
			phase = v1.PodRunning
		}
		if p.containers[i].over() {
			ended++
			failed = failed || status.State.Terminated == nil || status.State.Terminated.ExitCode != 0
		}
	}
	switch {
	case ended < len(statuses):
		return phase
	case failed:
		return v1.PodFailed
	}
	return v1.PodSucceeded
}

func (p *pod) condition(kind v1.PodConditionType, holds bool) v1.PodCondition {
	status := v1.ConditionFalse
	if holds {
		status = v1.ConditionTrue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c, known := p.since[kind]
	if !known || c.Status != status {
		c = v1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now()}
		p.since[kind] = c
	}
	return c
}
