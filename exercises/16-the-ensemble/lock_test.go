package lock

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
	"zklab/internal/zkserver"
	"zklab/minimutex"
)

// Three servers of this exercise's own: it cuts them off and kills them.
func TestMain(m *testing.M) { locktest.MainServers(m, 3) }

const (
	session  = 9 * time.Second  // longer than an election takes, and not what anybody would guess
	patience = 15 * time.Second // for what must come
	silence  = 4 * time.Second  // a client that wants to connect tries again sooner
)

var open = zk.WorldACL(zk.PermAll)

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

// guarded calls the learner's code on a goroutine of its own.
func guarded(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				at := ""
				for _, line := range strings.Split(string(debug.Stack()), "\n") {
					if i := strings.Index(line, "/lock.go:"); i >= 0 && at == "" {
						at, _, _ = strings.Cut(line[i+1:], " ")
					}
				}
				done <- panicked(fmt.Sprintf("%v, at %s", p, at))
			}
		}()
		done <- f()
	}()
	return done
}

// panicked is the error of learner's code that panicked.
type panicked string

func (p panicked) Error() string { return string(p) }

// failed gives the diagnosis for an error of the learner's code.
func failed(t *testing.T, what string, err error) {
	t.Helper()
	p := panicked("")
	switch {
	case locktest.IsTODO(err):
		locktest.Fail(t, locktest.TODO(what))
	case errors.As(err, &p):
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodePanics, Says: fmt.Sprintf("%s panicked: %v.", what, p)})
	case err != nil:
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeUnexpected,
			Says: fmt.Sprintf("%s returned an error although nothing was wrong: %q.", what, err)})
	}
}

// client is a connection that the learner's Connect has made.
type client struct {
	*zk.Conn
	lost atomic.Int32
}

// connect calls the learner's Connect.
func connect(t *testing.T, servers string) *client {
	t.Helper()
	c := &client{}
	done := guarded(func() (err error) {
		c.Conn, err = Connect(servers, session, func() { c.lost.Add(1) })
		return err
	})
	select {
	case err := <-done:
		failed(t, "Connect", err)
	case <-time.After(patience / 3):
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeNeverReturns,
			Says: "Connect does not return: it waits for a connection, and no server is there just now. It need not wait, requests do that by themselves."})
	}
	if c.Conn == nil {
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeUnexpected, Says: "Connect returned no connection, and no error."})
	}
	t.Cleanup(c.Close)
	return c
}

// There is something to judge at all. No server is needed for that.
func TestConnectIsWritten(t *testing.T) {
	locktest.First(t)
	connect(t, "127.0.0.1:1,127.0.0.1:2")
}

// A server that lags answers from what it knows. Latest must not.
func TestAFollowerLags(t *testing.T) {
	e := whole(t)
	const tries = 3 // a server that is cut off for too long closes its connections
	for try := range tries {
		path := fmt.Sprintf("/price-%d", try)
		n := newNetwork(t, e)
		a, b := direct(t, n.who[0].Addr()), direct(t, n.relays[1].Addr())
		write(t, a, path, "old")
		if _, err := b.Sync(path); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		cutOff(t, n.who[1])
		write(t, a, path, "new")
		var data []byte
		done := guarded(func() (err error) { data, err = Latest(b, path); return err })
		within(patience, func() bool { return len(done) > 0 || n.toLeader(start) })
		synced := n.asked(wiretap.OpSync, start)
		early := len(done) > 0
		rejoin(t, n.who[1])
		var err error
		select {
		case err = <-done:
		case <-time.After(patience):
			locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeNeverReturns, Says: "Latest does not return, although the server has caught up."})
		}
		if errors.Is(err, zk.ErrConnectionClosed) && try < tries-1 {
			continue
		}
		failed(t, "Latest", err)
		if string(data) == "new" {
			return
		}
		if string(data) != "old" {
			locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeUnexpected,
				Says: fmt.Sprintf(`A wrote "new", and Latest returned %q, which A has never written.`, data)})
		}
		steps := []locktest.Step{
			{Who: "A", Text: "set /price", Effect: `"new", at the leader`},
			{Who: "A", Text: "calls B: \"it is there\""},
			{Who: "B", Text: "getData /price", Effect: fmt.Sprintf("%q, from a follower that lags", data)},
		}
		says := "A wrote a new price, and told B so. B then read the old one: its server is a follower that has not heard of the change yet, and answers all the same."
		if synced && !early {
			steps = append(steps, locktest.Step{Who: "B", Text: "sync /price"})
			says = "B asked its server to catch up, but what it returned was read before that."
		}
		locktest.Fail(t, locktest.Diagnosis{Code: "NO-SYNC", Says: says, Steps: steps})
	}
}

