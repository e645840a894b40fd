package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/locktest"
	"zklab/minimutex"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// news is what a connection told, and the session it had then.
type news struct {
	state   zk.State
	session int64
}

// holder is a client A that has the lock, while B waits for it. What its connection
// tells is kept, and goes to A's Hold when the test says so.
type holder struct {
	*locktest.Queue
	t       *testing.T
	a, b    *locktest.Member
	hold    *Hold
	timeout time.Duration // T
	sent    time.Time     // of the last answered request
	steps   []locktest.Step

	mu    sync.Mutex
	inbox []news
}

func newHolder(t *testing.T) *holder {
	q := locktest.NewQueue(t, func(conn *zk.Conn, path string) locktest.Locker { return minimutex.New(conn, path) })
	q.Sessions(2 * time.Second) // these tests wait until it runs out
	q.Join("A", "B")
	h := &holder{Queue: q, t: t, a: q.Member("A"), b: q.Member("B")}
	for _, s := range q.All() {
		if s.Who == "A" && s.Type == journal.SessionOpen {
			h.timeout = s.Timeout
		}
	}
	h.Patient(2 * h.timeout)
	h.a.OnSession(func(e zk.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.inbox = append(h.inbox, news{e.State, h.a.SessionID()})
	})
	h.sync()
	h.hold = New(h.a.SessionID(), h.timeout, h.sent)
	h.step("A", "holds the lock", path.Base(h.a.Node()))
	return h
}

func (h *holder) step(who, text, effect string) {
	h.steps = append(h.steps, locktest.Step{Who: who, Text: text, Effect: effect})
}

// sync asks the server something, and has the answer when it returns.
func (h *holder) sync() {
	h.t.Helper()
	sent := time.Now()
	if _, err := h.a.Conn.Sync(h.Path()); err != nil {
		h.t.Fatalf("A's sync: %v", err)
	}
	h.sent = sent
	if h.hold != nil {
		h.hold.Answered(sent)
	}
}

// next waits for the next thing that A's connection tells.
func (h *holder) next() news {
	h.t.Helper()
	var n news
	ok := h.Until(func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.inbox) == 0 {
			return false
		}
		n, h.inbox = h.inbox[0], h.inbox[1:]
		return true
	})
	if !ok {
		h.t.Fatal("A's connection tells nothing")
	}
	return n
}

// verdict is what the learner's code says, in one word.
func (h *holder) verdict(what string, err error) string {
	h.t.Helper()
	switch {
	case err == nil:
		return "go on"
	case errors.Is(err, ErrSuspended):
		return "suspended"
	case errors.Is(err, ErrLost):
		return "lost"
	}
	h.Fail(locktest.Diagnosis{Code: locktest.CodeUnexpected,
		Says: fmt.Sprintf("%s returned %q. It says nil, ErrSuspended or ErrLost, and nothing else.", what, err), Steps: h.steps})
	return ""
}

// call runs the learner's code, which must return at once.
func (h *holder) call(what string, f func() error) error {
	h.t.Helper()
	call := h.a.Do(what, func(context.Context) error { return f() })
	if !h.Until(call.Ended) && !call.Ended() {
		h.Fail(locktest.Diagnosis{Code: locktest.CodeNeverReturns,
			Says: what + " does not return. It only has to say what to believe, and waits for nothing; h.mu is locked already when your part begins.", Steps: h.steps})
	}
	if err := call.Err(); err != nil && (locktest.IsTODO(err) || strings.HasPrefix(err.Error(), "panic: ")) {
		h.CallFailed(h.a.Client, what, call)
	}
	return call.Err()
}

// hear gives a piece of news to a Hold and requires its verdict.
func (h *holder) hear(hold *Hold, n news, want string, diagnose func(got string) locktest.Diagnosis) {
	h.t.Helper()
	what := n.state.String()
	if n.state == zk.StateHasSession {
		what += map[bool]string{true: ", the same session", false: ", a new session"}[n.session == hold.session]
	}
	got := h.verdict("Hear", h.call("Hear", func() error { return hold.Hear(n.state, n.session) }))
	if n.state != zk.StateConnecting && n.state != zk.StateConnected || got != want {
		h.step("A", "hears "+what, got)
	}
	h.judge(got, want, diagnose)
}

// check asks a Hold at a time and requires its verdict.
func (h *holder) check(at time.Time, when, want string, diagnose func(got string) locktest.Diagnosis) {
	h.t.Helper()
	h.checkOf(h.hold, at, when, want, diagnose)
}

func (h *holder) checkOf(hold *Hold, at time.Time, when, want string, diagnose func(got string) locktest.Diagnosis) {
	h.t.Helper()
	got := h.verdict("Check", h.call("Check", func() error { return hold.Check(at) }))
	h.step("A", "checks "+when, got)
	h.judge(got, want, diagnose)
}

func (h *holder) judge(got, want string, diagnose func(got string) locktest.Diagnosis) {
	h.t.Helper()
	if got != want {
		d := diagnose(got)
		d.Steps = h.steps
		h.Fail(d)
	}
}

// The diagnoses that several situations share.

