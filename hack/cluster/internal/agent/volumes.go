package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const tokenCheck = 10 * time.Second

// volumes are the files of one pod. What comes from API objects is written
// again when they change, all files of a volume at once.
type volumes struct {
	pod    *pod
	dir    string
	tokens *tokens

	mu    sync.Mutex // one writer at a time; guards paths
	paths map[string]string
}

func newVolumes(p *pod) *volumes {
	return &volumes{pod: p, dir: filepath.Join(p.dir, "volumes"), tokens: newTokens(p), paths: map[string]string{}}
}

func (v *volumes) path(name string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.paths[name]
}

// write brings all volumes up to date. It fails while an object that it needs is missing.
func (v *volumes) write(ctx context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range v.pod.api.Spec.Volumes {
		volume := &v.pod.api.Spec.Volumes[i]
		if volume.HostPath != nil {
			v.paths[volume.Name] = volume.HostPath.Path
			continue
		}
		dir := filepath.Join(v.dir, volume.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		v.paths[volume.Name] = dir
		if volume.EmptyDir != nil {
			if err := os.Chmod(dir, 0o777); err != nil {
				return err
			}
			continue
		}
		files, err := v.payload(ctx, volume)
		if err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
		if err := writeAtomically(dir, files, fsGroup(v.pod.api)); err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
	}
	return nil
}

// fromAPI tells whether a volume shows API objects; containers cannot write to those.
func (v *volumes) fromAPI(name string) bool {
	for _, volume := range v.pod.api.Spec.Volumes {
		if volume.Name == name {
			return volume.EmptyDir == nil && volume.HostPath == nil
		}
	}
	return false
}

// uses tells whether a volume shows the content of the object.
func (v *volumes) uses(object metav1.Object) bool {
	_, secret := object.(*v1.Secret)
	name := object.GetName()
	for _, volume := range v.pod.api.Spec.Volumes {
		switch s := volume.VolumeSource; {
		case secret && s.Secret != nil && s.Secret.SecretName == name,
			!secret && s.ConfigMap != nil && s.ConfigMap.Name == name:
			return true
		case s.Projected != nil:
			for _, part := range s.Projected.Sources {
				if secret && part.Secret != nil && part.Secret.Name == name ||
					!secret && part.ConfigMap != nil && part.ConfigMap.Name == name {
					return true
				}
			}
		}
	}
	return false
}

// renewTokens replaces service account tokens before they expire.
func (v *volumes) renewTokens(ctx context.Context) {
	for ; ctx.Err() == nil; sleep(ctx, tokenCheck) {
		if !v.tokens.old() {
			continue
		}
		if err := v.write(ctx); err != nil {
			fmt.Printf("renew token of pod %s: %v\n", v.pod.api.Name, err)
		}
	}
}

// refreshVolumes writes the volumes of all pods that show the object.
func (n *Node) refreshVolumes(ctx context.Context, object metav1.Object) {
	for _, p := range n.podsOf(object.GetNamespace()) {
		if isClosed(p.stopping) || !p.volumes.uses(object) {
			continue
		}
		go func() {
			if err := p.volumes.write(ctx); err != nil {
				fmt.Printf("volumes of pod %s: %v\n", p.api.Name, err)
			}
		}()
	}
}

// RenewTokens gives new tokens to all pods of a service account, as after their revocation.
func (n *Node) RenewTokens(ctx context.Context, namespace, account string) {
	for _, p := range n.podsOf(namespace) {
		if p.api.Spec.ServiceAccountName != account {
			continue
		}
		p.volumes.tokens.forget()
		if err := p.volumes.write(ctx); err != nil {
			fmt.Printf("renew token of pod %s: %v\n", p.api.Name, err)
		}
	}
}
