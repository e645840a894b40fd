package lockproof_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/curatorlike"
	"zklab/internal/lockproof"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

const (
	// sessionTimeout is what contestants of the fault matrix ask for: the smallest
	// that the server gives at its tick of 500 ms.
	sessionTimeout = time.Second
	// calmTimeout is for tests in which no session ends by its timeout, or one
	// does in good time: a busy machine can be silent for two thirds of a second.
	calmTimeout = 3 * time.Second
)

// patience is how long a step of a scenario may take before it counts as
// stuck. It is far above what a busy machine needs. Flawed locks are given
// less, because theirs will never end.
const (
	patience      = 10 * time.Second
	shortPatience = 2500 * time.Millisecond
)

// moment is how long a scenario waits for something that must not happen.
const moment = 300 * time.Millisecond

// session is a contestant's session with the lock under test.
type session interface {
	Lock(mode lockproof.Mode, path string) lockproof.Lock
	Close()
}

// suite makes sessions of one implementation; id names the client for
// recipes that tell clients apart.
type suite struct {
	name     string
	permits  int
	patience time.Duration
	dirs     []string // of its nodes, below the lock's path; nil: the path itself
	open     func(ctx context.Context, addr, id string) (session, error)
}

// arena is one scenario: a lock directory, a log, a resource, and a relay for
// each contestant.
type arena struct {
	t        testing.TB
	suite    suite
	patience time.Duration
	conn     *zk.Conn // the observer
	site
	path     string
	logFile  string
	log      *lockproof.Log
	resource *lockproof.Resource
	foreign  []string // children that belong there
	players  []*player
	found    []lockproof.Violation
	work     sync.WaitGroup
	expires  bool            // the test ends sessions at any moment
	removed  bool            // the test itself deleted a node under test
	over     context.Context // ends with the test: nobody stays
}

// site is where a scenario takes place.
type site struct {
	server  string   // asked for its sessions; empty: nobody is asked
	addrs   []string // of all servers
	chroot  string
	control *zkserver.Server // to pause and restart; nil: nobody may
}

func mainSite(t testing.TB) site {
	addrs := servers(t)
	return site{server: addrs[0], addrs: addrs[:1], chroot: zktest.Need(t).Chroot()}
}

// targets are the servers in the order in which the i-th contestant tries them.
func (s site) targets(i int) string {
	i %= len(s.addrs)
	return strings.Join(slices.Concat(s.addrs[i:], s.addrs[:i]), ",")
}

func newArena(t testing.TB, s suite) *arena {
	t.Helper()
	return newArenaAt(t, s, mainSite(t))
}

func newArenaAt(t testing.TB, s suite, at site) *arena {
	t.Helper()
	a := &arena{t: t, suite: s, patience: cmp.Or(s.patience, patience), conn: connect(t, at.addrs...), site: at, logFile: filepath.Join(t.TempDir(), "log")}
	t.Cleanup(a.conn.Close)
	a.path = lockPathBelow(t, a.conn, at.chroot)
	makeDirs(t, a.conn, a.path, s.dirs)
	var err error
	if a.log, err = lockproof.OpenLog(a.logFile); err != nil {
		t.Fatal(err)
	}
	if a.resource, err = lockproof.StartResource(); err != nil {
		t.Fatal(err)
	}
	over, end := context.WithCancel(context.Background())
	a.over = over
	t.Cleanup(func() {
		end()
		for _, p := range a.players {
			p.close()
		}
		a.work.Wait()
		a.resource.Close()
		if err := a.log.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a *arena) violated(r lockproof.Rule, format string, args ...any) {
	a.found = append(a.found, lockproof.Violation{Rule: r, Text: fmt.Sprintf(format, args...)})
}

func (a *arena) note(format string, args ...any) {
	e := lockproof.Event{Verb: lockproof.Note, Text: fmt.Sprintf(format, args...)}
	if err := a.log.Append(e); err != nil {
		a.t.Fatal(err)
	}
}

// children lists the nodes in the lock's directories.
func (a *arena) children() []string {
	a.t.Helper()
	var all []string
	for _, dir := range a.dirs() {
		children, err := a.list(path.Join(a.path, dir))
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			a.t.Fatal(err)
		}
		for _, c := range children {
			all = append(all, path.Join(dir, c))
		}
	}
	return all
}

// list lists a node's children; after a restart of the server the observer may
// need some attempts.
func (a *arena) list(path string) (children []string, err error) {
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		children, _, err = a.conn.Children(path)
		if err == nil || errors.Is(err, zk.ErrNoNode) || time.Now().After(end) {
			return children, err
		}
	}
}

