package lock

import (
	"path"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
)

func TestMain(m *testing.M) { locktest.Main(m) }

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
