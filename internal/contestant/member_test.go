package contestant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeLock grants, refuses and loses when the test says so: here it is about what
// a member makes of it, at moments that a real lock gives only by chance.
type fakeLock struct {
	grants   chan Grant // each acquire takes one
	refuse   chan error
	deaf     bool // Acquire takes a grant even though its context has ended
	releases error
	closed   bool
}

func (l *fakeLock) Acquire(ctx context.Context) (Grant, error) {
	if l.deaf {
		<-ctx.Done()
		return <-l.grants, nil
	}
	select {
	case g := <-l.grants:
		return g, nil
	case err := <-l.refuse:
		return Grant{}, err
	case <-ctx.Done():
		return Grant{}, ctx.Err()
	}
}

func (l *fakeLock) Release(context.Context) error { return l.releases }

func (l *fakeLock) Close() error { l.closed = true; return nil }

// stage runs one member with a fake lock, in fake time.
type stage struct {
	t    *testing.T
	m    *member
	lock *fakeLock
	quit func()

	mu   sync.Mutex
	said []string
}

func onStage(t *testing.T, cfg Member, test func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg.Who = "amber"
		s := &stage{t: t, lock: &fakeLock{grants: make(chan Grant, 9), refuse: make(chan error, 9)}}
		s.m = newMember(cfg, func(r Report) {
			word := string(r.Kind)
			if r.Kind == KindBelief {
				word = string(r.Belief)
			}
			if r.Token != 0 {
				word += fmt.Sprintf("#%d", r.Token)
			}
			if r.Err != "" {
				word += "!"
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.said = append(s.said, word)
		}, time.Now)
		s.m.lock = s.lock
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.m.run(ctx)
		}()
		s.quit = func() { cancel(); <-ended }
		s.tell(Session{State: Connected, ID: 1})
		s.wants("idle")
		test(s)
		s.quit()
		if !s.lock.closed {
			t.Error("the session was not closed")
		}
	})
}

func (s *stage) tell(n Session) {
	s.m.news.put(n)
	synctest.Wait()
}

func (s *stage) order(op Op) {
	s.t.Helper()
	if err := s.m.order(command{Op: op, Who: "amber"}); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

func (s *stage) grant(g Grant) {
	s.lock.grants <- g
	synctest.Wait()
}

// wants checks what the member said since it was last asked.
func (s *stage) wants(words ...string) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.said, words) {
		s.t.Errorf("said %v, want %v", s.said, words)
	}
	s.said = nil
}

var held = Grant{Node: "/l/lock-0000000001", Token: 7, Session: 1}

func TestMember_holdTime_releasesAndStops(t *testing.T) {
	onStage(t, Member{Hold: time.Second}, func(s *stage) {
		s.order(OpJoin)
		s.grant(held)
		s.wants("waiting", "holds#7")
		time.Sleep(time.Second)
		s.wants("released#7")
		time.Sleep(time.Minute)
		s.wants()
	})
}

func TestMember_3rounds_untilToldEachTime(t *testing.T) {
	onStage(t, Member{Rounds: 3}, func(s *stage) {
		s.order(OpJoin)
		s.wants("waiting")
		for range 2 {
			s.grant(held)
			s.order(OpRelease)
			s.wants("holds#7", "released#7", "waiting")
		}
		s.grant(held)
		s.order(OpRelease)
		s.wants("holds#7", "released#7")
	})
}

func TestMember_releaseWhileWaiting_leavesTheLine(t *testing.T) {
	onStage(t, Member{Rounds: -1}, func(s *stage) {
		s.order(OpJoin)
		s.order(OpRelease)
		time.Sleep(time.Minute)
		s.wants("waiting", "released")
	})
}

func TestMember_grantedWhileLeaving_givesItBack(t *testing.T) {
	onStage(t, Member{Rounds: -1}, func(s *stage) {
		s.lock.deaf = true
		s.order(OpJoin)
		s.order(OpRelease)
		s.grant(held)
		time.Sleep(time.Minute)
		s.wants("waiting", "released#7")
	})
}

