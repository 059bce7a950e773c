package services

import (
	"errors"
	"net"
	"strings"

	"github.com/miekg/dns"
	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

const dnsTTL = 5 // seconds: tests move endpoints around

// ServeDNS answers queries for the cluster's domain at the cluster's DNS
// address. Nothing outside exists, so other names do not either.
func (p *Proxy) ServeDNS() error {
	address := net.JoinHostPort(layout.ClusterDNS, "53")
	failed := make(chan error, 2)
	for _, network := range []string{"udp", "tcp"} {
		server := &dns.Server{Addr: address, Net: network, Handler: dns.HandlerFunc(p.answer)}
		go func() { failed <- server.ListenAndServe() }()
	}
	return errors.Join(<-failed, <-failed)
}

func (p *Proxy) answer(w dns.ResponseWriter, query *dns.Msg) {
	reply := new(dns.Msg).SetReply(query)
	reply.Authoritative = true
	reply.Rcode = dns.RcodeNameError
	if len(query.Question) == 1 {
		q := query.Question[0]
		addresses, known := p.resolve(strings.ToLower(q.Name))
		if known {
			reply.Rcode = dns.RcodeSuccess
		}
		if q.Qtype == dns.TypeA || q.Qtype == dns.TypeANY {
			for _, a := range addresses {
				reply.Answer = append(reply.Answer, &dns.A{
					Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: dnsTTL},
					A:   net.ParseIP(a),
				})
			}
		}
	}
	w.WriteMsg(reply)
}

// resolve returns the addresses of NAME.NAMESPACE.svc.DOMAIN., or of one pod
// HOSTNAME.NAME.NAMESPACE.svc.DOMAIN. behind a headless Service.
func (p *Proxy) resolve(name string) (addresses []string, known bool) {
	rest, found := strings.CutSuffix(name, ".svc."+layout.ClusterDomain+".")
	if !found {
		return nil, false
	}
	parts := strings.Split(rest, ".")
	host := ""
	if len(parts) == 3 {
		host, parts = parts[0], parts[1:]
	}
	if len(parts) != 2 {
		return nil, false
	}
	service, err := p.services.Services(parts[1]).Get(parts[0])
	if err != nil {
		return nil, false
	}
	headless := service.Spec.ClusterIP == v1.ClusterIPNone
	if !headless {
		return []string{service.Spec.ClusterIP}, host == ""
	}
	endpointSlices, err := p.slices.EndpointSlices(service.Namespace).List(
		labels.SelectorFromSet(labels.Set{discovery.LabelServiceName: service.Name}))
	if err != nil {
		return nil, false
	}
	return hostsOf(endpointSlices, host)
}

func hostsOf(endpointSlices []*discovery.EndpointSlice, host string) (addresses []string, known bool) {
	for _, slice := range endpointSlices {
		if slice.AddressType != discovery.AddressTypeIPv4 {
			continue
		}
		for _, e := range slice.Endpoints {
			named := e.Hostname != nil && *e.Hostname == host
			if (host == "" || named) && (e.Conditions.Ready == nil || *e.Conditions.Ready) {
				addresses = append(addresses, e.Addresses...)
			}
		}
	}
	return addresses, host == "" || len(addresses) > 0
}
