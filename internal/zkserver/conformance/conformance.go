// Package conformance holds every backend of zkserver to the same behaviour.
package conformance

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkserver"
)

// Start starts an ensemble for one test and has it closed at the test's end.
type Start func(t testing.TB, o zkserver.Options) *zkserver.Ensemble

// limit bounds what the suite waits for: elections, restarts, answers.
const limit = 30 * time.Second

// Part is the result of one part of the suite.
type Part struct {
	Name   string // below the test that ran the suite
	Passed bool
	Took   time.Duration // the parts in it included
}

// Run runs the suite with ensembles from start, and returns its parts in their order.
func Run(t *testing.T, start Start) []Part {
	s := &suite{start: start, top: t.Name() + "/"}
	s.part(t, "oneServer", s.oneServer)
	s.part(t, "options_reachTheServer", s.optionsReachTheServer)
	s.part(t, "threeServers", s.threeServers)
	s.part(t, "close_endsEverything", s.closeEndsEverything)
	return s.parts
}

type suite struct {
	start Start
	top   string
	parts []Part
}

// part is a subtest whose result is kept.
func (s *suite) part(t *testing.T, name string, test func(*testing.T)) {
	i := len(s.parts) // parts within it come after it
	s.parts = append(s.parts, Part{Name: strings.TrimPrefix(t.Name()+"/"+name, s.top)})
	began := time.Now()
	s.parts[i].Passed = t.Run(name, test)
	s.parts[i].Took = time.Since(began)
}

// oneServer shares one server among its parts, which leave it serving.
func (suite *suite) oneServer(t *testing.T) {
	e := suite.start(t, zkserver.Options{})
	if len(e.Servers()) != 1 || e.Connect() != e.Servers()[0].Addr() || e.Chroot() != "" {
		t.Fatalf("connect %q, chroot %q, %d servers", e.Connect(), e.Chroot(), len(e.Servers()))
	}
	if host, _, err := net.SplitHostPort(e.Connect()); err != nil || !net.ParseIP(host).IsLoopback() {
		t.Errorf("%q is not loopback (%v)", e.Connect(), err)
	}
	if e.Tick() != zkserver.DefaultTick || !strings.HasPrefix(e.Version(), "3.") {
		t.Errorf("tick is %v, version %q; want the default, and 3.x", e.Tick(), e.Version())
	}
	s := e.Servers()[0]
	wantMode(t, s, "standalone")
	suite.part(t, "leaderIsItself", func(t *testing.T) {
		if l, err := e.Leader(t.Context()); err != nil || l != s {
			t.Errorf("leader %v, %v", l, err)
		}
	})
	suite.part(t, "fourLetterWords", func(t *testing.T) { fourLetterWords(t, s) })
	suite.part(t, "adminServer", func(t *testing.T) { adminServer(t, s) })
	suite.part(t, "sessionBounds_2and20ticks", func(t *testing.T) {
		wantNegotiated(t, s, time.Millisecond, 2*e.Tick())
		wantNegotiated(t, s, 3*e.Tick(), 3*e.Tick())
		wantNegotiated(t, s, time.Hour, 20*e.Tick())
	})
	suite.part(t, "1000sessions", func(t *testing.T) { manySessions(t, s, 1000) })
	suite.part(t, "pause_continue", func(t *testing.T) { pauseContinue(t, s) })
	suite.part(t, "kill_restart_keepsDataAndSession", func(t *testing.T) { killRestart(t, e, s) })
	suite.part(t, "restart_running", func(t *testing.T) {
		old := s.Pid()
		restart(t, s)
		if s.Pid() == old && old != 0 {
			t.Errorf("process %d is still the same", old)
		}
		wantMode(t, s, "standalone")
	})
}

func fourLetterWords(t *testing.T, s *zkserver.Server) {
	for word, want := range map[string]string{"ruok": "imok", "mntr": "zk_version", "cons": "queued=",
		"dump": "SessionTracker", "wchs": "watching", "conf": "tickTime="} {
		if got, err := zkserver.Ask(t.Context(), s.Addr(), word); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v; want %q in it", word, got, err, want)
		}
	}
}

