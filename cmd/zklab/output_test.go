package main_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver/zktest"
)

// A full disk under what a command prints: one line says so, and the code is not 0.
func TestOutput_fullDevice_exits1(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	t.Cleanup(func() { _ = full.Close() })
	for _, args := range []string{
		"demo kill --script --plain", "demo kill --json", "list", "doctor", "doctor --json", "version", "hint 01", "learn 01", "next",
		"--help", "demo --help", "check 01 --json", "server", "completion bash", "bench --lock mini --clients 2 --json",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p := newProgram(t)
			cmd := p.command(strings.Fields(args)...)
			cmd.Stdout = full
			var errs strings.Builder
			cmd.Stderr = &errs
			limit := time.AfterFunc(60*time.Second, func() { _ = cmd.Process.Kill() })
			defer limit.Stop()
			_ = cmd.Run()
			lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
			last := lines[len(lines)-1]
			if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(last, "no space left on device") || strings.Count(errs.String(), "zklab:") != 1 {
				t.Errorf("exit %d, want 1 and one line that says why:\n%s", code, &errs)
			}
			p.wantNothingLeft(2 * time.Second)
		})
	}
}

// A reader that goes after the first line ends the program, and everything that it
// has made on somebody's servers goes with it.
func TestOutput_closedPipe_leavesNothingOnTheServers(t *testing.T) {
	e := zktest.Need(t)
	before := roots(t, e.Connect())
	for _, args := range []string{"demo queue --script --plain", "demo queue --json", "bench --lock mini --clients 2 --json"} {
		p := newProgram(t)
		cmd := p.command(append(strings.Fields(args), "--servers", e.Connect(), "--backend", "external")...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		limit := time.AfterFunc(60*time.Second, func() { _ = cmd.Process.Kill() })
		if _, err := bufio.NewReaderSize(out, 16).ReadString('\n'); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		_ = out.Close()
		_ = cmd.Wait()
		limit.Stop()
		if code := cmd.ProcessState.ExitCode(); code != 141 {
			t.Errorf("%s: exit %d, want 141, what a shell says of SIGPIPE", args, code)
		}
		p.wantNothingLeft(0)
		if after := roots(t, e.Connect()); !slices.Equal(after, before) {
			t.Errorf("%s: the servers have %v, before it was %v", args, after, before)
		}
	}
}

// roots are the nodes at the top of the servers.
func roots(t *testing.T, servers string) []string {
	t.Helper()
	conn, _, err := zk.Connect(strings.Split(servers, ","), 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	names, _, err := conn.Children("/")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}
