package lockproof_test

import (
	"syscall"
	"time"

	"zklab/internal/wiretap"
)

// fault is one column of the matrix.
type fault struct {
	name    string
	calm    bool // a session may last longer than usual: none is to end
	process bool // it needs a process of its own
	lists   bool // it needs a recipe that lists a queue
	server  bool // it strikes everybody, not the victim alone
	// arm prepares the victim's network before it asks for the lock, strike
	// does the fault while it holds or waits and returns when it is over, and
	// late prepares its network before it releases.
	arm, late func(b *bout)
	strike    func(b *bout)
	keeps     bool // the session lives on: a waiter keeps its place and is granted
	kills     bool // the session is over when strike returns
	ends      bool // the victim is not there afterwards
	excused   bool // the victim cannot know that its session ended, or ends it itself
}

const (
	// short is less than the timeout by more than a heartbeat's interval: the
	// server may have heard the client last that long before the fault began.
	short = sessionTimeout / 2
	// long is more than the timeout and the tick by which an expiry may be late.
	long = 2 * sessionTimeout
)

func lose(op wiretap.Op) func(b *bout) {
	return func(b *bout) {
		// In two rounds each kind of node, in four each in both roles.
		prefix := b.recipe.nodes[(b.round/2+b.round)%len(b.recipe.nodes)]
		if op != wiretap.OpCreate { // whatever it lists or deletes next
			prefix = ""
		}
		b.victim.network().DropReply(wiretap.Match{Op: op, PathPrefix: b.a.path + prefix})
	}
}

func hole(d time.Duration) func(b *bout) {
	return func(b *bout) {
		b.victim.network().BlackHole(wiretap.Both, true)
		time.Sleep(d)
		b.victim.network().BlackHole(wiretap.Both, false)
	}
}

// stop stops the victim. A waiter's turn comes meanwhile: what it reads first
// when it wakes up is that its predecessor is gone.
func stop(d time.Duration) func(b *bout) {
	return func(b *bout) {
		p := b.victim.(*process)
		p.signal(syscall.SIGSTOP)
		if b.role == asWaiter {
			for _, h := range b.others[:b.holders] {
				h.release()
			}
		}
		time.Sleep(d)
		p.release() // it finds this in its pipe when it wakes up, and may act on it
		p.signal(syscall.SIGCONT)
	}
}

var faults = []fault{
	{name: "none", keeps: true, strike: func(*bout) {}},
	{name: "clean close", kills: true, ends: true, excused: true, strike: func(b *bout) { b.victim.(*player).session.Close() }},
	{name: "kill -9", process: true, ends: true, excused: true, strike: func(b *bout) { b.victim.(*process).signal(syscall.SIGKILL) }},
	{name: "SIGSTOP < T", process: true, keeps: true, strike: stop(short)},
	{name: "SIGSTOP > T+tick", process: true, kills: true, excused: true, strike: stop(long)},
	{name: "reset", keeps: true, strike: func(b *bout) { b.victim.network().Cut() }},
	{name: "black hole < T", keeps: true, strike: hole(short)},
	{name: "black hole > T", kills: true, strike: hole(long)},
	{name: "delay 50-200 ms", calm: true, keeps: true, arm: func(b *bout) {
		b.victim.network().Delay(50*time.Millisecond + time.Duration(b.round%4)*50*time.Millisecond)
	}, strike: func(*bout) {}},
	{name: "create reply lost", keeps: true, arm: lose(wiretap.OpCreate), strike: func(*bout) {}},
	{name: "list reply lost", keeps: true, lists: true, arm: lose(wiretap.OpGetChildren), strike: func(*bout) {}},
	{name: "delete reply lost", keeps: true, late: lose(wiretap.OpDelete), strike: func(*bout) {}},
	{name: "server restart", server: true, strike: func(b *bout) {
		s := b.a.control
		if err := s.Kill(); err != nil {
			b.a.t.Fatal(err)
		}
		if err := s.Restart(within(b.a.t, time.Minute)); err != nil {
			b.a.t.Fatal(err)
		}
	}},
	{name: "server frozen", server: true, strike: func(b *bout) {
		s := b.a.control
		if err := s.Pause(); err != nil {
			b.a.t.Fatal(err)
		}
		time.Sleep(long)
		if err := s.Continue(); err != nil {
			b.a.t.Fatal(err)
		}
	}},
}
