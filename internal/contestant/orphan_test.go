package contestant_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/contestant"
)

// parent is a lab that spawns three processes, of which the first is stopped, says
// their numbers, and waits to be killed.
func parent() {
	var pids []string
	for range 3 {
		p, err := contestant.Spawn(context.Background(), spec(), func(contestant.Report) {})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if len(pids) == 0 {
			if err := p.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		pids = append(pids, strconv.Itoa(p.Pid()))
	}
	fmt.Println(strings.Join(pids, " "))
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or the test has gone
	os.Exit(0)
}

// ended says whether a process does nothing any more. One that was left to init may
// stay a zombie for as long as init does not look.
func ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false // no /proc here: only the signal tells
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

func TestProcess_killParent_nobodyLeftWithin2s(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=parent", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Process.Kill()
		t.Fatalf("the lab said %q, %v", line, err)
	}
	must(t, cmd.Process.Kill())
	killed := time.Now()
	_ = cmd.Wait()
	for _, text := range strings.Fields(line) {
		pid, err := strconv.Atoi(text)
		must(t, err)
		for !ended(pid) {
			if time.Since(killed) > 2*time.Second {
				t.Errorf("process %d is left 2 s after kill -9 of its parent", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	t.Logf("nobody left %v after kill -9 of the parent", time.Since(killed).Round(time.Millisecond))
}

// raw starts the process's side without Spawn, so without a parent-death signal.
func raw(t *testing.T) (cmd *exec.Cmd, in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=child", "GORACE=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err = cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // one that has ended already takes no harm
		_ = cmd.Wait()
	})
	return cmd, in, out
}

func wantExit(t *testing.T, cmd *exec.Cmd, within time.Duration) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("exit: %v", err)
		}
	case <-time.After(within):
		t.Errorf("still running %v after its standard input was closed", within)
		_ = cmd.Process.Kill()
		<-done
	}
}

func TestMain_closeStdin_endsSessionAndExits(t *testing.T) {
	conn := connect(t)
	m := newMember(t, "amber", "mini")
	cmd, in, out := raw(t)
	_, err := fmt.Fprintf(in, `{"v":1,"op":"open","member":{"who":"amber","servers":%q,"lock":%q,"recipe":"mini","session_ns":20000000000,"join":true}}`+"\n", m.Servers, m.Lock)
	must(t, err)
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), `"holds"`) {
	}
	must(t, in.Close())
	for lines.Scan() { // the last reports, and the end
	}
	wantExit(t, cmd, 2*time.Second)
	_, _, err = conn.Get(m.Lock + "/lock-0000000000")
	if !errors.Is(err, zk.ErrNoNode) {
		t.Errorf("the node of a process that left in order: %v, want %v", err, zk.ErrNoNode)
	}
}

// A parent that sends and does not read: the process neither grows nor hangs, and
// still sees that its standard input ends.
func TestMain_stdoutNotRead_staysBounded(t *testing.T) {
	cmd, in, _ := raw(t)
	garbage := []byte(strings.Repeat("garbage\n", 1000))
	for range 300 {
		_, err := in.Write(garbage)
		must(t, err)
	}
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)); err == nil {
		for line := range strings.Lines(string(status)) {
			var kb int
			if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 && kb > 200_000 {
				t.Errorf("%d kB resident after 300,000 refused commands", kb)
			}
		}
	}
	must(t, in.Close())
	wantExit(t, cmd, 3*time.Second)
}