func TestMember_refused_triesAgainAfterAPause(t *testing.T) {
	onStage(t, Member{Rounds: 2}, func(s *stage) {
		s.order(OpJoin)
		s.lock.refuse <- errors.New("no")
		s.wants("waiting", "failed!")
		time.Sleep(pauseOnError)
		s.wants("waiting")
		s.lock.refuse <- errors.New("no")
		time.Sleep(time.Minute)
		s.wants("failed!")
	})
}

func TestMember_releaseWhilePausing_stops(t *testing.T) {
	onStage(t, Member{Rounds: -1}, func(s *stage) {
		s.order(OpJoin)
		s.lock.refuse <- errors.New("no")
		synctest.Wait()
		s.order(OpRelease)
		time.Sleep(time.Minute)
		s.wants("waiting", "failed!", "released")
	})
}

func TestMember_connectionGone_suspendedThenHoldsAgain(t *testing.T) {
	onStage(t, Member{}, func(s *stage) {
		s.order(OpJoin)
		s.grant(held)
		s.tell(Session{State: Disconnected})
		s.tell(Session{State: Disconnected})
		s.order(OpWrite)
		s.tell(Session{State: Connected, ID: 1})
		s.order(OpWrite)
		s.wants("waiting", "holds#7", "suspended#7", "error#7!", "holds#7", "write#7")
	})
}

func TestMember_sessionLostWhileHolding_forgetsTheHold(t *testing.T) {
	onStage(t, Member{Hold: time.Second}, func(s *stage) {
		s.order(OpJoin)
		s.grant(held)
		s.tell(Session{State: Disconnected})
		s.tell(Session{State: Expired})
		s.tell(Session{State: Connected, ID: 2})
		time.Sleep(time.Minute) // its hold time releases nothing any more
		s.order(OpRelease)
		s.wants("waiting", "holds#7", "suspended#7", "lost#7!", "idle", "error!")
	})
}

// All that happened while the process was stopped is told at once.
func TestMember_newsAtOnce_nothingForgotten(t *testing.T) {
	onStage(t, Member{}, func(s *stage) {
		s.order(OpJoin)
		s.grant(held)
		for _, n := range []Session{{State: Disconnected}, {State: Expired}, {State: Disconnected}, {State: Connected, ID: 2}} {
			s.m.news.put(n)
		}
		s.wants("waiting", "holds#7", "suspended#7", "lost#7!", "idle")
	})
}

// The grant of a session that has ended meanwhile is none.
func TestMember_grantOfLostSession_isLost(t *testing.T) {
	onStage(t, Member{}, func(s *stage) {
		s.order(OpJoin)
		s.tell(Session{State: Expired})
		s.grant(held)
		s.wants("waiting", "lost", "lost!")
	})
}

func TestMember_writeUnderWay_happensWhateverItHearsMeanwhile(t *testing.T) {
	onStage(t, Member{}, func(s *stage) {
		s.order(OpJoin)
		s.grant(held)
		if err := s.m.order(command{Op: OpWrite, Who: "amber", Work: time.Second}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.tell(Session{State: Expired})
		time.Sleep(time.Second)
		s.wants("waiting", "holds#7", "work#7", "lost#7!", "write#7")
	})
}

func TestMember_releaseFails_saysSo(t *testing.T) {
	onStage(t, Member{}, func(s *stage) {
		s.lock.releases = errors.New("no")
		s.order(OpJoin)
		s.grant(held)
		s.order(OpRelease)
		s.wants("waiting", "holds#7", "failed#7!")
	})
}

func TestMember_tooManyCommands_areRefused(t *testing.T) {
	m := newMember(Member{}, func(Report) {}, time.Now) // does not run
	var err error
	for range mailLimit + 1 {
		if err != nil {
			t.Fatalf("refused early: %v", err)
		}
		err = m.order(command{Op: OpJoin})
	}
	if !errors.Is(err, errBusy) {
		t.Errorf("one command too many: %v, want %v", err, errBusy)
	}
}

func TestMember_quitWhileWaiting_waitsForTheCall(t *testing.T) {
	onStage(t, Member{}, func(s *stage) {
		s.order(OpJoin)
		s.quit()
		s.wants("waiting", "gone")
	})
}
