package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/contestant"
	"zklab/internal/wiretap"
	"zklab/internal/zkdial"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

func TestMain(m *testing.M) { zktest.Main(m, zkserver.Options{}, nil) }

const patience = 20 * time.Second

// runs tells the runs of one test apart, which -count puts on one server.
var runs atomic.Int64

// lockPath is a lock that belongs to this test; neither it nor its parent exists.
func lockPath(t testing.TB) string {
	name := fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), runs.Add(1))
	return zktest.Need(t).Chroot() + "/" + name + "/lock"
}

// address is the one server that the clients of these tests use, so that its
// counters count them all.
func address(t testing.TB) string { return zktest.Need(t).Servers()[0].Addr() }

// openLock opens a member's session and waits until it is there. The lock is closed
// at the test's end.
func openLock(t testing.TB, r contestant.Recipe, lock string) contestant.Lock {
	t.Helper()
	return openMember(t, r, contestant.Member{Lock: lock})
}

func openMember(t testing.TB, r contestant.Recipe, m contestant.Member) contestant.Lock {
	t.Helper()
	there := make(chan struct{}, 16)
	m.Who, m.Servers, m.Session = "m", address(t), 10*time.Second
	l, err := r(m,
		func(s contestant.Session) {
			if s.State == contestant.Connected && s.ID != 0 {
				there <- struct{}{}
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	select {
	case <-there:
	case <-time.After(patience):
		t.Fatal("no session")
	}
	return l
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// The same owner gets the library's mutex again; the mini-mutex waits behind itself.
func TestRecipe_acquiredTwice(t *testing.T) {
	lock := lockPath(t)
	l := openLock(t, reentrant, lock)
	if _, err := l.Acquire(within(t)); err != nil {
		t.Fatal(err)
	}
	if line := ephemerals(t, admin(t), lock); len(line) != 1 {
		t.Errorf("in line: %v, want one node", line)
	}
	if err := l.Release(within(t)); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, lock)
	l = openLock(t, twice, lock)
	ctx, cancel := context.WithCancel(within(t))
	got := make(chan error, 1)
	go func() {
		_, err := l.Acquire(ctx)
		got <- err
	}()
	conn := admin(t)
	for deadline := time.Now().Add(patience); len(ephemerals(t, conn, lock)) < 2; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not stand in line a second time")
		}
	}
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("the second acquire: %v, want it to wait until it is given up", err)
	}
	wantEmpty(t, lock)
}

func forEach(t *testing.T, test func(t *testing.T, r contestant.Recipe)) {
	for _, name := range []string{"mini", "naive", "unfair", "mutex", "write", "semaphore", "semaphore-mutex"} {
		t.Run(name, func(t *testing.T) { test(t, All()[name]) })
	}
}

func TestRecipe_20sessions_excludeEachOther(t *testing.T) {
	const sessions, rounds = 20, 3
	forEach(t, func(t *testing.T, r contestant.Recipe) {
		lock := lockPath(t)
		var inside atomic.Int32
		var tokens sync.Map
		var all sync.WaitGroup
		for range sessions {
			l := openLock(t, r, lock)
			all.Go(func() {
				for range rounds {
					g, err := l.Acquire(within(t))
					if err != nil {
						t.Errorf("Acquire: %v", err)
						return
					}
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d hold the lock at once", n)
					}
					if _, twice := tokens.LoadOrStore(g.Token, true); twice || g.Token == 0 || g.Session == 0 {
						t.Errorf("grant %+v: want a token of its own", g)
					}
					inside.Add(-1)
					if err := l.Release(within(t)); err != nil {
						t.Errorf("Release: %v", err)
					}
				}
			})
		}
		all.Wait()
		wantEmpty(t, lock)
	})
}

// What makes the recipes different: who wakes up when one of ten lets go.
func TestRecipe_10sessions_wakeups(t *testing.T) {
	const n = 10
	for name, want := range map[string]func(waiting int) int{
		"mini":   func(int) int { return 1 },
		"naive":  func(waiting int) int { return waiting },
		"unfair": func(waiting int) int { return waiting },
	} {
		t.Run(name, func(t *testing.T) {
			lock := lockPath(t)
			locks := make([]contestant.Lock, n)
			for i := range locks {
				locks[i] = openLock(t, All()[name], lock)
			}
			if _, err := locks[0].Acquire(within(t)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var waiting sync.WaitGroup
			defer waiting.Wait()
			defer cancel()
			got := make(chan struct{}, n)
			for _, l := range locks[1:] {
				waiting.Go(func() {
					if _, err := l.Acquire(ctx); err == nil {
						got <- struct{}{}
					}
				})
			}
			waitCounter(t, "zk_watch_count", n-1)
			before := fired(t)
			if err := locks[0].Release(within(t)); err != nil {
				t.Fatal(err)
			}
			<-got
			if got, want := fired(t)-before, want(n-1); got != want {
				t.Errorf("one release woke %d of %d, want %d", got, n-1, want)
			}
		})
	}
}

func fired(t *testing.T) int {
	return counter(t, "zk_sum_node_deleted_watch_count") + counter(t, "zk_sum_node_children_watch_count")
}

func waitCounter(t *testing.T, name string, want int) {
	t.Helper()
	for deadline := time.Now().Add(patience); counter(t, name) != want; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s is %d, want %d", name, counter(t, name), want)
		}
	}
}

