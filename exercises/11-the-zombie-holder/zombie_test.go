package lock

import (
	"errors"
	"testing"

	"zklab/internal/sqltap"
)

// A holder books more than once with its one token.
func TestHolderBooksTwice(t *testing.T) {
	l := newLedger(t, newQueue(t))
	l.must("A", l.a, 7, "apples", "REJECTS-HOLDER", rejectsHolder)
	l.must("A", l.a, 7, "pears", "EQUAL-REJECTED",
		"A has booked, and its second booking is refused. It has the same token as the first, because A is still the same holder. Only a smaller token is stale.")
}

// A holder sleeps through the end of its session, and goes on where it was.
func TestZombie(t *testing.T) {
	q := newQueue(t)
	q.Join("A", "B")
	l := newLedger(t, q)
	tokenOf := func(name string) (token int64) {
		m := q.Member(name)
		err := q.Safely("Token", func() (err error) { token, err = Token(m.Conn, m.Node()); return err })
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	a := tokenOf("A")
	l.must("A", l.a, a, "apples", "REJECTS-HOLDER", rejectsHolder)
	zombie := q.Member("A")
	zombie.Refuse(true)
	zombie.Cut()
	zombie.Expire()
	l.step("A", "sleeps longer than its session", "")
	q.Until(q.Member("B").Ended)
	l.step("B", "holds the lock", "")
	b := tokenOf("B")
	l.must("B", l.b, b, "bread", "REJECTS-HOLDER", rejectsHolder)
	l.step("A", "wakes up and goes on", "")
	before := l.fence()
	l.mustRefuse(l.a, a, "cheese", "STALE-WRITE",
		"A slept through the end of its session, B took over and booked, and now A's booking was taken: A does not know that it holds the lock no more. The ledger had seen B's larger token, and let a smaller one through.")
	if l.fence() < before {
		l.step("fence", "was B's token", "is A's")
		l.fail("FENCE-LOWERED", "A's booking was refused, which is right, but A has written its own token into the fence, and that is smaller than B's. From now on the ledger takes what it must refuse.")
	}
	l.otherProcess(a)
	l.must("B", l.b, b, "butter", "REJECTS-HOLDER", rejectsHolder+" A's refused attempt has changed the fence.")
}

// Between two statements of A's booking B books, wherever the database lets it.
func TestPauseInTheMiddle(t *testing.T) {
	q := newQueue(t)
	for place := 1; place <= 8; place++ {
		l := newLedger(t, q)
		reached := 0
		l.gap = func(s sqltap.Statement) {
			if reached++; reached == place {
				if !s.Alone {
					return // here A keeps others out
				}
				l.step("A", "is stopped", "before "+s.SQL)
				l.must("B", l.b, 8, "bread", "REJECTS-HOLDER", rejectsHolder)
				l.step("A", "goes on", "")
				return
			}
			l.step("A", s.SQL, "")
		}
		_, err := l.book("A", l.a, 7, "apples")
		l.gap = nil
		if reached < place {
			return // every place was tried
		}
		if !l.has("bread") {
			continue
		}
		const says = "A's booking was taken after B's, with a smaller token. A had looked at the fence before it was stopped, and what it had seen was no longer true when it wrote. " +
			"To check and to write must be one step for everybody else."
		switch {
		case l.has("apples"):
			l.fail("CHECK-THEN-WRITE", says)
		case err == nil:
			l.fail("SILENT-REFUSAL", "A's booking was not taken, and Book returned no error: A believes that it is booked, and goes on. A refusal must reach the one who is refused.")
		case !errors.Is(err, ErrStale): // the database itself kept A out
			l.mustRefuse(l.a, 7, "apples", "CHECK-THEN-WRITE", says)
		}
	}
}

// The database itself fails. That is not the end of the lock, and no success either.
func TestDatabaseFails(t *testing.T) {
	l := newLedger(t, newQueue(t))
	for _, table := range []string{"bookings", "fence"} {
		event := map[string]string{"bookings": "INSERT ON bookings", "fence": "UPDATE ON fence"}[table]
		if _, err := l.rows.ExecContext(t.Context(), `CREATE TRIGGER full BEFORE `+event+` BEGIN SELECT RAISE(ABORT, 'disk full'); END`); err != nil {
			t.Fatal(err)
		}
		l.step("database", "fails when somebody writes to "+table, "")
		switch booked, err := l.book("A", l.a, 7, "apples"); {
		case booked: // past that table
		case err == nil:
			l.fail("IGNORES-ERROR", "The database failed, nothing is booked, and Book says that all is well. Each statement can fail, and each of these errors must reach the one who calls.")
		case errors.Is(err, ErrStale):
			l.fail("ERROR-IS-STALE", "The database failed, and Book says ErrStale. A believes that it has lost the lock, and it has not: its token is the largest that the ledger has seen. Only a row that was not changed says so.")
		}
		if _, err := l.rows.ExecContext(t.Context(), `DROP TRIGGER full`); err != nil {
			t.Fatal(err)
		}
	}
	l.fault = func(s sqltap.Statement) error {
		if s.SQL == "COMMIT" {
			return errors.New("disk full")
		}
		return nil
	}
	l.step("database", "takes all statements, and cannot commit", "")
	if booked, err := l.book("A", l.a, 7, "pears"); !booked && err == nil {
		l.fail("IGNORES-ERROR", "The database took every statement, and then could not commit them. Nothing is booked, and Book says that all is well. Commit can fail as any other statement can, and only when it has not is anything booked.")
	}
}
