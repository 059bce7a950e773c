package agent

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

const component = "testcluster-agent"

// say records an Event of the pod, so that `kubectl describe` tells what
// happened. An Event that cannot be written is lost: nothing depends on it.
func (p *pod) say(kind, reason, message string) {
	now := metav1.Now()
	event := &v1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: p.api.Name + ".", Namespace: p.api.Namespace},
		InvolvedObject: v1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: p.api.Namespace, Name: p.api.Name, UID: p.api.UID,
		},
		Type: kind, Reason: reason, Message: message, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: v1.EventSource{Component: component, Host: layout.NodeName}, ReportingController: component,
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if _, err := p.node.Client.CoreV1().Events(p.api.Namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
			fmt.Printf("event of pod %s: %v\n", p.api.Name, err)
		}
	}()
}
