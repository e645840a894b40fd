package locktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { Main(m) }

var acl = zk.WorldACL(zk.PermAll)

func create(t *testing.T, c *Client, name string) string {
	t.Helper()
	node, err := c.Conn.Create(c.lab.path+"/"+name, nil, zk.FlagEphemeral, acl)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// A killed client's nodes are gone when Kill returns, long before its timeout.
func TestClient_kill_endsTheSessionAtOnce(t *testing.T) {
	l := New(t)
	a := l.ClientFor("A", 8*time.Second)
	create(t, a, "x")
	start := time.Now()
	a.Kill()
	if left := l.Children(); len(left) > 0 {
		t.Errorf("%v left %v after the kill", left, time.Since(start))
	}
}

// An unplugged client's node stays until the server ends the session: later than
// T after the last packet.
func TestClient_unplug_endsTheSessionByTimeout(t *testing.T) {
	l := New(t)
	l.Patient(6 * time.Second)
	const T = time.Second
	a := l.ClientFor("A", T)
	create(t, a, "x")
	start := time.Now()
	a.Unplug()
	if !l.Until(func() bool { return len(l.Children()) == 0 }) {
		t.Fatal("the session does not end")
	}
	if took := time.Since(start); took < T/2 {
		t.Errorf("gone after %v, but T is %v", took, T)
	}
}

func TestClient_expire_isToldAsEver(t *testing.T) {
	l := New(t)
	a := l.Client("A")
	create(t, a, "x")
	before := a.SessionID()
	a.Expire()
	if !l.Until(func() bool { return a.SessionID() != 0 && a.SessionID() != before }) {
		t.Fatal("no new session")
	}
	if left := l.Children(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// The faults do to a request what they say.
func TestClient_lostRequestAndLostReply(t *testing.T) {
	for _, c := range []struct {
		name string
		lose func(*Client, wiretap.Match)
		made bool
	}{
		{"FailWrite", (*Client).FailWrite, false},
		{"DropReply", (*Client).DropReply, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := New(t)
			a := l.Client("A")
			c.lose(a, wiretap.Match{Op: wiretap.OpCreate})
			start := time.Now()
			if _, err := a.Conn.Create(l.path+"/x", nil, zk.FlagEphemeral, acl); err == nil {
				t.Fatal("the create was answered")
			}
			if made := len(l.Children()) == 1; made != c.made {
				t.Errorf("the node is there: %v", made)
			}
			l.Flush()
			steps := l.Steps(start, Doing("create"))
			if len(steps) != 1 || !strings.Contains(steps[0].Effect, map[bool]string{true: "reply was lost", false: "before it was sent"}[c.made]) {
				t.Errorf("%+v", steps)
			}
		})
	}
}

// The evidence: watches as they are set and used up, creates, who owns what.
func TestEvidence(t *testing.T) {
	l := New(t)
	a, b := l.Client("A"), l.Client("B")
	node := create(t, a, "x")
	if _, _, _, err := b.Conn.GetW(node); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := b.Conn.ChildrenW(l.path); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := b.Conn.ExistsW(l.path + "/missing"); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := b.Conn.GetW(l.path + "/missing"); !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	l.Flush()
	want := []Watch{{node, journal.DataWatch}, {l.path, journal.ChildWatch}, {l.path + "/missing", journal.ExistsWatch}}
	if got := b.Armed(); !slices.Equal(got, want) {
		t.Errorf("armed: %v, want %v", got, want)
	}
	if !b.WouldWake(node) || a.WouldWake(node) || a.Node() != node || l.Owner(node) != "A" {
		t.Error("who is woken, or who owns the node, is wrong")
	}
	if err := a.Conn.Delete(node, -1); err != nil {
		t.Fatal(err)
	}
	if !l.Until(func() bool { return len(b.Armed()) == 1 }) {
		t.Errorf("armed after the delete: %v", b.Armed())
	}
	var story []string
	for _, s := range l.Steps(time.Time{}, By("A", "B")) {
		story = append(story, s.Who+" "+strings.Join(strings.Fields(s.Text), " ")+": "+s.Effect)
	}
	told := []string{
		"A create x: created", "B getW x (A): watch set", "B childrenW the lock path: 1 name, watch set",
		"B existsW missing: no such node", "B getW missing: no such node", "A delete x (own): deleted",
		"B woken x (A): it was deleted", "B woken the lock path: its children changed",
	}
	slices.Sort(story[len(story)-2:]) // the server fires both at once
	slices.Sort(told[len(told)-2:])
	if !slices.Equal(story, told) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(story, "\n"), strings.Join(told, "\n"))
	}
}

