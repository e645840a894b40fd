package lockproof_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"zklab/internal/lockproof"
	"zklab/internal/lockproof/badlock"
	"zklab/internal/wiretap"
	"zklab/internal/zkserver/zktest"
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

// fault is one column of the matrix.
type fault struct {
	name    string
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
	{name: "delay 50-200 ms", keeps: true, arm: func(b *bout) {
		b.victim.network().Delay(50*time.Millisecond + time.Duration(b.round%4)*50*time.Millisecond)
	}, strike: func(*bout) {}},
	{name: "create reply lost", keeps: true, arm: lose(wiretap.OpCreate), strike: func(*bout) {}},
	{name: "list reply lost", keeps: true, lists: true, arm: lose(wiretap.OpGetChildren), strike: func(*bout) {}},
	{name: "delete reply lost", keeps: true, late: lose(wiretap.OpDelete), strike: func(*bout) {}},
	{name: "server restart", server: true, strike: func(b *bout) {
		s := zktest.Need(b.a.t).Servers()[0]
		if err := s.Kill(); err != nil {
			b.a.t.Fatal(err)
		}
		if err := s.Restart(within(b.a.t, time.Minute)); err != nil {
			b.a.t.Fatal(err)
		}
	}},
	{name: "server frozen", server: true, strike: func(b *bout) {
		s := zktest.Need(b.a.t).Servers()[0]
		if err := s.Pause(); err != nil {
			b.a.t.Fatal(err)
		}
		time.Sleep(long)
		if err := s.Continue(); err != nil {
			b.a.t.Fatal(err)
		}
	}},
}

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
	b := &bout{a: newArena(t, r.suite()), recipe: r, fault: f, round: round, role: asHolder}
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
		b.a.t.Fatalf("%s, %s: the victim did not get the free lock\n%s", b.recipe.name, b.fault.name, b.a.logTail(20))
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
		b.a.t.Fatalf("%s, %s: %s did not get the lock\n%s", b.recipe.name, b.fault.name, who, b.a.logTail(20))
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
		b.a.t.Errorf("%s: after the fault the victim's session lives: %v", b.fault.name, lives)
	}
}

