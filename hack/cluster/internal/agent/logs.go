package agent

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/util/cert"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// stamp has a fixed width, so that lines can be compared by it as text.
const stamp = "2006-01-02T15:04:05.000000000Z"

// logFile writes each line with the time at which it began.
type logFile struct {
	mu      sync.Mutex
	file    *os.File
	partial bool
}

func openLog(path string) (*logFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return &logFile{file: file}, err
}

func (l *logFile) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out bytes.Buffer
	now := time.Now().UTC().Format(stamp) + " "
	for line := range bytes.Lines(data) {
		if !l.partial {
			out.WriteString(now)
		}
		out.Write(line)
		l.partial = line[len(line)-1] != '\n'
	}
	if _, err := l.file.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(data), nil
}

func (l *logFile) Close() error {
	if l.partial {
		l.Write([]byte("\n"))
	}
	return l.file.Close()
}

// serve answers what the API server passes on: logs, exec and port-forward.
func (n *Node) serve() error {
	certificate, key, err := cert.GenerateSelfSignedCertKey(layout.NodeName, []net.IP{net.ParseIP(layout.NodeIP)}, nil)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", n.logs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", n.serveExec)
	mux.HandleFunc("/portForward/{namespace}/{pod}", n.servePortForward)
	server := &http.Server{
		Addr: net.JoinHostPort(layout.NodeIP, strconv.Itoa(layout.AgentPort)), Handler: mux,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
	}
	return server.ListenAndServeTLS("", "")
}

// logQuery says which lines of a log are wanted.
type logQuery struct {
	since              string // a stamp; empty for all
	tail               int    // -1 for all
	timestamps, follow bool
}

func parseLogQuery(query url.Values) logQuery {
	q := logQuery{tail: -1, timestamps: query.Get("timestamps") == "true", follow: query.Get("follow") == "true"}
	if t, err := time.Parse(time.RFC3339, query.Get("sinceTime")); err == nil {
		q.since = t.UTC().Format(stamp)
	} else if s, err := strconv.Atoi(query.Get("sinceSeconds")); err == nil {
		q.since = time.Now().Add(-time.Duration(s) * time.Second).UTC().Format(stamp)
	}
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil {
		q.tail = tail
	}
	return q
}

func (n *Node) logs(w http.ResponseWriter, r *http.Request) {
	c := n.find(r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"))
	if c == nil {
		http.Error(w, "no such container", http.StatusNotFound)
		return
	}
	file, err := os.Open(c.log)
	if errors.Is(err, os.ErrNotExist) {
		return // nothing written yet
	} else if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer file.Close()
	c.sendLog(w, r, file, parseLogQuery(r.URL.Query()))
}

func (c *container) sendLog(w http.ResponseWriter, r *http.Request, file *os.File, q logQuery) {
	if q.tail >= 0 {
		skipToTail(file, q.tail)
	}
	lines := bufio.NewReader(file)
	var partial string
	for r.Context().Err() == nil {
		line, err := lines.ReadString('\n')
		partial += line
		if err == nil {
			if partial >= q.since {
				if _, text, ok := strings.Cut(partial, " "); ok && !q.timestamps {
					partial = text
				}
				fmt.Fprint(w, partial)
			}
			partial = ""
			continue
		}
		if !q.follow || c.over() {
			return
		}
		http.NewResponseController(w).Flush()
		time.Sleep(100 * time.Millisecond)
	}
}

func skipToTail(file *os.File, lines int) {
	data, err := io.ReadAll(file)
	if err != nil {
		return
	}
	at := len(data)
	for ; lines > 0 && at > 0; lines-- {
		at = bytes.LastIndexByte(data[:at-1], '\n') + 1
	}
	file.Seek(int64(at), io.SeekStart)
}

func (n *Node) findPod(namespace, name string) *pod {
	for _, p := range n.podsOf(namespace) {
		if p.api.Name == name {
			return p
		}
	}
	return nil
}

func (n *Node) find(namespace, name, containerName string) *container {
	p := n.findPod(namespace, name)
	if p == nil {
		return nil
	}
	for _, c := range p.all() {
		if c.spec.Name == containerName {
			return c
		}
	}
	return nil
}
