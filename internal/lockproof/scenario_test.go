package lockproof_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/lockproof"
	"zklab/internal/wiretap"
)

// A scenario plays contestants against each other in one arena. What it finds
// itself it notes; the checks read the rest from the log. The same scenarios
// are played with sound locks, which must pass, and with flawed ones.
type scenario func(a *arena)

// contention: sessions want the lock again and again, at once.
func contention(mode lockproof.Mode, sessions, rounds int) scenario {
	return func(a *arena) {
		ctx, giveUp := context.WithCancel(context.Background())
		defer giveUp()
		var stalled atomic.Bool
		watchdog := time.AfterFunc(a.patience, func() { stalled.Store(true); giveUp() })
		defer watchdog.Stop()
		var all sync.WaitGroup
		for i := range sessions {
			p := a.player(fmt.Sprintf("c%d", i), mode)
			all.Go(func() {
				for range rounds {
					if err := p.member.Round(ctx, p.lock, nil); err != nil {
						a.note("%s: %v", p.member.Who, err)
						giveUp()
						return
					}
					watchdog.Reset(a.patience)
				}
			})
		}
		all.Wait()
		switch {
		case stalled.Load():
			a.violated(lockproof.Stuck, "nobody got the lock for %v", a.patience)
		case ctx.Err() != nil:
			a.violated(lockproof.WrongVerdict, "an acquire or release failed without a cause")
		}
		a.empties()
	}
}

// waiterGivesUp: a waiter's context ends in the middle of the queue. Nobody
// may take that for its turn, and the one behind it must get the lock after.
func waiterGivesUp(a *arena) {
	holder, quits, last := a.player("holder", lockproof.Exclusive), a.player("quits", lockproof.Exclusive), a.player("last", lockproof.Exclusive)
	holder.holds()
	ctx, cancel := context.WithCancel(within(a.t, a.patience))
	quits.queues(ctx)
	last.queues(within(a.t, 3*a.patience))
	cancel()
	if err := quits.ends(); err == nil {
		a.violated(lockproof.WrongVerdict, "an acquire whose context ended returned no error")
	}
	last.enters(moment)
	holder.goes()
	last.mustEnter()
	last.goes()
	a.empties()
}

// holderGoesUnseen: the holder releases after a waiter has seen it in the list,
// and before the waiter can set a watch on it.
func holderGoesUnseen(a *arena) {
	holder, waiter := a.player("holder", lockproof.Exclusive), a.player("waiter", lockproof.Exclusive)
	holder.holds()
	listed := make(chan struct{})
	var once sync.Once
	tell := func(f wiretap.Frame) {
		if f.Count == 2 {
			once.Do(func() { close(listed) })
		}
	}
	waiter.reply.Store(&tell)
	waiter.relay.Delay(50 * time.Millisecond) // the list under way to the waiter, and its next request
	waiter.begin(within(a.t, 3*a.patience))
	select {
	case <-listed:
	case <-time.After(a.patience):
		a.violated(lockproof.Stuck, "the waiter did not list the queue")
	}
	holder.goes()
	waiter.mustEnter()
	waiter.relay.Heal()
	close(waiter.stay)
	_ = waiter.ends()
	a.empties()
}

// waiterDeleted: an administrator deletes a waiter's node. It is no longer in
// the queue and must not come in together with the one behind it.
func waiterDeleted(a *arena) {
	holder, gone, last := a.player("holder", lockproof.Exclusive), a.player("gone", lockproof.Exclusive), a.player("last", lockproof.Exclusive)
	holder.holds()
	node := gone.queues(within(a.t, 3*a.patience))
	last.queues(within(a.t, 3*a.patience))
	a.remove(node)
	last.enters(moment)
	holder.goes()
	gone.enters(moment)
	last.enters(moment)
	close(gone.stay)
	close(last.stay)
	_ = gone.ends() // an error says that it was put out of the queue; a place at its end is as good
	if err := last.ends(); err != nil {
		a.violated(lockproof.WrongVerdict, "last: %v", err)
	}
	a.empties()
}

// holderSilenced: nothing of the holder gets through for longer than its
// session lasts. It has to know before anybody else comes in.
func holderSilenced(a *arena) {
	holder, next := a.player("holder", lockproof.Exclusive), a.player("next", lockproof.Exclusive)
	holder.holds()
	next.queues(within(a.t, 3*a.patience))
	holder.relay.BlackHole(wiretap.Both, true)
	next.mustEnter()
	holder.relay.Heal()
	select {
	case <-holder.done:
	case <-time.After(a.patience):
		a.violated(lockproof.Misinformed, "the holder still believes, seconds after its session ended")
	}
	next.goes()
}

// createReplyLost: the create succeeds, its answer does not arrive.
func createReplyLost(a *arena) {
	first, second := a.player("first", lockproof.Exclusive), a.player("second", lockproof.Exclusive)
	first.relay.DropReply(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: a.path})
	first.begin(within(a.t, a.patience))
	select {
	case <-first.entered:
		first.goes()
	case err := <-first.done: // an error is as good, if it leaves nothing
		a.note("first: %v", err)
		first.done <- err
	case <-time.After(a.patience):
		a.violated(lockproof.Stuck, "the acquire of first did not return")
	}
	second.begin(within(a.t, 3*a.patience))
	second.mustEnter()
	close(second.stay)
	_ = second.ends()
	a.empties()
}

