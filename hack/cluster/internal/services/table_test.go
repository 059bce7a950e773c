package services

import (
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func pointer[T any](value T) *T { return &value }

func slice(port int32, endpoints ...discovery.Endpoint) *discovery.EndpointSlice {
	return &discovery.EndpointSlice{
		Ports:     []discovery.EndpointPort{{Name: pointer("http"), Port: &port}},
		Endpoints: endpoints,
	}
}

func endpoint(address string, ready, terminating bool) discovery.Endpoint {
	return discovery.Endpoint{Addresses: []string{address}, Conditions: discovery.EndpointConditions{
		Ready: &ready, Serving: pointer(true), Terminating: &terminating,
	}}
}

func service(kind v1.ServiceType, clusterIP string) *v1.Service {
	return &v1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"},
		Spec:       v1.ServiceSpec{Type: kind, ClusterIP: clusterIP, Ports: []v1.ServicePort{{Name: "http", Port: 80}}},
	}
}

func TestBuildTable(t *testing.T) {
	published := service(v1.ServiceTypeLoadBalancer, "10.96.1.1")
	published.Status.LoadBalancer.Ingress = []v1.LoadBalancerIngress{{IP: "10.245.200.1"}}
	front := func(address string) frontend { return frontend{v1.ProtocolTCP, address} }
	for name, c := range map[string]struct {
		service *v1.Service
		slices  []*discovery.EndpointSlice
		want    table
	}{
		"ready endpoints of all slices, in order": {
			service(v1.ServiceTypeClusterIP, "10.96.1.1"),
			[]*discovery.EndpointSlice{slice(8080, endpoint("10.244.0.3", true, false)), slice(8080, endpoint("10.244.0.2", true, false))},
			table{front("10.96.1.1:80"): {"10.244.0.2:8080", "10.244.0.3:8080"}},
		},
		"leaving ones only when none is ready": {
			service(v1.ServiceTypeClusterIP, "10.96.1.1"),
			[]*discovery.EndpointSlice{slice(8080, endpoint("10.244.0.2", false, true), endpoint("10.244.0.3", false, false))},
			table{front("10.96.1.1:80"): {"10.244.0.2:8080"}},
		},
		"load balancer address too": {
			published,
			[]*discovery.EndpointSlice{slice(8080, endpoint("10.244.0.2", true, false))},
			table{front("10.96.1.1:80"): {"10.244.0.2:8080"}, front("10.245.200.1:80"): {"10.244.0.2:8080"}},
		},
		"nothing to listen for": {service(v1.ServiceTypeClusterIP, "10.96.1.1"), nil, table{}},
		"headless":              {service(v1.ServiceTypeClusterIP, "None"), []*discovery.EndpointSlice{slice(1, endpoint("10.244.0.2", true, false))}, table{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := buildTable([]*v1.Service{c.service}, map[string][]*discovery.EndpointSlice{"ns/s": c.slices})
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
