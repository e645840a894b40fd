package docker_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"zklab/internal/zkserver"
)

const (
	helperEnv    = "ZKLAB_DOCKER_TEST_HELPER"
	sessionEnv   = "TESTCONTAINERS_SESSION_ID"
	sessionLabel = "org.testcontainers.sessionId="
	afterDeath   = 20 * time.Second // an engine on a busy machine takes seconds for a container
)

// newSession names what one process makes, so that it is told from what others make.
func newSession() string { return fmt.Sprintf("zklab-%016x", rand.Uint64()) }

// helper is a process that starts servers, says so, and waits to be killed.
func helper(size string) {
	o := zkserver.Options{Backend: zkserver.Docker}
	if _, err := fmt.Sscan(size, &o.Size); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	fmt.Println("starting")
	e, err := zkserver.Start(context.Background(), o)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	_ = e.Servers()[0].Pause() // the hardest to kill politely
	fmt.Println("ready")
	time.Sleep(time.Minute)
	os.Exit(3)
}

// TestGuardian_parentDies_nothingIsLeft kills a process that runs containers
// without Ryuk.
func TestGuardian_parentDies_nothingIsLeft(t *testing.T) {
	needDocker(t)
	for _, c := range []struct {
		name, size, when string
		kill             func(pid int) error
	}{
		{"kill9_3servers_onePaused", "3", "ready", func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }},
		{"ctrlC_wholeGroup", "1", "ready", func(pid int) error { return syscall.Kill(-pid, syscall.SIGINT) }},
		{"kill9_whileTheyAreMade", "3", "starting", func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd, session := startHelper(t, c.size, c.when, withoutRyuk)
			if c.when == "starting" {
				await(t, session, "a first container", func() bool { return len(ours(t, session)) > 0 })
			} else if n := len(ours(t, session)); n < 1 {
				t.Fatalf("the test does not see the containers: %d", n)
			}
			if ryuk := ryuks(t, session); len(ryuk) > 0 {
				t.Errorf("Ryuk was started: %q", ryuk)
			}
			if err := c.kill(cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			died := time.Now()
			await(t, session, "nothing left", func() bool { return len(ours(t, session)) == 0 })
			t.Logf("nothing left after %v", time.Since(died).Round(time.Millisecond))
		})
	}
}

// TestGuardian_programRemoved: go test and go run remove the program before its
// guardian becomes it.
func TestGuardian_programRemoved_nothingIsLeft(t *testing.T) {
	needDocker(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux runs a program that was removed")
	}
	program := filepath.Join(t.TempDir(), "zklab")
	run(t, "cp", os.Args[0], program)
	cmd, session := startHelperAs(t, program, "1", "ready", withoutRyuk)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if n := len(ours(t, session)); n < 1 {
		t.Fatalf("the test does not see the container: %d", n)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	await(t, session, "nothing left", func() bool { return len(ours(t, session)) == 0 })
}

// ours are the containers and networks of our servers that a session of the
// library has made. Other packages' tests have theirs at the same time.
func ours(t *testing.T, session string) []string {
	t.Helper()
	var all []string
	for _, args := range [][]string{{"ps", "-aq", "--no-trunc"}, {"network", "ls", "-q", "--no-trunc"}} {
		args = append(args, "--filter", "label=zklab.ensemble", "--filter", "label="+sessionLabel+session)
		all = append(all, strings.Fields(run(t, "docker", args...))...)
	}
	return all
}

func await(t *testing.T, session, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(afterDeath); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still waiting for %s; ours are %q", afterDeath, what, ours(t, session))
		}
	}
}

// startHelper runs this test binary as helper, in a session of its own, and returns
// when it has said line.
func startHelper(t *testing.T, size, line string, env ...string) (cmd *exec.Cmd, session string) {
	t.Helper()
	return startHelperAs(t, os.Args[0], size, line, env...)
}

func startHelperAs(t *testing.T, program, size, line string, env ...string) (cmd *exec.Cmd, session string) {
	t.Helper()
	cmd, session = exec.Command(program), newSession()
	cmd.Env = append(append(os.Environ(), helperEnv+"="+size, sessionEnv+"="+session), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		if said = append(said, lines.Text()); lines.Text() == line {
			return cmd, session
		}
	}
	t.Fatalf("the helper ended: %s", strings.Join(said, "\n"))
	return nil, ""
}
