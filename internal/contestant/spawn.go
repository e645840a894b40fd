package contestant

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Spec says which process to spawn.
type Spec struct {
	// Binary is the program; empty: this program itself.
	Binary string
	// Args are its arguments; nil: "contestant", zklab's hidden sub-command.
	Args []string
	// Env is added to this process's environment.
	Env []string
	// Members are opened at once, in this order.
	Members []Member
}

// Spawn starts a process and has it open its members. It returns when the process
// runs; the members report by themselves. on is called from one goroutine, in the
// order of the reports, and is no longer called once Done is closed. A process
// whose reports are not taken waits, and so do its members. ctx bounds the start
// alone; the process lives until it is killed, closed, or this process ends.
func Spawn(ctx context.Context, s Spec, on func(Report)) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := newProcess(s)
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go p.live(on, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("contestant: start %s: %w", p.cmd.Path, err)
	}
	return p, nil
}

func newProcess(s Spec) (*Process, error) {
	if len(s.Members) > MaxMembers {
		return nil, fmt.Errorf("contestant: %d members for one process; the limit is %d", len(s.Members), MaxMembers)
	}
	if s.Binary == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("contestant: find this program itself: %w", err)
		}
		s.Binary = self
	}
	if s.Args == nil {
		s.Args = []string{"contestant"}
	}
	p := &Process{
		cmd:      exec.Command(s.Binary, s.Args...),
		commands: make(chan []byte, commandLimit),
		finish:   make(chan struct{}),
		done:     make(chan struct{}),
	}
	p.cmd.Env = append(os.Environ(), s.Env...)
	p.cmd.SysProcAttr = ownGroup()
	for _, m := range s.Members {
		if err := p.Open(m); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// live owns the process from its start to its end. It stays on one thread of the
// operating system, because the kernel's parent-death signal is about the thread
// that forked: were it to end, the contestant would die under a living parent.
func (p *Process) live(on func(Report), started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	stderr := &tail{limit: stderrLimit}
	p.cmd.Stderr = stderr
	p.cmd.WaitDelay = drainLimit
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		started <- err
		return
	}
	out, outW, err := os.Pipe()
	if err != nil {
		_ = stdin.Close()
		started <- err
		return
	}
	defer out.Close()
	p.cmd.Stdout = outW
	err = p.cmd.Start()
	_ = outW.Close() // the child has its own
	if err != nil {
		started <- err
		return
	}
	exited, written, drained := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		p.feed(stdin, exited)
	}()
	go func() {
		defer close(drained)
		_ = eachLine(out, func(line []byte) { on(toReport(line)) })
	}()
	started <- nil

	_ = p.cmd.Wait() // what it returns is in ProcessState; it closes stdin
	p.exit = exitOf(p.cmd.ProcessState, time.Now(), stderr)
	close(exited)
	_ = out.SetReadDeadline(time.Now().Add(drainLimit)) // a pipe takes deadlines
	<-written
	<-drained
	close(p.done)
}

// feed writes the commands, and closes stdin when there will be no more.
func (p *Process) feed(stdin io.WriteCloser, exited <-chan struct{}) {
	defer stdin.Close()
	for {
		select {
		case line := <-p.commands:
			if _, err := stdin.Write(line); err != nil {
				return // it has ended
			}
		case <-exited:
			return
		case <-p.finish:
			for {
				select {
				case line := <-p.commands:
					if _, err := stdin.Write(line); err != nil {
						return
					}
				default:
					return
				}
			}
		}
	}
}

// toReport makes a report of a line. What is none is passed on as one: a person
// should see what a broken process says.
func toReport(line []byte) Report {
	err := fmt.Errorf("a line of more than %d bytes", MaxLine)
	if line != nil {
		var r Report
		if r, err = parseReport(line); err == nil {
			return r
		}
	}
	return Report{V: Version, Kind: KindError, At: time.Now(), Err: err.Error()}
}

func exitOf(s *os.ProcessState, at time.Time, stderr *tail) Exit {
	e := Exit{Pid: s.Pid(), At: at, Code: s.ExitCode(), Stderr: stderr.String()}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		e.Signal = w.Signal()
	}
	return e
}
