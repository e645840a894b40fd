package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ctrl-C while the server starts is no failure of the server.
func TestInterrupt_whileTheServerStarts_exits130(t *testing.T) {
	p := newProgram(t)
	cmd := p.command("demo", "kill", "--plain", "--backend", "java")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); !startsAServer(p); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no server was started")
		}
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || errs.Len() > 0 {
		t.Errorf("exit %d, want 130 and nothing to read:\n%s", code, &errs)
	}
	p.wantNothingLeft(2 * time.Second)
}

// startsAServer says whether there is a folder of a server already: a start
// takes about a second from then on.
func startsAServer(p *program) bool {
	entries, _ := os.ReadDir(p.tmp)
	return len(entries) > 0
}

// A server that dies is told, and zklab server does not wait for nobody.
func TestServer_killed_saysSoAndExits1(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	cmd := p.command("server", "--backend", "java")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("it said no address: %v\n%s", err, &errs)
	}
	for _, line := range p.left() {
		var pid int
		if _, err := fmt.Sscan(line, &pid); err == nil && strings.Contains(line, "org.apache.zookeeper") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "has died") {
		t.Errorf("exit %d, want 1 and that the server has died:\n%s", code, &errs)
	}
	p.wantNothingLeft(2 * time.Second)
}
