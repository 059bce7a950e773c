// Command testcluster runs a small but real Kubernetes cluster (etcd,
// kube-apiserver, the controllers that workloads need, and a stand-in node agent
// that runs pods as local processes) inside network, mount and PID namespaces
// of its own. Nothing in it can reach, or be reached from, the world outside.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/controlplane"
	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
	"trickstercache.org/trickster-gateway/hack/cluster/internal/supervisor"
)

const usage = `usage: testcluster COMMAND [-state DIR] ...

  up [-images FILE] [-apply GLOB]... [-foreground]   start a cluster and wait until it is ready
  down                                               stop it and everything that runs in it
  kubeconfig [-relay]                                print the path of the administrator's kubeconfig
  logs [NAMESPACE/POD [CONTAINER]]                   print logs of a pod, or of the cluster itself
  exec-in [-pod NAMESPACE/POD] [--] COMMAND...       run a command in the cluster's network, or a pod's
  fault NAME [KEY=VALUE]...                          see README.md
  apply GLOB...                                      server-side apply of YAML files
  dns                                                answer any DNS query on :53 (stands in for coredns)
`

func init() {
	// Threads are moved into pod namespaces and thrown away. Keeping the main
	// thread out of that game keeps /proc/<pid>/ns pointing at the cluster.
	runtime.LockOSThread()
}

func main() {
	commands := map[string]func([]string) error{
		"up": up, "down": down, "kubeconfig": kubeconfig, "logs": logs, "exec-in": execIn,
		"fault": faultCommand, "apply": apply, "dns": echoDNS,
		// Started by up, not by people:
		"init": initCommand, supervisor.Etcd: stateCommand(controlplane.RunEtcd), supervisor.ControlPlane: stateCommand(controlplane.Run),
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "testcluster %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func initCommand(args []string) error {
	var settings layout.Settings
	if err := json.Unmarshal([]byte(args[0]), &settings); err != nil {
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	return supervisor.Run(ctx, settings)
}

func stateCommand(run func(context.Context, layout.State) error) func([]string) error {
	return func(args []string) error {
		ctx, stop := untilSignal()
		defer stop()
		return run(ctx, layout.State(args[0]))
	}
}

func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
}
