package lockproof_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"zklab/curatorlike"
	"zklab/internal/lockproof"
	"zklab/internal/wiretap"
)

// contestant is one side of a bout: a session in the test's process, or a
// process of its own.
type contestant interface {
	name() string
	network() *wiretap.Relay
	begin(ctx context.Context)
	release() // at once if it holds, else as soon as it does
	granted() <-chan struct{}
	ended() <-chan error
	close()
}

// role is where the contestant with the fault stands when it happens.
type role string

const (
	asHolder role = "holder"
	asWaiter role = "waiter"
)

// bout is one round of one cell: the victim, those that hold beside it, and
// two that wait.
type bout struct {
	a      *arena
	recipe *recipe
	fault  *fault
	role   role
	round  int
	victim contestant
	others []contestant // in the order in which they stand
	// holders is how many of the others hold while the victim waits.
	holders int
}

func newBout(t testing.TB, r *recipe, f *fault, round int) *bout {
	t.Helper()
	return newBoutAt(t, r, f, round, mainSite(t))
}

func newBoutAt(t testing.TB, r *recipe, f *fault, round int, at site) *bout {
	t.Helper()
	var opts []curatorlike.Option
	if f.calm {
		opts = append(opts, curatorlike.WithSessionTimeout(calmTimeout))
	}
	if len(at.addrs) > 1 {
		opts = append(opts, curatorlike.WithSessionTimeout(electionTimeout))
	}
	b := &bout{a: newArenaAt(t, r.suite(opts...), at), recipe: r, fault: f, round: round, role: asHolder}
	if round%2 == 1 {
		b.role = asWaiter
	}
	if f.process {
		b.victim = b.a.process("victim", r, r.victim)
	} else {
		b.victim = b.a.player("victim", r.victim)
	}
	return b
}

// setUp brings everybody into position.
func (b *bout) setUp() {
	b.a.t.Helper()
	if b.role == asHolder {
		b.victimEnters()
		for i := range b.recipe.companions {
			b.holds(fmt.Sprintf("companion%d", i), b.recipe.companion)
		}
		b.waits("rival1", b.recipe.rival)
		b.waits("rival2", b.recipe.victim)
		return
	}
	b.holders = 1
	if b.recipe.victim == lockproof.Lease {
		b.holders = b.recipe.permits
	}
	for i := range b.holders {
		b.holds(fmt.Sprintf("holder%d", i), b.recipe.rival)
	}
	b.victimWaits()
	b.waits("rival", b.recipe.rival)
}

func (b *bout) victimEnters() {
	b.a.t.Helper()
	b.arm()
	b.victim.begin(within(b.a.t, 3*b.a.patience))
	if !b.enters(b.victim) {
		b.a.violated(lockproof.Stuck, "the victim did not get the free lock")
	}
}

func (b *bout) victimWaits() {
	b.a.t.Helper()
	b.arm()
	b.a.queue(b.victim, within(b.a.t, 3*b.a.patience))
}

func (b *bout) arm() {
	if b.fault.arm != nil {
		b.fault.arm(b)
	}
}

func (b *bout) holds(who string, mode lockproof.Mode) {
	b.a.t.Helper()
	p := b.a.player(who, mode)
	p.begin(within(b.a.t, 3*b.a.patience))
	if !b.enters(p) {
		b.a.violated(lockproof.Stuck, "%s did not get the free lock", who)
	}
	b.others = append(b.others, p)
}

func (b *bout) waits(who string, mode lockproof.Mode) {
	b.a.t.Helper()
	p := b.a.player(who, mode)
	b.a.queue(p, within(b.a.t, 3*b.a.patience))
	b.others = append(b.others, p)
}

func (b *bout) enters(c contestant) bool {
	select {
	case <-c.granted():
		return true
	case <-time.After(b.a.patience):
		return false
	}
}

// strike does the fault, and requires that it was one: that the session is
// over if it should be, and lives on if it should.
func (b *bout) strike() {
	b.a.t.Helper()
	session, _, ok := b.victim.network().Session()
	if !ok {
		b.a.t.Fatal("the victim has no session")
	}
	b.a.note("%s strikes the %s", b.fault.name, b.role)
	b.fault.strike(b)
	if b.fault.server {
		return
	}
	alive, err := lockproof.LiveSessions(within(b.a.t, patience), b.a.server)
	if err != nil {
		b.a.t.Fatal(err)
	}
	lives := slices.Contains(alive, session)
	if b.fault.kills && lives || b.fault.keeps && !lives {
		b.a.violated(lockproof.WrongVerdict, "%s: after the fault the victim's session lives: %v", b.fault.name, lives)
	}
}

// lost requires that a reply was lost that should have been.
func (b *bout) lost() {
	if n := b.victim.network().Faults().Armed; n > 0 {
		b.a.violated(lockproof.WrongVerdict, "%s: no such request passed in this bout (%s)", b.fault.name, b.role)
	}
}

// finish lets everybody go and requires what the fault allows.
func (b *bout) finish() {
	b.a.t.Helper()
	if b.fault.late != nil {
		b.fault.late(b)
	}
	if !b.fault.ends {
		b.victim.release()
	}
	for _, o := range b.others {
		o.release()
	}
	for _, o := range b.others {
		b.mustPlay(o, !b.fault.server || b.fault.keeps)
	}
	if !b.fault.ends {
		b.mustPlay(b.victim, b.fault.keeps)
		b.again()
	} else if _, ok := b.victim.(*player); ok {
		b.mustPlay(b.victim, false)
	}
	b.a.empties()
}

// whole ends the victim's fault.
func (b *bout) whole() {
	b.lost()
	b.victim.network().Heal()
}

// mustPlay waits for the end of a round. One whose session lives on must have
// been granted; any other must at least return.
func (b *bout) mustPlay(c contestant, granted bool) {
	select {
	case err := <-c.ended():
		select {
		case <-c.granted():
		default:
			if granted {
				b.a.violated(lockproof.WrongVerdict, "%s was not granted although its session lived: %v", c.name(), err)
			}
		}
	case <-time.After(b.a.patience):
		b.a.violated(lockproof.Stuck, "the round of %s did not end within %v", c.name(), b.a.patience)
	}
}

// again requires that the victim can lock as before once the network is
// whole. While its client still learns of the loss it may be refused.
func (b *bout) again() {
	b.whole()
	end := time.Now().Add(b.a.patience)
	for time.Now().Before(end) {
		b.victim.begin(within(b.a.t, b.a.patience))
		b.victim.release()
		select {
		case err := <-b.victim.ended():
			if err == nil {
				return
			}
			b.a.note("victim again: %v", err)
			time.Sleep(20 * time.Millisecond)
		case <-time.After(b.a.patience):
		}
	}
	b.a.violated(lockproof.Stuck, "the victim did not get the lock again within %v", b.a.patience)
}

// verdict is that of the arena, but for what the victim cannot know.
func (b *bout) verdict() []lockproof.Violation {
	var except []string
	if b.fault.excused {
		except = append(except, b.victim.name())
	}
	return b.a.verdict(except...)
}
