package agent

import (
	"errors"

	v1 "k8s.io/api/core/v1"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// identity is whom a process runs as.
type identity struct {
	uid, gid uint32
	groups   []uint32
}

// identity merges the security contexts of container and pod with the image's user.
func (c *container) identity(image layout.Image) (identity, error) {
	user, group := image.User, int64(0)
	var nonRoot bool
	var who identity
	if s := c.pod.api.Spec.SecurityContext; s != nil {
		set(&user, s.RunAsUser)
		set(&group, s.RunAsGroup)
		nonRoot = s.RunAsNonRoot != nil && *s.RunAsNonRoot
		for _, g := range s.SupplementalGroups {
			who.groups = append(who.groups, uint32(g))
		}
		if s.FSGroup != nil {
			who.groups = append(who.groups, uint32(*s.FSGroup))
		}
	}
	if s := c.spec.SecurityContext; s != nil {
		set(&user, s.RunAsUser)
		set(&group, s.RunAsGroup)
		if s.RunAsNonRoot != nil {
			nonRoot = *s.RunAsNonRoot
		}
	}
	if nonRoot && user == 0 {
		return who, errors.New("container has runAsNonRoot and image will run as root")
	}
	who.uid, who.gid = uint32(user), uint32(group)
	return who, nil
}

func set(value *int64, override *int64) {
	if override != nil {
		*value = *override
	}
}

func (c *container) readOnlyRoot() bool {
	s := c.spec.SecurityContext
	return s != nil && s.ReadOnlyRootFilesystem != nil && *s.ReadOnlyRootFilesystem
}

// fsGroup is the group that owns the pod's volumes, or -1.
func fsGroup(api *v1.Pod) int {
	if s := api.Spec.SecurityContext; s != nil && s.FSGroup != nil {
		return int(*s.FSGroup)
	}
	return -1
}
