package lock

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"zklab/curatorlike"
	"zklab/internal/locktest"
	"zklab/internal/sqltap"
)

// TestMain is also what an instance runs that is a process of its own.
func TestMain(m *testing.M) {
	if where := os.Getenv("ZKLAB_INSTANCE"); where != "" {
		ownProcess(strings.Fields(where))
		return
	}
	locktest.Main(m)
}

// night is a database with open orders, and a lock.
type night struct {
	*locktest.Lab
	t         *testing.T
	file      string
	db        *sql.DB // the test's own
	orders    int
	instances []*instance
	steps     []locktest.Step
}

func newNight(t *testing.T, orders int) *night {
	t.Helper()
	n := &night{Lab: locktest.New(t), t: t, file: filepath.Join(t.TempDir(), "orders.db")}
	n.Patient(5 * time.Second)
	n.db = sqltap.Open(n.file, nil)
	t.Cleanup(func() { n.db.Close() })
	n.exec(Schema)
	n.exec(`INSERT INTO bookings (number, order_id, token) VALUES (1000, 0, 0)`) // of last night: its order is no more
	for range orders {
		n.order()
	}
	return n
}

func (n *night) exec(query string, args ...any) {
	n.t.Helper()
	if _, err := n.db.ExecContext(n.t.Context(), query, args...); err != nil {
		n.t.Fatal(err)
	}
}

// order comes in from a customer.
func (n *night) order() {
	n.t.Helper()
	n.orders++
	n.exec(`INSERT INTO orders (id, item) VALUES (?, 'bread')`, n.orders)
}

func (n *night) step(who, text, effect string) {
	n.steps = append(n.steps, locktest.Step{Who: who, Text: text, Effect: effect})
}

func (n *night) fail(code, says string) {
	n.t.Helper()
	n.Fail(locktest.Diagnosis{Code: code, Says: says, Steps: n.steps})
}

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

// who is the instance that has a token.
func (n *night) who(token int64) string {
	for _, in := range n.instances {
		in.mu.Lock()
		its := slices.Contains(in.tokens, token)
		in.mu.Unlock()
		if its {
			return in.Name
		}
	}
	return "a stranger"
}

// check looks at the bookings: no order twice, none by a holder of old.
func (n *night) check() {
	n.t.Helper()
	by := n.bookings()
	for order := 1; order <= n.orders; order++ {
		if who := by[order]; len(who) > 1 {
			n.step("ledger", fmt.Sprintf("order %d", order), "booked by "+strings.Join(who[:2], " and by "))
			n.fail("BOOKED-TWICE", fmt.Sprintf("Order %d is booked twice. Two believed to be the one who settles, or one did not see what was booked before.", order))
		}
	}
	var stale int
	err := n.db.QueryRowContext(n.t.Context(), `SELECT order_id FROM bookings b WHERE EXISTS (SELECT 1 FROM bookings a WHERE a.number < b.number AND a.token > b.token)`).Scan(&stale)
	if err == nil {
		n.step("ledger", fmt.Sprintf("order %d", stale), "booked by "+strings.Join(by[stale], " and by "))
		n.fail("STALE-WRITE", "An instance has lost the lock, another one has booked since, and now the first one's booking was taken. "+
			"This time it did no harm; the database must refuse it each time: it had seen a larger token.")
	} else if !errors.Is(err, sql.ErrNoRows) {
		n.t.Fatal(err)
	}
}

// bookings says for each order who has booked it.
func (n *night) bookings() map[int][]string {
	n.t.Helper()
	rows, err := n.db.QueryContext(n.t.Context(), `SELECT order_id, token FROM bookings WHERE order_id > 0 ORDER BY number`)
	if err != nil {
		n.t.Fatal(err)
	}
	defer rows.Close()
	by := map[int][]string{}
	for rows.Next() {
		var order int
		var token int64
		if err := rows.Scan(&order, &token); err != nil {
			n.t.Fatal(err)
		}
		by[order] = append(by[order], n.who(token))
	}
	if err := rows.Err(); err != nil {
		n.t.Fatal(err)
	}
	return by
}

