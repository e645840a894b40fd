package lock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"zklab/internal/locktest"
	"zklab/internal/sqltap"
)

// otherBooking books in a ledger's file. Whether it was refused is to be seen there.
func otherBooking(file, token, item string) {
	db := sqltap.Open(file, nil)
	defer db.Close()
	l, err := Open(context.Background(), db)
	if err != nil {
		return // the database is locked: nothing is booked
	}
	n, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		panic(err)
	}
	_ = l.Book(context.Background(), n, item)
}

// ledger is a ledger in a file, as two processes have it open.
type ledger struct {
	*locktest.Queue
	t     *testing.T
	a, b  *Ledger
	rows  *sql.DB
	file  string
	gap   func(sqltap.Statement)       // called before each statement of A's
	fault func(sqltap.Statement) error // of the database, in A's statements; nil: none
	steps []locktest.Step
}

func newLedger(t *testing.T, q *locktest.Queue) *ledger {
	t.Helper()
	l := &ledger{Queue: q, t: t, file: filepath.Join(t.TempDir(), "ledger.db")}
	open := func(see func(sqltap.Statement) error) *Ledger {
		db := sqltap.Open(l.file, see)
		t.Cleanup(func() { db.Close() })
		opened, err := Open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		l.rows = db
		return opened
	}
	l.a = open(func(s sqltap.Statement) error {
		if l.gap != nil {
			l.gap(s)
		}
		if l.fault != nil {
			return l.fault(s)
		}
		return nil
	})
	l.b = open(nil)
	return l
}

func (l *ledger) step(who, text, effect string) {
	l.steps = append(l.steps, locktest.Step{Who: who, Text: text, Effect: effect})
}

func (l *ledger) fail(code, says string) {
	l.t.Helper()
	l.Fail(locktest.Diagnosis{Code: code, Says: says, Steps: l.steps})
}

// book books, and says whether the ledger has the item then.
func (l *ledger) book(who string, at *Ledger, token int64, item string) (booked bool, err error) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	l.t.Cleanup(cancel) // and no sooner: its end would clean up what Book has left open
	err = l.Safely("Book", func() error { return at.Book(ctx, token, item) })
	booked = l.has(item)
	effect := "booked"
	switch {
	case errors.Is(err, ErrStale):
		effect = "ErrStale"
	case err != nil:
		effect = "error: " + err.Error()
	case !booked:
		effect = "no error"
	}
	if booked && err != nil {
		effect += ", but it is booked"
	} else if !booked && err == nil {
		effect += ", but it is not booked"
	}
	l.step(who, "books "+item, effect)
	return booked, err
}

func (l *ledger) has(item string) bool {
	l.t.Helper()
	var n int
	if err := l.rows.QueryRowContext(l.t.Context(), `SELECT count(*) FROM bookings WHERE item = ?`, item).Scan(&n); err != nil {
		l.t.Fatal(err)
	}
	return n > 0
}

// newest is the last row of the ledger, in words.
func (l *ledger) newest() string {
	l.t.Helper()
	var item, token string
	err := l.rows.QueryRowContext(l.t.Context(), `SELECT item, token FROM bookings ORDER BY number DESC LIMIT 1`).Scan(&item, &token)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		l.t.Fatal(err)
	}
	return fmt.Sprintf("item %q, token %q", item, token)
}

// fence is the token in the fence.
func (l *ledger) fence() (token int64) {
	l.t.Helper()
	if err := l.rows.QueryRowContext(l.t.Context(), `SELECT token FROM fence`).Scan(&token); err != nil {
		l.t.Fatal(err)
	}
	return token
}

// must requires that a booking of the one who holds the lock is taken.
func (l *ledger) must(who string, at *Ledger, token int64, item, code, says string) {
	l.t.Helper()
	before := l.newest()
	switch booked, err := l.book(who, at, token, item); {
	case errors.Is(err, ErrStale):
		l.fail(code, says)
	case err != nil && strings.Contains(err.Error(), "locked") && len(l.steps) == 1:
		l.fail("OUTSIDE-THE-TRANSACTION", "The very first booking waits until the database gives up: the database is locked, by Book itself. It has begun a transaction that writes, and writes something else past it.")
	case err != nil && strings.Contains(err.Error(), "locked"):
		l.fail("LEFT-OPEN", "The database is locked: the booking before has left its transaction open. Whoever is refused must end his transaction as well.")
	case err != nil:
		l.fail(locktest.CodeUnexpected, fmt.Sprintf("Book returned an error although %s holds the lock: %q.", who, err))
	case !booked && l.newest() != before:
		l.fail("WRONG-ROW", fmt.Sprintf("The ledger has a new row, and it is not the booking of %s with token %d: it says %s. The values stand for the question marks in the order in which they are given.", item, token, l.newest()))
	case !booked:
		l.fail("NOT-BOOKED", fmt.Sprintf("Book returned no error to %s, but %s is not in the ledger. What is written in a transaction counts only when that is committed.", who, item))
	}
}

const rejectsHolder = "The ledger refused a booking of the one who holds the lock, with a token that is not smaller than any before."

// otherProcess requires that a process that was just started refuses as well.
func (l *ledger) otherProcess(token int64) {
	l.t.Helper()
	other(l.t, "book", l.file, fmt.Sprint(token), "milk")
	if l.has("milk") {
		l.step("A", "books milk from another process", "booked")
		l.fail("FENCE-IN-MEMORY", "Another process, which has just started, booked with A's stale token. It knows nothing of the tokens that were seen here: what is in the memory of one process is no fence for another. "+
			"The fence must be in the database, beside what it protects.")
	}
}

// mustRefuse requires that a booking with a stale token leaves nothing.
func (l *ledger) mustRefuse(at *Ledger, token int64, item, code, says string) {
	l.t.Helper()
	booked, err := l.book("A", at, token, item)
	switch {
	case booked:
		l.fail(code, says)
	case err == nil:
		l.fail("SILENT-REFUSAL", "A's booking was not taken, and Book returned no error: A believes that it is booked, and goes on. A refusal must reach the one who is refused.")
	case !errors.Is(err, ErrStale):
		l.fail("WRONG-ERROR", fmt.Sprintf("A's booking was refused, which is right, but Book says %q. Whoever calls must find ErrStale in the error, to know that the lock is lost.", err))
	}
}
