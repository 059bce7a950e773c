package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/controlplane"
	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// parseState adds the -state flag, parses args, and returns the folder.
func parseState(fs *flag.FlagSet, args []string) (layout.State, error) {
	dir := fs.String("state", "build/cluster/state", "folder of the cluster's data, logs and kubeconfigs")
	if err := fs.Parse(args); err != nil {
		return "", err
	}
	abs, err := filepath.Abs(*dir)
	return layout.State(abs), err
}

func up(args []string) error {
	fs := flag.NewFlagSet("up", flag.ExitOnError)
	images := fs.String("images", "", "YAML table of the commands that stand for images")
	foreground := fs.Bool("foreground", false, "stay, and stop the cluster when the standard input ends or this process does")
	var globs list
	fs.Var(&globs, "apply", "YAML files to apply before the cluster counts as ready (glob, repeatable)")
	s, err := parseState(fs, args)
	if err != nil {
		return err
	}
	if pid, err := s.PID(); err == nil {
		fmt.Printf("a cluster already runs in %s (pid %d)\n", s, pid)
		return nil
	}
	settings := layout.Settings{State: s, Apply: globs, Owned: *foreground}
	if settings.Images, err = readImages(*images); err != nil {
		return err
	}
	begin := time.Now()
	exited, err := start(settings)
	if err != nil {
		return err
	}
	if err := waitReady(s, exited); err != nil {
		return err
	}
	fmt.Printf("cluster ready after %.1f s, kubeconfig %s\n", time.Since(begin).Seconds(), s.Kubeconfig())
	if *foreground {
		return stay(s, exited)
	}
	return nil
}

// start makes a fresh state folder and the cluster's first process.
func start(settings layout.Settings) (exited chan error, err error) {
	s := settings.State
	if err := os.RemoveAll(string(s)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Path("logs"), 0o755); err != nil {
		return nil, err
	}
	if err := controlplane.WriteCredentials(s); err != nil {
		return nil, err
	}
	log, err := os.Create(s.Path("logs/cluster.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	spec, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe", "init", string(spec))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID,
	}
	if settings.Owned {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer read.Close()
		keepOpen = write
		cmd.ExtraFiles = []*os.File{read}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	exited = make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	return exited, os.WriteFile(s.Path("pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644)
}

// keepOpen is the owner's end of the pipe; an owned cluster ends when it closes.
var keepOpen *os.File

func waitReady(s layout.State, exited <-chan error) error {
	deadline := time.After(layout.StartTimeout)
	for {
		select {
		case err := <-exited:
			return fmt.Errorf("cluster ended early (%v), see %s", err, s.Path("logs/cluster.log"))
		case <-deadline:
			return errors.Join(fmt.Errorf("cluster not ready in time, see %s", s.Path("logs")), stop(s))
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := os.Stat(s.Path("ready")); err == nil {
			return nil
		}
	}
}

// stay returns when the standard input ends or a signal comes, and takes the cluster with it.
func stay(s layout.State, exited <-chan error) error {
	ctx, cancel := untilSignal()
	defer cancel()
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	case err := <-exited:
		return fmt.Errorf("cluster ended (%v), see %s", err, s.Path("logs/cluster.log"))
	}
	return stop(s)
}

func down(args []string) error {
	s, err := parseState(flag.NewFlagSet("down", flag.ExitOnError), args)
	if err != nil {
		return err
	}
	return stop(s)
}

// stop kills the first process of the PID namespace, which takes all others with it.
func stop(s layout.State) error {
	pid, err := s.PID()
	if errors.Is(err, layout.ErrNotRunning) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	for err == nil {
		time.Sleep(10 * time.Millisecond)
		_, err = s.PID()
	}
	return os.Remove(s.Path("pid"))
}
