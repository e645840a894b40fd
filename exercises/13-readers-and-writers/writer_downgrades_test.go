package lock

import (
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
