package contestant_test

import (
	"context"
	"testing"
	"time"

	"zklab/internal/contestant"
	"zklab/internal/wiretap"
	"zklab/internal/zkserver/zktest"
)

func relay(t *testing.T) *wiretap.Relay {
	t.Helper()
	r, err := wiretap.Start(context.Background(), zktest.Need(t).Connect(), wiretap.Options{})
	must(t, err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// A black hole tells the holder first, after two thirds of its session; the server
// gives the lock to the next one only when the session has ended.
func TestProcess_blackHoleAtHolder_suspendedThenLost(t *testing.T) {
	t.Parallel()
	const session = 2 * time.Second
	tick := zktest.Need(t).Tick()
	l, r := newLog(), relay(t)
	a, b := newMember(t, "amber", "mini"), newMember(t, "basil", "mini")
	a.Session, a.Servers = session, r.Addr()
	pa, pb := spawn(t, l.add, a), spawn(t, l.add, b)
	must(t, pa.Join("amber"))
	first := l.waitBelief(t, 1, "amber", contestant.Holds)
	must(t, pb.Join("basil"))
	l.waitBelief(t, 1, "basil", contestant.Waiting)
	began := time.Now()
	r.BlackHole(wiretap.Both, true)
	suspended := l.waitBelief(t, 1, "amber", contestant.Suspended)
	second := l.waitBelief(t, 1, "basil", contestant.Holds)
	if !suspended.At.Before(second.At) {
		t.Errorf("amber learned %v after basil held, want before", suspended.At.Sub(second.At))
	}
	if d := second.At.Sub(began); d > session+tick+time.Second {
		t.Errorf("basil held %v after the black hole began", d)
	}
	r.Heal()
	lost := l.waitBelief(t, 1, "amber", contestant.Lost)
	if lost.Session != first.Session {
		t.Errorf("lost session %d, held in %d", lost.Session, first.Session)
	}
	t.Logf("T %v: suspended after %v, next holds after %v, lost %v after that", session,
		suspended.At.Sub(began).Round(time.Millisecond), second.At.Sub(began).Round(time.Millisecond), time.Since(second.At).Round(time.Millisecond))
}

func TestProcess_cutHolder_holdsAgain(t *testing.T) {
	t.Parallel()
	l, r := newLog(), relay(t)
	m := newMember(t, "amber", "mini")
	m.Servers = r.Addr()
	p := spawn(t, l.add, m)
	must(t, p.Join("amber"))
	first := l.waitBelief(t, 1, "amber", contestant.Holds)
	r.Cut()
	l.waitBelief(t, 1, "amber", contestant.Suspended)
	again := l.waitBelief(t, 2, "amber", contestant.Holds)
	if again.Token != first.Token || again.Session != first.Session {
		t.Errorf("holds again as %+v, want token and session of %+v", again, first)
	}
	must(t, p.Release("amber"))
	l.waitBelief(t, 1, "amber", contestant.Released)
}

// A session of one millisecond is asked for as it is; the server grants its own
// shortest one, and everything works.
func TestProcess_sessionOf1ms_works(t *testing.T) {
	for _, recipe := range []string{"mini", "mutex"} {
		l := newLog()
		m := newMember(t, recipe, recipe)
		m.Lock += recipe
		m.Session, m.Join, m.Hold = time.Millisecond, true, time.Millisecond
		spawn(t, l.add, m)
		r := l.waitBelief(t, 1, recipe, contestant.Released)
		if recipe == "mutex" && r.Timeout < 2*zktest.Need(t).Tick() {
			t.Errorf("negotiated %v, which is below two ticks", r.Timeout)
		}
	}
}
