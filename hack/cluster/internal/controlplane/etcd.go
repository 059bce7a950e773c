package controlplane

import (
	"context"
	"fmt"
	"net/url"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// RunEtcd serves the cluster's database until ctx ends.
func RunEtcd(ctx context.Context, s layout.State) error {
	client, err := url.Parse(layout.EtcdURL)
	if err != nil {
		return err
	}
	peer, err := url.Parse(layout.EtcdPeer)
	if err != nil {
		return err
	}
	c := embed.NewConfig()
	c.Dir = s.Path("etcd")
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.UnsafeNoFsync = true // a test cluster does not outlive its machine
	c.LogLevel = "warn"
	c.WarningUnaryRequestDuration = time.Second
	etcd, err := embed.StartEtcd(c)
	if err != nil {
		return err
	}
	defer etcd.Close()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-etcd.Err():
		return err
	case <-etcd.Server.StopNotify():
		return fmt.Errorf("etcd stopped")
	}
}

// Compact forgets the history of the database, so that a watch that has to
// start in the past is refused with 410 Gone. It returns the revision kept.
func Compact(ctx context.Context) (int64, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{layout.EtcdURL}, DialTimeout: 5 * time.Second})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	answer, err := client.Get(ctx, "compact-needs-the-revision-only")
	if err != nil {
		return 0, err
	}
	_, err = client.Compact(ctx, answer.Header.Revision, clientv3.WithCompactPhysical())
	return answer.Header.Revision, err
}