// latest calls the learner's Latest.
func latest(t *testing.T, conn *zk.Conn, path string) (data []byte, err error) {
	t.Helper()
	done := guarded(func() (err error) { data, err = Latest(conn, path); return err })
	select {
	case err = <-done:
	case <-time.After(patience):
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeNeverReturns, Says: "Latest does not return, although there is a server that answers."})
	}
	if p := panicked(""); locktest.IsTODO(err) || errors.As(err, &p) {
		failed(t, "Latest", err)
	}
	return data, err
}

// What cannot be known is an error: the connection breaks before the sync is sent, or
// there is no such node.
func TestLatestSaysWhenItDoesNotKnow(t *testing.T) {
	n := newNetwork(t, whole(t))
	b := direct(t, n.relays[1].Addr())
	write(t, b, "/rate", "old")
	start := time.Now()
	n.relays[1].FailWrite(wiretap.Match{Op: wiretap.OpSync})
	data, err := latest(t, b, "/rate")
	synced := n.count(start, func(f frame) bool { return f.Kind == wiretap.Reply && f.Op == wiretap.OpSync }) > 0
	if err == nil && !synced {
		locktest.Fail(t, locktest.Diagnosis{Code: "NO-SYNC",
			Says: "B's connection broke when it asked its server to catch up. Latest took no notice, and read from a server that may lag. A sync that has failed has not been made.",
			Steps: []locktest.Step{
				{Who: "B", Text: "sync /rate", Effect: "connection cut before it was sent"},
				{Who: "B", Text: "getData /rate", Effect: fmt.Sprintf("%q, and no error", data)},
			}})
	}
	if data, err = latest(t, b, "/nowhere"); err == nil {
		locktest.Fail(t, locktest.Diagnosis{Code: "IGNORES-ERROR",
			Says: fmt.Sprintf("There is no node /nowhere, and Latest returned %q and no error, as if there were one with this data.", data)})
	}
}

func cutOff(t *testing.T, s *zkserver.Server) {
	t.Helper()
	if err := s.Isolate(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Rejoin(context.Background()) })
}

