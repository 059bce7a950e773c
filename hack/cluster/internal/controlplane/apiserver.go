package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// auditPolicy records what service accounts ask for: tests compare it with their roles.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// Run serves the API and runs the controllers until ctx ends or one of them fails.
func Run(ctx context.Context, s layout.State) error {
	failed := make(chan error, 2)
	go func() { failed <- fmt.Errorf("kube-apiserver: %w", runAPIServer(ctx, s)) }()
	go func() { failed <- fmt.Errorf("controllers: %w", runControllers(ctx, s)) }()
	return <-failed
}

func apiServerFlags(s layout.State) []string {
	return []string{
		"--etcd-servers=" + layout.EtcdURL,
		// Never 0.0.0.0: that would take the port from every Gateway address.
		"--bind-address=" + layout.NodeIP,
		fmt.Sprintf("--secure-port=%d", layout.APIServerPort),
		"--advertise-address=" + layout.NodeIP,
		"--service-cluster-ip-range=" + layout.ServiceCIDR,
		"--tls-cert-file=" + s.Path("apiserver.crt"),
		"--tls-private-key-file=" + s.Path("apiserver.key"),
		"--client-ca-file=" + s.Path("ca.crt"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc." + layout.ClusterDomain,
		"--service-account-key-file=" + s.Path("sa.pub"),
		"--service-account-signing-key-file=" + s.Path("sa.key"),
		"--audit-policy-file=" + s.Path("audit-policy.yaml"),
		"--audit-log-path=" + s.Path("logs/audit.log"),
		"--kubelet-preferred-address-types=InternalIP",
		"--allow-privileged=true",
		"--enable-priority-and-fairness=false",
		"--profiling=false",
		"--event-ttl=1h",
	}
}

func runAPIServer(ctx context.Context, s layout.State) error {
	if err := os.WriteFile(s.Path("audit-policy.yaml"), []byte(auditPolicy), 0o644); err != nil {
		return err
	}
	o := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	named := o.Flags()
	for _, set := range named.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(apiServerFlags(s)); err != nil {
		return err
	}
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	completed, err := o.Complete(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(completed.Validate()...); err != nil {
		return err
	}
	return app.Run(ctx, completed)
}

// WaitReady returns when the API server says that it is ready.
func WaitReady(ctx context.Context) error {
	// The certificate is checked by every later client; here only life counts.
	probe := &http.Client{Timeout: time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	url := fmt.Sprintf("https://%s:%d/readyz", layout.NodeIP, layout.APIServerPort)
	for deadline := time.Now().Add(layout.StartTimeout); time.Now().Before(deadline) && ctx.Err() == nil; {
		if r, err := probe.Get(url); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("kube-apiserver did not become ready")
}
