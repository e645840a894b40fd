package lockproof_test

import (
	"context"
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/curatorlike"
	"zklab/internal/lockproof"
	"zklab/internal/wiretap"
)

// client is a client of curatorlike behind a relay of its own.
type client struct {
	*curatorlike.Client
	a     *arena
	relay *wiretap.Relay
}

// bench is an arena for tests that use curatorlike directly.
func bench(t *testing.T) *arena {
	t.Helper()
	t.Parallel()
	return newArena(t, calmSuite("mutex", 1, ourMutex))
}

func (a *arena) client(who string, opts ...curatorlike.Option) *client {
	a.t.Helper()
	relay, err := wiretap.Start(within(a.t, patience), a.server, wiretap.Options{Name: who})
	if err != nil {
		a.t.Fatal(err)
	}
	opts = append([]curatorlike.Option{curatorlike.WithSessionTimeout(calmTimeout)}, opts...)
	c, err := curatorlike.Connect(within(a.t, patience), relay.Addr(), opts...)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() {
		relay.Heal()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := c.Close(ctx); err != nil && !errors.Is(err, curatorlike.ErrSuspended) && !errors.Is(err, curatorlike.ErrSessionLost) {
			a.t.Errorf("close %s: %v", who, err)
		}
		if err := relay.Close(); err != nil {
			a.t.Error(err)
		}
	})
	return &client{c, a, relay}
}

// mutex is the mutex of the arena.
func (c *client) mutex() *curatorlike.Mutex {
	return must(c.a.t, curatorlike.NewMutex)(c.Client, c.a.path)
}

func (c *client) readWrite() *curatorlike.RWMutex {
	return must(c.a.t, curatorlike.NewRWMutex)(c.Client, c.a.path)
}