func rejoin(t *testing.T, s *zkserver.Server) {
	t.Helper()
	if err := s.Rejoin(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The lock itself needs no sync and no leader. B's server lags so far behind that it
// knows nothing of A's node; but the reply to B's create comes when it has caught up.
func TestALockNeedsNoSync(t *testing.T) {
	e := whole(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	n := newNetwork(t, e)
	a, b := direct(t, n.who[0].Addr()), direct(t, n.relays[1].Addr())
	write(t, a, "/lock", "")
	if _, err := b.Sync("/lock"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	cutOff(t, n.who[1])
	lockA, lockB := minimutex.New(a, "/lock"), minimutex.New(b, "/lock")
	if err := lockA.Acquire(ctx); err != nil {
		t.Fatal(err)
	}
	done := guarded(func() error { return lockB.Acquire(ctx) })
	if !within(patience, func() bool { return n.asked(wiretap.OpCreate, start) }) {
		t.Fatal("B did not ask for its node")
	}
	rejoin(t, n.who[1])
	if !within(patience, func() bool { return len(done) > 0 || n.asked(wiretap.OpGetData, start) }) {
		t.Fatal("B did not go on after its server had caught up")
	}
	if len(done) > 0 {
		t.Fatalf("A holds the lock, and B's Acquire at a server that lagged returned %v", <-done)
	}
	if err := lockA.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n.asked(wiretap.OpSync, start) {
		t.Error("the lock asked for sync")
	}
	if err := lockB.Release(ctx); err != nil {
		t.Error(err)
	}
}

// hasSession waits until the learner's connection has a session.
func hasSession(t *testing.T, c *client) {
	t.Helper()
	if !within(patience, func() bool { return c.State() == zk.StateHasSession }) {
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodeUnexpected,
			Says: fmt.Sprintf("A has got no session within %v, although there are servers that serve. Are the addresses and the timeout that Connect was given those that zk.Connect gets?", patience)})
	}
}

// tooEarly requires that nobody has been told of an end that has not come.
func tooEarly(t *testing.T, c *client, says string, steps []locktest.Step) {
	t.Helper()
	if c.lost.Load() > 0 {
		locktest.Fail(t, locktest.Diagnosis{Code: "CLOSES-ON-DISCONNECT", Says: says, Steps: steps})
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

// The server that A is connected to dies, and it is the leader. A's session and its
// lock go on at another one.
func TestTheLeaderDies(t *testing.T) {
	e := whole(t)
	n := newNetwork(t, e)
	for i := range n.relays {
		n.pin(i, n.who[0]) // so that A's first server is the leader
	}
	a := connect(t, n.servers())
	hasSession(t, a)
	n.timeoutAsked()
	tooEarly(t, a, "Nothing has happened yet, and lost was called. It says that the session has ended, and the session has just begun.", nil)
	lock, err := a.Create("/nightly", nil, zk.FlagEphemeral, open)
	if err != nil {
		t.Fatal(err)
	}
	dead := n.leaderAt()
	died := time.Now()
	if err := n.who[0].Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	if _, err := e.Leader(ctx); err != nil {
		t.Fatal(err)
	}
	steps := []locktest.Step{
		{Who: "A", Text: "create /nightly", Effect: "created, at the leader"},
		{Who: "leader", Text: "killed", Effect: "A's connection breaks"},
		{Who: "others", Text: "elect a new leader"},
	}
	others := func() int { return n.tried((dead+1)%3, died) + n.tried((dead+2)%3, died) }
	back := func() bool { return others() > 0 && a.State() == zk.StateHasSession }
	gaveUp := func() bool {
		lately := time.Now().Add(-silence)
		return lately.After(died) && a.State() == zk.StateDisconnected && n.tried(0, lately)+n.tried(1, lately)+n.tried(2, lately) == 0
	}
	alone := func() bool { return others() == 0 && n.tried(dead, died) > 0 && time.Since(died) > silence }
	within(patience, func() bool { return back() || alone() || gaveUp() || a.lost.Load() > 0 })
	early := "The leader died, A's connection broke, and lost was called. But the session belongs to all servers together: it lives on, and A's lock with it."
	tooEarly(t, a, early, append(steps, locktest.Step{Who: "A", Text: "lost was called", Effect: "/nightly still there"}))
	switch {
	case back():
	case alone():
		locktest.Fail(t, locktest.Diagnosis{Code: "ONE-SERVER",
			Says:  "The server that A was connected to died. Two others serve, and A asks only the dead one, again and again. Its session will run out, and its lock with it.",
			Steps: append(steps, locktest.Step{Who: "A", Text: "calls the dead server", Effect: "nobody there"})})
	case gaveUp():
		locktest.Fail(t, locktest.Diagnosis{Code: "CLOSES-ON-DISCONNECT",
			Says: "The leader died, A's connection broke, and A calls no server any more: it has closed its connection for good. " +
				"But the session lives on at the other servers, with A's lock, until it runs out. Nobody releases it.",
			Steps: append(steps, locktest.Step{Who: "A", Text: "calls nobody", Effect: "/nightly still there"})})
	default:
		t.Fatalf("A is not back: %v", a.State())
	}
	another := func() bool {
		return n.count(died, func(f frame) bool { return f.Kind == wiretap.SessionRequest && f.Session == 0 }) > 0
	}
	if within(time.Second, another) { // nothing else shows that none will come
		locktest.Fail(t, locktest.Diagnosis{Code: "NEW-SESSION",
			Says: "The leader died, A's connection broke, and A opened a second session, although its first one lives on and comes back by itself. " +
				"Nobody holds anything with the second one, and each time that a connection breaks there is one more.",
			Steps: append(steps, locktest.Step{Who: "A", Text: "connects again", Effect: "its session goes on"},
				locktest.Step{Who: "A", Text: "opens a second session", Effect: "holds nothing"})})
	}
	there, stat, err := direct(t, n.who[1].Addr()+","+n.who[2].Addr()).Exists(lock)
	if err != nil || !there || stat.EphemeralOwner != a.SessionID() {
		t.Fatalf("A's lock is not its own any more: %v %v %v", there, stat, err)
	}
	tooEarly(t, a, early, steps)
}

// The session ends. Who holds a lock must be told. One of the servers is dead by now.
func TestTheSessionEnds(t *testing.T) {
	n := newNetwork(t, locktest.Ensemble(t))
	c := connect(t, n.servers())
	hasSession(t, c)
	for _, r := range n.relays {
		if _, _, ok := r.Session(); ok {
			if err := r.ExpireSession(t.Context()); err != nil && !errors.Is(err, wiretap.ErrSessionOver) {
				t.Fatal(err)
			}
		}
	}
	if !within(patience/2, func() bool { return c.lost.Load() > 0 }) {
		locktest.Fail(t, locktest.Diagnosis{Code: "NEVER-LOST",
			Says: "A's session has ended, its lock is free, and lost was not called: A goes on as if it held the lock.",
			Steps: []locktest.Step{
				{Who: "A", Text: "session ended", Effect: "its ephemeral nodes deleted"},
				{Who: "A", Text: "connects again", Effect: "told: expired"},
				{Who: "A", Text: "lost was not called"},
			}})
	}
}
