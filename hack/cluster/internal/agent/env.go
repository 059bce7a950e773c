package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// variables keeps the order in which variables were first set.
type variables struct {
	values map[string]string
	order  []string
}

func (v *variables) set(name, value string) {
	if _, known := v.values[name]; !known {
		v.order = append(v.order, name)
	}
	v.values[name] = value
}

func (v *variables) list() []string {
	result := make([]string, 0, len(v.order))
	for _, name := range v.order {
		result = append(result, name+"="+v.values[name])
	}
	return result
}

// environment resolves a container's variables and expands $(NAME) in its arguments.
func (p *pod) environment(ctx context.Context, c *v1.Container, image layout.Image) (env, argv []string, err error) {
	vars := &variables{values: map[string]string{}}
	vars.set("PATH", defaultPath)
	vars.set("HOME", "/")
	vars.set("HOSTNAME", p.api.Name)
	vars.set("KUBERNETES_SERVICE_HOST", layout.APIServiceIP)
	vars.set("KUBERNETES_SERVICE_PORT", strconv.Itoa(layout.APIServicePort))
	for name, value := range image.Env {
		vars.set(name, value)
	}
	if err := p.specified(ctx, c, vars); err != nil {
		return nil, nil, err
	}
	argv = slices.Clone(image.Command)
	if len(c.Command) > 0 {
		argv = slices.Clone(c.Command)
	}
	argv = append(argv, c.Args...)
	lookup := expansion.MappingFuncFor(vars.values)
	for i := range argv {
		argv[i] = expansion.Expand(argv[i], lookup)
	}
	return vars.list(), argv, nil
}

// specified sets the variables that the pod's specification names.
func (p *pod) specified(ctx context.Context, c *v1.Container, vars *variables) error {
	for _, from := range c.EnvFrom {
		data, err := p.keys(ctx, from.SecretRef, from.ConfigMapRef)
		if err != nil {
			return err
		}
		for key, value := range data {
			vars.set(from.Prefix+key, value)
		}
	}
	lookup := expansion.MappingFuncFor(vars.values)
	for _, e := range c.Env {
		value := expansion.Expand(e.Value, lookup)
		if e.ValueFrom != nil {
			var err error
			if value, err = p.valueFrom(ctx, e.ValueFrom); err != nil {
				return fmt.Errorf("variable %s: %w", e.Name, err)
			}
		}
		vars.set(e.Name, value)
	}
	return nil
}

func (p *pod) valueFrom(ctx context.Context, s *v1.EnvVarSource) (string, error) {
	switch {
	case s.FieldRef != nil:
		switch s.FieldRef.FieldPath {
		case "status.podIP", "status.podIPs":
			return p.sandbox.ip, nil
		case "status.hostIP", "status.hostIPs":
			return p.node.hostIP(), nil
		case "spec.nodeName":
			return p.api.Spec.NodeName, nil
		case "spec.serviceAccountName":
			return p.api.Spec.ServiceAccountName, nil
		}
		return fieldpath.ExtractFieldPathAsString(p.api, s.FieldRef.FieldPath)
	case s.SecretKeyRef != nil:
		ref := s.SecretKeyRef
		data, err := p.keys(ctx, &v1.SecretEnvSource{LocalObjectReference: ref.LocalObjectReference, Optional: ref.Optional}, nil)
		return data[ref.Key], err
	case s.ConfigMapKeyRef != nil:
		ref := s.ConfigMapKeyRef
		data, err := p.keys(ctx, nil, &v1.ConfigMapEnvSource{LocalObjectReference: ref.LocalObjectReference, Optional: ref.Optional})
		return data[ref.Key], err
	}
	return "", errors.New("unsupported source")
}

func (p *pod) keys(ctx context.Context, secret *v1.SecretEnvSource, config *v1.ConfigMapEnvSource) (map[string]string, error) {
	data := map[string]string{}
	if secret != nil {
		s, err := p.node.Client.CoreV1().Secrets(p.api.Namespace).Get(ctx, secret.Name, metav1.GetOptions{})
		if err != nil && (secret.Optional == nil || !*secret.Optional) {
			return nil, err
		}
		for k, v := range s.Data {
			data[k] = string(v)
		}
	}
	if config != nil {
		c, err := p.node.Client.CoreV1().ConfigMaps(p.api.Namespace).Get(ctx, config.Name, metav1.GetOptions{})
		if err != nil && (config.Optional == nil || !*config.Optional) {
			return nil, err
		}
		for k, v := range c.Data {
			data[k] = v
		}
	}
	return data, nil
}
