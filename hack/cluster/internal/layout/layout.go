// Package layout says where things are: the addresses of the cluster, which
// exist only inside its own network namespace, and the files of its state folder.
package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// NodeIP is the address of the pod bridge; the API server listens there.
	NodeIP    = "10.244.0.1"
	NodeName  = "node"
	PodBridge = "pods"
	PodCIDR   = "10.244.0.0/24"

	// ServiceCIDR is a local route: every ClusterIP can be bound by the forwarder.
	ServiceCIDR   = "10.96.0.0/16"
	ClusterDNS    = "10.96.0.10"
	ClusterDomain = "cluster.local"

	// APIServiceIP and APIServicePort are where pods find the API server. A relay
	// stands there, so that faults can hit pods and spare the cluster's own parts.
	APIServiceIP   = "10.96.0.1"
	APIServicePort = 443
	APIServerPort  = 6443

	// GatewayCIDR is a local route too: Gateways may bind any address in it, as in 127.0.0.0/8.
	GatewayCIDR = "10.245.0.0/16"
	// LoadBalancerPrefix completed by a number from 1 to 254 is the address of a LoadBalancer Service.
	LoadBalancerPrefix = "10.245.200."

	AgentPort = 10250
	EtcdURL   = "http://127.0.0.1:2379"
	EtcdPeer  = "http://127.0.0.1:2380"

	StartTimeout = 2 * time.Minute
)

// ErrNotRunning says that no cluster runs in the state folder.
var ErrNotRunning = errors.New("no cluster is running here")

// State is the folder that holds one cluster's data, logs and credentials.
type State string

// Path returns the path of a file of the state folder.
func (s State) Path(name string) string { return filepath.Join(string(s), name) }

// Kubeconfig is the administrator's access, straight to the API server.
func (s State) Kubeconfig() string { return s.Path("kubeconfig") }

// RelayKubeconfig is the same access through the relay that faults act on.
func (s State) RelayKubeconfig() string { return s.Path("kubeconfig-relay") }

// Control is the socket that takes fault commands.
func (s State) Control() string { return s.Path("control.sock") }

// Pods is the folder of the pods' logs and volumes.
func (s State) Pods() string { return s.Path("pods") }

// PID returns the process ID of the cluster's first process, or ErrNotRunning.
func (s State) PID() (int, error) {
	raw, err := os.ReadFile(s.Path("pid"))
	if err != nil {
		return 0, ErrNotRunning
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0, ErrNotRunning
	}
	// Process IDs are reused: the command line must name this state folder.
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(cmdline), string(s)+`"`) {
		return 0, ErrNotRunning
	}
	return pid, nil
}

// Settings travel from `up` to the first process inside the namespaces.
type Settings struct {
	State State
	// Images maps the last path element of an image reference to what stands for it.
	Images map[string]Image
	// Apply lists YAML files (globs) applied before the cluster counts as ready.
	Apply []string
	// Owned clusters end when the file descriptor 3 that they inherit is closed.
	Owned bool
}

// Image is the local command that stands for a container image.
type Image struct {
	Command []string `json:"command"`
	// User is the user ID that the image would name; 0 when it names none.
	User int64 `json:"user,omitempty"`
	// Mounts shows folders of the machine, read-only, at paths of the container.
	Mounts map[string]string `json:"mounts,omitempty"`
	// Env is set before the variables of the pod's specification.
	Env map[string]string `json:"env,omitempty"`
}
