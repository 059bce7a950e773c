package services

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
)

// frontend is one address at which a Service is reached.
type frontend struct {
	protocol v1.Protocol
	address  string // host:port
}

// table says which backends stand behind each frontend.
type table map[frontend][]string

// buildTable computes the whole table from all Services and their slices.
func buildTable(all []*v1.Service, slicesOf map[string][]*discovery.EndpointSlice) table {
	result := table{}
	for _, service := range all {
		if service.Spec.Type == v1.ServiceTypeExternalName {
			continue
		}
		for _, port := range service.Spec.Ports {
			backends := backendsOf(slicesOf[service.Namespace+"/"+service.Name], port)
			if len(backends) == 0 {
				continue // nobody listens: connections are refused
			}
			for _, ip := range addressesOf(service) {
				address := net.JoinHostPort(ip, strconv.Itoa(int(port.Port)))
				result[frontend{protocolOf(port.Protocol), address}] = backends
			}
		}
	}
	return result
}

func addressesOf(service *v1.Service) []string {
	var addresses []string
	if service.Spec.ClusterIP != "" && service.Spec.ClusterIP != v1.ClusterIPNone {
		addresses = append(addresses, service.Spec.ClusterIP)
	}
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		if ingress.IP != "" {
			addresses = append(addresses, ingress.IP)
		}
	}
	return addresses
}

// backendsOf returns the ready endpoints of a Service port, or, when there are
// none, those that still serve while they terminate (as kube-proxy does).
func backendsOf(endpointSlices []*discovery.EndpointSlice, port v1.ServicePort) []string {
	var ready, leaving []string
	for _, slice := range endpointSlices {
		for _, p := range slice.Ports {
			if p.Port == nil || (p.Name != nil && *p.Name != port.Name) || (p.Name == nil && port.Name != "") {
				continue
			}
			for _, e := range slice.Endpoints {
				if len(e.Addresses) == 0 {
					continue
				}
				address := net.JoinHostPort(e.Addresses[0], fmt.Sprint(*p.Port))
				if e.Conditions.Ready == nil || *e.Conditions.Ready {
					ready = append(ready, address)
				} else if isTrue(e.Conditions.Serving) && isTrue(e.Conditions.Terminating) {
					leaving = append(leaving, address)
				}
			}
		}
	}
	if len(ready) == 0 {
		ready = leaving
	}
	slices.Sort(ready)
	return slices.Compact(ready)
}

func isTrue(b *bool) bool { return b != nil && *b }

func protocolOf(p v1.Protocol) v1.Protocol {
	if p == "" {
		return v1.ProtocolTCP
	}
	return p
}