func adminServer(t *testing.T, s *zkserver.Server) {
	if s.AdminAddr() == "" {
		t.Skip("this backend has no AdminServer here")
	}
	resp, err := http.Get("http://" + s.AdminAddr() + "/commands/ruok")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %s", resp.Status)
	}
}

// pauseContinue: a paused server keeps its process and its socket, and is silent.
func pauseContinue(t *testing.T, s *zkserver.Server) {
	pid := s.Pid()
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	if !s.Running() || s.Pid() != pid {
		t.Errorf("paused: running %v, pid %d, was %d", s.Running(), s.Pid(), pid)
	}
	c, err := net.DialTimeout("tcp", s.Addr(), limit)
	if err != nil {
		t.Errorf("a paused server must keep its socket: %v", err)
	} else {
		c.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if mode, err := s.Mode(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused server said %q, %v", mode, err)
	}
	if took := time.Since(began); took > limit/10 {
		t.Errorf("Mode took %v with a context of 300ms", took)
	}
	if err := s.Continue(); err != nil {
		t.Fatal(err)
	}
	awaitMode(t, s, "standalone")
}

// killRestart: data, and a session that does not time out meanwhile, survive.
func killRestart(t *testing.T, e *zkserver.Ensemble, s *zkserver.Server) {
	conn := connect(t, e.Connect())
	create(t, conn, "/kept", 0)
	create(t, conn, "/mine", zk.FlagEphemeral)
	session := conn.SessionID()
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if s.Running() || s.Pid() != 0 {
		t.Errorf("killed: running %v, pid %d", s.Running(), s.Pid())
	}
	if err := s.Pause(); !errors.Is(err, zkserver.ErrNotRunning) {
		t.Errorf("pausing a dead server: %v, want ErrNotRunning", err)
	}
	if err := s.Kill(); err != nil {
		t.Errorf("killing it again: %v", err)
	}
	if c, err := net.DialTimeout("tcp", s.Addr(), limit); err == nil {
		c.Close()
		t.Error("a dead server's port still accepts")
	}
	restart(t, s)
	wantMode(t, s, "standalone")
	other := connect(t, e.Connect())
	if _, _, err := other.Get("/kept"); err != nil {
		t.Errorf("the node is lost: %v", err)
	}
	_, stat, err := other.Get("/mine")
	if err != nil || stat.EphemeralOwner != session {
		t.Errorf("the session's node after the restart: %+v, %v; want owner %x", stat, err, session)
	}
}

func (suite *suite) optionsReachTheServer(t *testing.T) {
	o := zkserver.Options{Tick: 200 * time.Millisecond, MinSession: 300 * time.Millisecond,
		MaxSession: 1500 * time.Millisecond, Extra: map[string]string{"maxClientCnxns": "77"}}
	e := suite.start(t, o)
	s := e.Servers()[0]
	if e.Tick() != o.Tick {
		t.Errorf("tick is %v", e.Tick())
	}
	conf, err := zkserver.Ask(t.Context(), s.Addr(), "conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tickTime=200\n", "maxClientCnxns=77\n"} {
		if !strings.Contains(conf, want) {
			t.Errorf("no %q in %s", want, conf)
		}
	}
	wantNegotiated(t, s, time.Millisecond, o.MinSession)
	wantNegotiated(t, s, time.Hour, o.MaxSession)
}

func (suite *suite) closeEndsEverything(t *testing.T) {
	e := suite.start(t, zkserver.Options{})
	s := e.Servers()[0]
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if s.Running() || s.Pid() != 0 {
		t.Errorf("after Close: running %v, pid %d", s.Running(), s.Pid())
	}
	if c, err := net.DialTimeout("tcp", s.Addr(), limit); err == nil {
		c.Close()
		t.Error("after Close its port still accepts")
	}
	if err := s.Restart(t.Context()); !errors.Is(err, zkserver.ErrClosed) {
		t.Errorf("restart after Close: %v, want ErrClosed", err)
	}
}
