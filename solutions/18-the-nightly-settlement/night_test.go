package lock

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zklab/internal/locktest"
	"zklab/internal/sqltap"
)

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
