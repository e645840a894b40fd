package lock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// node is a name as join makes it. The GUIDs of r and w are in the order of their
// numbers, those of R and W are not.
func node(kind byte, number int) string {
	guid, intent := fmt.Sprintf("%032x", 0xaaaa0000+number), read
	if kind == 'R' || kind == 'W' {
		guid = fmt.Sprintf("%032x", 0xffff0000-number)
	}
	if kind == 'w' || kind == 'W' {
		intent = write
	}
	return fmt.Sprintf("%s-%s-%010d", guid, intent, number)
}

// situation is a line, one who stands in it, and whom it must wait for: numbers, -1
// for nobody.
type situation struct {
	line     string // kinds, by number: "rrw" is two readers and a writer
	me, want int
	wrong    func(got int) (code, says string) // when another one is named
}

func always(code, says string) func(int) (string, string) {
	return func(int) (string, string) { return code, says }
}

func overtakes(int) (string, string) {
	return "OVERTAKES", "It goes in although a writer is in front of it, who holds the lock or was here before. If readers may pass a writer that waits, it writes while they read; or it waits for all of them, and there is always another one."
}

func overtakesOrFar(got int) (string, string) {
	if got < 0 {
		return overtakes(got)
	}
	return "NOT-NEAREST", "It waits for one further ahead than the nearest. All who do so wait for the same one, and are woken together; and whoever is in between may still be there then."
}

var situations = []situation{
	{"ww", 0, -1, always("LATER-WRITER", "A writer waits for one who came after it. That one waits for it in turn, and both wait for ever.")},
	{"rw", 0, -1, always("LATER-WRITER", "A reader waits for a writer who came after it. That one waits for the reader in turn, and both wait for ever.")},
	{"www", 2, 1, overtakesOrFar},
	{"ww", 1, 0, always("ZERO-FORGOTTEN", "A writer does not see the one in front of it, whose number is 0. The first number is 0, so 0 cannot stand for nobody.")},
	{"WR", 0, -1, always("PREFIX-SORT", "A writer waits for a reader who came after it: what stands before the number was compared. The GUID and the intent say nothing about who came first.")},
	{"WW", 1, 0, always("PREFIX-SORT", "A writer does not see that another one came before it: what stands before the number was compared. The GUID and the intent say nothing about who came first.")},
	{"wr", 1, 0, overtakes},
	{"rr", 1, -1, always("READER-BEHIND-READER", "A reader waits for another reader. They do not disturb each other: a lock like this lets one in at a time, as the mutex does.")},
	{"rw", 1, 0, always("WRITER-IGNORES-READERS", "A writer does not wait for the reader in front of it. It would change what that one is reading.")},
	{"rwr", 2, 1, func(got int) (string, string) {
		if got == 0 {
			return "READER-BEHIND-READER", "A reader waits for a reader. What it must wait for is the writer between them."
		}
		return overtakes(got)
	}},
	{"wrrw", 3, 2, overtakesOrFar},
	{"wwr", 2, 1, overtakesOrFar},
}

// Who waits for whom: the rule, without a server.
func TestPredecessorRule(t *testing.T) {
	l := locktest.New(t)
	ask := func(me string, children []string) (front string, err error) {
		err = l.Safely("inFront", func() (err error) { front, err = inFront(me, children); return err })
		return front, err
	}
	for i := range 2 * len(situations) {
		s := situations[i/2]
		var names []string
		for n, kind := range []byte(s.line) {
			names = append(names, node(kind, n))
		}
		children := slices.Clone(names)
		if i%2 == 0 {
			slices.Reverse(children) // the server lists them in no order
		}
		front, err := ask(names[s.me], children)
		steps := drawn(names, names[s.me], front)
		got := slices.Index(names, front)
		switch {
		case err != nil:
			l.Fail(locktest.Diagnosis{Code: locktest.CodeUnexpected, Says: fmt.Sprintf("inFront returned an error although nothing was wrong: %q.", err), Steps: steps})
		case front != "" && got < 0:
			l.Fail(locktest.Diagnosis{Code: "NOT-IN-LIST", Says: fmt.Sprintf("inFront returned %q, which is none of the children.", front), Steps: steps})
		case got != s.want:
			code, says := s.wrong(got)
			l.Fail(locktest.Diagnosis{Code: code, Says: says, Steps: steps})
		}
	}
	foreign := []string{"lock-0000000000", "readme", node('w', 5), "x-write-12", "-write-", "x-write-+000000005", node('w', 6)}
	if front, err := ask(node('w', 6), foreign); err != nil || front != node('w', 5) {
		l.Fail(locktest.Diagnosis{Code: "FOREIGN-CHILD",
			Says:  "There are children below the lock's path that are not of this lock, and inFront is led astray by them. They have no place in the line: pass over what parse does not know.",
			Steps: append(drawn(foreign, node('w', 6), front), locktest.Step{Text: "error", Effect: fmt.Sprint(err)})})
	}
	if front, err := ask(node('w', 6), []string{node('r', 5)}); err == nil {
		l.Fail(locktest.Diagnosis{Code: "OWN-NODE-GONE",
			Says:  "The client's own node is not among the children: its session is over, or somebody has removed it. It is not in line, so its turn never comes. inFront must return an error.",
			Steps: drawn([]string{node('r', 5)}, node('w', 6), front)})
	}
}

