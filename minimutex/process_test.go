package minimutex

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
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver/zktest"
)

// child is a contender in a process of its own. Arguments: connect string, session
// timeout, lock, rounds, number to increment. It says "holds" on standard output
// when it holds for the first time; with no rounds it then holds until its standard
// input is closed.
func child(args []string) {
	if err := contend(args, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func contend(args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) != 5 {
		return fmt.Errorf("%d arguments, want 5", len(args))
	}
	session, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	rounds, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	conn, _, err := zk.Connect(strings.Split(args[0], ","), session, zk.WithLogger(silent{}))
	if err != nil {
		return err
	}
	defer conn.Close()
	m, ctx := New(conn, args[2]), context.Background()
	if rounds == 0 {
		if err := m.Acquire(ctx); err != nil {
			return err
		}
		fmt.Fprintln(stdout, "holds")
		_, _ = io.Copy(io.Discard, stdin)
	}
	for range rounds {
		if err := errors.Join(m.Acquire(ctx), increment(conn, args[4]), m.Release(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func startChild(t *testing.T, session time.Duration, lock string, rounds int, number string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], address(t), session.String(), lock, strconv.Itoa(rounds), number)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // closed by Wait or with this process
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // one that has ended already takes no harm
		_ = cmd.Wait()
	})
	return cmd, bufio.NewReader(out)
}

func TestMutex_20processes_excludeEachOther(t *testing.T) {
	const processes, rounds = 20, 3
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	number := newNumber(t, conn, lock)
	children := make([]*exec.Cmd, processes)
	for i := range children {
		children[i], _ = startChild(t, 10*time.Second, lock, rounds, number)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Errorf("process %d: %v", c.Process.Pid, err)
		}
	}
	wantNumber(t, conn, number, processes*rounds)
	waitChildren(t, conn, lock, 0)
}

func TestMutex_killHolder_freeWithinTAndTick(t *testing.T) {
	t.Parallel()
	const session = 2 * time.Second // negotiated as asked: four ticks of the test server
	tick := zktest.Need(t).Tick()
	lock := lockPath(t)
	conn := connect(t, 10*time.Second)
	holder, out := startChild(t, session, lock, 0, "-")
	if line, err := out.ReadString('\n'); err != nil || line != "holds\n" {
		t.Fatalf("the holder said %q, %v", line, err)
	}
	m := New(connect(t, 10*time.Second), lock)
	done := acquire(within(t, patience), m)
	waitChildren(t, conn, lock, 2)
	killed := time.Now()
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	mustGet(t, "the waiter's acquire", done)
	took := time.Since(killed)
	// The server may have heard the holder up to a heartbeat (T/3) before the kill.
	if lo, hi := session-session/3-100*time.Millisecond, session+tick+time.Second; took < lo || took > hi {
		t.Errorf("lock free %v after kill -9, want it within [%v, %v]", took, lo, hi)
	}
	t.Logf("T %v, tick %v: free %v after kill -9", session, tick, took.Round(time.Millisecond))
	mustRelease(t, m)
}
