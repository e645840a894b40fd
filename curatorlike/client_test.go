package curatorlike

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/wiretap"
)

func TestConnect_badArguments(t *testing.T) {
	noLeak(t)
	ctx := within(t, 5*time.Second)
	for _, one := range []struct {
		servers string
		opt     Option
		want    error
	}{
		{"", nil, ErrBadArgument},
		{"/chroot", nil, ErrBadArgument},
		{"127.0.0.1:1", WithSessionTimeout(0), ErrBadArgument},
		{"127.0.0.1:1", WithSessionTimeout(30 * 24 * time.Hour), ErrBadArgument},
		{"127.0.0.1:1/shop,127.0.0.1:2/shop", nil, ErrBadArgument},
		{"127.0.0.1:1/shop", WithChroot("/other"), ErrBadArgument},
		{"127.0.0.1:1", WithACL(nil), ErrBadArgument},
		{"127.0.0.1:1", WithTick(-1), ErrBadArgument},
		{"127.0.0.1:1", WithTLS(nil), ErrBadArgument},
		{"127.0.0.1:1", WithChroot("no/slash"), ErrInvalidPath},
		{"127.0.0.1:1/a//b", nil, ErrInvalidPath},
	} {
		opts := []Option{}
		if one.opt != nil {
			opts = append(opts, one.opt)
		}
		if c, err := Connect(ctx, one.servers, opts...); !errors.Is(err, one.want) || c != nil {
			t.Errorf("%q: %v, want %v", one.servers, err, one.want)
		}
	}
	var none context.Context
	if _, err := Connect(none, "127.0.0.1:1"); !errors.Is(err, ErrBadArgument) {
		t.Error(err)
	}
}

// TestConnect_nobodyListens: it returns on time and leaves nothing.
func TestConnect_nobodyListens(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Connect(ctx, "127.0.0.1:1", WithSessionTimeout(testT))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Error(err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Error("took", took)
	}
}

