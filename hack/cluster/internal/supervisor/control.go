package supervisor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/controlplane"
)

// fault carries out one command and says what it did.
type fault func(ctx context.Context, query url.Values) (string, error)

func (c *cluster) faults() map[string]fault {
	return map[string]fault{
		"apiserver-stop":    done(c.api.stop),
		"apiserver-start":   started(c.api.resume),
		"apiserver-restart": started(c.api.restart),
		"etcd-stop":         done(c.etcd.stop),
		"etcd-start":        started(c.etcd.resume),
		"etcd-restart":      started(c.etcd.restart),
		"delay":             c.delay,
		"cut":               c.cut,
		"clear":             done(c.proxy.Faults().Clear),
		"drop-watches":      c.dropWatches,
		"compact":           c.compact,
		"revoke-token":      c.revokeToken,
	}
}

// serveControl takes fault commands on a socket of the state folder.
func (c *cluster) serveControl(ctx context.Context) error {
	listener, err := net.Listen("unix", c.settings.State.Control())
	if err != nil {
		return err
	}
	faults := c.faults()
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		command, known := faults[r.URL.Path[1:]]
		if !known {
			http.Error(w, "no such fault", http.StatusNotFound)
			return
		}
		answer, err := command(ctx, r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, answer)
	}))
}

func done(f func()) fault {
	return func(context.Context, url.Values) (string, error) {
		f()
		return "done", nil
	}
}

// started answers when the API server is ready again.
func started(f func()) fault {
	return func(ctx context.Context, _ url.Values) (string, error) {
		begin := time.Now()
		f()
		if err := controlplane.WaitReady(ctx); err != nil {
			return "", err
		}
		return fmt.Sprintf("API server ready after %.1f s", time.Since(begin).Seconds()), nil
	}
}

func (c *cluster) delay(_ context.Context, query url.Values) (string, error) {
	d, err := time.ParseDuration(query.Get("by"))
	if err != nil {
		return "", err
	}
	c.proxy.Faults().SetDelay(d)
	return "data between pods and the API server is held back by " + d.String(), nil
}

func (c *cluster) cut(_ context.Context, query url.Values) (string, error) {
	silent := query.Get("silent") == "true"
	c.proxy.Faults().SetCut(silent)
	if silent {
		return "data between pods and the API server no longer flows", nil
	}
	return fmt.Sprintf("pods cannot connect to the API server, %d connections reset", c.proxy.DropAPIConnections()), nil
}

func (c *cluster) dropWatches(context.Context, url.Values) (string, error) {
	return fmt.Sprintf("%d connections of pods reset", c.proxy.DropAPIConnections()), nil
}

// compact also restarts the API server, because its watch cache remembers what
// etcd has forgotten.
func (c *cluster) compact(ctx context.Context, query url.Values) (string, error) {
	revision, err := controlplane.Compact(ctx)
	if err != nil {
		return "", err
	}
	if _, err := started(c.api.restart)(ctx, query); err != nil {
		return "", err
	}
	return fmt.Sprintf("history before revision %d is gone", revision), nil
}

// revokeToken replaces the service account: tokens of the old one are refused.
// Its pods get new ones after a while, as from a real node agent.
func (c *cluster) revokeToken(ctx context.Context, query url.Values) (string, error) {
	namespace, name := query.Get("namespace"), query.Get("account")
	after, err := time.ParseDuration(query.Get("renew-after"))
	if err != nil {
		return "", err
	}
	accounts := c.client.CoreV1().ServiceAccounts(namespace)
	old, err := accounts.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if err := accounts.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return "", err
	}
	successor := &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: namespace, Labels: old.Labels, Annotations: old.Annotations,
	}}
	if _, err := accounts.Create(ctx, successor, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	time.AfterFunc(after, func() { c.node.RenewTokens(ctx, namespace, name) })
	return "tokens of " + namespace + "/" + name + " are refused, pods get new ones after " + after.String(), nil
}