// clientReplaced: a client crashes while it holds, and a new one of the same
// name starts before the old session has ended.
func clientReplaced(a *arena) {
	old, next := a.playerAs("old", "service", lockproof.Exclusive), a.player("next", lockproof.Exclusive)
	if _, err := old.member.Acquire(within(a.t, a.patience), old.lock); err != nil {
		a.t.Fatal(err)
	}
	next.queues(within(a.t, 3*a.patience))
	old.relay.BlackHole(wiretap.Both, true)
	old.member.Leave("crashed")
	again := a.playerAs("again", "service", lockproof.Exclusive)
	again.begin(within(a.t, 3*a.patience))
	again.enters(moment)
	next.mustEnter()
	again.enters(moment)
	close(next.stay)
	_ = next.ends()
	again.mustEnter()
	close(again.stay)
	_ = again.ends()
}

// releasedLate: the holder's session ends, another comes in, and only then the
// first one releases.
func releasedLate(a *arena) {
	late, second, third := a.player("late", lockproof.Exclusive), a.player("second", lockproof.Exclusive), a.player("third", lockproof.Exclusive)
	g, err := late.member.Acquire(within(a.t, a.patience), late.lock)
	if err != nil {
		a.t.Fatal(err)
	}
	expired := make(chan error, 1)
	a.work.Go(func() { expired <- late.expire() })
	select {
	case <-g.Certain.Done():
	case <-time.After(a.patience):
		a.violated(lockproof.Misinformed, "the holder was not told that its session ended")
	}
	late.member.Leave("no longer certain")
	if err := <-expired; err != nil {
		a.t.Fatal(err)
	}
	second.holds()
	third.begin(within(a.t, 3*a.patience))
	_ = late.member.Free(within(a.t, a.patience), g) // whatever it says of a lost hold
	third.enters(moment)
	second.goes()
	third.mustEnter()
	third.goes()
	a.empties()
}

// requestOver: the holder releases with a context that has ended.
func requestOver(a *arena) {
	p, next := a.player("request", lockproof.Exclusive), a.player("next", lockproof.Exclusive)
	ctx, cancel := context.WithCancel(within(a.t, a.patience))
	g, err := p.member.Acquire(ctx, p.lock)
	if err != nil {
		a.t.Fatal(err)
	}
	cancel()
	_ = p.member.Release(ctx, g, "request over")
	next.begin(within(a.t, 3*a.patience))
	next.mustEnter()
	close(next.stay)
	_ = next.ends()
	a.empties()
}

// strangers are children that no recipe of ours made.
var strangers = []string{"foo", "_c_x", "lock", "_c_00000000-0000-0000-0000-000000000000-lock-", "a-lock-00000000ab"}

// amongStrangers: the directory holds foreign children.
func amongStrangers(mode lockproof.Mode) scenario {
	return func(a *arena) {
		a.plant(strangers...)
		p := a.player("p", mode)
		p.begin(within(a.t, 3*a.patience))
		p.mustEnter()
		close(p.stay)
		_ = p.ends()
		a.empties()
	}
}

// deletedUnseen: a waiter's node is deleted while the waiter is cut off, and
// everybody before it goes. Back again, it finds nobody before it, and itself
// not there either, while another holds.
func deletedUnseen(a *arena) {
	holder, gone, last := a.player("holder", lockproof.Exclusive), a.player("gone", lockproof.Exclusive), a.player("last", lockproof.Exclusive)
	holder.holds()
	node := gone.queues(within(a.t, 3*a.patience))
	last.queues(within(a.t, 3*a.patience))
	gone.relay.Refuse(true)
	gone.relay.Cut()
	a.remove(node)
	holder.goes()
	last.mustEnter()
	gone.relay.Refuse(false)
	select {
	case <-gone.entered:
	case err := <-gone.done:
		gone.done <- err
	case <-time.After(calmTimeout / 2): // the slowest client is back by then
	}
	last.goes()
	close(gone.stay)
	_ = gone.ends() // an error says that it was put out of the queue; a place at its end is as good
	a.empties()
}

// dataChanged: an administrator writes into the holder's node. That is no
// release.
func dataChanged(a *arena) {
	holder, next := a.player("holder", lockproof.Exclusive), a.player("next", lockproof.Exclusive)
	holder.holds()
	node := ""
	for _, c := range a.children() {
		if strings.Contains(c, "-") {
			node = c
		}
	}
	next.queues(within(a.t, 3*a.patience))
	if _, err := a.conn.Set(a.path+"/"+node, []byte("note"), -1); err != nil && err != zk.ErrNoNode {
		a.t.Fatal(err)
	}
	next.enters(moment)
	holder.goes()
	next.mustEnter()
	next.goes()
	a.empties()
}
