package docker_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"zklab/internal/zkserver"
)

const (
	helperEnv  = "ZKLAB_DOCKER_TEST_HELPER"
	afterDeath = 20 * time.Second // an engine on a busy machine takes seconds for a container
)

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

// TestGuardian_parentDies_nothingIsLeft kills a process that runs containers.
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
			before := ours(t)
			cmd := startHelper(t, c.size, c.when)
			if c.when == "starting" {
				await(t, "a first container", func() bool { return len(minus(ours(t), before)) > 0 })
			} else if n := len(minus(ours(t), before)); n < 1 {
				t.Fatalf("the test does not see the containers: %d", n)
			}
			if err := c.kill(cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			died := time.Now()
			await(t, "nothing left", func() bool { return len(minus(ours(t), before)) == 0 })
			t.Logf("nothing left after %v", time.Since(died).Round(time.Millisecond))
		})
	}
}

// ours are the containers and networks with our label, whoever made them.
func ours(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, args := range [][]string{{"ps", "-aq", "--no-trunc"}, {"network", "ls", "-q", "--no-trunc"}} {
		out, err := exec.Command("docker", append(args, "--filter", "label=zklab.ensemble")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Fields(string(out))...)
	}
	return all
}

func minus(all, those []string) []string {
	known := map[string]bool{}
	for _, s := range those {
		known[s] = true
	}
	var rest []string
	for _, s := range all {
		if !known[s] {
			rest = append(rest, s)
		}
	}
	return rest
}

func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(afterDeath); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still waiting for %s; ours are %q", afterDeath, what, ours(t))
		}
	}
}

// startHelper runs this test binary as helper and returns when it has said line.
func startHelper(t *testing.T, size, line string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+size)
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
			return cmd
		}
	}
	t.Fatalf("the helper ended: %s", strings.Join(said, "\n"))
	return nil
}