// dirs are the directories of the recipe's nodes, below the lock's path.
func (a *arena) dirs() []string {
	if a.suite.dirs == nil {
		return []string{""}
	}
	return a.suite.dirs
}

// plant makes foreign children in every directory of the lock.
func (a *arena) plant(names ...string) {
	a.t.Helper()
	for _, dir := range a.dirs() {
		_, err := a.conn.Create(path.Join(a.path, dir), nil, 0, zk.WorldACL(zk.PermAll))
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			a.t.Fatal(err)
		}
		for _, n := range names {
			if _, err := a.conn.Create(path.Join(a.path, dir, n), nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				a.t.Fatal(err)
			}
			a.foreign = append(a.foreign, path.Join(dir, n))
		}
	}
}

func (a *arena) remove(node string) {
	a.t.Helper()
	a.removed = true
	if err := a.conn.Delete(a.path+"/"+node, -1); err != nil {
		a.t.Fatal(err)
	}
}

// empties waits until only what belongs there is left of children and of
// watches, while all sessions still live.
func (a *arena) empties() {
	a.t.Helper()
	end := time.Now().Add(2 * time.Second)
	for {
		vs := lockproof.CheckLeftovers(a.path, a.children(), a.foreign)
		if n := a.watches(); n > 0 {
			vs = append(vs, lockproof.Violation{Rule: lockproof.Leftover, Text: fmt.Sprintf("%d watches are left below %s", n, a.path)})
		}
		if len(vs) == 0 {
			return
		}
		if time.Now().After(end) {
			a.found = append(a.found, vs...)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// verdict applies every check to the log. Those in except cannot know when
// their session ends.
func (a *arena) verdict(except ...string) []lockproof.Violation {
	a.t.Helper()
	witness := lockproof.Member{Who: "lab", Log: a.log, Server: a.server}
	a.note("end")
	witness.Witness()
	events, err := lockproof.ReadLog(a.logFile)
	if err != nil {
		a.t.Fatal(err)
	}
	holds, err := lockproof.Holds(events)
	if err != nil {
		a.t.Fatal(err)
	}
	if !a.removed {
		a.found = append(a.found, foreignDeletes(events)...)
	}
	judged := holds
	if a.expires {
		judged = lockproof.WithoutStillborn(holds)
	}
	permits := max(1, a.suite.permits)
	return slices.Concat(a.found, lockproof.CheckHonest(judged, except...), lockproof.CheckMarks(events),
		lockproof.CheckOverlap(judged, permits), lockproof.CheckOrder(judged, permits), lockproof.CheckTokens(judged),
		lockproof.CheckCounter(events, holds, a.resource.Value()), lockproof.CheckLinearizable(events, judged, permits))
}

// foreignDeletes finds those whose node was deleted under them, though nobody
// was to do that: a late deletion must not hit the next one's node.
func foreignDeletes(events []lockproof.Event) []lockproof.Violation {
	var vs []lockproof.Violation
	for i, e := range events {
		if strings.Contains(e.Text, curatorlike.ErrNodeDeleted.Error()) {
			vs = append(vs, lockproof.Violation{Rule: lockproof.WrongVerdict,
				Text: fmt.Sprintf("somebody deleted the node of %s (line %d: %s %s)", e.Who, i+1, e.Verb, e.Text)})
		}
	}
	return vs
}

// logTail is the end of the log for a failing test's message.
func (a *arena) logTail(n int) string {
	events, err := lockproof.ReadLog(a.logFile)
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, e := range events[max(0, len(events)-n):] {
		if e.Verb != lockproof.Alive { // long lists, which the checks have read
			text += e.String() + "\n"
		}
	}
	return text
}

func needControl(t testing.TB) {
	t.Helper()
	if !zktest.Need(t).Servers()[0].Control() {
		t.Skip("the server belongs to somebody else: it is neither paused nor restarted")
	}
}