func keepsWorking(got string) locktest.Diagnosis {
	if got == "lost" {
		return locktest.Diagnosis{Code: "TOO-EARLY",
			Says: "A's connection broke, and A gives the lock up as lost. But the session can go on when A comes back in time: " +
				"A's node is still there, and nobody else can have the lock. Until the session is over A is suspended, no more."}
	}
	return locktest.Diagnosis{Code: "KEEPS-WORKING",
		Says: "A's connection is gone, and A goes on as if nothing had happened. From now on the server may end A's session " +
			"at any time, and A will not hear of it. Not to know is a reason to stop."}
}

func notASession(string) locktest.Diagnosis {
	return locktest.Diagnosis{Code: "RECONNECTED-IS-HELD",
		Says: "A has a TCP connection again and goes on. But the server has not said yet whether A's session is still alive: " +
			"only StateHasSession says so, and only of the session that comes with it."}
}

// A's connection breaks for a moment.
func TestShortBreak(t *testing.T) {
	h := newHolder(t)
	h.check(h.sent, "at once", "go on", func(got string) locktest.Diagnosis {
		return locktest.Diagnosis{Code: "TOO-EARLY", Says: "A has just acquired the lock, its connection is well, and Check says: " + got + "."}
	})
	h.hear(h.hold, news{zk.StateSaslAuthenticated, h.hold.session}, "go on", func(got string) locktest.Diagnosis {
		return locktest.Diagnosis{Code: "TOO-EARLY", Says: "A's connection is well, it tells something that is not about the session, and Hear says: " + got + ". Only news of the session may change what A believes."}
	})
	h.steps = h.steps[:2] // that this one said nothing need not be told
	h.a.Cut()
	for n := h.next(); n.state != zk.StateHasSession; n = h.next() {
		if n.state == zk.StateConnected || n.state == zk.StateConnecting {
			h.hear(h.hold, n, "suspended", notASession)
			continue
		}
		h.hear(h.hold, n, "suspended", keepsWorking)
		h.check(time.Now(), "now", "suspended", keepsWorking)
	}
	h.backInTime()
	h.Release("A")
	h.MustHold("B")
	h.Release("B")
	h.Done()
}

// backInTime tells A that its session goes on.
func (h *holder) backInTime() {
	h.t.Helper()
	back := func(got string) locktest.Diagnosis {
		if got == "lost" {
			return locktest.Diagnosis{Code: "TOO-EARLY",
				Says: "A came back to the same session, and says that the lock is lost. The session had not ended, so A's node is still there: A has held the lock all the time."}
		}
		return locktest.Diagnosis{Code: "STAYS-SUSPENDED",
			Says: "A came back to the same session, and stays suspended. The server has confirmed the session, so A's node is there: A holds the lock and may go on."}
	}
	h.hear(h.hold, news{zk.StateHasSession, h.hold.session}, "go on", back)
	h.sync()
	h.check(time.Now(), "after an answer", "go on", back)
}

func onNewSession(got string) locktest.Diagnosis {
	if got == "suspended" {
		return tooLate("A has a new session, so the one that the lock belonged to is over. ")
	}
	return locktest.Diagnosis{Code: "RECONNECTED-IS-HELD",
		Says: "A is connected again and goes on. But this is a new session: the old one has ended, and A's node went with it. B holds the lock."}
}

func tooLate(why string) locktest.Diagnosis {
	return locktest.Diagnosis{Code: "TOO-LATE",
		Says: why + "A says that it is suspended, as if there were hope. The lock is lost: B holds it already."}
}

func final(got string) locktest.Diagnosis {
	return locktest.Diagnosis{Code: "LOST-IS-FINAL",
		Says: "A had said that the lock is lost, and now it says: " + got + ". Whoever asked before has left the work to others. " +
			"Nothing that happens on the connection brings this hold back; only a new Acquire does."}
}

// A's session ends while A is away. B gets the lock, and A comes back.
func TestBackInAnotherSession(t *testing.T) {
	h := newHolder(t)
	deaf := New(h.hold.session, h.timeout, h.sent)
	h.a.Refuse(true)
	h.a.Cut()
	h.hear(h.hold, h.next(), "suspended", keepsWorking)
	h.a.Expire()
	h.bGetsIt()
	h.a.Refuse(false)
	n := h.next()
	for ; n.state != zk.StateExpired; n = h.next() { // the way there may take several tries
		diagnose := notASession
		if n.state == zk.StateDisconnected {
			diagnose = keepsWorking
		}
		if h.verdict("Hear", h.hold.Hear(n.state, n.session)) != "suspended" {
			h.hear(h.hold, n, "suspended", diagnose)
		}
	}
	h.hear(h.hold, n, "lost", func(got string) locktest.Diagnosis {
		if got == "go on" {
			return keepsWorking(got)
		}
		return tooLate("The server has told A that its session is over. ")
	})
	for n = h.next(); n.state != zk.StateHasSession; n = h.next() {
		if h.verdict("Hear", h.hold.Hear(n.state, n.session)) == "go on" {
			h.hear(h.hold, n, "lost", notASession)
		}
	}
	h.hear(h.hold, n, "lost", onNewSession)
	h.sync()
	h.check(time.Now(), "after an answer", "lost", onNewSession)
	h.a.Cut()
	h.hear(h.hold, h.next(), "lost", final)

	// Whoever listens late may miss that a session has expired.
	h.steps = nil
	h.step("B", "holds the lock", path.Base(h.b.Node()))
	h.hear(deaf, news{zk.StateDisconnected, deaf.session}, "suspended", keepsWorking)
	h.step("A", "misses StateExpired", "")
	h.hear(deaf, n, "lost", onNewSession)
	h.Release("B")
}