// drawn shows a line, and whom one of it waits for.
func drawn(line []string, me, front string) []locktest.Step {
	var steps []locktest.Step
	for _, name := range line {
		effect := ""
		if name == me {
			effect = "waits for " + front
			if front == "" {
				effect = "waits for nobody"
			}
		}
		steps = append(steps, locktest.Step{Who: "line", Text: name, Effect: effect})
	}
	if !slices.Contains(line, me) {
		steps = append(steps, locktest.Step{Who: "asks", Text: me, Effect: "not in line"})
	}
	return steps
}

// side is a lock as one member uses it: to read, or to write.
type side struct {
	*RWMutex
	acquire func(*RWMutex, context.Context) error
}

func (s side) Acquire(ctx context.Context) error { return s.acquire(s.RWMutex, ctx) }

// newQueue is a queue whose members read when their names begin with R, and write when
// with W.
func newQueue(t *testing.T, names ...string) *locktest.Queue {
	q := locktest.NewQueue(t, func(conn *zk.Conn, path string) locktest.Locker {
		return side{New(conn, path), (*RWMutex).AcquireRead}
	})
	for _, name := range names {
		if m := q.Member(name); name[0] == 'W' {
			m.Lock = side{m.Lock.(side).RWMutex, (*RWMutex).AcquireWrite}
		}
	}
	return q
}

func allRead(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return name[0] != 'R' })
}

// The rule at work: two readers, a writer, a reader behind it.
func TestReadersAndWriters(t *testing.T) {
	q := newQueue(t, "R1", "R2", "W3", "R4")
	q.Sharing(allRead)
	q.Join("R1", "R2")
	q.MustHold("R1")
	q.MustHold("R2")
	q.Join("W3", "R4")
	q.MustWait("W3", "R4")
	q.Release("R1")
	q.MustWait("W3", "R4")
	q.Release("R2")
	q.MustHold("W3")
	q.MustWait("R4")
	q.Release("W3")
	q.MustHold("R4")
	q.Release("R4")
	q.Done()
}

// downgrade is a test with a writer W1 that becomes a reader.
type downgrade struct {
	*locktest.Queue
	w     *locktest.Member
	old   string // its write node's name
	start time.Time
	call  *locktest.Call
}

// begin has W1 hold, and the others wait behind it. W1 comes for the second time, so its
// number is not the first one.
func begin(t *testing.T, others ...string) *downgrade {
	q := newQueue(t, append([]string{"W1"}, others...)...)
	d := &downgrade{Queue: q, w: q.Member("W1")}
	q.Sharing(func(names []string) bool {
		return allRead(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "W1" && d.call != nil }))
	})
	q.Join("W1")
	q.MustHold("W1")
	q.Release("W1")
	q.Join(append([]string{"W1"}, others...)...)
	q.MustHold("W1")
	q.MustWait(others...)
	d.old = path.Base(d.w.Node())
	return d
}

func (d *downgrade) run() {
	d.start = time.Now()
	d.call = d.w.Do("Downgrade", d.w.Lock.(side).Downgrade)
}

func (d *downgrade) steps(who ...string) []locktest.Step {
	return d.Steps(d.start, locktest.Both(locktest.By(append(who, "W1")...), locktest.Doing("create", "delete", "woken", "entered")))
}