// lost requires that a reply was lost that should have been.
func (b *bout) lost() {
	if n := b.victim.network().Faults().Armed; n > 0 {
		b.a.t.Errorf("%s: no such request passed in this bout (%s)", b.fault.name, b.role)
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
		b.mustPlay(o, !b.fault.server)
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

// roundsPerCell is how often each cell is played.
func roundsPerCell() int {
	if os.Getenv("ZKLAB_LONG") != "" {
		return 20
	}
	return 2
}

// table collects the results of the matrix.
type table struct {
	mu    sync.Mutex
	cells map[string]map[string]string // fault, recipe
}

func (m *table) add(f *fault, r *recipe, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cells == nil {
		m.cells = map[string]map[string]string{}
	}
	if m.cells[f.name] == nil {
		m.cells[f.name] = map[string]string{}
	}
	m.cells[f.name][r.name] = text
}

func (m *table) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "fault")
	for _, r := range recipes {
		fmt.Fprint(w, "\t", r.name)
	}
	fmt.Fprintln(w)
	for _, f := range faults {
		if m.cells[f.name] == nil {
			continue
		}
		fmt.Fprint(w, f.name)
		for _, r := range recipes {
			fmt.Fprint(w, "\t", m.cells[f.name][r.name])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return b.String()
}

func (f *fault) appliesTo(r *recipe) bool { return r.lists || !f.lists }

// TestFaults plays every recipe against every fault of one contestant.
func TestFaults(t *testing.T) {
	leavesNothing(t)
	var results table
	t.Cleanup(func() { t.Logf("%d rounds a cell\n%s", roundsPerCell(), &results) })
	for i := range faults {
		f := &faults[i]
		if f.server {
			continue
		}
		for j := range recipes {
			r := &recipes[j]
			if !f.appliesTo(r) {
				results.add(f, r, "-")
				continue
			}
			t.Run(f.name+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				good := 0
				for round := range roundsPerCell() {
					if playBout(t, r, f, round) {
						good++
					}
				}
				results.add(f, r, fmt.Sprintf("%d/%d", good, roundsPerCell()))
			})
		}
	}
}

func playBout(t *testing.T, r *recipe, f *fault, round int) bool {
	return t.Run(fmt.Sprint(round), func(t *testing.T) {
		b := newBout(t, r, f, round)
		b.setUp()
		b.strike()
		b.finish()
		report(t, b)
	})
}

func report(t *testing.T, b *bout) {
	t.Helper()
	if vs := b.verdict(); len(vs) > 0 {
		t.Errorf("%s, %s, victim is the %s:\n%s%s", b.recipe.name, b.fault.name, b.role, lockproof.Report(vs), b.a.logTail(60))
	}
}

// flawed are recipes that the matrix must find broken, each by a fault.
var flawed = []struct {
	recipe *recipe
	fault  string
	round  int // even: the victim holds
	broken lockproof.Rule
}{
	{flawedRecipe("wakes-and-enters", badlock.WakesAndEnters), "clean close", 1, lockproof.Overlap},
	{flawedRecipe("token-from-version", badlock.TokenFromVersion), "SIGSTOP > T+tick", 0, lockproof.Tokens},
	{flawedRecipe("never-doubts", badlock.NeverDoubts), "black hole > T", 0, lockproof.Misinformed},
	{flawedRecipe("plain", badlock.Sound), "create reply lost", 1, lockproof.WrongVerdict},
	{flawedRecipe("plain", badlock.Sound), "list reply lost", 1, lockproof.WrongVerdict},
}

// shortMutex is a flawed lock with sessions as short as those of the matrix.
func shortMutex(m makes) suite {
	return badSuite("flawed", 1, sessionTimeout, func(string) map[lockproof.Mode]makes {
		return map[lockproof.Mode]makes{lockproof.Exclusive: m}
	})
}

func flawedRecipe(name string, m makes) *recipe {
	return &recipe{name: name, open: shortMutex(m).open, permits: 1, nodes: []string{"/_c_"}, lists: true,
		victim: lockproof.Exclusive, rival: lockproof.Exclusive}
}

// The matrix itself has to be able to fail, with sessions and with processes.
func TestFaults_findFlaws(t *testing.T) {
	leavesNothing(t)
	for _, c := range flawed {
		f := &faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == c.fault })]
		t.Run(c.recipe.name+"/"+c.fault, func(t *testing.T) {
			t.Parallel()
			b := newBout(t, c.recipe, f, c.round)
			b.a.patience = shortPatience
			b.setUp()
			b.strike()
			b.finish()
			if got := lockproof.Rules(b.verdict()); !slices.Contains(got, c.broken) {
				t.Errorf("the matrix did not find %q broken; it found %v\n%s", c.broken, got, b.a.logTail(40))
			}
		})
	}
}

// TestFaults_ofTheServer plays all recipes at once against what happens to
// the server.
func TestFaults_ofTheServer(t *testing.T) {
	needControl(t)
	var results table
	t.Cleanup(func() { t.Logf("%d rounds a cell\n%s", roundsPerCell(), &results) })
	for i := range faults {
		f := &faults[i]
		if !f.server {
			continue
		}
		good := map[string]int{}
		for round := range roundsPerCell() {
			t.Run(fmt.Sprintf("%s/%d", f.name, round), func(t *testing.T) {
				var bouts []*bout
				for j := range recipes {
					b := newBout(t, &recipes[j], f, round)
					b.setUp()
					bouts = append(bouts, b)
				}
				f.strike(bouts[0])
				for _, b := range bouts {
					b.finish()
					vs := b.verdict()
					if len(vs) == 0 {
						good[b.recipe.name]++
						continue
					}
					t.Errorf("%s, %s, victim is the %s:\n%s%s", b.recipe.name, f.name, b.role, lockproof.Report(vs), b.a.logTail(60))
				}
			})
		}
		for j := range recipes {
			results.add(f, &recipes[j], fmt.Sprintf("%d/%d", good[recipes[j].name], roundsPerCell()))
		}
	}
}
