package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

const restartPause = 200 * time.Millisecond

// process keeps one of our own subcommands running, unless it is told to stay down.
type process struct {
	state layout.State
	name  string

	mu      sync.Mutex
	wanted  bool
	changed *sync.Cond
	running *exec.Cmd
}

func newProcess(s layout.State, name string) *process {
	p := &process{state: s, name: name, wanted: true}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// keep starts the process again whenever it ends. It never returns.
func (p *process) keep() {
	for {
		p.mu.Lock()
		for !p.wanted {
			p.changed.Wait()
		}
		cmd, log, err := p.start()
		p.running = cmd
		p.mu.Unlock()
		if err == nil {
			err = cmd.Wait()
			log.Close()
		}
		p.mu.Lock()
		p.running = nil
		p.changed.Broadcast()
		p.mu.Unlock()
		fmt.Printf("%s ended: %v\n", p.name, err)
		time.Sleep(restartPause)
	}
}

func (p *process) start() (*exec.Cmd, *os.File, error) {
	log, err := os.OpenFile(p.state.Path("logs/"+p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("/proc/self/exe", p.name, string(p.state))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		log.Close()
		return nil, nil, err
	}
	return cmd, log, nil
}

// stop kills the process and keeps it down; it returns when it is gone.
func (p *process) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = false
	for p.running != nil {
		p.running.Process.Signal(syscall.SIGKILL)
		p.changed.Wait()
	}
}

func (p *process) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
	p.changed.Broadcast()
}

func (p *process) restart() {
	p.stop()
	p.resume()
}
