// Package objects applies YAML files to the cluster.
package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	discoverycache "k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

const establishTimeout = time.Minute

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

type applier struct {
	client dynamic.Interface
	mapper meta.RESTMapper
	crds   []string
}

// Apply applies every document of the files that match the globs, with
// server-side apply, and waits until the CRDs among them are served.
func Apply(ctx context.Context, config *rest.Config, globs []string) error {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	a := &applier{client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(discoverycache.NewMemCacheClient(found))}
	for _, glob := range globs {
		files, err := filepath.Glob(glob)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("nothing matches %s", glob)
		}
		for _, file := range files {
			if err := a.file(ctx, file); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	for _, name := range a.crds {
		if err := a.waitEstablished(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) file(ctx context.Context, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		var object unstructured.Unstructured
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(object.Object) == 0 {
			continue // an empty document
		}
		if err := a.object(ctx, &object); err != nil {
			return err
		}
	}
}

func (a *applier) object(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	target := dynamic.ResourceInterface(a.client.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := object.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		target = a.client.Resource(mapping.Resource).Namespace(namespace)
	}
	unstructured.RemoveNestedField(object.Object, "status")
	options := metav1.ApplyOptions{FieldManager: "testcluster", Force: true}
	if _, err := target.Apply(ctx, object.GetName(), object, options); err != nil {
		return err
	}
	if mapping.Resource == crdResource {
		a.crds = append(a.crds, object.GetName())
	}
	return nil
}

func (a *applier) waitEstablished(ctx context.Context, name string) error {
	for deadline := time.Now().Add(establishTimeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		crd, err := a.client.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
		for _, c := range conditions {
			if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
				return nil
			}
		}
	}
	return fmt.Errorf("CRD %s was not established", name)
}
