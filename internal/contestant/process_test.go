package contestant_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zklab/internal/contestant"
	"zklab/internal/zkserver/zktest"
)

// alive says whether there is such a process, a zombie included.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestProcess_1member_joinsHoldsReleasesQuits(t *testing.T) {
	conn := connect(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l := newLog()
	p := spawn(t, l.add, newMember(t, "amber", "mini"))
	if pgid, err := syscall.Getpgid(p.Pid()); err != nil || pgid != p.Pid() {
		t.Errorf("process group %d (%v), want its own, %d", pgid, err, p.Pid())
	}
	idle := l.waitBelief(t, 1, "amber", contestant.Idle)
	if idle.Session == 0 {
		t.Error("idle without a session")
	}
	must(t, p.Join("amber"))
	l.waitBelief(t, 1, "amber", contestant.Waiting)
	holds := l.waitBelief(t, 1, "amber", contestant.Holds)
	_, stat, err := conn.Get(holds.Node)
	must(t, err)
	if holds.Token != stat.Czxid || holds.Session != stat.EphemeralOwner || holds.Session != idle.Session {
		t.Errorf("holds says token %d, session %d; the node has czxid %d, owner %d", holds.Token, holds.Session, stat.Czxid, stat.EphemeralOwner)
	}
	must(t, p.Write("amber", "order 1", 0))
	if w := l.waitKind(t, 1, contestant.KindWrite); w.Token != holds.Token || w.Text != "order 1" {
		t.Errorf("write %+v, want token %d and its text", w, holds.Token)
	}
	must(t, p.Release("amber"))
	l.waitBelief(t, 1, "amber", contestant.Released)
	if there, _, err := conn.Exists(holds.Node); err != nil || there {
		t.Errorf("the node is still there after the release (%v)", err)
	}
	must(t, p.Quit("amber"))
	l.waitKind(t, 1, contestant.KindGone)
	closeProcess(t, p)
	if e := p.Exit(); e.Code != 0 || e.Signal != 0 || e.String() != "exit status 0" {
		t.Errorf("exit %v, standard error %q", e, e.Stderr)
	}
	if err := p.Join("amber"); !errors.Is(err, contestant.ErrExited) {
		t.Errorf("join after the end: %v, want %v", err, contestant.ErrExited)
	}
	if err := p.Kill(); !errors.Is(err, contestant.ErrExited) {
		t.Errorf("kill after the end: %v, want %v", err, contestant.ErrExited)
	}
}

func TestProcess_40processes_eachHoldsOnce(t *testing.T) {
	const n = 40
	l := newLog()
	began := time.Now()
	for i := range n {
		m := newMember(t, fmt.Sprintf("p%d", i), "mini")
		m.Hold, m.Join = time.Millisecond, true
		spawn(t, l.add, m)
	}
	l.waitBelief(t, n, "", contestant.Released)
	t.Logf("%d processes started and held once each in %v", n, time.Since(began).Round(time.Millisecond))
	wantTokens(t, l, n)
}

// wantTokens checks that n holds were reported, each with a token of its own.
func wantTokens(t *testing.T, l *log, n int) {
	t.Helper()
	tokens := map[int64]bool{}
	for _, r := range l.all() {
		if r.Belief == contestant.Holds && r.Kind == contestant.KindBelief {
			tokens[r.Token] = true
		}
		if r.Err != "" {
			t.Errorf("report %+v", r)
		}
	}
	if len(tokens) != n || tokens[0] {
		t.Errorf("%d different tokens (zero among them: %v), want %d", len(tokens), tokens[0], n)
	}
}

func TestProcess_200members_eachHoldsTwice(t *testing.T) {
	const n, rounds = 200, 2
	l := newLog()
	var members []contestant.Member
	for i := range n {
		m := newMember(t, fmt.Sprintf("m%d", i), "mini")
		m.Hold, m.Rounds = time.Millisecond, rounds
		members = append(members, m)
	}
	began := time.Now()
	p := spawn(t, l.add, members...)
	l.waitBelief(t, n, "", contestant.Idle)
	opened := time.Since(began)
	began = time.Now()
	for _, m := range members {
		must(t, p.Join(m.Who))
	}
	l.waitBelief(t, n*rounds, "", contestant.Released)
	t.Logf("%d sessions open in %v, %d holds in %v", n, opened.Round(time.Millisecond), n*rounds, time.Since(began).Round(time.Millisecond))
	wantTokens(t, l, n*rounds)
}

