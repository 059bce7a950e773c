package agent

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/fieldpath"
)

const defaultMode int32 = 0o644

// file is the wanted content of one file of a volume.
type file struct {
	data []byte
	mode int32
}

// payload returns the files of a volume by their relative paths.
func (v *volumes) payload(ctx context.Context, volume *v1.Volume) (map[string]file, error) {
	files := map[string]file{}
	switch s := volume.VolumeSource; {
	case s.Secret != nil:
		return files, v.addSecret(ctx, files, s.Secret)
	case s.ConfigMap != nil:
		return files, v.addConfigMap(ctx, files, s.ConfigMap)
	case s.DownwardAPI != nil:
		return files, v.addDownward(files, s.DownwardAPI.Items)
	case s.Projected != nil:
		for _, part := range s.Projected.Sources {
			if err := v.addProjection(ctx, files, part, s.Projected.DefaultMode); err != nil {
				return nil, err
			}
		}
		return files, nil
	}
	return nil, errors.New("unsupported kind of volume")
}

func (v *volumes) addProjection(ctx context.Context, files map[string]file, part v1.VolumeProjection, mode *int32) error {
	switch {
	case part.Secret != nil:
		return v.addSecret(ctx, files, &v1.SecretVolumeSource{
			SecretName: part.Secret.Name, Items: part.Secret.Items, Optional: part.Secret.Optional, DefaultMode: mode,
		})
	case part.ConfigMap != nil:
		return v.addConfigMap(ctx, files, &v1.ConfigMapVolumeSource{
			LocalObjectReference: part.ConfigMap.LocalObjectReference,
			Items:                part.ConfigMap.Items, Optional: part.ConfigMap.Optional, DefaultMode: mode,
		})
	case part.DownwardAPI != nil:
		return v.addDownward(files, part.DownwardAPI.Items)
	case part.ServiceAccountToken != nil:
		token, err := v.tokens.get(ctx, part.ServiceAccountToken)
		files[part.ServiceAccountToken.Path] = file{[]byte(token), defaultMode}
		return err
	}
	return errors.New("unsupported projection")
}

func (v *volumes) addSecret(ctx context.Context, files map[string]file, s *v1.SecretVolumeSource) error {
	secret, err := v.pod.node.Client.CoreV1().Secrets(v.pod.api.Namespace).Get(ctx, s.SecretName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && s.Optional != nil && *s.Optional {
		return nil
	} else if err != nil {
		return err
	}
	return addKeys(files, secret.Data, s.Items, s.DefaultMode)
}

func (v *volumes) addConfigMap(ctx context.Context, files map[string]file, s *v1.ConfigMapVolumeSource) error {
	config, err := v.pod.node.Client.CoreV1().ConfigMaps(v.pod.api.Namespace).Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && s.Optional != nil && *s.Optional {
		return nil
	} else if err != nil {
		return err
	}
	data := map[string][]byte{}
	for key, value := range config.Data {
		data[key] = []byte(value)
	}
	for key, value := range config.BinaryData {
		data[key] = value
	}
	return addKeys(files, data, s.Items, s.DefaultMode)
}

func (v *volumes) addDownward(files map[string]file, items []v1.DownwardAPIVolumeFile) error {
	for _, item := range items {
		if item.FieldRef == nil {
			return fmt.Errorf("downward API file %s: only fieldRef is supported", item.Path)
		}
		value, err := fieldpath.ExtractFieldPathAsString(v.pod.api, item.FieldRef.FieldPath)
		if err != nil {
			return err
		}
		files[item.Path] = file{[]byte(value), defaultMode}
	}
	return nil
}

func addKeys(files map[string]file, data map[string][]byte, items []v1.KeyToPath, mode *int32) error {
	if mode == nil {
		fallback := defaultMode
		mode = &fallback
	}
	if items == nil {
		for key := range data {
			items = append(items, v1.KeyToPath{Key: key, Path: key})
		}
	}
	for _, item := range items {
		value, ok := data[item.Key]
		if !ok {
			return fmt.Errorf("key %s is missing", item.Key)
		}
		f := file{value, *mode}
		if item.Mode != nil {
			f.mode = *item.Mode
		}
		files[item.Path] = f
	}
	return nil
}
