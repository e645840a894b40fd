package lock

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"zklab/curatorlike"
	"zklab/internal/locktest"
	"zklab/internal/sqltap"
)

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