// TestConnect_silentServer accepts and never answers, as a stopped process does.
func TestConnect_silentServer(t *testing.T) {
	noLeak(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := Connect(ctx, ln.Addr().String(), WithSessionTimeout(testT)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestConnect_oneOfTwoServersIsSilent: the other one is tried in time.
func TestConnect_oneOfTwoServersIsSilent(t *testing.T) {
	noLeak(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	servers, chroot, _ := strings.Cut(connectString(t), "/")
	if chroot != "" {
		chroot = "/" + chroot
	}
	_ = openAt(t, ln.Addr().String()+","+servers+chroot)
}

func TestClient_statesOfALife(t *testing.T) {
	noLeak(t)
	var mu sync.Mutex
	var seen []State
	c, relay := tapped(t, WithEventHook(func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, e.State)
	}))
	states, stop := c.Subscribe()
	defer stop()
	awaitState(t, states, Connected)
	if c.SessionID() == 0 || c.SessionTimeout() != testT || c.State() != Connected {
		t.Error(c.SessionID(), c.SessionTimeout(), c.State())
	}
	relay.Cut()
	awaitState(t, states, Reconnected)
	ctx := within(t, 20*time.Second)
	expire(t, relay)
	awaitState(t, states, Reconnected)
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for range states { // closed by Close
	}
	mu.Lock()
	defer mu.Unlock()
	want := []State{Connected, Suspended, Reconnected, Suspended, Lost, Reconnected}
	if len(seen) != len(want) {
		t.Fatal(seen)
	}
	for i := range want {
		if seen[i] != want[i] {
			t.Fatal(seen)
		}
	}
}

// TestClient_Close_releasesEverything: the nodes are gone when it returns,
// holders and waiters have been told, and later calls fail at once.
func TestClient_Close_releasesEverything(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c, other := open(t), open(t)
	m := mutexOn(t, c, path)
	h := must[*Hold](t)(m.Acquire(ctx))
	hc := h.Context()
	blocker := must[*Hold](t)(mutexOn(t, other, path+"-2").Acquire(ctx))
	failed := make(chan error, 2)
	for range 2 { // one with a node, one in the lane
		go func() {
			_, err := mutexOn(t, c, path+"-2").Acquire(ctx)
			failed <- err
		}()
	}
	awaitCount(t, z, path+"-2", 2)
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + "-2"} {
		names, _, err := z.Children(fullPath(t, p))
		want := 0
		if p != path {
			want = 1
		}
		if len(names) != want || err != nil && !errors.Is(err, zk.ErrNoNode) {
			t.Error(p, names, err)
		}
	}
	if !errors.Is(context.Cause(hc), ErrClosed) {
		t.Error(context.Cause(hc))
	}
	for range 2 {
		if err := receive(t, failed); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	if _, err := m.Acquire(ctx); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := h.Release(ctx); err != nil || !errors.Is(h.Lost(), ErrClosed) {
		t.Error(err, h.Lost())
	}
	if err := c.Close(ctx); err != nil {
		t.Error("the second time:", err)
	}
	if err := blocker.Release(ctx); err != nil {
		t.Error(err)
	}
}

// TestClient_Close_cutOff: it says that the servers could not be told.
func TestClient_Close_cutOff(t *testing.T) {
	noLeak(t)
	c, relay := tapped(t)
	relay.BlackHole(wiretap.Both, true)
	start := time.Now()
	if err := c.Close(within(t, 20*time.Second)); !errors.Is(err, ErrSuspended) {
		t.Error(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Error("took", took)
	}
}

// TestClient_bug46_credentialsSurviveAReconnect: nodes that only their creator
// may touch are released after a cut, and after the session was replaced.
func TestClient_bug46_credentialsSurviveAReconnect(t *testing.T) {
	noLeak(t)
	z, ctx := raw(t), within(t, 20*time.Second)
	acl := zk.DigestACL(zk.PermAll, "lock", "secret")
	c, relay := tapped(t, WithAuth("digest", []byte("lock:secret")), WithACL(acl))
	states, stop := c.Subscribe()
	defer stop()
	path := lockPath(t)
	m := mutexOn(t, c, path)
	for i := range 3 {
		h := must[*Hold](t)(m.Acquire(ctx))
		if _, _, err := z.Get(fullPath(t, h.Path())); !errors.Is(err, zk.ErrNoAuth) {
			t.Fatal("others may read it:", err)
		}
		switch i {
		case 0:
			relay.Cut()
			awaitState(t, states, Reconnected)
		case 1: // the write of the credentials fails: go-zookeeper alone would hang for ever
			relay.FailWrite(wiretap.Match{Op: wiretap.OpAuth})
			relay.Cut()
			awaitState(t, states, Reconnected)
			await(t, "failed write", func() bool { return relay.Faults().Armed == 0 })
		}
		if err := h.Release(ctx); err != nil && !errors.Is(err, ErrReleasePending) {
			t.Fatal(err)
		}
		if i == 1 { // the states so far may have more than one Reconnected
			old := c.SessionID()
			expire(t, relay)
			await(t, "another session", func() bool { id := c.SessionID(); return id != 0 && id != old })
		}
	}
	left := open(t, WithAuth("digest", []byte("lock:secret")))
	await(t, "deletion of the last node", func() bool {
		return len(must[[]Participant](t)(Participants(ctx, left, path))) == 0
	})
}

// TestConnect_refusedCredentials: an error, and nothing left running.
func TestConnect_refusedCredentials(t *testing.T) {
	noLeak(t)
	_, err := Connect(within(t, 20*time.Second), connectString(t), WithSessionTimeout(testT), WithAuth("no-such-scheme", []byte("x")))
	if !errors.Is(err, ErrAuthFailed) {
		t.Error(err)
	}
}

// TestClient_chroot: everything happens below it, and paths are reported without it.
func TestClient_bug46_chroot(t *testing.T) {
	z, ctx := raw(t), within(t, 20*time.Second)
	root := lockPath(t) + "/deep/root"
	c := openAt(t, connectString(t)+root)
	h := must[*Hold](t)(mutexOn(t, c, "/job").Acquire(ctx))
	if !strings.HasPrefix(h.Path(), "/job/_c_") {
		t.Error(h.Path())
	}
	if ok, _, err := z.Exists(fullPath(t, root) + h.Path()); !ok || err != nil {
		t.Error(ok, err)
	}
	if _, err := h.Guard(ctx, &zk.CreateRequest{Path: "/guarded", Acl: zk.WorldACL(zk.PermAll)}); err != nil {
		t.Error(err)
	}
	if ok, _, err := z.Exists(fullPath(t, root) + "/guarded"); !ok || err != nil {
		t.Error(ok, err)
	}
	if err := h.Release(ctx); err != nil {
		t.Error(err)
	}
}

// TestClient_bug45_acquireWhileDown returns on time.
func TestClient_bug45_acquireWhileDown(t *testing.T) {
	noLeak(t)
	c, relay := tapped(t)
	states, stop := c.Subscribe()
	defer stop()
	relay.Refuse(true)
	relay.Cut()
	awaitState(t, states, Suspended)
	m := mutexOn(t, c, lockPath(t))
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := m.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if late := time.Since(start) - 200*time.Millisecond; late > 200*time.Millisecond {
		t.Error("late by", late)
	}
	relay.Refuse(false)
}
