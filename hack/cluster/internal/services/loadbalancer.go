package services

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// assignLoadBalancers gives an address to each LoadBalancer Service that has
// none. A Service with a load balancer class belongs to somebody else, as in
// the API; tests use that to withhold the address.
func assignLoadBalancers(ctx context.Context, client kubernetes.Interface, all []*v1.Service) {
	used := map[string]bool{}
	for _, s := range all {
		for _, ingress := range s.Status.LoadBalancer.Ingress {
			used[ingress.IP] = true
		}
	}
	for _, s := range all {
		wants := s.Spec.Type == v1.ServiceTypeLoadBalancer && s.Spec.LoadBalancerClass == nil
		if !wants || len(s.Status.LoadBalancer.Ingress) > 0 || s.DeletionTimestamp != nil {
			continue
		}
		address := freeAddress(used)
		if address == "" {
			fmt.Printf("no load balancer address is left for %s/%s\n", s.Namespace, s.Name)
			continue
		}
		if err := assign(ctx, client, s, address); err != nil {
			fmt.Printf("load balancer address of %s/%s: %v\n", s.Namespace, s.Name, err)
			continue
		}
		used[address] = true // the Service comes back through the watch
	}
}

func freeAddress(used map[string]bool) string {
	for i := 1; i < 255; i++ {
		if address := fmt.Sprint(layout.LoadBalancerPrefix, i); !used[address] {
			return address
		}
	}
	return ""
}

func assign(ctx context.Context, client kubernetes.Interface, s *v1.Service, address string) error {
	patch, err := json.Marshal(map[string]any{"status": v1.ServiceStatus{
		LoadBalancer: v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{{IP: address}}},
	}})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Services(s.Namespace).Patch(ctx, s.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
