package lock

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"zklab/curatorlike"
	"zklab/internal/locktest"
	"zklab/internal/sqltap"
)

// instance is one of the job's instances: a session, and a connection to the database
// that can be stopped before a statement.
type instance struct {
	*locktest.Client
	n      *night
	job    Settlement
	client *curatorlike.Client
	call   *locktest.Call
	report Report

	gate      sqltap.Gate                  // where it is stopped
	fault     func(sqltap.Statement) error // of the database; nil: none
	releasing chan struct{}                // closed when it has asked the server to delete its node
	once      sync.Once

	mu      sync.Mutex
	tokens  []int64 // of its holds, as ZooKeeper has them
	outside string  // the first writing statement while its node was not there
}

// instance starts one that waits so long for the lock.
func (n *night) instance(name string, patience time.Duration) *instance {
	n.t.Helper()
	in := &instance{Client: n.Guest(name), n: n, releasing: make(chan struct{})}
	ctx, cancel := context.WithTimeout(n.t.Context(), 20*time.Second)
	defer cancel()
	client, err := curatorlike.Connect(ctx, in.Addr(), curatorlike.WithSessionTimeout(10*time.Second), curatorlike.WithDialer(in.dial))
	if err != nil {
		n.t.Fatal(err)
	}
	db := sqltap.Open(n.file, in.before)
	n.t.Cleanup(func() { in.end(db) })
	lock, err := curatorlike.NewMutex(client, n.Path())
	if err != nil {
		n.t.Fatal(err)
	}
	in.client = client
	in.job = Settlement{Lock: lock, DB: db, Patience: patience}
	n.instances = append(n.instances, in)
	return in
}

func (in *instance) end(db *sql.DB) {
	in.gate.Open()
	if in.call != nil {
		in.call.Cancel()
	}
	in.Heal()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	in.client.Close(ctx)
	db.Close()
}

// dial connects, and watches out for the request that deletes the lock's node.
func (in *instance) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &watchedConn{c, in}, nil
}

type watchedConn struct {
	net.Conn
	in *instance
}

const opDelete = 2

func (c *watchedConn) Write(b []byte) (int, error) {
	if len(b) >= 12 && binary.BigEndian.Uint32(b[8:]) == opDelete {
		c.in.once.Do(func() { close(c.in.releasing) })
	}
	return c.Conn.Write(b)
}

// before is called before each of the instance's statements.
func (in *instance) before(s sqltap.Statement) error {
	token, known := in.held()
	in.mu.Lock()
	if token != 0 && !slices.Contains(in.tokens, token) {
		in.tokens = append(in.tokens, token)
	}
	if in.outside == "" && known && token == 0 && s.Writes() {
		in.outside = s.SQL
	}
	in.mu.Unlock()
	in.gate.Pass(s)
	if in.fault != nil {
		return in.fault(s)
	}
	return nil
}

// held is the token of the instance's node in the lock's path; 0 when it has none. It is
// not known when the server does not answer.
func (in *instance) held() (token int64, known bool) {
	conn := in.n.Observer()
	names, _, err := conn.Children(in.n.Path())
	if err != nil {
		return 0, false
	}
	for _, name := range names {
		there, stat, err := conn.Exists(in.n.Path() + "/" + name)
		if err != nil {
			return 0, false
		}
		if there && stat.EphemeralOwner == in.Session() {
			return stat.Czxid, true
		}
	}
	return 0, true
}

// run lets the instance begin. It is stopped where place says.
func (in *instance) run(within time.Duration) {
	in.call = in.Do("Run", func(ctx context.Context) error {
		if within > 0 {
			limited, cancel := context.WithTimeout(ctx, within)
			defer cancel()
			ctx = limited
		}
		report, err := in.job.Run(ctx)
		in.report = report
		return err
	})
}

// stopped waits until the instance is stopped, or has ended before that.
func (in *instance) stopped(place int) bool {
	in.n.t.Helper()
	_, stopped := in.stoppedAt(place)
	return stopped
}

// stoppedAt is stopped, and says before which statement.
func (in *instance) stoppedAt(place int) (at sqltap.Statement, stopped bool) {
	in.n.t.Helper()
	gate := in.gate.Stop(place)
	in.run(0)
	in.n.Until(func() bool {
		select {
		case at = <-gate:
			stopped = true
		default:
		}
		return stopped || in.call.Ended()
	})
	if stopped {
		in.n.step(in.Name, "has the lock, and is stopped", "before "+short(at.SQL))
	}
	return at, stopped
}

