package lock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
	"zklab/internal/zkserver"
)

// network is one client's network: a relay to each server, the leader's first. All
// relays can lead to all servers, see leaderAt.
type network struct {
	t      *testing.T
	who    []*zkserver.Server
	relays []*wiretap.Relay

	mu   sync.Mutex
	seen []frame
}

// frame is what passed a relay, or was turned away there.
type frame struct {
	wiretap.Frame
	relay int
}

// whole is the ensemble with all its servers: one that an earlier test has killed is
// started again.
func whole(t *testing.T) *zkserver.Ensemble {
	t.Helper()
	e := locktest.Ensemble(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	for _, s := range e.Servers() {
		if s.Running() {
			continue
		}
		if err := s.Restart(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// newNetwork sorts the servers: the leader is number 0.
func newNetwork(t *testing.T, e *zkserver.Ensemble) *network {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	leader, err := e.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n := &network{t: t, who: []*zkserver.Server{leader}}
	for _, s := range e.Servers() {
		if s != leader {
			n.who = append(n.who, s)
		}
	}
	for i, s := range n.who {
		r, err := wiretap.Start(ctx, e.Connect(), wiretap.Options{Name: "client", OnFrame: func(f wiretap.Frame) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.seen = append(n.seen, frame{f, i})
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		n.relays = append(n.relays, r)
		n.pin(i, s)
	}
	return n
}

// pin has a relay lead to a server from its next connection on.
func (n *network) pin(relay int, s *zkserver.Server) {
	n.t.Helper()
	if err := n.relays[relay].Pin(s.Addr()); err != nil {
		n.t.Fatal(err)
	}
}

// leaderAt has the client, which was led to the leader whatever it called, see three
// servers from now on: the leader is the one that it called, and the relay's number
// is returned.
func (n *network) leaderAt() (relay int) {
	n.t.Helper()
	for i := range n.relays {
		if n.tried(i, time.Time{}) > 0 {
			relay = i
		}
	}
	other := 1
	for i := range n.relays {
		if i != relay {
			n.pin(i, n.who[other])
			other++
		}
	}
	return relay
}

// servers is the connect string of the network's relays.
func (n *network) servers() string {
	var addrs []string
	for _, r := range n.relays {
		addrs = append(addrs, r.Addr())
	}
	return strings.Join(addrs, ",")
}

// count counts frames since a moment.
func (n *network) count(since time.Time, is func(frame) bool) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := 0
	for _, f := range n.seen {
		if f.At.After(since) && is(f) {
			found++
		}
	}
	return found
}

// tried is how often the client has called a relay since a moment, in vain or not.
func (n *network) tried(relay int, since time.Time) int {
	return n.count(since, func(f frame) bool {
		return f.relay == relay && (f.Kind == wiretap.Opened || f.Kind == wiretap.Turned)
	})
}

// toLeader reports whether the client has asked for something since a moment that its
// server passes on to the leader. The answer comes when the server has caught up.
func (n *network) toLeader(since time.Time) bool {
	return n.count(since, func(f frame) bool {
		switch f.Op {
		case wiretap.OpSync, wiretap.OpCreate, wiretap.OpDelete, wiretap.OpSetData, wiretap.OpMulti:
			return f.Kind == wiretap.Request
		}
		return false
	}) > 0
}

func (n *network) asked(op wiretap.Op, since time.Time) bool {
	return n.count(since, func(f frame) bool { return f.Kind == wiretap.Request && f.Op == op }) > 0
}

// within waits for a condition.
func within(limit time.Duration, done func() bool) bool {
	for deadline := time.Now().Add(limit); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// direct is a connection of the test's own to one server, or to several.
func direct(t *testing.T, servers string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect(strings.Split(servers, ","), session, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if !within(patience, func() bool { return conn.State() == zk.StateHasSession }) {
		t.Fatalf("no session with %s", servers)
	}
	return conn
}

// write creates a node or gives it new data.
func write(t *testing.T, conn *zk.Conn, path, data string) {
	t.Helper()
	_, err := conn.Create(path, []byte(data), zk.FlagPersistent, open)
	if errors.Is(err, zk.ErrNodeExists) {
		_, err = conn.Set(path, []byte(data), -1)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// timeoutAsked requires that the client has asked for the timeout that it was given.
func (n *network) timeoutAsked() {
	n.t.Helper()
	var asked time.Duration
	n.count(time.Time{}, func(f frame) bool {
		if f.Kind == wiretap.SessionRequest {
			asked = f.Timeout
		}
		return false
	})
	if asked != session {
		locktest.Fail(n.t, locktest.Diagnosis{Code: "OWN-TIMEOUT",
			Says: fmt.Sprintf("Connect was given a timeout of %v, and has asked the servers for %v. For so long the lock stays when its holder is not heard of: whoever calls Connect decides that.", session, asked)})
	}
}
