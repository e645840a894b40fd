package contestant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	commandLimit = MaxMembers + 256 // commands that wait for a process that does not read
	stderrLimit  = 8 << 10          // bytes of standard error that are kept
	politeLimit  = 2 * time.Second  // for a process to quit before it is killed
	drainLimit   = 2 * time.Second  // for the reports that a dead process left in the pipe
)

// The errors of a Process.
var (
	// ErrExited is returned when the process has ended.
	ErrExited = errors.New("contestant: the process has ended")
	// ErrBusy is returned when the process has not read its commands for so long
	// that no more are kept. A stopped process does not read.
	ErrBusy = errors.New("contestant: the process does not read its commands")
)

// Exit says how a process ended.
type Exit struct {
	Pid    int
	At     time.Time
	Code   int            // exit code; -1 after a signal
	Signal syscall.Signal // 0: ended by itself
	Stderr string         // the last of what it wrote to standard error
}

// String is the exit as the shell would say it: "exit status 0", "signal: killed".
func (e Exit) String() string {
	if e.Signal != 0 {
		return "signal: " + e.Signal.String()
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// Process is a running process of contestants. Its methods may be called from
// any goroutine and never wait for the process, except Close.
type Process struct {
	cmd      *exec.Cmd
	commands chan []byte
	finish   chan struct{} // closed: write what is queued, then close its stdin
	done     chan struct{} // closed: ended, reaped, every report delivered
	exit     Exit          // valid after done
	once     sync.Once     // closes finish
}

// Pid is the operating system's number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended, was reaped, and its last report was
// delivered.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the process ended. It waits until it has.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// Open adds a member. It reports idle when it has a session.
func (p *Process) Open(m Member) error {
	if err := m.Check(); err != nil {
		return err
	}
	return p.send(command{Op: OpOpen, Who: m.Who, Member: &m})
}

// Join has a member stand in line for the lock.
func (p *Process) Join(who string) error { return p.send(command{Op: OpJoin, Who: who}) }

// Release has a member give the lock back, or leave the line. A holder with
// rounds left stands in line again.
func (p *Process) Release(who string) error { return p.send(command{Op: OpRelease, Who: who}) }

// Write has a member that believes it holds the lock work for a while and then
// write text to the fenced resource: a report of KindWrite with its token, which
// whoever keeps the resource judges. Between its look and its write the member does
// not look again, so a process that is stopped meanwhile writes as a zombie.
func (p *Process) Write(who, text string, work time.Duration) error {
	return p.send(command{Op: OpWrite, Who: who, Text: text, Work: work})
}

// Quit has a member end its session; its process stays.
func (p *Process) Quit(who string) error { return p.send(command{Op: OpQuit, Who: who}) }

func (p *Process) send(c command) error {
	c.V = Version
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("contestant: %w", err)
	}
	if len(line) >= MaxLine {
		return fmt.Errorf("contestant: a command of %d bytes; the limit is %d", len(line), MaxLine)
	}
	select {
	case <-p.done:
		return ErrExited
	case <-p.finish:
		return ErrExited
	default:
	}
	select {
	case p.commands <- append(line, '\n'):
		return nil
	default:
		return ErrBusy
	}
}

// Kill sends SIGKILL: the process ends at once, its sessions do not.
func (p *Process) Kill() error { return p.signal(syscall.SIGKILL) }

// Stop sends SIGSTOP: the process stands still, with all its members, and its
// sockets stay open.
func (p *Process) Stop() error { return p.signal(syscall.SIGSTOP) }

// Cont sends SIGCONT: a stopped process goes on where it was.
func (p *Process) Cont() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) error {
	err := p.cmd.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) {
		return ErrExited
	}
	return err
}

// Close ends the process: it wakes it when it is stopped, has its members end
// their sessions, and kills it when that has not happened within two seconds or
// when ctx ends. It returns when the process has been reaped and its last report
// delivered. It may be called more than once.
func (p *Process) Close(ctx context.Context) error {
	p.once.Do(func() { close(p.finish) })
	_ = p.Cont() // an error means that it has ended
	ctx, cancel := context.WithTimeout(ctx, politeLimit)
	defer cancel()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	if err := p.Kill(); err != nil && !errors.Is(err, ErrExited) {
		return fmt.Errorf("contestant: kill %d: %w", p.Pid(), err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(2 * drainLimit):
		return fmt.Errorf("contestant: process %d is killed, but its reports are not taken", p.Pid())
	}
}
