package curatorlike

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"zklab/internal/wiretap"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	skip := flag.Lookup("test.skip")
	if skip.Value.String() == "" { // examples cannot skip by themselves
		_ = skip.Value.Set("^Example")
	}
	// Empty containers go after half a second: parents vanish all the time.
	o := zkserver.Options{JavaFlags: []string{"-Dznode.container.checkIntervalMs=500"}}
	zktest.Main(m, o, func(e *zkserver.Ensemble) {
		makeRoot(e)
		ExampleServers = e.Connect() + e.Chroot()
		if skip.Value.String() == "^Example" {
			_ = skip.Value.Set("")
		}
	})
}

// makeRoot creates the parent of all locks, open to everybody and no container: a
// client that creates it anew may have another access list than the next test needs.
func makeRoot(e *zkserver.Ensemble) {
	c, ev, err := zk.Connect(strings.Split(e.Connect(), ","), testT, zk.WithLogInfo(false), zk.WithLogger(zkLogger{defaultsLogger}))
	if err != nil {
		panic(err)
	}
	go func() {
		for range ev {
		}
	}()
	defer c.Close()
	for _, p := range []string{e.Chroot(), e.Chroot() + "/curatorlike"} {
		if p == "" {
			continue
		}
		if _, err := c.Create(p, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			panic(err)
		}
	}
}

// testT is the session timeout of the tests: 2 s is four of the server's ticks.
const testT = 2 * time.Second

var paths atomic.Int64

// lockPath returns a path of its own for the test.
func lockPath(t testing.TB) string {
	name := strings.NewReplacer("/", "_", "=", "_", "#", "_").Replace(t.Name())
	return fmt.Sprintf("/curatorlike/%s-%d", name, paths.Add(1))
}

// noLeak fails the test when it leaves a goroutine. Call it first.
func noLeak(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// within returns a context that outlasts everything a test may wait for.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func connectString(t testing.TB) string {
	e := zktest.Need(t)
	return e.Connect() + e.Chroot()
}

// open connects a client that is closed at the end of the test.
func open(t testing.TB, opts ...Option) *Client {
	t.Helper()
	return openAt(t, connectString(t), opts...)
}

func openAt(t testing.TB, servers string, opts ...Option) *Client {
	t.Helper()
	opts = append([]Option{WithSessionTimeout(testT)}, opts...)
	c, err := Connect(within(t, 20*time.Second), servers, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(within(t, 20*time.Second)); err != nil && !errors.Is(err, ErrSuspended) {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

// tapped connects a client through a relay of its own.
func tapped(t testing.TB, opts ...Option) (*Client, *wiretap.Relay) {
	t.Helper()
	e := zktest.Need(t)
	target, _, _ := strings.Cut(e.Connect(), ",")
	r, err := wiretap.Start(context.Background(), target, wiretap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return openAt(t, r.Addr()+e.Chroot(), opts...), r
}

// raw opens a bare go-zookeeper connection, for what a lock would not do.
func raw(t testing.TB) *zk.Conn {
	t.Helper()
	e := zktest.Need(t)
	c, ev, err := zk.Connect(strings.Split(e.Connect(), ","), testT, zk.WithLogInfo(false), zk.WithLogger(zkLogger{defaultsLogger}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		for range ev {
		}
	})
	for {
		if e := receive(t, ev); e.State == zk.StateHasSession {
			return c
		}
	}
}

var defaultsLogger = defaults().logger

// fullPath is a path as a raw connection sees it.
func fullPath(t testing.TB, path string) string { return zktest.Need(t).Chroot() + path }

// awaitEmpty waits until the directory has no child, or is gone.
func awaitEmpty(t testing.TB, z *zk.Conn, path string) {
	t.Helper()
	awaitChildren(t, z, path, func(names []string) bool { return len(names) == 0 })
}

func awaitCount(t testing.TB, z *zk.Conn, path string, n int) {
	t.Helper()
	awaitChildren(t, z, path, func(names []string) bool { return len(names) == n })
}

// awaitChildren waits, by watches, until ok likes the children.
func awaitChildren(t testing.TB, z *zk.Conn, path string, ok func([]string) bool) []string {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		names, _, ch, err := z.ChildrenW(fullPath(t, path))
		if errors.Is(err, zk.ErrNoNode) {
			names = nil
		} else if err != nil {
			t.Fatal(err)
		}
		if ok(names) {
			return names
		}
		if ch == nil {
			time.Sleep(5 * time.Millisecond) // nothing to watch yet
			continue
		}
		select {
		case <-ch:
		case <-limit:
			t.Fatalf("children of %s: %v", path, names)
		}
	}
}

// receive waits for a value, or for the channel's end.
func receive[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(40 * time.Second): // longer than any context of these tests
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// awaitGone waits, by watches, until the node does not exist.
func awaitGone(t testing.TB, z *zk.Conn, path string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		ok, _, gone, err := z.ExistsW(fullPath(t, path))
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		select {
		case <-gone:
		case <-limit:
			t.Fatalf("%s is still there", path)
		}
	}
}

// await asks until so holds, for what sends no event.
func await(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came: %s", what)
		}
	}
}

// plainParents creates the nodes above path as plain ones, which no server
// deletes. They go at the end of the test.
func plainParents(t testing.TB, z *zk.Conn, path string) {
	t.Helper()
	parents := strings.Split(parentOf(fullPath(t, path)), "/")
	for i := range parents[1:] {
		p := strings.Join(parents[:i+2], "/")
		_, err := z.Create(p, nil, 0, zk.WorldACL(zk.PermAll))
		if err == nil {
			t.Cleanup(func() { _ = z.Delete(p, -1) })
		} else if !errors.Is(err, zk.ErrNodeExists) {
			t.Fatal(err)
		}
	}
}

// must fails the test on an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func mutexOn(t testing.TB, c *Client, path string, opts ...LockOption) *Mutex {
	t.Helper()
	return must[*Mutex](t)(NewMutex(c, path, opts...))
}

// awaitState waits until the client says st.
func awaitState(t testing.TB, states <-chan State, st State) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case got := <-states:
			if got == st {
				return
			}
		case <-limit:
			t.Fatalf("never %v", st)
		}
	}
}

// expire ends the session of the relay's client at the server. The client may
// not come back meanwhile: it would take its session away from the relay.
func expire(t testing.TB, relay *wiretap.Relay) {
	t.Helper()
	relay.Refuse(true)
	defer relay.Refuse(false)
	if err := relay.ExpireSession(within(t, 10*time.Second)); err != nil && !errors.Is(err, wiretap.ErrSessionOver) {
		t.Fatal(err)
	}
}
