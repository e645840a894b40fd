package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// playUntil starts the program and returns when it has printed a line with the words.
// The rest of what it prints is read on.
func (p *program) playUntil(words string, args ...string) (cmd *exec.Cmd, errs *bytes.Buffer, wait func() time.Duration) {
	p.t.Helper()
	cmd, errs = p.command(args...), &bytes.Buffer{}
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	limit := time.AfterFunc(40*time.Second, func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for !strings.Contains(lines.Text(), words) {
		if !lines.Scan() {
			p.t.Fatalf("zklab %v ended before it said %q:\n%s", args, words, errs)
		}
	}
	began := time.Now()
	return cmd, errs, func() time.Duration {
		for lines.Scan() {
		}
		_ = cmd.Wait()
		limit.Stop()
		return time.Since(began)
	}
}

// pids are the program's processes whose command line has the words.
func (p *program) pids(words string) []int {
	var all []int
	for _, line := range p.left() {
		var pid int
		if _, err := fmt.Sscan(line, &pid); err == nil && strings.Contains(line, words) {
			all = append(all, pid)
		}
	}
	slices.Sort(all)
	return all
}

// What dies by itself in the middle of a script is told at once, and ends it.
func TestDemo_scriptWhoseProcessDies_saysSoAtOnce(t *testing.T) {
	t.Parallel()
	if backend != "java" {
		t.Skip("no server process of ours to kill")
	}
	for _, c := range []struct {
		victim string
		code   int
		says   string
	}{
		{"contestant", 1, "the process of coral"},
		{"org.apache.zookeeper", 3, "the server at "},
	} {
		p := newProgram(t)
		cmd, errs, wait := p.playUntil("SIGKILL", "demo", "kill", "--script", "--plain", "--session", "6s")
		victims := p.pids(c.victim)
		if len(victims) == 0 {
			t.Fatalf("there is no %s: %v", c.victim, p.left())
		}
		// The last of three contestants: the first is the one that the demo kills.
		_ = syscall.Kill(victims[len(victims)-1], syscall.SIGKILL)
		took := wait()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(errs.String(), c.says) ||
			!strings.Contains(errs.String(), "died by itself: signal: killed") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s killed: exit %d, want %d and a line that says %q:\n%s", c.victim, code, c.code, c.says, errs)
		}
		if took > 4*time.Second {
			t.Errorf("%s killed: it took %v to end, as if it had waited for the session's end", c.victim, took)
		}
		p.wantNothingLeft(2 * time.Second)
	}
}

func TestBench_serverDies_exits3(t *testing.T) {
	t.Parallel()
	if backend != "java" {
		t.Skip("no server process of ours to kill")
	}
	p := newProgram(t)
	cmd := p.command("bench", "--lock", "mini", "--clients", "10", "--hold", "1s")
	var errs bytes.Buffer
	says := make(chan struct{})
	cmd.Stderr = &notifier{to: &errs, words: "uncontended", said: says}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(40*time.Second, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	<-says
	began := time.Now()
	for _, pid := range p.pids("org.apache.zookeeper") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(errs.String(), "died by itself: signal: killed") {
		t.Errorf("exit %d, want 3 and that the server died:\n%s", code, &errs)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v to end", took)
	}
	p.wantNothingLeft(2 * time.Second)
}

// notifier closes said when the words have been written.
type notifier struct {
	to    *bytes.Buffer
	words string
	said  chan struct{}
}

func (n *notifier) Write(b []byte) (int, error) {
	had := strings.Contains(n.to.String(), n.words)
	n.to.Write(b)
	if !had && strings.Contains(n.to.String(), n.words) {
		close(n.said)
	}
	return len(b), nil
}