func TestProcess_killHolder_nextHolds(t *testing.T) {
	t.Parallel()
	tick := zktest.Need(t).Tick()
	l := newLog()
	a, b := newMember(t, "amber", "mini"), newMember(t, "basil", "mini")
	a.Session = 2 * time.Second
	pa, pb := spawn(t, l.add, a), spawn(t, l.add, b)
	must(t, pa.Join("amber"))
	first := l.waitBelief(t, 1, "amber", contestant.Holds)
	must(t, pb.Join("basil"))
	l.waitBelief(t, 1, "basil", contestant.Waiting)
	killed := time.Now()
	must(t, pa.Kill())
	select {
	case <-pa.Done():
	case <-time.After(patience):
		t.Fatal("killed, but not reaped")
	}
	if e := pa.Exit(); e.Signal != syscall.SIGKILL || e.Code != -1 || e.Pid != pa.Pid() || e.String() != "signal: killed" {
		t.Errorf("exit %+v, want SIGKILL", e)
	}
	second := l.waitBelief(t, 1, "basil", contestant.Holds)
	if d := time.Since(killed); d > a.Session+tick+time.Second {
		t.Errorf("the next one held %v after kill -9, want at most %v", d, a.Session+tick+time.Second)
	}
	if second.Token <= first.Token {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
}

// A stopped holder believes on. When it wakes up it writes what it was about to
// write, with its old token, and only then learns that its session is over.
func TestProcess_stopHolderPastSession_zombieWrites(t *testing.T) {
	t.Parallel()
	l := newLog()
	a, b := newMember(t, "amber", "mini"), newMember(t, "basil", "mini")
	a.Session = time.Second
	pa, pb := spawn(t, l.add, a), spawn(t, l.add, b)
	must(t, pa.Join("amber"))
	first := l.waitBelief(t, 1, "amber", contestant.Holds)
	must(t, pb.Join("basil"))
	l.waitBelief(t, 1, "basil", contestant.Waiting)
	must(t, pa.Write("amber", "order 7", 300*time.Millisecond))
	must(t, pa.Write("amber", "order 8", 0)) // its refusal says that the first is under way
	l.waitKind(t, 1, contestant.KindError)
	must(t, pa.Stop())
	second := l.waitBelief(t, 1, "basil", contestant.Holds)
	for _, r := range l.all() {
		if r.Who == "amber" && (r.Kind == contestant.KindWrite || r.Belief == contestant.Lost) {
			t.Fatalf("a stopped process reported %+v", r)
		}
	}
	must(t, pa.Cont())
	w := l.waitKind(t, 1, contestant.KindWrite)
	if w.Who != "amber" || w.Token != first.Token || w.Token >= second.Token {
		t.Errorf("zombie's write %+v, want its old token %d, smaller than %d", w, first.Token, second.Token)
	}
	lost := l.waitBelief(t, 1, "amber", contestant.Lost)
	if lost.Token != first.Token || lost.Session != first.Session || lost.At.Before(second.At) {
		t.Errorf("lost: %+v, want token and session of the hold, after basil's %v", lost, second.At)
	}
	l.wait(t, 1, "amber idle in a new session, without a token", func(r contestant.Report) bool {
		return r.Who == "amber" && r.Belief == contestant.Idle && r.Session != first.Session && r.Token == 0 && r.At.After(lost.At)
	})
}

func TestProcess_closeStopped_ends(t *testing.T) {
	l := newLog()
	p := spawn(t, l.add, newMember(t, "amber", "mini"))
	l.waitBelief(t, 1, "amber", contestant.Idle)
	must(t, p.Stop())
	began := time.Now()
	closeProcess(t, p)
	if d := time.Since(began); d > 3*time.Second {
		t.Errorf("closing a stopped process took %v", d)
	}
	l.waitKind(t, 1, contestant.KindGone) // it was woken, and left in order
}

func TestProcess_closeWithEndedContext_kills(t *testing.T) {
	p := spawn(t, func(contestant.Report) {}, newMember(t, "amber", "mini"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must(t, p.Close(ctx))
	if alive(p.Pid()) {
		t.Error("still there")
	}
}

func TestSpawn_badSpecs(t *testing.T) {
	good := contestant.Member{Who: "a", Servers: "127.0.0.1:1", Lock: "/l", Recipe: "mini", Session: time.Second}
	for name, change := range map[string]func(*contestant.Member){
		"no name":          func(m *contestant.Member) { m.Who = "" },
		"long name":        func(m *contestant.Member) { m.Who = strings.Repeat("a", contestant.MaxName+1) },
		"two-line name":    func(m *contestant.Member) { m.Who = "a\nb" },
		"no server":        func(m *contestant.Member) { m.Servers = "" },
		"relative lock":    func(m *contestant.Member) { m.Lock = "l" },
		"root as lock":     func(m *contestant.Member) { m.Lock = "/" },
		"no recipe":        func(m *contestant.Member) { m.Recipe = "" },
		"no session":       func(m *contestant.Member) { m.Session = 0 },
		"negative hold":    func(m *contestant.Member) { m.Hold = -1 },
		"negative leases":  func(m *contestant.Member) { m.Leases = -1 },
		"lock with end /":  func(m *contestant.Member) { m.Lock = "/l/" },
		"session below ms": func(m *contestant.Member) { m.Session = time.Microsecond },
	} {
		m := good
		change(&m)
		if p, err := contestant.Spawn(context.Background(), spec(m), nil); err == nil {
			t.Errorf("%s: spawned", name)
			closeProcess(t, p)
		}
	}
	if _, err := contestant.Spawn(context.Background(), spec(make([]contestant.Member, contestant.MaxMembers+1)...), nil); err == nil {
		t.Error("too many members: spawned")
	}
	if _, err := contestant.Spawn(context.Background(), contestant.Spec{Binary: "/nowhere/zklab"}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such binary: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := contestant.Spawn(ended, spec(good), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

func TestProcess_crash_stderrIsKept(t *testing.T) {
	s := spec()
	s.Args = []string{"unexpected"}
	p, err := contestant.Spawn(context.Background(), s, func(contestant.Report) {})
	must(t, err)
	e := p.Exit()
	if e.Code != 1 || !strings.Contains(e.Stderr, "takes no arguments") {
		t.Errorf("exit %+v, want status 1 and the reason", e)
	}
}

func TestProcess_unreachableServer_saysSo(t *testing.T) {
	t.Parallel()
	l := newLog()
	spawn(t, l.add, contestant.Member{Who: "a", Servers: "127.0.0.1:1", Lock: "/l", Recipe: "mini", Session: time.Second})
	if r := l.waitBelief(t, 1, "a", contestant.Failed); !strings.Contains(r.Err, "127.0.0.1:1") {
		t.Errorf("failed with %q, want the server named", r.Err)
	}
}
