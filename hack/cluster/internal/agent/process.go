package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// command describes a process inside a sandbox.
type command struct {
	argv, env    []string
	dir          string
	hostname     string
	mounts       []mount
	scratch      string // empty directory for its root and overlays
	output       io.Writer
	identity     identity
	readOnlyRoot bool
}

func (c command) root() string { return filepath.Join(c.scratch, "root") }

// start runs a command in the sandbox's network namespace, with mount, host
// name and PID namespaces of its own, so that it ends with all its children.
func (s *sandbox) start(c command) (*exec.Cmd, error) {
	if len(c.argv) == 0 {
		return nil, errors.New("no command")
	}
	cmd := &exec.Cmd{Path: c.argv[0], Args: c.argv, Env: c.env, Dir: c.dir, Stdout: c.output, Stderr: c.output}
	if !filepath.IsAbs(cmd.Path) {
		path, err := exec.LookPath(cmd.Path)
		if err != nil {
			return nil, err
		}
		cmd.Path = path
	}
	cmd.SysProcAttr = attributes(c.root(), c.identity)
	cmd.SysProcAttr.Setsid = true
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWPID
	return cmd, onThread(func() error {
		if err := s.enter(c); err != nil {
			return err
		}
		return cmd.Start() // the child inherits this thread's namespaces
	})
}

func attributes(root string, who identity) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Chroot:     root,
		Credential: &syscall.Credential{Uid: who.uid, Gid: who.gid, Groups: who.groups},
	}
}

// onThread calls f on a thread that is thrown away afterwards, because f moves
// it to other namespaces.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends with this goroutine
		done <- f()
	}()
	return <-done
}

// enter moves the calling thread into the namespaces of a new container.
func (s *sandbox) enter(c command) error {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Sethostname([]byte(c.hostname)); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := c.buildRoot(); err != nil {
		return fmt.Errorf("root file system: %w", err)
	}
	if s.ns == nil {
		return nil
	}
	return unix.Setns(int(s.ns.Fd()), unix.CLONE_NEWNET)
}

// exec runs a command inside the running container and returns its error.
func (c *container) exec(cmd *exec.Cmd) error {
	c.mu.Lock()
	process, root := c.process, c.root
	c.mu.Unlock()
	if process == nil {
		return errors.New("container is not running")
	}
	image := c.pod.node.Images[imageName(c.spec.Image)]
	who, err := c.identity(image)
	if err != nil {
		return err
	}
	cmd.SysProcAttr, cmd.Dir = attributes(root, who), "/"
	cmd.SysProcAttr.Setsid = true
	err = onThread(func() error {
		// A thread that shares its file system view may not enter a mount namespace.
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return err
		}
		for _, kind := range []string{"pid", "net", "uts", "mnt"} {
			if err := enterNamespace(process.Process.Pid, kind); err != nil {
				return err
			}
		}
		return cmd.Start()
	})
	if err != nil {
		return err
	}
	return cmd.Wait()
}

func enterNamespace(pid int, kind string) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
	if err != nil {
		return err
	}
	defer ns.Close()
	if err := unix.Setns(int(ns.Fd()), 0); err != nil {
		return fmt.Errorf("enter %s namespace: %w", kind, err)
	}
	return nil
}
