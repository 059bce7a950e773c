package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/agent"
	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// execIn replaces this process by a command that sees the cluster's network
// and resolver, and otherwise the machine.
func execIn(args []string) error {
	fs := flag.NewFlagSet("exec-in", flag.ExitOnError)
	pod := fs.String("pod", "", "NAMESPACE/POD: use this pod's network")
	s, err := parseState(fs, args)
	if err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("no command given")
	}
	path, err := exec.LookPath(fs.Arg(0))
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	pid, err := s.PID()
	if err != nil {
		return err
	}
	if *pod != "" {
		if pid, err = podPID(s, *pod); err != nil {
			return err
		}
	}
	if err := enterNetwork(s, pid); err != nil {
		return err
	}
	if os.Getenv("KUBECONFIG") == "" {
		os.Setenv("KUBECONFIG", s.Kubeconfig())
	}
	return syscall.Exec(path, fs.Args(), os.Environ())
}

// enterNetwork moves this thread, which main has locked, to a process' network.
func enterNetwork(s layout.State, pid int) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return err
	}
	// The resolver is a file: show the cluster's one to this command only.
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	resolver := s.Path("resolv.conf")
	if err := os.WriteFile(resolver, []byte(agent.ResolverConfig("default")), 0o644); err != nil {
		return err
	}
	return unix.Mount(resolver, "/etc/resolv.conf", "", unix.MS_BIND, "")
}

// podPID finds a process of a pod: its host name is the pod's, and its log is
// the only thing that the folder of the pod and the process share.
func podPID(s layout.State, pod string) (int, error) {
	namespace, name, ok := strings.Cut(pod, "/")
	if !ok {
		return 0, fmt.Errorf("%q is not NAMESPACE/POD", pod)
	}
	prefix := s.Path("pods/"+namespace+"_"+name) + "_"
	roots, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		return 0, err
	}
	for _, file := range roots {
		mounts, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(mounts), prefix) {
			continue
		}
		return strconv.Atoi(filepath.Base(filepath.Dir(file)))
	}
	return 0, fmt.Errorf("no process of pod %s is running", pod)
}

func kubeconfig(args []string) error {
	fs := flag.NewFlagSet("kubeconfig", flag.ExitOnError)
	relay := fs.Bool("relay", false, "the one whose connections faults act on")
	s, err := parseState(fs, args)
	if err != nil {
		return err
	}
	if *relay {
		fmt.Println(s.RelayKubeconfig())
		return nil
	}
	fmt.Println(s.Kubeconfig())
	return nil
}
