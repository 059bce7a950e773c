package agent

import (
	"fmt"
	"os"
	"path/filepath"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

func (p *pod) resolverFile() string { return filepath.Join(p.dir, "resolv.conf") }

// writeResolver makes the cluster's DNS the pod's resolver.
func (p *pod) writeResolver() error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil { // a pod without volumes has no folder yet
		return err
	}
	return os.WriteFile(p.resolverFile(), []byte(ResolverConfig(p.api.Namespace)), 0o644)
}

// ResolverConfig is the /etc/resolv.conf of a namespace's pods.
func ResolverConfig(namespace string) string {
	domain := layout.ClusterDomain
	return fmt.Sprintf("nameserver %s\nsearch %s.svc.%s svc.%s %s\noptions ndots:5\n",
		layout.ClusterDNS, namespace, domain, domain, domain)
}
