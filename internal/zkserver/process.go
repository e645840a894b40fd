package zkserver

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is one run of a server's virtual machine.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and was reaped
}

// startProcess starts cmd in the process group and has a goroutine wait for it.
// That goroutine keeps its operating-system thread: the kernel sends the
// parent-death signal when the *thread* that started the child ends.
func startProcess(cmd *exec.Cmd, group int) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	dieWithParent(cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) signal(s os.Signal) error {
	if p.ended() {
		return ErrNotRunning
	}
	if err := p.cmd.Process.Signal(s); err == os.ErrProcessDone {
		return ErrNotRunning
	} else {
		return err
	}
}

// stopLimit is how long a process may take to stand still: its threads are told one by one.
const stopLimit = time.Second

// stop freezes it, and returns when all of its threads stand still: one that runs on
// another processor may otherwise still answer somebody who asks after the stop.
func (p *process) stop() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for end := time.Now().Add(stopLimit); !p.ended() && !stopped(p.pid()); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			return fmt.Errorf("zkserver: process %d was told to stop and still runs after %v", p.pid(), stopLimit)
		}
	}
	return nil
}

// kill ends it without warning and waits until it is reaped.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only when it has ended
	<-p.done
}
