package minimutex

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// childEnv makes the test binary a contender of its own; see process_test.go.
const childEnv = "ZKLAB_MINIMUTEX_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child(os.Args[1:])
	}
	flag.Parse()
	// Those that run in parallel wait for timeouts, not for a processor.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	zktest.Main(m, zkserver.Options{}, nil)
}

const patience = 20 * time.Second // for events that must come; nothing waits it out when all is well

type silent struct{}

func (silent) Printf(string, ...any) {}

// lockPath makes an empty lock for one test.
func lockPath(t testing.TB) string {
	t.Helper()
	e := zktest.Need(t)
	conn := connect(t, 10*time.Second)
	// Sequential, because -count runs a test again on the same server.
	prefix := e.Chroot() + "/" + strings.NewReplacer("/", "-", "#", "-").Replace(t.Name()) + "-"
	p, err := conn.Create(prefix, nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatalf("create %s: %v", prefix, err)
	}
	return p
}

// connect opens a session of its own, through a tap when one is given.
func connect(t testing.TB, session time.Duration, taps ...*tap) *zk.Conn {
	t.Helper()
	return connectTo(t, address(t), session, taps...)
}

func connectTo(t testing.TB, addr string, session time.Duration, taps ...*tap) *zk.Conn {
	t.Helper()
	dial := zk.WithDialer(net.DialTimeout)
	if len(taps) == 1 {
		dial = zk.WithDialer(taps[0].dial)
	}
	conn, events, err := zk.Connect([]string{addr}, session, zk.WithLogger(silent{}), dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for deadline := time.After(patience); ; {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn
			}
		case <-deadline:
			t.Fatalf("no session at %v within %v", addr, patience)
		}
	}
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// acquire starts an acquire and returns where its outcome will arrive.
func acquire(ctx context.Context, m *Mutex) <-chan error {
	done := make(chan error, 1)
	go func() { done <- m.Acquire(ctx) }()
	return done
}

func mustAcquire(t testing.TB, m *Mutex) {
	t.Helper()
	if err := m.Acquire(within(t, patience)); err != nil {
		t.Fatalf("Acquire: %v", err)
	}
}

func mustRelease(t testing.TB, m *Mutex) {
	t.Helper()
	if err := m.Release(within(t, patience)); err != nil {
		t.Fatalf("Release: %v", err)
	}
}

func mustGet(t testing.TB, what string, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	case <-time.After(patience):
		t.Fatalf("%s: nothing after %v", what, patience)
	}
}

// waitChildren waits until the lock has n children. It polls, so as to leave no
// watch behind that the server would count.
func waitChildren(t testing.TB, conn *zk.Conn, lock string, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		children, _, err := conn.Children(lock)
		if err != nil {
			t.Fatal(err)
		}
		if len(children) == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s has children %v, want %d of them", lock, children, n)
		}
	}
}

// waitWatched waits until the server has data watches on n nodes of the lock.
func waitWatched(t testing.TB, lock string, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		text := ask(t, "wchp")
		if strings.Contains(text, "not in the whitelist") {
			t.Skip("this server does not list its watches")
		}
		if strings.Count(text, lock+"/lock-") == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("watched: %s, want %d nodes of %s", text, n, lock)
		}
	}
}

func ask(t testing.TB, word string) string {
	t.Helper()
	text, err := zkserver.Ask(within(t, patience), address(t), word)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// address is the one server that all clients of these tests use, so that its
// counters count them all.
func address(t testing.TB) string { return zktest.Need(t).Servers()[0].Addr() }

// counter reads one of the server's own counters.
func counter(t testing.TB, name string) int {
	t.Helper()
	for line := range strings.Lines(ask(t, "mntr")) {
		if value, ok := strings.CutPrefix(line, name+"\t"); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(f)
		}
	}
	t.Skipf("this server does not count %s", name)
	return 0
}

// increment adds one to a number in ZooKeeper in two steps, so that two at once
// would lose one.
func increment(conn *zk.Conn, node string) error {
	data, _, err := conn.Get(node)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return err
	}
	_, err = conn.Set(node, []byte(strconv.Itoa(n+1)), -1)
	return err
}

func newNumber(t testing.TB, conn *zk.Conn, lock string) string {
	t.Helper()
	node := path.Dir(lock) + "/number-" + path.Base(lock)
	if path.Dir(lock) == "/" {
		node = "/number-" + path.Base(lock)
	}
	if _, err := conn.Create(node, []byte("0"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	return node
}

func wantNumber(t testing.TB, conn *zk.Conn, node string, want int) {
	t.Helper()
	data, _, err := conn.Get(node)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != fmt.Sprint(want) {
		t.Errorf("%s is %s after %d increments under the lock", node, data, want)
	}
}