func counter(t *testing.T, name string) int {
	t.Helper()
	text, err := zkserver.Ask(within(t), address(t), "mntr")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
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

func TestRecipe_cancelled_leavesNothing(t *testing.T) {
	forEach(t, func(t *testing.T, r contestant.Recipe) {
		lock := lockPath(t)
		a, b := openLock(t, r, lock), openLock(t, r, lock)
		if _, err := a.Acquire(within(t)); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
			_, err := b.Acquire(ctx)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Acquire with %d ms: %v, want %v", i, err, context.DeadlineExceeded)
			}
		}
		if err := a.Release(within(t)); err != nil {
			t.Fatal(err)
		}
		wantEmpty(t, lock)
	})
}

// Who is to stand in line before the server answers does so when it answers.
func TestRecipe_serverRefusesAtFirst_acquiresLater(t *testing.T) {
	forEach(t, func(t *testing.T, r contestant.Recipe) {
		t.Parallel()
		relay, err := wiretap.Start(t.Context(), address(t), wiretap.Options{Name: "m"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = relay.Close() })
		relay.Refuse(true)
		l, err := r(contestant.Member{Who: "m", Servers: relay.Addr(), Lock: lockPath(t), Session: 4 * time.Second}, func(contestant.Session) {})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		got := make(chan error, 1)
		go func() {
			_, err := l.Acquire(within(t))
			got <- err
		}()
		select {
		case err := <-got:
			t.Fatalf("Acquire returned %v while it was refused", err)
		case <-time.After(300 * time.Millisecond): // the first try, and the error after it, take a moment
		}
		relay.Refuse(false)
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		if err := l.Release(within(t)); err != nil {
			t.Error(err)
		}
	})
}

func TestRecipe_nodeDeletedByOthers_releaseSaysLost(t *testing.T) {
	forEach(t, func(t *testing.T, r contestant.Recipe) {
		l := openLock(t, r, lockPath(t))
		g, err := l.Acquire(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := admin(t).Delete(g.Node, -1); err != nil {
			t.Fatal(err)
		}
		if err := l.Release(within(t)); err == nil {
			t.Error("Release of a lock that was lost before is no error")
		}
	})
}

func TestUnfair_ordinaryNodeAtPath_isAnError(t *testing.T) {
	lock := lockPath(t)
	l := openLock(t, unfair, lock)
	conn := admin(t)
	for _, p := range []string{path.Dir(lock), lock} {
		if _, err := conn.Create(p, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Acquire(within(t)); err == nil || !strings.Contains(err.Error(), "ordinary node") {
		t.Errorf("Acquire at an ordinary node: %v", err)
	}
}

func admin(t *testing.T) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{address(t)}, 10*time.Second, zk.WithLogger(zkdial.Silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// wantEmpty waits until the lock has neither holder nor waiters: no node of any
// session is left at its path or below.
func wantEmpty(t *testing.T, lock string) {
	t.Helper()
	conn := admin(t)
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if left = ephemerals(t, conn, lock); len(left) == 0 {
			return
		}
	}
	t.Errorf("%s is not empty: %v", lock, left)
}

func ephemerals(t *testing.T, conn *zk.Conn, node string) (found []string) {
	t.Helper()
	children, stat, err := conn.Children(node)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if stat.EphemeralOwner != 0 {
		return []string{node}
	}
	for _, c := range children {
		found = append(found, ephemerals(t, conn, node+"/"+c)...)
	}
	return found
}

// acquires says whether a lock is granted, and false when it is not soon.
func acquires(t *testing.T, l contestant.Lock) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := l.Acquire(ctx)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return err == nil
}

func TestReadWrite_readersShare_writersDoNot(t *testing.T) {
	lock := lockPath(t)
	r1, r2, w := openLock(t, read, lock), openLock(t, read, lock), openLock(t, write, lock)
	if !acquires(t, r1) || !acquires(t, r2) {
		t.Error("two readers do not share")
	}
	if acquires(t, w) {
		t.Error("a writer entered beside two readers")
	}
	for _, l := range []contestant.Lock{r1, r2} {
		if err := l.Release(within(t)); err != nil {
			t.Error(err)
		}
	}
	if !acquires(t, w) {
		t.Error("the writer does not get the free lock")
	}
	if acquires(t, r1) {
		t.Error("a reader entered beside a writer")
	}
}

func TestSemaphore_2leases_for3(t *testing.T) {
	lock := lockPath(t)
	var locks []contestant.Lock
	for range 3 {
		locks = append(locks, openMember(t, semaphore, contestant.Member{Lock: lock, Leases: 2}))
	}
	if !acquires(t, locks[0]) || !acquires(t, locks[1]) {
		t.Error("two leases are not given out")
	}
	if acquires(t, locks[2]) {
		t.Error("a third lease of two was given out")
	}
	if err := locks[0].Release(within(t)); err != nil {
		t.Error(err)
	}
	if !acquires(t, locks[2]) {
		t.Error("a returned lease is not given out")
	}
}

// Without a server a recipe of the library still closes, as soon as the client library lets go.
func TestCurator_noServer_closes(t *testing.T) {
	l, err := mutex(contestant.Member{Who: "m", Servers: "127.0.0.1:1", Lock: "/l", Session: time.Second}, func(contestant.Session) {})
	if err != nil {
		t.Fatal(err)
	}
	if acquires(t, l) {
		t.Error("granted without a server")
	}
	began := time.Now()
	if err := l.Close(); err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("Close: %v after %v", err, time.Since(began))
	}
}
