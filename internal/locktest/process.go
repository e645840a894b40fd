package locktest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is this test's binary once more, as a process of its own. Its TestMain
// knows by an environment variable that it is meant to be one; it talks in lines on
// its standard input and output, and should end when the input does.
type Process struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	said  []string
}

// maxLines is how many lines of a process may wait to be read.
const maxLines = 1000

// StartProcess starts one with more environment variables, each "NAME=value". It is
// killed at the test's end.
func StartProcess(t testing.TB, env ...string) *Process {
	t.Helper()
	p := &Process{t: t, cmd: exec.Command(os.Args[0]), lines: make(chan string, maxLines)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	dieWithParent(p.cmd.SysProcAttr)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in = in
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			select {
			case p.lines <- s.Text():
			default: // nobody reads; what comes now is lost, and missed by the test
			}
		}
	}()
	t.Cleanup(func() {
		p.in.Close()
		_ = p.cmd.Process.Kill() // it may have ended
		<-read
		_ = p.cmd.Wait() // it was killed, or its exit code has been told in its lines
	})
	return p
}

// Say sends a line to the process.
func (p *Process) Say(line string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		p.t.Fatalf("locktest: a process does not listen: %v; it said %q", err, p.said)
	}
}

// Hear waits for a line that begins with one of some words, and returns that word and
// the rest of the line. Other lines are passed over. The test fails when none comes in
// time.
func (p *Process) Hear(within time.Duration, words ...string) (word, rest string) {
	p.t.Helper()
	late := time.After(within)
	for {
		select {
		case line, open := <-p.lines:
			if !open {
				p.t.Fatalf("locktest: a process ended and did not say %q; it said %q", words, p.said)
			}
			p.said = append(p.said, line)
			for _, word := range words {
				if rest, ok := strings.CutPrefix(line, word); ok {
					return word, strings.TrimSpace(rest)
				}
			}
		case <-late:
			p.t.Fatalf("locktest: a process did not say %q within %v; it said %q", words, within, p.said)
		}
	}
}

// Kill is kill -9.
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

// Stop is SIGSTOP: the process does nothing, and does not know it.
func (p *Process) Stop() { p.signal(syscall.SIGSTOP) }

// Continue is SIGCONT.
func (p *Process) Continue() { p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("locktest: %v to a process: %v; it said %q", s, err, p.said)
	}
}
