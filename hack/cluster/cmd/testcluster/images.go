package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// readImages reads the table of images. In it {bin} stands for the folder of
// this program, {repo} for the repository and {node} for its Node.js.
func readImages(path string) (map[string]layout.Image, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	repository := filepath.Join(filepath.Dir(abs), "..", "..") // the table lies in hack/cluster
	values := strings.NewReplacer("{bin}", filepath.Dir(self), "{repo}", repository)
	var images map[string]layout.Image
	if err := yaml.UnmarshalStrict([]byte(values.Replace(string(data))), &images); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return images, nil
}
