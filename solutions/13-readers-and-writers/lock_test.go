package lock

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
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
