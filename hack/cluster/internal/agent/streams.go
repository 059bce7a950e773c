package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	streamIdle     = 4 * time.Hour
	streamCreation = 30 * time.Second
)

// serveExec answers `kubectl exec`. There is no terminal: a command that wants
// one gets pipes.
func (n *Node) serveExec(w http.ResponseWriter, r *http.Request) {
	c := n.find(r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"))
	if c == nil {
		http.Error(w, "no such container", http.StatusNotFound)
		return
	}
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, c, c.pod.api.Name, string(c.pod.api.UID), c.spec.Name, r.URL.Query()["command"],
		options, streamIdle, streamCreation, remotecommand.SupportedStreamingProtocols)
}

// ExecInContainer runs a command in the container; it is the Executor of the streaming library.
func (c *container) ExecInContainer(ctx context.Context, _, _, _ string, argv []string,
	in io.Reader, out, errOut io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if len(argv) == 0 {
		return errors.New("no command")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return utilexec.CodeExitError{Err: err, Code: 127}
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Env, cmd.WaitDelay = []string{"PATH=" + defaultPath}, time.Second
	if in != nil {
		// A reader given as Stdin would keep Wait from returning until the client hangs up.
		pipe, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			io.Copy(pipe, in)
			pipe.Close()
		}()
	}
	if out != nil {
		cmd.Stdout = out
	}
	if errOut != nil {
		cmd.Stderr = errOut
	} else {
		cmd.Stderr = cmd.Stdout
	}
	err = c.exec(cmd)
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return utilexec.CodeExitError{Err: err, Code: ended.ExitCode()}
	}
	return err
}

// servePortForward answers `kubectl port-forward`.
func (n *Node) servePortForward(w http.ResponseWriter, r *http.Request) {
	p := n.findPod(r.PathValue("namespace"), r.PathValue("pod"))
	if p == nil || p.sandbox == nil {
		http.Error(w, "no such pod", http.StatusNotFound)
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, p, p.api.Name, string(p.api.UID), options,
		streamIdle, streamCreation, portforward.SupportedProtocols)
}

// PortForward joins a stream with a port of the pod's own loopback; it is the
// PortForwarder of the streaming library.
func (p *pod) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	var conn net.Conn
	err := onThread(func() error {
		if p.sandbox.ns != nil {
			if err := unix.Setns(int(p.sandbox.ns.Fd()), unix.CLONE_NEWNET); err != nil {
				return err
			}
		}
		var err error
		conn, err = new(net.Dialer).DialContext(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
		return err
	})
	if err != nil {
		return fmt.Errorf("port %d: %w", port, err)
	}
	defer conn.Close()
	go func() {
		io.Copy(conn, stream)
		if half, ok := conn.(*net.TCPConn); ok {
			half.CloseWrite()
		}
	}()
	_, err = io.Copy(stream, conn)
	return err
}