// A client that comes back has its watches again, and that is no step of its own.
func TestEvidence_afterReconnect(t *testing.T) {
	l := New(t)
	a, b := l.Client("A"), l.Client("B")
	node := create(t, a, "x")
	if _, _, _, err := b.Conn.GetW(node); err != nil {
		t.Fatal(err)
	}
	l.Flush()
	start := time.Now()
	b.Cut()
	if !l.Until(func() bool { return len(b.Armed()) == 1 && b.WouldWake(node) }) {
		t.Errorf("armed after coming back: %v", b.Armed())
	}
	if steps := l.Steps(start, Both(By("B"), Not(Doing("cut")))); len(steps) > 0 {
		t.Errorf("%+v", steps)
	}
}

func TestPolls(t *testing.T) {
	l := New(t)
	a := l.Client("A")
	node := create(t, a, "x")
	read := func(n int, f func() error) {
		t.Helper()
		for range n {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
		l.Flush()
	}
	blind := func() error { _, _, err := a.Conn.Get(node); return err }
	watching := func() error { _, _, _, err := a.Conn.GetW(node); return err }
	read(blindReads-1, blind)
	if a.Polls() {
		t.Error("a few looks are no polling")
	}
	read(1, watching)
	read(blindReads-1, blind)
	if a.Polls() {
		t.Error("it has left a watch in between")
	}
	if _, err := a.Conn.Set(node, nil, -1); err != nil {
		t.Fatal(err)
	}
	read(restlessReads, watching)
	if !a.Polls() {
		t.Error("reads with a watch each, without end, are polling")
	}
}

// Who looks at several nodes one after the other does not poll, however long it takes.
func TestAsksAgain_firstLooksDoNotCount(t *testing.T) {
	l := New(t)
	a := l.Client("A")
	x, y := create(t, a, "x"), create(t, a, "y")
	look := func(node string) {
		t.Helper()
		if _, _, _, err := a.Conn.GetW(node); err != nil {
			t.Fatal(err)
		}
		l.Flush()
	}
	look(x)
	since := time.Now()
	look(y)
	if a.AsksAgain(since) {
		t.Error("it has looked at y for the first time")
	}
	look(x)
	if !a.AsksAgain(since) {
		t.Error("it has looked at x twice, and nothing has happened between")
	}
	since = time.Now()
	create(t, a, "z")
	if !a.AsksAgain(since) {
		t.Error("it has created a node")
	}
}

func TestSteps_sameOnesAreTold3Times(t *testing.T) {
	same, other := Step{"A", "get x", "there"}, Step{"A", "set x", "done"}
	for _, n := range []int{4, 5, 50} {
		got := shortened(slices.Concat(slices.Repeat([]Step{same}, n), []Step{other, other}))
		if want := []Step{same, same, same, {"A", "… and so on", ""}, other, other}; !slices.Equal(got, want) {
			t.Errorf("%d times: %v", n, got)
		}
	}
}

// The watchdog and the call budget end a wait that has no end.
func TestUntil_givesUp(t *testing.T) {
	l := New(t)
	a := l.Client("A")
	l.Patient(200 * time.Millisecond)
	start := time.Now()
	if l.Until(func() bool { return false }) || time.Since(start) > 3*time.Second {
		t.Errorf("silence was noticed after %v", time.Since(start))
	}
	l.Patient(time.Hour)
	loop := a.Do("loop", func(ctx context.Context) error {
		for ctx.Err() == nil {
			if _, _, err := a.Conn.Exists(l.path); err != nil {
				return err
			}
		}
		return nil
	})
	start = time.Now()
	if l.Until(func() bool { return false }) || time.Since(start) > 5*time.Second {
		t.Errorf("the loop was noticed after %v", time.Since(start))
	}
	loop.Cancel()
}

func TestDo_panics(t *testing.T) {
	l := New(t)
	a := l.Client("A")
	call := a.Do("f", func(context.Context) error { panic("oh") })
	if !l.Until(call.Ended) || call.Err() == nil || !strings.HasPrefix(call.panics, "oh, at ") {
		t.Errorf("%v %q", call.Err(), call.panics)
	}
}

// A function that does not return, panics, or fails the test inside is not taken for one
// that has returned.
func TestGuard(t *testing.T) {
	for name, c := range map[string]struct {
		f    func()
		want ending
	}{
		"returns":      {func() {}, ending{inTime: true}},
		"hangs":        {func() { select {} }, ending{}},
		"panics":       {func() { panic("oh") }, ending{inTime: true, panics: "oh", at: "a place outside lock.go"}},
		"fails inside": {runtime.Goexit, ending{inTime: true, gone: true}},
	} {
		if got := guard(200*time.Millisecond, c.f); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestOwnError(t *testing.T) {
	for err, want := range map[error]bool{
		errors.New(". has no number"):                                  true,
		fmt.Errorf("join: %w", errors.New("not found")):                true,
		fmt.Errorf("join: %w", zk.ErrNoNode):                           false,
		fmt.Errorf("join: %v", zk.ErrNoNode):                           false,
		errors.Join(errors.New("x is not in line"), zk.ErrInvalidPath): true,
		context.Canceled:                                   false,
		errors.Join(io.EOF, errors.New("x")):               false,
		&net.OpError{Op: "read", Err: errors.New("reset")}: false,
		errors.New("TODO: write this exercise"):            false,
	} {
		if got := OwnError(err); got != want {
			t.Errorf("%v: got %v", err, got)
		}
	}
}

func TestDiagnosis_text(t *testing.T) {
	d := Diagnosis{
		Code: "WOKEN-IS-NOT-OWNER",
		Says: "A and C hold the lock at the same moment: C entered because its watch fired. Being woken is a reason to look again, not permission to enter.",
		Steps: []Step{
			{"C", "getW      lock-0000000001 (B)", "watch set"},
			{"B", "killed; its session ended", "lock-0000000001 deleted"},
			{"C", "entered", ""},
		},
	}
	want := `what went wrong  [WOKEN-IS-NOT-OWNER]
  A and C hold the lock at the same moment: C entered because its watch
  fired. Being woken is a reason to look again, not permission to enter.
what happened
  C  getW      lock-0000000001 (B)  -> watch set
  B  killed; its session ended      -> lock-0000000001 deleted
  C  entered
next: zklab hint 07      replay: zklab replay last
`
	got := d.withNext("07-woken-is-not-owner", true)
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for _, indent := range []string{"", "    ", "        "} {
		out := "--- FAIL: TestX\n" + indent + strings.ReplaceAll(strings.TrimSpace(got), "\n", "\n"+indent) + "\nFAIL\nwhat went wrong  [OTHER]\n"
		code, message := FindDiagnosis(out)
		if code != d.Code || message != strings.TrimSpace(want) {
			t.Errorf("found %s:\n%s", code, message)
		}
	}
	if code, message := FindDiagnosis("ok\n"); code != "" || message != "" {
		t.Errorf("found %q %q where there is none", code, message)
	}
}

func TestNames_randomPartsAreNumbered(t *testing.T) {
	n := newNamer()
	got := n.tidy("_c_9b1c77d2-0e4f-4a51-b8a7-33e0d5c1f902-lock-0000000001 0a64c5be77f34d0ca1c85b9d2e6f0a03-lock-0000000002 9b1c77d2-0e4f-4a51-b8a7-33e0d5c1f902")
	if want := "_c_{guid 1}-lock-0000000001 {guid 2}-lock-0000000002 {guid 1}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, fixed := range []string{"-read0000000001", "lock-0000000001"} { // an a is the end of a word there
		if got := n.tidy(fixed); got != fixed {
			t.Errorf("%q became %q", fixed, got)
		}
	}
}

func TestOutcome(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(StateEnv, dir)
	if _, err := ReadOutcome(dir, "06-x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	want := Outcome{V: 1, Exercise: "06-x", Code: "HERD", Test: "TestX", Message: "m", At: time.Now().Round(0)}
	if err := want.leave(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadOutcome(dir, "06-x")
	if err != nil || !got.At.Equal(want.At) || got.Code != want.Code || got.Message != want.Message {
		t.Errorf("%+v, %v", got, err)
	}
	before, err := begin()
	if err != nil {
		t.Fatal(err)
	}
	if o, err := ReadOutcome(dir, exercise()); err != nil || o.Code != CodeUnfinished {
		t.Errorf("a run that has begun: %+v, %v", o, err)
	}
	if err := before(); err != nil {
		t.Error(err)
	}
	if _, err := ReadOutcome(dir, exercise()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a run that judges nothing leaves something: %v", err)
	}
	for _, damaged := range []string{"", "{", `{"v":2,"exercise":"06-x"}`, `{"v":1,"exercise":"07-y"}`} {
		if err := os.WriteFile(path.Join(dir, "last", "06-x.json"), []byte(damaged), 0o644); err != nil {
			t.Fatal(err)
		}
		if o, err := ReadOutcome(dir, "06-x"); err == nil {
			t.Errorf("%q was read as %+v", damaged, o)
		}
	}
}
