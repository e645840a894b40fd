package lock

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

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
	case err == nil && (time.Since(start) < b.job.Patience || !b.Did(start, "getW", "existsW", "childrenW")): // on a slow machine "at once" is long
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