func (h *holder) bGetsIt() {
	h.t.Helper()
	h.Until(h.b.Ended)
	if !h.b.Holds() {
		h.t.Fatalf("B has not got the lock: %v", h.b.Err())
	}
	h.step("B", "holds the lock", path.Base(h.b.Node()))
}

// A's network goes silent. Nobody tells A when its session ends.
func TestSilence(t *testing.T) {
	h := newHolder(t)
	h.sync()
	h.a.BlackHole()
	h.step("A", "its network goes silent", "")
	at := func(n, of time.Duration) time.Time { return h.sent.Add(h.timeout * n / of) }
	h.check(at(1, 2), "1/2 T after its last answer", "go on", func(got string) locktest.Diagnosis {
		return locktest.Diagnosis{Code: "TOO-EARLY",
			Says: "A got its last answer half a session timeout ago, and its connection is well, but Check says: " + got + ". A client with little to do hears from the server only every third of T or so."}
	})
	h.check(at(9, 10), "9/10 T after its last answer", "suspended", func(got string) locktest.Diagnosis {
		if got == "lost" {
			return locktest.Diagnosis{Code: "TOO-EARLY",
				Says: "The server never ends a session before T has passed since it last heard the client. So until T after A sent its last answered request nobody else can have the lock: A is suspended, and not yet lost."}
		}
		sent := time.Now().Add(-2 * h.timeout) // by a clock of its own it is lost, at the time given it goes on
		longAgo := New(h.hold.session, h.timeout, sent)
		if h.verdict("Check", h.call("Check", func() error { return longAgo.Check(sent.Add(h.timeout / 2)) })) != "go on" {
			return locktest.Diagnosis{Code: "WRONG-CLOCK",
				Says: "Check was asked about a moment nine tenths of T after the last answer, and says: go on. It has looked at a clock of its own, and not at the time that it was given."}
		}
		return locktest.Diagnosis{Code: "KEEPS-WORKING",
			Says: "A has heard nothing for nine tenths of T and goes on, since its connection has told it nothing. A silent network tells nothing, and neither does anybody to a process that was stopped. Only the clock does."}
	})
	h.hear(h.hold, h.next(), "suspended", keepsWorking)
	h.bGetsIt()
	h.check(at(1, 1), "T after its last answer", "lost", func(got string) locktest.Diagnosis {
		if got == "go on" {
			return keepsWorking(got)
		}
		return tooLate("T has passed since A sent its last answered request, so the server may have ended the session. It counts from what it heard last, not from when A noticed the trouble. ")
	})
	h.Release("B")
}

// Doubts that the clock raises end with the next answer; news do not stop the clock.
func TestTheClock(t *testing.T) {
	h := newHolder(t)
	at := func(n, of time.Duration) time.Time { return h.sent.Add(h.timeout * n / of) }
	h.check(at(7, 10), "7/10 T after its last answer", "suspended", keepsWorking)
	h.hold.Answered(at(7, 10))
	h.step("A", "gets an answer to what it sent then", "")
	h.check(at(8, 10), "8/10 T after the one before", "go on", func(got string) locktest.Diagnosis {
		return locktest.Diagnosis{Code: "STAYS-SUSPENDED",
			Says: "A had heard nothing for a while, then an answer came, and Check still says: " + got + ". The answer shows that the session goes on, so A holds the lock."}
	})
	late := New(h.hold.session, h.timeout, h.sent)
	h.steps = nil
	h.hear(late, news{zk.StateDisconnected, late.session}, "suspended", keepsWorking)
	h.hear(late, news{zk.StateHasSession, late.session}, "go on", func(got string) locktest.Diagnosis {
		return locktest.Diagnosis{Code: "STAYS-SUSPENDED", Says: "A came back to the same session, and says: " + got + "."}
	})
	h.checkOf(late, at(1, 1), "T after its last answer", "lost", func(got string) locktest.Diagnosis {
		return locktest.Diagnosis{Code: "TOO-LATE",
			Says: "A has heard that its session goes on, and takes the moment of hearing for a new beginning: Check says: " + got + ". But A may hear late, when it was stopped in between. Only the time at which an answered request was sent counts."}
	})
	late.Answered(at(9, 10))
	h.step("A", "gets an answer to what it sent at 9/10 T", "")
	h.checkOf(late, at(1, 1), "again", "lost", final)
	h.Release("A")
	h.MustHold("B")
	h.Release("B")
	h.Done()
}
