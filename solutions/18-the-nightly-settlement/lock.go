// Package lock is exercise 18: the nightly settlement. It runs on several machines,
// and books every order exactly once, whatever happens to them.
package lock

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"zklab/curatorlike"
)

// ErrStale is returned when the database has seen a newer holder of the lock.
var ErrStale = errors.New("stale token: another instance has the lock by now")

// Schema is the database's. An order is open as long as no booking names it. Nothing
// in the tables keeps an order from being booked twice.
const Schema = `
CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL);
CREATE TABLE bookings (number INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, token INTEGER NOT NULL);
CREATE TABLE fence (one INTEGER PRIMARY KEY CHECK (one = 1), token INTEGER NOT NULL);
INSERT INTO fence VALUES (1, 0);`

// Settlement is one instance of the job.
type Settlement struct {
	Lock     *curatorlike.Mutex
	DB       *sql.DB
	Patience time.Duration // how long to wait for the lock
}

// Report says what an instance has done.
type Report struct {
	Skipped bool // it got no lock in time: another instance settles tonight
	Booked  int  // orders that were committed, also when Run returns an error
}

// Run settles the open orders, if this instance gets the lock within its patience.
// That it does not is no error: it skips. When Run returns, the lock is free. An error
// says that there may be orders left: ErrStale when another instance has taken over.
// ctx ends the waiting, not the work: with the lock, Run settles until nothing is open, or
// until the hold's context ends.
func (s *Settlement) Run(ctx context.Context) (Report, error) {
	// SOLUTION-BEGIN Acquire the lock with a context of its own that ends after s.Patience.
	// | If that is why you did not get it, skip; mind that ctx itself may have ended. With
	// | the lock, call settle, under the context of the hold (hold.Context()) and with its
	// | token (hold.Token()). Call hold.Release on every way out, under a context that
	// | lives even if ctx does not.
	patience, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	hold, err := s.Lock.Acquire(patience)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return Report{Skipped: true}, nil
	}
	if err != nil {
		return Report{}, err
	}
	booked, err := s.settle(hold.Context(), hold.Token())
	leaving, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	return Report{Booked: booked}, errors.Join(err, hold.Release(leaving))
	// SOLUTION-END
}

// settle books one open order after another, until there is none, and returns how many.
func (s *Settlement) settle(ctx context.Context, token int64) (booked int, err error) {
	// SOLUTION-BEGIN Call bookOne until it says that nothing is open, or returns an error.
	for {
		more, err := s.bookOne(ctx, token)
		if err != nil || !more {
			return booked, err
		}
		booked++
	}
	// SOLUTION-END
}

// bookOne books an open order, in one transaction, and reports whether there was one. It
// books nothing and returns ErrStale when the database has seen a larger token.
func (s *Settlement) bookOne(ctx context.Context, token int64) (more bool, err error) {
	// SOLUTION-BEGIN First raise the fence, as in lesson 11: what you read before that, an
	// | old holder may still change. Then find an order that no booking names, insert the
	// | booking with your token, and commit. All in one transaction (s.DB.BeginTx). When
	// | nothing is open, commit as well: a rollback takes the fence back.
	tx, err := s.DB.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // does nothing after the commit
	raised, err := tx.ExecContext(ctx, `UPDATE fence SET token = ? WHERE token <= ?`, token, token)
	if err != nil {
		return false, err
	}
	n, err := raised.RowsAffected()
	if err != nil {
		return false, err
	}
	if n == 0 {
		return false, ErrStale
	}
	var order int64
	err = tx.QueryRowContext(ctx, `SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM bookings) ORDER BY id LIMIT 1`).Scan(&order)
	if errors.Is(err, sql.ErrNoRows) {
		return false, tx.Commit()
	}
	if err != nil {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO bookings (order_id, token) VALUES (?, ?)`, order, token); err != nil {
		return false, err
	}
	return true, tx.Commit()
	// SOLUTION-END
}