// must makes a constructor fail the test in place of returning an error.
func must[L any](t testing.TB, f func(*curatorlike.Client, string, ...curatorlike.LockOption) (L, error)) func(*curatorlike.Client, string) L {
	t.Helper()
	return func(c *curatorlike.Client, path string) L {
		l, err := f(c, path)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

func (c *client) semaphore(max int) *curatorlike.Semaphore {
	c.a.t.Helper()
	s, err := curatorlike.NewSemaphore(c.Client, c.a.path, max)
	if err != nil {
		c.a.t.Fatal(err)
	}
	c.a.suite.dirs = semaphoreDirs
	return s
}

// expire ends the client's session at the server.
func (c *client) expire() {
	c.a.t.Helper()
	c.relay.Refuse(true)
	defer c.relay.Refuse(false)
	if err := c.relay.ExpireSession(within(c.a.t, patience)); err != nil {
		c.a.t.Fatal(err)
	}
}

// cut breaks the client's connection and waits until it has another one.
func (c *client) cut() {
	c.a.t.Helper()
	conns := c.relay.Counters().Conns
	c.relay.Cut()
	waitFor(c.a.t, patience, "the client is back", func() bool {
		return c.relay.Counters().Conns > conns && c.State() != curatorlike.Suspended
	})
}

// locker is any recipe with one hold.
type locker interface {
	Acquire(ctx context.Context) (*curatorlike.Hold, error)
}

// acquires fails the test if the lock is not granted.
func (a *arena) acquires(l locker) *curatorlike.Hold {
	a.t.Helper()
	h, err := l.Acquire(within(a.t, patience))
	if err != nil {
		a.t.Fatalf("acquire: %v", err)
	}
	return h
}

func (a *arena) releases(h *curatorlike.Hold) {
	a.t.Helper()
	if err := h.Release(within(a.t, patience)); err != nil {
		a.t.Fatalf("release %s: %v", h.Path(), err)
	}
}

// result is the end of an acquire that runs beside the test.
type result struct {
	hold *curatorlike.Hold
	err  error
}

func (a *arena) acquiring(ctx context.Context, l locker) <-chan result {
	done := make(chan result, 1)
	a.work.Go(func() {
		h, err := l.Acquire(ctx)
		done <- result{h, err}
	})
	return done
}

// queued starts an acquire and waits until its node is in the queue.
func (a *arena) queued(ctx context.Context, l locker) (<-chan result, string) {
	a.t.Helper()
	q := &acquisition{a: a, lock: l}
	node := a.queue(q, ctx)
	return q.done, node
}

// acquisition lets queue wait for an acquire.
type acquisition struct {
	contestant
	a    *arena
	lock locker
	done <-chan result
}

func (q *acquisition) name() string              { return "the acquire" }
func (q *acquisition) begin(ctx context.Context) { q.done = q.a.acquiring(ctx, q.lock) }

// await returns the result, or fails the test when there is none in time.
func (a *arena) await(done <-chan result, limit time.Duration, what string) result {
	a.t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(limit):
		a.t.Fatalf("%s: not within %v", what, limit)
		return result{}
	}
}

// granted awaits a hold.
func (a *arena) granted(done <-chan result) *curatorlike.Hold {
	a.t.Helper()
	r := a.await(done, patience, "the waiter's acquire")
	if r.err != nil {
		a.t.Fatalf("the waiter's acquire: %v", r.err)
	}
	return r.hold
}

// notYet requires that the acquire is still waiting.
func (a *arena) notYet(done <-chan result, why string) {
	a.t.Helper()
	select {
	case r := <-done:
		a.t.Fatalf("%s, but the acquire returned %v", why, r.err)
	case <-time.After(moment):
	}
}

// clean requires that nothing is left while the sessions live.
func (a *arena) clean() {
	a.t.Helper()
	a.found = nil
	a.empties()
	if len(a.found) > 0 {
		a.t.Errorf("left behind:\n%s", lockproof.Report(a.found))
	}
}

// ended waits for the end of the hold's context and requires its cause.
func (a *arena) endsWith(h *curatorlike.Hold, causes ...error) {
	a.t.Helper()
	select {
	case <-h.Context().Done():
	case <-time.After(patience):
		a.t.Fatalf("the hold's context did not end; want %v", causes)
	}
	for _, c := range causes {
		if errors.Is(context.Cause(h.Context()), c) {
			return
		}
	}
	a.t.Errorf("the hold's context ended with %v, want %v", context.Cause(h.Context()), causes)
}

// sessionOwns requires that the node is there and belongs to the hold's session.
func (a *arena) sessionOwns(h *curatorlike.Hold) {
	a.t.Helper()
	_, stat, err := a.conn.Get(h.Path())
	if err != nil {
		a.t.Fatalf("the node of a granted hold, %s: %v", h.Path(), err)
	}
	if stat.EphemeralOwner != h.SessionID() || stat.Czxid != h.Token() {
		a.t.Errorf("%s belongs to session 0x%x with czxid %d; the hold says session 0x%x and token %d",
			h.Path(), stat.EphemeralOwner, stat.Czxid, h.SessionID(), h.Token())
	}
}

// makes creates a node that belongs to nobody under test.
func (a *arena) makes(name string, flags int32) string {
	a.t.Helper()
	made, err := a.conn.Create(path.Join(a.path, name), nil, flags, zk.WorldACL(zk.PermAll))
	if err != nil {
		a.t.Fatal(err)
	}
	return strings.TrimPrefix(made, a.path+"/")
}

// plays runs a scenario with ours and requires that it passes.
func plays(t *testing.T, k kind, permits int, play scenario) {
	t.Helper()
	t.Parallel()
	a := newArena(t, ourSuite(k, permits))
	play(a)
	if vs := a.verdict(); len(vs) > 0 {
		t.Errorf("%s\n%s", lockproof.Report(vs), a.logTail(40))
	}
}

// strikes plays a bout of the fault matrix and requires that it passes.
func strikes(t *testing.T, recipe, name string, round int) {
	t.Helper()
	t.Parallel()
	for i := range faults {
		if f := &faults[i]; f.name == name {
			playBout(t, recipeNamed(recipe), f, round, watchWeather(t))
			return
		}
	}
	t.Fatalf("no fault %q", name)
}
