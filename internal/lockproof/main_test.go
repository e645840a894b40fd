package lockproof_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		os.Exit(childMain(spec))
	}
	flag.Parse()
	// Contestants wait for timeouts most of the time, not for a processor.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	zktest.Main(m, zkserver.Options{}, nil)
}

// waitFor polls until ok, because what it waits for has no event of its own.
func waitFor(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

// observer is a session of the test itself, not of any contestant.
func observer(t testing.TB) *zk.Conn {
	t.Helper()
	conn := connect(t, servers(t)...)
	t.Cleanup(conn.Close)
	return conn
}

// connect opens a session, which the caller closes.
func connect(t testing.TB, addrs ...string) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(addrs, 20*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}), zk.WithDialer(dialBounded))
	if err != nil {
		t.Fatal(err)
	}
	for limit := time.After(patience); ; {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn
			}
		case <-limit:
			t.Fatal("the observer got no session")
		}
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func servers(t testing.TB) []string {
	return strings.Split(zktest.Need(t).Connect(), ",")
}

// lockPath makes a parent for one test's locks and removes it with all that is
// in it. It is made before any lock, so that it is no container and its
// sequence numbers never start anew.
func lockPath(t testing.TB, conn *zk.Conn) string {
	t.Helper()
	return lockPathBelow(t, conn, zktest.Need(t).Chroot())
}

func lockPathBelow(t testing.TB, conn *zk.Conn, root string) string {
	t.Helper()
	path := fmt.Sprintf("%s/proof-%d-%08x", root, os.Getpid(), rand.Uint32())
	if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeTree(conn, path) })
	return path
}

// makeDirs makes the directories of a recipe's nodes below its path, for the
// same reason: the recipe would make containers, and one that is empty at the
// wrong moment goes and comes back with its numbers at 0.
func makeDirs(t testing.TB, conn *zk.Conn, path string, dirs []string) {
	t.Helper()
	for _, dir := range dirs {
		if _, err := conn.Create(path+"/"+dir, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
}

func removeTree(conn *zk.Conn, path string) {
	children, _, err := conn.Children(path)
	if err != nil {
		return
	}
	for _, c := range children {
		removeTree(conn, path+"/"+c)
	}
	_ = conn.Delete(path, -1)
}

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// leavesNothing requires that after the test, its subtests included, no
// goroutine is left and the server keeps as many watches as before.
func leavesNothing(t *testing.T) {
	t.Helper()
	server := servers(t)[0]
	running, watches := goleak.IgnoreCurrent(), watchCount(t, server)
	t.Cleanup(func() {
		if err := goleak.Find(running); err != nil {
			t.Error(err)
		}
		// Sessions that were cut off end by their timeout.
		waitFor(t, patience, "the server's watch count gets back", func() bool { return watchCount(t, server) <= watches })
	})
}

// watchCount is the number of all watches at the server, child watches
// included.
func watchCount(t testing.TB, server string) int {
	t.Helper()
	text, err := zkserver.Ask(within(t, patience), server, "mntr")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "zk_watch_count" {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("mntr of %s says no zk_watch_count", server)
	return 0
}
