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
	"zklab/internal/wiretap"
)

// The connection is lost before the delete is sent, and the session lives on:
// the node goes all the same, and a later acquire is not confused by it.
func TestCatalogue_43_releaseOverALostConnection(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	m := c.mutex()
	for _, breaks := range []func(wiretap.Match) bool{c.relay.FailWrite, c.relay.DropReply} {
		h := a.acquires(m)
		breaks(wiretap.Match{Op: wiretap.OpDelete, PathPrefix: a.path})
		if err := h.Release(within(t, patience)); err != nil && !errors.Is(err, curatorlike.ErrReleasePending) {
			t.Errorf("release: %v", err)
		}
		if h.Context().Err() == nil {
			t.Error("the hold is certain after its release")
		}
		a.releases(a.acquires(m))
		a.clean()
	}
}

// A node that is gone already is released at once, and a deletion that is
// under way ends with the session that owned the node.
func TestCatalogue_44_deletionEnds(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	h := a.acquires(c.mutex())
	a.remove(path.Base(h.Path()))
	start := time.Now()
	if err := h.Release(within(t, patience)); err != nil {
		t.Errorf("release of a node that is gone: %v", err)
	}
	if !errors.Is(h.Lost(), curatorlike.ErrNodeDeleted) {
		t.Errorf("Lost() = %v, want ErrNodeDeleted", h.Lost())
	}
	if took := time.Since(start); took > patience/2 {
		t.Errorf("it took %v", took)
	}
	h = a.acquires(c.mutex())
	c.relay.Refuse(true)
	c.relay.Cut()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := h.Release(ctx); !errors.Is(err, curatorlike.ErrReleasePending) {
		t.Errorf("release without a connection: %v, want ErrReleasePending", err)
	}
	if err := c.relay.ExpireSession(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	deletes := c.relay.Counters().Requests[wiretap.OpDelete]
	c.relay.Refuse(false)
	a.releases(a.acquires(c.mutex())) // in the new session
	if n := c.relay.Counters().Requests[wiretap.OpDelete] - deletes; n != 1 {
		t.Errorf("%d deletes in the new session, want the one of its own lock", n)
	}
	a.clean()
}

// Without a connection every call returns when its context ends.
func TestCatalogue_45_timeoutsHoldWhileDisconnected(t *testing.T) {
	const limit, slack = 400 * time.Millisecond, 400 * time.Millisecond
	a := bench(t)
	c := a.client("c", curatorlike.WithSessionTimeout(10*time.Second))
	m, s := c.mutex(), c.semaphore(1)
	h := a.acquires(m)
	c.relay.Refuse(true)
	c.relay.Cut()
	calls := map[string]func(ctx context.Context) error{
		"Acquire":           func(ctx context.Context) error { _, err := m.Acquire(ctx); return err },
		"TryAcquire":        func(ctx context.Context) error { _, err := m.TryAcquire(ctx); return err },
		"Semaphore.Acquire": func(ctx context.Context) error { _, err := s.Acquire(ctx); return err },
		"Read.Acquire":      func(ctx context.Context) error { _, err := c.readWrite().Read().Acquire(ctx); return err },
		"Participants": func(ctx context.Context) error {
			_, err := curatorlike.Participants(ctx, c.Client, a.path)
			return err
		},
		"Revoke":  func(ctx context.Context) error { return curatorlike.Revoke(ctx, c.Client, h.Path()) },
		"Release": func(ctx context.Context) error { return h.Release(ctx) },
	}
	for name, call := range calls {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		start := time.Now()
		err := call(ctx)
		cancel()
		if took := time.Since(start); took > limit+slack {
			t.Errorf("%s with a limit of %v returned after %v", name, limit, took)
		}
		if err == nil {
			t.Errorf("%s succeeded without a connection", name)
		}
	}
}

// Foreign children, a chroot, credentials and missing parents.
func TestCatalogue_46_surroundings(t *testing.T) {
	t.Run("strangersDoNotStand_mutex", func(t *testing.T) { plays(t, mutexKind, 1, amongStrangers("X")) })
	t.Run("strangersDoNotStand_readWrite", func(t *testing.T) { plays(t, readWriteKind, 1, amongStrangers("X")) })
	t.Run("strangersDoNotStand_semaphore", func(t *testing.T) { plays(t, semaphoreKind, 1, amongStrangers("L")) })
	t.Run("strangersWithALostCreate", func(t *testing.T) {
		a := bench(t)
		a.plant(strangers...)
		c := a.client("c")
		c.losesReply(wiretap.OpCreate) // now the node is looked for among them
		a.releases(a.acquires(c.mutex()))
		a.clean()
	})
	t.Run("chroot", chrootIsKept)
	t.Run("credentialsSurviveAReconnect", credentialsSurvive)
	t.Run("parentsAreContainers", parentsAreContainers)
	t.Run("anyGoroutineReleases", func(t *testing.T) {
		a := bench(t)
		h := a.acquires(a.client("c").mutex())
		done := make(chan error)
		go func() { done <- h.Release(within(t, patience)) }()
		if err := <-done; err != nil {
			t.Error(err)
		}
		a.clean()
	})
}

func chrootIsKept(t *testing.T) {
	a := bench(t)
	c := a.client("c", curatorlike.WithChroot(a.path+"/house"))
	m, err := curatorlike.NewMutex(c.Client, "/locks/a")
	if err != nil {
		t.Fatal(err)
	}
	h := a.acquires(m)
	if !strings.HasPrefix(h.Path(), "/locks/a/") {
		t.Errorf("the hold's path is %s, want one below the chroot", h.Path())
	}
	a.suite.dirs = []string{"house/locks/a"}
	if n := a.children(); len(n) != 1 || path.Base(n[0]) != path.Base(h.Path()) {
		t.Errorf("the server has %v", n)
	}
	c.losesReply(wiretap.OpDelete)
	if err := h.Release(within(t, patience)); err != nil && !errors.Is(err, curatorlike.ErrReleasePending) {
		t.Error(err)
	}
	a.clean()
}

func credentialsSurvive(t *testing.T) {
	a := bench(t)
	c := a.client("c", curatorlike.WithAuth("digest", []byte("u:p")), curatorlike.WithACL(zk.DigestACL(zk.PermAll, "u", "p")))
	m, err := curatorlike.NewMutex(c.Client, a.path+"/guarded")
	if err != nil {
		t.Fatal(err)
	}
	for _, breaks := range []func(){func() {}, c.relay.Cut, c.expire} {
		h := a.acquires(m)
		breaks()
		if err := h.Release(within(t, patience)); err != nil && !errors.Is(err, curatorlike.ErrReleasePending) {
			t.Errorf("release: %v", err)
		}
	}
	if err := a.conn.AddAuth("digest", []byte("u:p")); err != nil {
		t.Fatal(err)
	}
	a.suite.dirs = []string{"guarded"}
	a.clean()
}

// Clients see no difference between a container and a plain node, but by what
// was asked for.
func parentsAreContainers(t *testing.T) {
	a := bench(t)
	c := a.client("c")
	m, err := curatorlike.NewMutex(c.Client, a.path+"/deep/down")
	if err != nil {
		t.Fatal(err)
	}
	a.releases(a.acquires(m))
	if n := c.relay.Counters().Requests[wiretap.OpCreateContainer]; n == 0 {
		t.Error("no container was asked for")
	}
}
