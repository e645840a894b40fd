package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"testing"
	"time"

	"zklab/internal/journal"
	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

// within is AcquireWithin as a call of Acquire; false without an error is errNotGot, and
// true with one is errBoth.
func within(m *locktest.Member, milliseconds int) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := m.Lock.(*Mutex).AcquireWithin(ctx, milliseconds)
		if err == nil && !got {
			err = errNotGot
		}
		if err != nil && got {
			err = fmt.Errorf("%w %w", errBoth, err)
		}
		return err
	}
}

// A client waits for so many milliseconds, and no longer.
func TestWaitsForSoLong(t *testing.T) {
	const asked = 300
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	start := time.Now()
	q.Start(b, within(b, asked))
	q.Until(b.Ended)
	took := time.Since(start)
	switch {
	case !b.Ended():
		q.Fail(wrongUnit(q, "300 milliseconds were asked for, and after 2 seconds B still waits. Is it the context with the deadline that Acquire gets?", "create", "getW", "existsW", "delete"))
	case b.Err() == nil:
		pretendsToHold(q, b, "B's time", "AcquireWithin")
	case locktest.IsTODO(b.Err()):
		q.Fail(locktest.TODO("AcquireWithin"))
	}
	mustLeaveNothing(q, b, "its time was up")
	if took < asked*time.Millisecond*9/10 && errors.Is(b.Err(), context.Canceled) {
		q.Fail(locktest.Diagnosis{Code: "CANCELS-AT-ONCE",
			Says:  fmt.Sprintf("300 milliseconds were asked for, and B gave up at once: %q. Nobody but AcquireWithin itself has cancelled that context, before Acquire had a chance to wait.", b.Err()),
			Steps: q.Steps(start, locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW", "delete")))})
	}
	if !errors.Is(b.Err(), errNotGot) {
		q.Fail(locktest.Diagnosis{Code: "TIMEOUT-IS-ERROR",
			Says:  fmt.Sprintf("B's time was up, which is no failure, but AcquireWithin returned the error %q.", b.Err()),
			Steps: q.Steps(start, locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW", "delete")))})
	}
	if took < asked*time.Millisecond*9/10 {
		q.Fail(wrongUnit(q, "300 milliseconds were asked for, and B gave up much sooner.", "create", "delete"))
	}
	q.Release("A")
	c := q.Member("C")
	q.Start(c, within(c, 20_000))
	q.MustHold("C")
	q.Release("C")
	q.Done()
}

// The line moves up while B waits for so many milliseconds: they are for all of its wait,
// not for each step of it. Those in front of B leave one by one, each long before a limit that
// had begun with the one before would be over.
func TestTheLimitIsForAllStepsTogether(t *testing.T) {
	const asked = time.Second
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	inFront := map[string]*locktest.Call{}
	for _, name := range []string{"C", "D", "E", "F"} {
		m := q.Member(name)
		inFront[name] = q.Start(m, m.Lock.Acquire)
		q.MustWait(name)
	}
	b := q.Member("B")
	start := time.Now()
	over := start.Add(asked)
	q.Start(b, within(b, int(asked.Milliseconds())))
	for _, leaves := range []struct {
		who   string
		after time.Duration
	}{{"F", asked / 2}, {"E", asked + asked/20}, {"D", asked + asked/10}} {
		q.Until(func() bool { return b.Ended() || time.Since(start) > leaves.after && len(b.Armed()) > 0 })
		if b.Ended() {
			break
		}
		inFront[leaves.who].Cancel()
		q.Until(inFront[leaves.who].Ended)
	}
	// One watch after that time is nobody's fault: it was up just as B was woken.
	goesOn := func() bool { return watchesSince(q, b, over) > 1 }
	if q.Until(func() bool { return b.Ended() || goesOn() }); goesOn() {
		what := locktest.Any(locktest.Doing("delete"), locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW")))
		before := q.Steps(start, locktest.Both(what, func(s locktest.Seen) bool { return s.At.Before(over) }))
		q.Fail(locktest.Diagnosis{Code: "LIMIT-BEGINS-ANEW",
			Says: "1000 milliseconds were asked for, they are over, and B still waits: each time the one in front of it left, and B had to look again, its limit began anew. In a long line it may wait many times as long as it was told.",
			Steps: slices.Concat(before, []locktest.Step{{Who: "B", Text: "its 1000 ms are over"}}, q.Steps(over, what),
				[]locktest.Step{{Who: "B", Text: "still waiting"}})})
	}
	q.Until(b.Ended)
	mustLeaveNothing(q, b, "its time was up")
	for _, call := range inFront {
		call.Cancel()
		q.Until(call.Ended)
	}
	q.Release("A")
	q.Done()
}

// watchesSince counts a member's requests for a watch.
func watchesSince(q *locktest.Queue, m *locktest.Member, since time.Time) int {
	n := 0
	for _, s := range q.Since(since) {
		if s.Who == m.Name && s.Type == journal.Request && s.Asked {
			n++
		}
	}
	return n
}

// The caller of AcquireWithin gives up before the time is up. That is not the same as
// its time being up.
func TestTheCallerGivesUpSooner(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	start := time.Now()
	q.Start(b, func(context.Context) error { return within(b, 60_000)(ctx) })
	q.Until(func() bool { return b.Ended() || len(b.Armed()) > 0 || b.Polls() })
	q.MustWait("B")
	gaveUp := time.Now()
	cancel()
	q.Until(b.Ended)
	steps := func(last locktest.Step) []locktest.Step {
		what := locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW", "delete"))
		all := q.Steps(start, locktest.Both(what, func(s locktest.Seen) bool { return s.At.Before(gaveUp) }))
		all = append(all, locktest.Step{Who: "B", Text: "the caller's context ended"})
		return append(append(all, q.Steps(gaveUp, what)...), last)
	}
	switch {
	case !b.Ended():
		q.Fail(locktest.Diagnosis{Code: "IGNORES-CONTEXT",
			Says:  "B called AcquireWithin for a minute, and the context that it gave ended at once. B still waits: the limit comes on top of the caller's context, not in its place.",
			Steps: steps(locktest.Step{Who: "B", Text: "still waiting"})})
	case errors.Is(b.Err(), errNotGot):
		q.Fail(locktest.Diagnosis{Code: "ERROR-IS-TIMEOUT",
			Says:  "B called AcquireWithin for a minute, and the context that it gave ended at once. AcquireWithin said false without an error: the time was up. It was not; the caller has given up, and its error must tell.",
			Steps: steps(locktest.Step{Who: "B", Text: "AcquireWithin returned false, nil"})})
	}
	mustLeaveNothing(q, b, "the caller's context ended")
	if errors.Is(b.Err(), errBoth) {
		q.Fail(locktest.Diagnosis{Code: "TIMEOUT-IS-SUCCESS",
			Says:  "The context of B's caller ended, and AcquireWithin returned true and an error. True says that B holds the lock, and A holds it: whoever looks at the first result only goes in.",
			Steps: steps(locktest.Step{Who: "B", Text: "AcquireWithin returned true", Effect: path.Base(q.Member("A").Node()) + " (A) still there"})})
	}
	q.Release("A")
	q.Done()
}

// B cannot ask the server. That is no limit of time.
func TestAnErrorIsNotTheTime(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	b.FailWrite(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: q.Path()})
	start := time.Now()
	q.Start(b, within(b, 60_000))
	q.Until(func() bool { return b.Ended() || len(b.Armed()) > 0 || b.Polls() }) // it may ask again by itself
	if errors.Is(b.Err(), errNotGot) {
		q.Fail(locktest.Diagnosis{Code: "ERROR-IS-TIMEOUT",
			Says: "B's connection broke before its create reached the server, and AcquireWithin, called for a minute, said at once that the time was up: false, and no error. Whoever reads that tries again later; nobody learns that something is broken.",
			Steps: append(q.Steps(start, locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW", "delete"))),
				locktest.Step{Who: "B", Text: "AcquireWithin returned false, nil"})})
	}
	if b.Holds() {
		q.MustWait("B")
	}
}

// B's time is up, and B cannot leave: its connection breaks. "Not got" without an error
// would say that it has no node.
func TestCannotLeave(t *testing.T) {
	q := locktest.NewQueue(t, newLock)
	q.Join("A")
	b := q.Member("B")
	b.FailWrite(wiretap.Match{Op: wiretap.OpDelete, PathPrefix: q.Path()})
	start := time.Now()
	q.Start(b, within(b, 300))
	q.Until(b.Ended)
	if errors.Is(b.Err(), errNotGot) && leftBehind(q, b) {
		q.Fail(locktest.Diagnosis{Code: "SILENT-LEFTOVER",
			Says: "B's time was up, its connection broke when it wanted to leave, and AcquireWithin said false without an error. B's node is still in line, and nobody knows: its session goes on. A delete that fails must be told.",
			Steps: append(q.Steps(start, locktest.Both(locktest.By("B"), locktest.Doing("create", "getW", "existsW", "delete"))),
				locktest.Step{Who: "B", Text: "AcquireWithin returned false, nil", Effect: path.Base(b.Node()) + " still there"})})
	}
}

var (
	errNotGot = errors.New("AcquireWithin returned false, nil")
	errBoth   = errors.New("AcquireWithin returned true, and the error")
)

func wrongUnit(q *locktest.Queue, says string, steps ...string) locktest.Diagnosis {
	return locktest.Diagnosis{Code: "WRONG-UNIT",
		Says:  says + " A number has no unit: time.Duration counts nanoseconds.",
		Steps: q.Steps(time.Time{}, locktest.Both(locktest.By("B"), locktest.Doing(steps...)))}
}