func (d *downgrade) fail(code, says string, who ...string) {
	d.Fail(locktest.Diagnosis{Code: code, Says: says, Steps: d.steps(who...)})
}

// A writer becomes a reader while another writer waits behind it.
func TestDowngrade(t *testing.T) {
	d := begin(t, "W2")
	w2 := d.Member("W2")
	d.w.Delay(60 * time.Millisecond) // W1's network is slow: time enough for W2 to slip in
	d.run()
	d.Until(func() bool { return d.call.Ended() || w2.Holds() })
	w2.Calm(w2.Holds)
	if w2.Holds() {
		d.slippedIn()
	}
	d.MustReturn(d.w.Client, "Downgrade", d.call)
	d.w.Heal()
	reads := "-read-" + d.old[len(d.old)-10:] // in the same place
	for _, made := range d.w.Creates() {
		if !strings.HasPrefix(made.Mode, "ephemeral") {
			d.fail("FOREVER", fmt.Sprintf("W1 created a node that stays when its session ends (%s): if W1 dies, no writer will ever get in.", made.Mode))
		}
	}
	if slices.Contains(d.Children(), d.old) {
		d.fail("STILL-WRITES", "Downgrade has returned, and W1's write node is still in line: readers wait for it as before.")
	}
	if !slices.ContainsFunc(d.Children(), func(name string) bool { return strings.HasSuffix(name, reads) }) {
		d.fail("LOSES-ITS-PLACE", "Downgrade has returned, and where W1's write node stood there is none that reads, with a name that ends in "+reads+".")
	}
	d.MustWait("W2")
	d.Release("W1")
	d.MustHold("W2")
	d.Release("W2")
	d.Done()
}

// slippedIn says how W2 got in.
func (d *downgrade) slippedIn() {
	for _, made := range d.w.Creates() {
		if made.At.Before(d.start) || made.Node == "" {
			continue
		}
		if _, _, ok := parse(path.Base(made.Node)); !ok && strings.HasSuffix(made.Mode, "sequential") {
			d.fail("LOSES-ITS-PLACE", "W1 asked for a sequential node under a name that has its number already, and the server has appended ten digits more: no name of this lock. The others pass it over, and W2 went in.", "W2")
		} else if !ok {
			d.fail("LOSES-ITS-PLACE", "W1 says that it still reads, but the name of its new node is not one of this lock's: a GUID, then -read-, then the ten digits of its number. The others pass it over, and W2 went in.", "W2")
		} else {
			d.fail("LOSES-ITS-PLACE", "W1 says that it still reads, but its new node stands behind W2: a sequential node goes to the end of the line. W2 was next when W1's old node went, and now it writes while W1 reads.", "W2")
		}
	}
	steps := slices.DeleteFunc(d.steps("W2"), func(s locktest.Step) bool { return strings.HasPrefix(s.Text, "create") }) // it comes too late
	d.Fail(locktest.Diagnosis{Code: "SLIPS-IN",
		Says:  "W1 gave up its write node before it had one to read: for a moment its place was empty, and W2 went in. What W1 has read or written before may have changed, and it does not know.",
		Steps: steps})
}

// Readers behind it come in at once, the writer behind them does not.
func TestDowngradeLetsReadersIn(t *testing.T) {
	d := begin(t, "R2", "W3")
	d.run()
	d.MustReturn(d.w.Client, "Downgrade", d.call)
	d.MustHold("R2")
	d.MustWait("W3")
	d.Release("W1")
	d.MustWait("W3")
	d.Release("R2")
	d.MustHold("W3")
	d.Release("W3")
	d.Done()
}

// The reply to a create gets lost on the way.
func TestDowngradeLosesAReply(t *testing.T) {
	d := begin(t, "W2")
	d.w.DropReply(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: d.Path()})
	d.run()
	d.Until(d.call.Ended)
	if err := d.call.Err(); err != nil && (unknown(err) || errors.Is(err, zk.ErrNodeExists)) {
		d.fail("FORGETS", "The reply to W1's create got lost, and Downgrade gave up. But the server had created the node: W1 is in line twice, and its Release will take away one of the two.")
	}
	d.MustReturn(d.w.Client, "Downgrade", d.call)
	d.MustWait("W2")
	call := d.w.Do("Release", d.w.Lock.Release)
	d.MustReturn(d.w.Client, "Release", call)
	d.MustHandOver("W1", "W2")
	d.Release("W2")
	d.Done()
}

