package curatorlike

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver/zktest"
)

// TestConnect_chrootBelowAnothersNode: where the user may not create, a chroot that
// exists is used, and one that is missing is an error at once.
func TestConnect_chrootBelowAnothersNode(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	parent := path + "/others"
	plainParents(t, z, parent+"/shop/x")
	readOnly := zk.WorldACL(zk.PermRead | zk.PermDelete | zk.PermAdmin)
	if _, err := z.SetACL(fullPath(t, parent), readOnly, -1); err != nil {
		t.Fatal(err)
	}
	c := openAt(t, connectString(t)+parent+"/shop")
	h := must[*Hold](t)(mutexOn(t, c, "/job").Acquire(ctx))
	if err := h.Release(ctx); err != nil {
		t.Error(err)
	}
	start := time.Now()
	_, err := Connect(ctx, connectString(t)+parent+"/missing")
	if !errors.Is(err, zk.ErrNoAuth) || !strings.Contains(err.Error(), parent+"/missing") || ctx.Err() != nil {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
	awaitEmpty(t, z, parent+"/shop/job")
	if err := z.Delete(fullPath(t, parent+"/shop/job"), -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Error(err)
	}
}

// TestConnect_saysWhy: the error names what the last attempt failed at.
func TestConnect_saysWhy(t *testing.T) {
	noLeak(t)
	target, _, _ := strings.Cut(connectString(t), ",")
	target, _, _ = strings.Cut(target, "/")
	cert, _ := selfSigned(t, "127.0.0.1")
	silent := silentServer(t)
	closed := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	_ = closed.Close()
	for _, tc := range []struct{ name, server, want string }{
		{"refused", closed.Addr().String(), "connection refused"},
		{"silent", silent, "no answer to the connect request"},
		{"unknown", "no-such-host.invalid:2181", "no-such-host.invalid"},
		{"TLS port without TLS", decrypting(t, target, cert), "no answer to the connect request"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := Connect(within(t, 2*time.Second), tc.server, WithSessionTimeout(testT))
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), tc.want) {
				t.Error(err)
			}
		})
	}
}

// silentServer accepts connections and never says a word.
func silentServer(t testing.TB) string {
	t.Helper()
	l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// TestClient_silentServers_cost: two of three servers that do not answer cost a
// second each, and not most of the session.
func TestClient_silentServers_costASecondEach(t *testing.T) {
	noLeak(t)
	e := zktest.Need(t)
	_, relay := tapped(t)
	c := openAt(t, strings.Join([]string{silentServer(t), silentServer(t), relay.Addr()}, ",")+e.Chroot(), WithSessionTimeout(9*time.Second))
	states, stop := c.Subscribe()
	defer stop()
	relay.Cut()
	start := time.Now()
	awaitState(t, states, Reconnected)
	if took := time.Since(start); took < 2*time.Second || took > 4*time.Second {
		t.Errorf("reconnected after %v", took)
	}
}

func TestHandshakeLimit(t *testing.T) {
	c := &Client{servers: []string{"a", "b", "c"}}
	s := &session{c: c, timeout: 30 * time.Second}
	for _, tc := range []struct {
		attempt int
		want    time.Duration
	}{{1, time.Second}, {3, time.Second}, {4, 2 * time.Second}, {7, 4 * time.Second}, {12, 8 * time.Second}, {13, 10 * time.Second}, {1000, 10 * time.Second}} {
		if s.attempts = tc.attempt; s.handshakeLimit() != tc.want {
			t.Errorf("attempt %d: %v, want %v", tc.attempt, s.handshakeLimit(), tc.want)
		}
	}
}

// TestAcquire_outage_isNotBusy: with no connection the error says so beside the
// context's; while the lock is taken it does not.
func TestAcquire_outage_isNotBusy(t *testing.T) {
	noLeak(t)
	path, ctx := lockPath(t), within(t, 20*time.Second)
	c, relay := tapped(t, WithSessionTimeout(8*time.Second))
	states, stop := c.Subscribe()
	defer stop()
	locks := map[string]Lock{"mutex": mutexOn(t, c, path), "read": rwOn(t, c, path+"-rw").Read(),
		"semaphore": semOn(t, c, path+"-s", 1), "unfair": unfairOn(t, c, path+"-u")}
	holds := map[string]*Hold{"mutex": must[*Hold](t)(mutexOn(t, open(t), path).Acquire(ctx)), "read": must[*Hold](t)(rwOn(t, open(t), path+"-rw").Write().Acquire(ctx)),
		"semaphore": must[*Hold](t)(semOn(t, open(t), path+"-s", 1).Acquire(ctx)), "unfair": must[*Hold](t)(unfairOn(t, open(t), path+"-u").Acquire(ctx))}
	both := func(outage bool) {
		for name, l := range locks {
			short, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
			behind := make(chan error, 1) // in the process, behind the one that is in the queue
			go func() {
				_, err := l.Acquire(short)
				behind <- err
			}()
			_, err := l.Acquire(short)
			for _, err := range []error{err, receive(t, behind)} {
				if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrSuspended) != outage {
					t.Errorf("%s, outage %v: %v", name, outage, err)
				}
			}
			cancel()
		}
	}
	both(false)
	relay.Refuse(true)
	relay.Cut()
	awaitState(t, states, Suspended)
	both(true)
	relay.Refuse(false)
	awaitState(t, states, Reconnected)
	for _, h := range holds {
		if err := h.Release(ctx); err != nil {
			t.Error(err)
		}
	}
}

// TestClose_endedContext: as after a signal. The session ends all the same.
func TestClose_endedContext_endsTheSession(t *testing.T) {
	noLeak(t)
	z, path, ctx := raw(t), lockPath(t), within(t, 20*time.Second)
	c := openAt(t, connectString(t), WithSessionTimeout(9*time.Second))
	must[*Hold](t)(mutexOn(t, c, path).Acquire(ctx))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := c.Close(ended); err != nil {
		t.Fatal(err)
	}
	if names, _, err := z.Children(fullPath(t, path)); len(names) > 0 || err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Error("the lock is still taken:", names, err)
	}
}