// allBooked reports whether no order is open.
func (n *night) allBooked() bool {
	n.t.Helper()
	return len(n.bookings()) == n.orders
}

// exactlyOnce requires that each order is booked, and once.
func (n *night) exactlyOnce(says string) {
	n.t.Helper()
	n.check()
	by := n.bookings()
	for order := 1; order <= n.orders; order++ {
		if len(by[order]) == 0 {
			n.step("ledger", fmt.Sprintf("order %d", order), "not booked")
			n.fail("MISSED", fmt.Sprintf("Order %d is not booked. %s", order, says))
		}
	}
}

// free requires that nobody has a node in the lock's path.
func (n *night) free(in *instance) {
	n.t.Helper()
	if len(n.Children()) > 0 {
		n.fail(locktest.CodeNotReleased, fmt.Sprintf("Run of %s has returned, and its node is still in the lock's path. "+
			"Whoever asks for the lock now still waits.", in.Name))
	}
}

// One instance, and nothing goes wrong.
func TestOneInstance(t *testing.T) {
	n := newNight(t, 4)
	a := n.instance("A", 10*time.Second)
	a.run(0)
	report, err := a.wait("runs")
	if errors.Is(err, ErrStale) {
		n.fail("EQUAL-REJECTED", "A is alone, and the database refuses its second booking. It has the same token as the first, because A is still the same holder. Only a smaller token is stale.")
	}
	a.mustBeFine(err)
	a.insideTheLock()
	if report.Skipped && len(n.bookings()) == 0 {
		n.fail("NO-PATIENCE", "A is alone, and skipped. Even a free lock takes a moment: A has not waited for it as long as its patience lasts, which is 10s. If all do so, nobody settles tonight.")
	}
	n.exactlyOnce("Run said that nothing was wrong.")
	n.free(a)
	for _, who := range n.bookings() {
		if who[0] != a.Name {
			n.fail("WRONG-TOKEN", "An order is booked with a token that is not A's. Who has booked what, and in which order, can be told only by the token of the hold.")
		}
	}
	if report.Skipped || report.Booked != 4 {
		n.fail("WRONG-REPORT", fmt.Sprintf("A had the lock and booked 4 orders. Its report says that it booked %d, and skipped: %v.", report.Booked, report.Skipped))
	}
	n.order()
	a.run(0)
	a.must("runs again; one order is new")
	n.exactlyOnce("Run said that nothing was wrong.")
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

// One works, and the others come too late.
func TestOthersSkip(t *testing.T) {
	n := newNight(t, 2)
	a, b, c, d := n.instance("A", 10*time.Second), n.instance("B", 200*time.Millisecond), n.instance("C", 20*time.Second), n.instance("D", 20*time.Second)
	if !a.stopped(1) {
		a.must("runs")
		n.fail("MISSED", "A has the lock and does nothing in the database.")
	}
	start := time.Now()
	b.run(0)
	report, err := b.wait("runs; its patience is 200ms")
	switch {
	case err == nil && time.Since(start) < b.job.Patience:
		n.fail("NO-PATIENCE", "B skipped at once. If the first one fails a moment later, nobody settles tonight: B should have waited in line as long as its patience lasts.")
	case err != nil:
		n.fail("SKIP-IS-ERROR", "A settles tonight, and B does not get the lock. That is no error: it is what should happen on all machines but one. "+
			"An error each night on each of them is an alarm that nobody reads any more.")
	case !report.Skipped:
		n.fail("SILENT-SKIP", "B did not get the lock and says nothing about it. Its report reads as if it had settled, and had found no order.")
	}
	c.run(200 * time.Millisecond)
	report, err = c.wait("runs; its caller's context ends after 200ms, its patience is 20s")
	if err == nil {
		n.fail("ERROR-IS-SKIP", "C's caller has stopped it, and C says that it skipped, as if it had waited with all its patience for another instance.")
	}
	if err := d.client.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.run(0)
	report, err = d.wait("runs; its ZooKeeper client is closed")
	if err == nil {
		n.fail("ERROR-IS-SKIP", "D could not even ask for the lock, and says that it skipped. If that happens on all machines, nobody settles, and nobody knows.")
	}
	a.gate.Open()
	a.must("goes on")
	n.exactlyOnce("A had the lock all the time.")
}

// The database fails in the middle.
func TestDatabaseFails(t *testing.T) {
	n := newNight(t, 4)
	n.exec(`CREATE TRIGGER full BEFORE INSERT ON bookings WHEN NEW.order_id = 3 BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
	n.step("database", "will fail at order 3", "")
	a := n.instance("A", 10*time.Second)
	a.run(0)
	report, err := a.wait("runs")
	if err == nil {
		n.step("ledger", "order 3", "not booked")
		n.fail("MISSED", "The database failed at order 3, and Run says that all is well. Nobody will look for the order.")
	}
	if booked := len(n.bookings()); report.Booked != booked {
		n.fail("WRONG-REPORT", fmt.Sprintf("%d orders were booked before the database failed, and the report says %d. Also a run that ends with an error has done what it has done.", booked, report.Booked))
	}
	n.free(a)
	n.exec(`DROP TRIGGER full`)
	n.step("database", "works again", "")
	n.mustSettle("B", "B ran when the database worked again.")
}

// mustSettle requires that an instance settles what others have left.
func (n *night) mustSettle(name, says string) {
	n.t.Helper()
	b := n.instance(name, 10*time.Second)
	b.run(0)
	b.must("runs")
	n.exactlyOnce(says)
}

// The database takes the bookings, and then cannot commit them.
func TestCommitFails(t *testing.T) {
	n := newNight(t, 4)
	n.step("database", "will not commit any more", "after two commits")
	a := n.instance("A", 10*time.Second)
	commits := 0
	a.fault = func(s sqltap.Statement) error {
		if s.SQL == "COMMIT" {
			commits++
		}
		if s.SQL == "COMMIT" && commits > 2 {
			return errors.New("disk full")
		}
		return nil
	}
	a.run(0)
	if _, err := a.wait("runs"); err == nil && !n.allBooked() {
		n.fail("MISSED", "The database could not commit, and Run says that all is well. Nobody will look for the orders that are still open.")
	}
	n.free(a)
	n.step("database", "works again", "")
	n.mustSettle("B", "B ran when the database worked again.")
}

// slow is how long a slow network holds everything up, in each direction.
const slow = 500 * time.Millisecond

// Each step has the context that it needs: the patience is for the lock alone, the hold's
// is for the work, and the release needs one that has not ended.
func TestContexts(t *testing.T) {
	n := newNight(t, 2)
	a, b := n.instance("A", time.Hour), n.instance("B", 10*time.Second)
	at, stopped := a.stoppedAt(1)
	if !stopped {
		a.must("runs")
		return
	}
	if ends, limited := at.Context.Deadline(); limited && time.Until(ends) > time.Hour/2 {
		n.fail("CUT-OFF", "A's patience is one hour, and in one hour its work would be cut off, wherever it is then. Patience is for those who wait for the lock. Who has the lock works as long as it takes.")
	}
	a.call.Cancel()
	a.Delay(slow)
	a.gate.Open()
	_, _ = a.wait("goes on; its caller has stopped it, its network is slow") // it may settle all, or stop
	n.free(a)
	a.Heal()
	n.order()
	if at, stopped = b.stoppedAt(1); !stopped {
		b.must("runs")
		return
	}
	b.Refuse(true)
	b.Cut()
	n.step("B", "its connection breaks, its lock is in doubt", "")
	if !n.Until(func() bool { return at.Context.Err() != nil }) {
		n.fail("KEEPS-WORKING", "B's connection has broken, so B may lose its lock at any moment, and B's statement was called under a context that does not know. It goes on. The hold has a context that ends at such a moment.")
	}
	b.Refuse(false)
	b.gate.Open()
	_, _ = b.wait("goes on")
	n.mustSettle("C", "C ran when the two had ended.")
}

// maxPlaces is how many places a run is stopped at, at most.
const maxPlaces = 10

// A holder sleeps through the end of its session, wherever it is; the next one settles;
// the first one wakes up.
func TestOldHolderWakesUp(t *testing.T) {
	for place := 1; place <= maxPlaces; place++ {
		n, a := newNight(t, 2).afterOldHolder(place)
		if a == nil {
			return
		}
		_, _ = a.wake() // what it says is for the test after next
		n.check()
	}
}

// afterOldHolder stops A at a place for longer than its session, and lets B settle. It
// returns no A when A ends before that place.
func (n *night) afterOldHolder(place int) (*night, *instance) {
	n.t.Helper()
	a, b := n.instance("A", 10*time.Second), n.instance("B", 10*time.Second)
	if !a.stopped(place) {
		a.must("runs")
		return n, nil
	}
	a.takeAway()
	b.run(0)
	b.must("runs")
	n.exactlyOnce("B ran to its end.")
	return n, a
}

// The next holder is stopped in its turn, and the old one wakes up in that gap.
func TestOldHolderWakesUpInBetween(t *testing.T) {
	for place := 1; place <= maxPlaces; place++ {
		n := newNight(t, 2)
		a, b := n.instance("A", 10*time.Second), n.instance("B", 10*time.Second)
		if !a.stopped(1) {
			a.must("runs")
			return
		}
		a.takeAway()
		if !b.stopped(place) {
			b.must("runs")
			return
		}
		_, _ = a.wake() // both are right: it was in time, or it was not
		b.gate.Open()
		b.must("goes on")
		n.exactlyOnce("B ran to its end.")
	}
}

// An order comes in when the next one has settled, so that the old holder finds work.
func TestOldHolderFindsAnOrder(t *testing.T) {
	for place := 1; place <= maxPlaces; place++ {
		n, a := newNight(t, 2).afterOldHolder(place)
		if a == nil {
			return
		}
		n.order()
		n.step("customer", "orders once more", "")
		_, err := a.wake()
		n.check()
		if errors.Is(err, ErrStale) || errors.Is(err, context.Canceled) {
			continue
		}
		if len(n.bookings()[n.orders]) > 0 {
			n.step("ledger", "the new order", "booked by A")
			n.fail("FENCE-TAKEN-BACK", "A has lost the lock long ago, and the database takes its booking: the fence is not higher than A's token. B had raised it, found nothing open, and did not commit. "+
				"So the database took the fence back with B's transaction.")
		}
		n.fail("SILENT-REFUSAL", "A has lost the lock, the new order is open, and Run of A does not say ErrStale, neither alone nor beside an error of the release: it reads as if A had done all there was to do.")
	}
}

// Instances that are processes of their own.

// ownProcess runs an instance: server, path, database file, the statement to stop at
// (0: none), whether only where others can write, and its patience.
func ownProcess(where []string) {
	place, _ := strconv.Atoi(where[3])
	patience, _ := time.ParseDuration(where[5])
	in := bufio.NewScanner(os.Stdin)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := curatorlike.Connect(ctx, where[0], curatorlike.WithSessionTimeout(3*time.Second))
	if err != nil {
		panic(err)
	}
	seen := 0
	db := sqltap.Open(where[2], func(s sqltap.Statement) error {
		if s.Alone || where[4] == "any" {
			seen++
		}
		if seen == place {
			place = 0
			fmt.Println("stopped", s.SQL)
			in.Scan()
		}
		return nil
	})
	lock, err := curatorlike.NewMutex(client, where[1])
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	in.Scan()
	report, err := (&Settlement{Lock: lock, DB: db, Patience: patience}).Run(ctx)
	if err != nil {
		fmt.Println("ended failed:", err)
	} else {
		fmt.Println("ended", said(report, nil))
	}
	client.Close(ctx)
	db.Close()
}

// sessionsEnd is within which time a process' session has ended and the next one is done.
const sessionsEnd = 30 * time.Second

func (n *night) process(place int, where string, patience time.Duration) *locktest.Process {
	n.t.Helper()
	p := locktest.StartProcess(n.t, fmt.Sprintf("ZKLAB_INSTANCE=%s %s %s %d %s %s", n.Server(), n.Path(), n.file, place, where, patience))
	p.Hear(sessionsEnd, "ready")
	return p
}

// ended waits until a process says how its Run ended.
func ended(p *locktest.Process) string {
	_, how := p.Hear(sessionsEnd, "ended")
	return how
}

// fault is what happens to the first of three instances while it has the lock.
type fault struct {
	signal string // "kill -9", "SIGSTOP", or "" when the database fails
	place  int    // of the statement before which it happens; or the order at which the database fails
}

// settleInSpiteOf runs three processes, lets one thing go wrong with the first, and
// requires that each order is booked exactly once.
func settleInSpiteOf(t *testing.T, f fault) {
	if f.signal != "" && f.place == 0 {
		t.Fatal("the instance ended before its first statement")
	}
	n := newNight(t, 5)
	where, place := "any", f.place
	switch f.signal {
	case "SIGSTOP":
		where = "alone" // a stopped process keeps what it has locked in the database
	case "":
		place = 0
		n.exec(fmt.Sprintf(`CREATE TRIGGER full BEFORE INSERT ON bookings WHEN NEW.order_id = %d BEGIN SELECT RAISE(ABORT, 'disk full'); END`, f.place))
	}
	a := n.process(place, where, 20*time.Second)
	b, c := n.process(0, "any", 20*time.Second), n.process(0, "any", 300*time.Millisecond)
	a.Say("run")
	if f.signal == "" {
		n.step("A", "runs; the database fails", ended(a))
		n.exec(`DROP TRIGGER full`)
	} else {
		word, at := a.Hear(sessionsEnd, "stopped", "ended")
		if word == "ended" { // it needs fewer statements than others do
			settleInSpiteOf(t, fault{f.signal, f.place / 2})
			return
		}
		n.step("A", "has the lock, and is stopped", "before "+at)
		c.Say("run")
		how := ended(c)
		n.step("C", "runs", how)
		if how != "skipped" {
			n.fail("SKIP-IS-ERROR", "A settles, C did not get the lock in time, and does not say that it skipped.")
		}
	}
	b.Say("run")
	switch f.signal {
	case "kill -9":
		n.Until(func() bool { return len(n.Children()) > 1 })
		a.Kill()
	case "SIGSTOP":
		a.Stop()
	}
	n.step("A", f.signal, "")
	n.step("B", "runs", ended(b))
	if f.signal == "SIGSTOP" {
		a.Say("go on")
		a.Continue()
		n.step("A", "SIGCONT", ended(a))
	}
	n.exactlyOnce("B ran to its end.")
}

// Three real processes; the holder is killed, or stopped longer than its session.
func TestProcesses(t *testing.T) {
	for _, f := range []fault{{"kill -9", 8}, {"SIGSTOP", 3}} {
		t.Run(f.signal, func(t *testing.T) {
			t.Parallel()
			settleInSpiteOf(t, f)
		})
	}
}

// Fifty nights, each with another fault at another place. Only the answer is asked: it
// takes minutes.
func TestProcesses_50nights(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("ZKLAB_LONG") == "" || filepath.Base(filepath.Dir(wd)) != "solutions" {
		t.Skip("takes minutes: set ZKLAB_LONG=1, in solutions")
	}
	for i := range 50 {
		f := []fault{{"kill -9", 1 + rand.IntN(25)}, {"SIGSTOP", 1 + rand.IntN(10)}, {"", 1 + rand.IntN(5)}}[i%3]
		t.Run(fmt.Sprintf("%d_%s_at_%d", i+1, f.signal, f.place), func(t *testing.T) { settleInSpiteOf(t, f) })
	}
}