// The request to create gets lost on the way.
func TestDowngradeLosesARequest(t *testing.T) {
	d := begin(t, "W2")
	d.loseRequest()
	d.run()
	d.Until(d.call.Ended)
	if err := d.call.Err(); err != nil && unknown(err) {
		d.fail("FORGETS", "W1's connection broke when it asked for the node that reads, and Downgrade gave up. The connection comes back, and W1 still holds the lock: it can ask again.")
	}
	d.MustReturn(d.w.Client, "Downgrade", d.call)
	if !d.inLine(d.w) {
		d.fail("TAKEN-FOR-DONE", "W1's connection broke before its request to create reached the server. W1 has taken the node for created, and has deleted the one that writes: it believes that it reads, and it has no node in line.")
	}
	d.MustWait("W2")
	d.Release("W1")
	d.MustHold("W2")
	d.Release("W2")
	d.Done()
}

// The context ends before W1 knows whether the node that reads was created: it was. Nobody
// gets in, and Downgrade goes on where it stopped when it is called again.
func TestDowngradeIsBrokenOff(t *testing.T) {
	d := begin(t, "W2")
	d.w.Refuse(true)
	d.w.DropReply(wiretap.Match{Op: wiretap.OpCreate, PathPrefix: d.Path()})
	d.run()
	d.Until(func() bool { return d.call.Ended() || len(d.Children()) > 2 })
	d.call.Cancel()
	d.Until(d.call.Ended)
	d.w.Refuse(false)
	d.MustWait("W2")
	d.run()
	d.Until(d.call.Ended)
	if err := d.call.Err(); err != nil {
		d.fail("FORGETS", fmt.Sprintf("The context ended before W1 knew whether its node that reads had been created. Called again, Downgrade returns %q. The name is its own: a node that exists was created the first time.", err))
	}
	d.MustReturn(d.w.Client, "Downgrade", d.call)
	d.MustWait("W2")
	d.Release("W1")
	d.MustHold("W2")
	d.Release("W2")
	d.Done()
}

// loseRequest cuts W1's connection before its request to create reaches the server,
// whether that comes alone or in one multi with the delete.
func (d *downgrade) loseRequest() {
	for _, op := range []wiretap.Op{wiretap.OpCreate, wiretap.OpMulti} {
		d.w.FailWrite(wiretap.Match{Op: op, PathPrefix: d.Path()})
	}
}

// inLine reports whether a member has a node in line, as the server has it.
func (d *downgrade) inLine(m *locktest.Member) bool {
	for _, name := range d.Children() {
		if _, stat, err := d.Observer().Exists(d.Path() + "/" + name); err == nil && stat.EphemeralOwner == m.SessionID() {
			return true
		}
	}
	return false
}

// W1's session ends before the request to create reaches the server. W2 holds the lock
// when W1 comes back, in a new session.
func TestDowngradeInAnotherSession(t *testing.T) {
	d := begin(t, "W2")
	w2 := d.Member("W2")
	d.w.Refuse(true)
	d.loseRequest()
	d.run()
	asked := func() bool { return d.w.Did(d.start, "create", "multi") }
	d.Until(func() bool { return d.call.Ended() || asked() })
	d.w.Expire()
	d.Until(w2.Ended)
	d.w.Refuse(false)
	d.Until(d.call.Ended)
	if d.call.Ended() && d.call.Err() == nil && asked() {
		d.Fail(locktest.Diagnosis{Code: "LOST-UNNOTICED",
			Says: "W1's session ended in the middle, and its write node went with it: W2 writes. W1 came back in a new session, created its node there, and Downgrade says that all is well. W1 reads while W2 writes.",
			Steps: []locktest.Step{
				{Who: "W1", Text: "downgrades", Effect: "connection cut before its create was sent"},
				{Who: "W1", Text: "its session ends", Effect: "its write node deleted"},
				{Who: "W2", Text: "entered"},
				{Who: "W1", Text: "comes back in a new session"},
				{Who: "W1", Text: "Downgrade returned no error"},
			}})
	}
	if !d.call.Ended() {
		d.MustReturn(d.w.Client, "Downgrade", d.call)
	}
	d.MustHandOver("W1", "W2")
	d.Release("W2")
	d.Done()
}
