package lock

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"testing"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
)

// The counters are the whole server's, so this exercise has one of its own.
func TestMain(m *testing.M) { locktest.MainAlone(m) }

const waiters = 8

// release makes a line of one holder and some waiters on a real server, lets the
// holder go, and returns the server's counters before and after. arm says what a
// waiter watches; line is the whole line, and i its own place.
func release(t *testing.T, lab *locktest.Lab, arm func(c *locktest.Client, line []string, i int) error) (before, after Reading) {
	t.Helper()
	var clients []*locktest.Client
	var line []string
	for i := range waiters + 1 {
		c := lab.Client(string(rune('A' + i)))
		node, err := c.Conn.Create(lab.Path()+"/lock-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		if err != nil {
			t.Fatal(err)
		}
		clients, line = append(clients, c), append(line, node)
	}
	for i := 1; i <= waiters; i++ {
		if err := arm(clients[i], line, i); err != nil {
			t.Fatal(err)
		}
	}
	before = lab.Counters()
	if err := clients[0].Conn.Delete(line[0], -1); err != nil {
		t.Fatal(err)
	}
	lab.Flush()
	return before, lab.Counters()
}

func watchList(c *locktest.Client, line []string, i int) error {
	_, _, _, err := c.Conn.ChildrenW(path.Dir(line[i]))
	return err
}

func watchHolder(c *locktest.Client, line []string, i int) error {
	_, _, _, err := c.Conn.GetW(line[0])
	return err
}

func watchInFront(c *locktest.Client, line []string, i int) error {
	_, _, _, err := c.Conn.GetW(line[i-1])
	return err
}

// watchMixed has one waiter watch the list and one the holder; the others sleep
// on their own nodes.
func watchMixed(c *locktest.Client, line []string, i int) error {
	switch i {
	case 1:
		return watchList(c, line, i)
	case 2:
		return watchHolder(c, line, i)
	}
	_, _, _, err := c.Conn.GetW(line[i])
	return err
}

// found is what the learner's check said about one line of waiters.
type found struct {
	lab           *locktest.Lab
	before, after Reading
	err           error
}

func judge(t *testing.T, arm func(*locktest.Client, []string, int) error) found {
	t.Helper()
	f := found{lab: locktest.New(t)}
	f.before, f.after = release(t, f.lab, arm)
	f.err = f.lab.Safely("AtMostOneWake", func() error { return AtMostOneWake(f.before, f.after) })
	if f.err != nil && !errors.Is(f.err, ErrHerd) {
		f.fail("WRONG-ERROR", fmt.Sprintf("AtMostOneWake returned %q, which does not wrap ErrHerd: whoever calls it cannot tell what it found.", f.err))
	}
	return f
}

// fail gives a diagnosis, with what the check had to judge.
func (f found) fail(code, sentence string) {
	counted := func(name string) locktest.Step {
		return locktest.Step{Text: fmt.Sprintf("%s: +%v", name, f.after[name]-f.before[name])}
	}
	verdict := "nil"
	if f.err != nil {
		verdict = fmt.Sprintf("the error %q", f.err)
	}
	f.lab.Fail(locktest.Diagnosis{Code: code, Says: sentence, Steps: []locktest.Step{
		{Text: fmt.Sprintf("1 holder, %d waiters; the holder released", waiters)},
		counted(DeletedWatches), counted(ChildWatches),
		{Text: "AtMostOneWake returned " + verdict},
	}})
}

// Two herds: everybody watches the list of children, and everybody watches the
// holder's node.
func TestHerds(t *testing.T) {
	holder, list := judge(t, watchHolder), judge(t, watchList)
	switch {
	case holder.err == nil:
		holder.fail("HERD", "All waiters watched the holder's node, one release woke every one of them, and your check says that all is well.")
	case list.err == nil:
		list.fail("MISSES-CHILD-WATCHES", "All waiters watched the list of children, one release woke every one of them, and your check says that all is well. "+
			"Watches on the list are counted apart from watches on a node.")
	}
}

// Two are woken, one by each kind of watch.
func TestTwoOfDifferentKinds(t *testing.T) {
	if f := judge(t, watchMixed); f.err == nil {
		f.fail("HERD", "Two waiters were woken, one by a watch on the list and one by a watch on the holder's node, and your check says that all is well.")
	}
}

// Each one watches the one in front.
func TestALine(t *testing.T) {
	if f := judge(t, watchInFront); f.err != nil {
		why := "The counters have grown since the server was started: only the difference belongs to this release, and one wake-up is allowed."
		switch {
		case says(f.err, 1):
			why = "It has counted rightly; but one wake-up is what a release must cost, somebody has to go on."
		case numbers.MatchString(f.err.Error()):
			why = "The counters have grown since the server was started: only the difference belongs to this release."
		}
		f.fail("REJECTS-GOOD", "Each waiter watched the one in front, so the release woke one, and your check calls that a herd. "+why)
	}
}

// A herd of three and four. Whoever reads the error wants to know how large it was.
func TestItSaysHowMany(t *testing.T) {
	locktest.First(t)
	before := Reading{DeletedWatches: 100, ChildWatches: 50}
	after := Reading{DeletedWatches: 103, ChildWatches: 54}
	var err error
	if panics := locktest.Guarded(t, "AtMostOneWake", func() { err = AtMostOneWake(before, after) }); panics != "" {
		locktest.Fail(t, locktest.Diagnosis{Code: locktest.CodePanics, Says: "AtMostOneWake panicked: " + panics})
	}
	steps := []locktest.Step{
		{Text: fmt.Sprintf("%s: from %v to %v", DeletedWatches, before[DeletedWatches], after[DeletedWatches])},
		{Text: fmt.Sprintf("%s: from %v to %v", ChildWatches, before[ChildWatches], after[ChildWatches])},
	}
	switch {
	case err == nil:
		locktest.Fail(t, locktest.Diagnosis{Code: "HERD",
			Says: "Seven clients were woken, and your check says that all is well.", Steps: append(steps, locktest.Step{Text: "AtMostOneWake returned nil"})})
	case !says(err, 7):
		locktest.Fail(t, locktest.Diagnosis{Code: "HOW-MANY",
			Says:  "Your check has noticed the herd, but its error does not say how many clients were woken: 7. Two or a hundred, that makes a difference to whoever reads it.",
			Steps: append(steps, locktest.Step{Text: fmt.Sprintf("AtMostOneWake returned the error %q", err)})})
	}
}

var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// says reports whether an error names a number.
func says(err error, n float64) bool {
	for _, text := range numbers.FindAllString(err.Error(), -1) {
		if got, e := strconv.ParseFloat(text, 64); e == nil && got == n {
			return true
		}
	}
	return false
}