// wait waits for the end of Run, and notes what it said.
func (in *instance) wait(what string) (Report, error) {
	in.n.t.Helper()
	in.n.Until(func() bool { return in.call.Ended() || in.spins() })
	if !in.call.Ended() {
		in.n.step(in.Name, what, "and does not return")
		says := fmt.Sprintf("Run of %s does not return. It may wait for the lock for %v, and no longer.", in.Name, in.job.Patience)
		if in.spins() {
			in.n.check()
		}
		switch {
		case in.spins() && in.isStale():
			says = fmt.Sprintf("Run of %s does not return: the database has seen a larger token and refuses it, and it asks again and again. "+
				"That does not change any more: whoever is refused has lost the lock.", in.Name)
		case in.spins() && in.n.allBooked():
			says = fmt.Sprintf("Run of %s does not return: every order is booked, and it asks the database again and again. "+
				"That bookOne has found nothing open must end it.", in.Name)
		case in.spins():
			says = fmt.Sprintf("Run of %s does not return: it asks the database again and again, and never finds that nothing is open. "+
				"A booking that is not committed is none, and its order is still open.", in.Name)
		}
		in.n.fail(locktest.CodeNeverReturns, says)
	}
	err := in.call.Err()
	if locktest.IsTODO(err) || err != nil && strings.HasPrefix(err.Error(), "panic: ") {
		in.n.CallFailed(in.Client, "Run", in.call)
	}
	in.n.step(in.Name, what, said(in.report, err))
	return in.report, err
}

func said(r Report, err error) string {
	switch {
	case errors.Is(err, ErrStale):
		return "ErrStale"
	case err != nil && (!errors.Is(err, curatorlike.ErrReleasePending) || errors.Is(err, context.Canceled)):
		return "an error"
	case r.Skipped:
		return "skipped"
	}
	return fmt.Sprintf("booked %d", r.Booked)
}

// must requires that Run of an instance says that nothing was wrong.
func (in *instance) must(what string) Report {
	in.n.t.Helper()
	report, err := in.wait(what)
	in.mustBeFine(err)
	return report
}

func (in *instance) mustBeFine(err error) {
	in.n.t.Helper()
	switch {
	case err == nil:
		return
	case sqltap.OldLook(err):
		in.n.fail("FENCE-NOT-FIRST", fmt.Sprintf("%s had read which orders are open before it raised the fence, if it raised it at all, and while it was stopped another one wrote. "+
			"SQLite refuses to write what rests on such an old look. Most other databases do not, as they are usually set: there the order is booked twice.", in.Name))
	case errors.Is(err, context.Canceled) && in.hasReleased():
		in.n.fail("COMMIT-AFTER-RELEASE", fmt.Sprintf("%s has released the lock, and then it wants to settle. The context of the hold ends with the release, so the database is not even asked. First settle, then release.", in.Name))
	default:
		in.n.fail(locktest.CodeUnexpected, fmt.Sprintf("Run of %s returned an error although nothing was wrong: %q.", in.Name, err))
	}
}

// hasReleased reports whether the instance has asked the server to delete its node.
func (in *instance) hasReleased() bool {
	select {
	case <-in.releasing:
		return true
	default:
		return false
	}
}

// takeAway ends the instance's session, and keeps it from knowing: as for a process that
// sleeps, no time passes for it.
func (in *instance) takeAway() {
	in.ExpireUnnoticed()
	in.n.step(in.Name, "sleeps; its session ends", "")
}

// wake lets it go on. Its network is whole again when it releases.
func (in *instance) wake() (Report, error) {
	in.n.t.Helper()
	in.gate.Open()
	in.n.Until(func() bool { return in.hasReleased() || in.call.Ended() || in.spins() })
	in.Heal()
	in.Cut() // the server has closed its side long since
	return in.wait("wakes up and goes on")
}

// isStale reports whether the database has seen a larger token than the instance has.
func (in *instance) isStale() bool {
	in.n.t.Helper()
	var fence int64
	if err := in.n.db.QueryRowContext(in.n.t.Context(), `SELECT token FROM fence`).Scan(&fence); err != nil {
		in.n.t.Fatal(err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.tokens) > 0 && fence > slices.Max(in.tokens)
}

// manyStatements is more than anybody needs for a few orders.
const manyStatements = 200

// spins reports whether the instance asks the database without an end.
func (in *instance) spins() bool { return in.gate.Seen() > manyStatements }

func short(query string) string {
	if len(query) > 60 {
		return query[:57] + "…"
	}
	return query
}

// insideTheLock requires that the instance wrote only while its node was there.
func (in *instance) insideTheLock() {
	in.n.t.Helper()
	in.mu.Lock()
	outside, held := in.outside, len(in.tokens) > 0
	in.mu.Unlock()
	if outside == "" {
		return
	}
	if !held && !in.n.Until(func() bool { return len(in.Creates()) > 0 }) {
		in.n.step(in.Name, "had no node in the lock's path", "at "+short(outside))
		in.n.fail("NO-LOCK", "A wrote to the database and did not have the lock. The fence keeps old holders away; whoever never had the lock has no token.")
	}
	in.n.step(in.Name, "had released the lock", "at "+short(outside))
	in.n.fail("COMMIT-AFTER-RELEASE", "A had released the lock before its last write was committed. From the release on, another instance may read what A has not written yet. "+
		"First commit, then release.")
}
