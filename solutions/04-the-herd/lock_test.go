package lock

import (
	"errors"
	"fmt"
	"path"
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

// steps shows what the check had to judge.
func steps(before, after Reading, got error) []locktest.Step {
	counted := func(name string) locktest.Step {
		return locktest.Step{Text: fmt.Sprintf("%s: +%v", name, after[name]-before[name])}
	}
	verdict := "nil"
	if got != nil {
		verdict = "an error"
	}
	return []locktest.Step{
		{Text: fmt.Sprintf("1 holder, %d waiters; the holder released", waiters)},
		counted(DeletedWatches), counted(ChildWatches),
		{Text: "AtMostOneWake returned " + verdict},
	}
}

// judge lets the learner's check look at one kind of lock.
func judge(t *testing.T, arm func(*locktest.Client, []string, int) error, herd bool, code, says string) {
	t.Helper()
	lab := locktest.New(t)
	before, after := release(t, lab, arm)
	err := AtMostOneWake(before, after)
	switch {
	case locktest.IsTODO(err):
		lab.Fail(locktest.TODO("AtMostOneWake"))
	case err != nil && !errors.Is(err, ErrHerd):
		lab.Fail(locktest.Diagnosis{Code: "WRONG-ERROR",
			Says:  fmt.Sprintf("AtMostOneWake returned %q, which does not wrap ErrHerd: whoever calls it cannot tell what it found.", err),
			Steps: steps(before, after, err)})
	case herd != (err != nil):
		lab.Fail(locktest.Diagnosis{Code: code, Says: says, Steps: steps(before, after, err)})
	}
}

// Everybody watches the list of children.
func TestACrowdAtTheDoor(t *testing.T) {
	judge(t, watchList, true, "MISSES-CHILD-WATCHES",
		"All waiters watched the list of children, one release woke every one of them, and your check says that all is well. "+
			"Watches on the list are counted apart from watches on a node.")
}

// Everybody watches the holder's node.
func TestEverybodyWatchesTheHolder(t *testing.T) {
	judge(t, watchHolder, true, "HERD",
		"All waiters watched the holder's node, one release woke every one of them, and your check says that all is well.")
}

// Each one watches the one in front.
func TestALine(t *testing.T) {
	judge(t, watchInFront, false, "REJECTS-GOOD",
		"Each waiter watched the one in front, so the release woke one, and your check calls that a herd. "+
			"The counters have grown since the server was started: only the difference belongs to this release.")
}
