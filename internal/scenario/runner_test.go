package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"zklab/internal/journal"
	"zklab/internal/lab"
)

// actor is a stage whose contestants do at once what they are told, in the
// journal alone.
type actor struct {
	j     *journal.Journal
	done  []string
	line  []string
	fail  error
	still []lab.Pause
	slow  time.Duration // until a release shows
	names []string      // of those started, in order
}

func (a *actor) did(format string, args ...any) error {
	a.done = append(a.done, fmt.Sprintf(format, args...))
	return a.fail
}

func (a *actor) Start(_ context.Context, g lab.Group) ([]string, error) {
	if a.names == nil {
		a.names = []string{"amber", "basil", "coral"}
	}
	names := a.names[:g.Count]
	a.names = a.names[g.Count:]
	what := fmt.Sprintf("start %d %s", g.Count, g.Recipe)
	if g.Lock != "" {
		what += " at " + g.Lock
	}
	return names, a.did("%s", what)
}

// show writes the line as the server would list it, and who believes what.
func (a *actor) show() {
	e := journal.Event{By: journal.Server, Type: journal.Queue, Lock: "/l", Recipe: "mini"}
	for _, who := range a.line {
		id := journal.SessionID(who[0])
		e.Nodes = append(e.Nodes, journal.Node{Name: fmt.Sprintf("lock-%010d", id), Owner: id, Czxid: int64(id)})
	}
	a.j.Append(e)
	for i, who := range a.line {
		b := journal.Waiting
		if i == 0 {
			b = journal.Holds // a new reading of the queue does not end it
		}
		a.j.Append(journal.Event{By: journal.Process, Type: journal.Belief, Who: who, Lock: "/l", Belief: b, Session: journal.SessionID(who[0]), Token: int64(who[0])})
	}
}

func (a *actor) Join(_ context.Context, who string) error {
	a.j.Append(journal.Event{By: journal.Lab, Type: journal.Joined, Who: who, Lock: "/l", Recipe: "mini", PID: 1, Timeout: time.Second})
	a.j.Append(journal.Event{By: journal.Wire, Type: journal.SessionOpen, Who: who, Session: journal.SessionID(who[0]), Timeout: time.Second, OK: true})
	a.line = append(a.line, who)
	a.show()
	return a.did("join %s", who)
}

func (a *actor) Release(_ context.Context, who string) error {
	a.j.Append(journal.Event{By: journal.Lab, Type: journal.Asked, Who: who, Op: "release"})
	time.AfterFunc(a.slow, func() {
		a.line = slices.DeleteFunc(a.line, func(n string) bool { return n == who })
		a.j.Append(journal.Event{By: journal.Process, Type: journal.Belief, Who: who, Lock: "/l", Belief: journal.Released})
		a.show()
	})
	return a.did("release %s", who)
}

func (a *actor) Quit(_ context.Context, who string) error     { return a.did("quit %s", who) }
func (a *actor) Kill(_ context.Context, who string) error     { return a.did("kill %s", who) }
func (a *actor) Stop(_ context.Context, who string) error     { return a.did("stop %s", who) }
func (a *actor) Continue(_ context.Context, who string) error { return a.did("continue %s", who) }
func (a *actor) Heal(_ context.Context, who string) error     { return a.did("heal %s", who) }
func (a *actor) Expire(_ context.Context, who string) error   { return a.did("expire %s", who) }
func (a *actor) Fence(on bool)                                { _ = a.did("fence %v", on) }
func (a *actor) StoodStill() []lab.Pause                      { return a.still }
func (a *actor) Tick() time.Duration                          { return 500 * time.Millisecond }
func (a *actor) Lock() string                                 { return "/l" }

func (a *actor) Network(_ context.Context, who string, f lab.NetworkFault) error {
	return a.did("%s %s %s %v %s", f.Kind, who, f.Direction, f.Delay, f.Op)
}

func (a *actor) Write(_ context.Context, who, _ string, work time.Duration) error {
	return a.did("write %s %v", who, work)
}

func (a *actor) Server(_ context.Context, do, which string) error {
	return a.did("%s server %s", do, which)
}

func rehearse(t *testing.T, text string) (*Runner, *actor) {
	t.Helper()
	script, err := Parse("x", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	j := journal.New(journal.Options{})
	a := &actor{j: j}
	r := NewRunner(script, a, j)
	t.Cleanup(r.Close)
	return r, a
}

func TestRunner_everyStatementReachesTheStage(t *testing.T) {
	r, a := rehearse(t, `start 3 of naive
join all
stop last
continue waiter 2
cut holder
refuse amber
blackhole basil in
delay next 20ms
drop reply amber create
fail write amber delete
heal all
expire next
write holder
fence off
kill server leader
restart server 2
kill next
quit last
`)
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"start 3 naive", "join amber", "join basil", "join coral", "stop coral", "continue coral",
		"cut amber  0s ", "refuse amber  0s ", "blackhole basil in 0s ", "delay basil  20ms ", "drop-reply amber  0s create", "fail-write amber  0s delete",
		"heal amber", "heal basil", "heal coral", "expire basil", "write amber 0s", "fence false", "kill server leader", "restart server 2", "kill basil", "quit coral"}
	if !slices.Equal(a.done, want) {
		t.Errorf("got  %q\nwant %q", a.done, want)
	}
}

func TestRunner_stepByStep(t *testing.T) {
	r, a := rehearse(t, `step line up
start 2
join all
step release
predict who is next?
- amber
- basil *
let first = holder
release first
wait first out
expect holder basil
expect queue 2
`)
	if step, more := r.Current(); !more || step.Text != "line up" || step.Question != nil {
		t.Fatalf("%+v %v", step, more)
	}
	if r.Predict(0) {
		t.Error("a step without a question was answered rightly")
	}
	if err := r.Advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if done, of := r.Position(); done != 1 || of != 2 || len(a.done) != 3 {
		t.Fatalf("%d of %d, %v", done, of, a.done)
	}
	if step, _ := r.Current(); step.Question == nil || !r.Predict(1) {
		t.Fatal("the right answer was not taken")
	}
	if err := r.Advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := r.Summary()
	if s.OK() || s.ExitCode() != 1 || s.Failed != 1 || len(s.Results) != 2 || !s.Results[0].OK || s.Results[1].Line != 12 || s.Results[1].Found != "1 in line" {
		t.Errorf("%+v", s)
	}
	text := s.String()
	for _, want := range []string{"2 of 2 steps; 2 expectations, 1 as expected, 1 not", "NOT SO  queue 2: 1 in line", `who is next? You predicted "basil", and that is right.`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, more := r.Current(); more {
		t.Error("there is a third step")
	}
}

// A summary is broken between words, never in one, and says of a script that did
// not come to its end that it was stopped or left.
func TestSummary_isBrokenBetweenWords(t *testing.T) {
	q := &Question{Text: "The holder is stopped between its look and its write. Who holds the lock after a while?",
		Choices: []string{"the stopped one: its process is alive", "the next one: the session has expired"}, Answer: 1}
	s := Summary{Title: "Three servers: a lock outlives the leader, waits for a quorum, and is lost to a server that is cut off",
		Steps: 2, Of: 4, Failed: 1, Guesses: []Guess{{q, 0}, {q, 1}, {q, -1}}, Broken: errors.New("line 9: wait x: an expectation did not hold"),
		Results: []Result{{Text: "victim expired in (T, T+tick]", Found: strings.Repeat("0x2000000000000 ", 12), OK: true}, {Text: "x", Found: "y"}}}
	whole := strings.Fields(s.Text(10_000))
	for _, width := range []int{20, 40, 80, 140} {
		text := s.Text(width)
		if !slices.Equal(strings.Fields(text), whole) {
			t.Errorf("%d cells: other words than in one line:\n%s", width, text)
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			if len(line) > width && strings.Contains(strings.TrimSpace(line), " ") && width >= 40 || strings.HasSuffix(line, " ") {
				t.Errorf("%d cells: %q", width, line)
			}
		}
	}
	oneLine := strings.Join(strings.Fields(s.String()), " ")
	for _, want := range []string{"stopped in step 2 of 4; 2 expectations, 1 as expected, 1 not",
		`You predicted "the stopped one: its process is alive",`, `and that is right.`, `You predicted nothing.`} {
		if !strings.Contains(oneLine, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if !strings.Contains(s.String(), "\n          0x2000000000000") {
		t.Errorf("what follows is not indented:\n%s", s)
	}
	s.Broken = nil
	if text := s.String(); !strings.Contains(text, "left after 2 of 4 steps;") {
		t.Errorf("it does not say that it was left:\n%s", text)
	}
}

func TestRunner_whatDoesNotComeInTimeEndsTheScript(t *testing.T) {
	r, a := rehearse(t, "start 1\njoin all\nwait amber released within 30ms\nkill amber\n")
	err := r.Run(t.Context())
	s := r.Summary()
	if !errors.Is(err, ErrExpectation) || s.OK() || s.Failed != 1 || slices.Contains(a.done, "kill amber") {
		t.Fatalf("%v\n%v", err, s)
	}
	if !strings.Contains(s.Results[0].Found, "not within 0.030 s; amber believes: holds") {
		t.Errorf("found %q", s.Results[0].Found)
	}
}

func TestRunner_mistakesOfTheMoment(t *testing.T) {
	for text, want := range map[string]string{
		"kill holder":                                  "there is no holder",
		"start 2\nkill zinc":                           `there is no contestant "zinc"; there are amber, basil`,
		"start 1\njoin all\nkill next":                 "there is no next: 0 of ours wait",
		"start 2\nlet x = all":                         "all must be one contestant, it is 2",
		"start 1\njoin all\nkill waiter 3":             "there is no waiter 3",
		"start 2\nrelease last":                        "there is no last",
		"start 2\njoin all\nlet a = waiter 2":          "there is no waiter 2: 1 of ours wait",
		"kill all":                                     "there is nobody at /l; contestants were started at no lock yet",
		"start 1\nkill all at herdd":                   "there is nobody at /herdd; contestants were started at /l",
		"start 1\nrelease holders":                     "there are no holders",
		"start 1\nwait all at herdd holds within 20ms": "there is nobody at /herdd",
	} {
		r, _ := rehearse(t, text)
		err := r.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || r.Summary().OK() {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRunner_aStageThatFailsEndsTheScript(t *testing.T) {
	r, a := rehearse(t, "start 1\njoin all")
	a.fail = errors.New("the process is gone")
	err := r.Run(t.Context())
	if !errors.Is(err, a.fail) || r.Summary().ExitCode() != 1 || len(a.done) != 1 {
		t.Errorf("%v %v", err, a.done)
	}
}

func TestRunner_endsWithItsContext(t *testing.T) {
	r, _ := rehearse(t, "start 1\njoin all\nwait amber released")
	cause := errors.New("ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	start := time.Now()
	if err := r.Run(ctx); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestRunner_holdsAsLongAsTold(t *testing.T) {
	r, _ := rehearse(t, "start 1\njoin all\nwait amber holds\nrelease amber after 80ms\nwait amber released")
	start := time.Now()
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 80*time.Millisecond {
		t.Errorf("released after %v", took)
	}
}

// The next one may hold before word of the release has come, and word of each fact
// may come in any order: what counts is when it was observed. Two who believe at the
// same time are an overlap, in whatever order that is told.
func TestRunner_overlaps_inEveryOrderOfTheWords(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ms int, e journal.Event) journal.Event {
		e.At = start.Add(time.Duration(ms) * time.Millisecond)
		return e
	}
	belief := func(ms int, who string, b journal.BeliefKind, token int64) journal.Event {
		return at(ms, journal.Event{Type: journal.Belief, Who: who, Lock: "/l", Node: "/l/" + who, Belief: b, Token: token})
	}
	deletes := func(ms int, who string) journal.Event {
		return at(ms, journal.Event{Type: journal.Request, Who: who, Op: "delete", Node: "/l/" + who})
	}
	signal := func(ms int, op string) journal.Event {
		return at(ms, journal.Event{Type: journal.Signal, Who: "amber", Op: op})
	}
	amber, basil := belief(1, "amber", journal.Holds, 1), belief(5, "basil", journal.Holds, 2)
	joined := func(who string) journal.Event {
		return at(0, journal.Event{Type: journal.Joined, Who: who, Lock: "/l", Recipe: "read"})
	}
	for name, c := range map[string]struct {
		events []journal.Event
		want   int
	}{
		"hand-over":                {[]journal.Event{amber, deletes(4, "amber"), belief(6, "amber", journal.Released, 0), basil}, 0},
		"released":                 {[]journal.Event{amber, belief(4, "amber", journal.Released, 0), basil}, 0},
		"session ended":            {[]journal.Event{amber, at(4, journal.Event{Type: journal.CloseSession, Who: "amber"}), basil}, 0},
		"dead":                     {[]journal.Event{amber, signal(2, "SIGKILL"), basil}, 0},
		"zombie":                   {[]journal.Event{amber, signal(2, "SIGSTOP"), basil}, 1},
		"released too late":        {[]journal.Event{amber, deletes(6, "amber"), belief(8, "amber", journal.Released, 0), basil}, 1},
		"deletes another node":     {[]journal.Event{amber, deletes(4, "basil"), basil}, 1},
		"a delete before the hold": {[]journal.Event{deletes(0, "amber"), amber, basil}, 1},
		"readers":                  {[]journal.Event{joined("amber"), joined("basil"), amber, basil}, 0},
	} {
		ordersOf(c.events, func(events []journal.Event) {
			var beliefs []journal.BeliefKind // word of one's beliefs keeps its order
			for _, e := range events {
				if e.Type == journal.Belief && e.Who == "amber" {
					beliefs = append(beliefs, e.Belief)
				}
			}
			if beliefs[0] != journal.Holds {
				return
			}
			r, a := rehearse(t, fmt.Sprintf("expect overlap %d\nexpect token larger\n", c.want))
			for _, e := range events {
				a.j.Append(e)
			}
			if err := r.Run(t.Context()); err != nil {
				t.Errorf("%s: %v\n%v\n%+v", name, err, r.Summary(), events)
			}
		})
	}
}

// ordersOf calls f with the events in each order that there is.
func ordersOf(events []journal.Event, f func([]journal.Event)) {
	var walk func(done, rest []journal.Event)
	walk = func(done, rest []journal.Event) {
		if len(rest) == 0 {
			f(done)
		}
		for i, e := range rest {
			walk(append(slices.Clone(done), e), slices.Delete(slices.Clone(rest), i, i+1))
		}
	}
	walk(nil, events)
}

// Who stands at which lock, and the holders of all of them.
func TestRunner_severalLocks(t *testing.T) {
	r, a := rehearse(t, "start 1 of naive at herd\nstart 2\njoin all\nrelease holders\nwait holder basil\nrelease all at herd\nrelease holder at l\n")
	a.names = []string{"zinc", "amber", "basil"}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"start 1 naive at herd", "start 2 mini", "join amber", "join basil", "release amber", "release zinc", "release basil"}
	if !slices.Equal(a.done, want) {
		t.Errorf("got  %q\nwant %q", a.done, want)
	}
}

func TestRunner_drainHandsOnToTheLast(t *testing.T) {
	r, a := rehearse(t, "start 3\njoin all\ndrain\nexpect queue 0\n")
	if err := r.Run(t.Context()); err != nil {
		t.Fatalf("%v\n%v", err, r.Summary())
	}
	want := []string{"release amber", "release basil", "release coral"}
	if n := len(a.done); n < 3 || !slices.Equal(a.done[n-3:], want) {
		t.Errorf("got %q, want %q at its end", a.done, want)
	}
	if d := r.drained["/l"]; d.line != 3 || d.left != 0 {
		t.Errorf("%+v", d)
	}
}

// A line that nothing moves is left when the time is over, and that is no failure.
func TestRunner_drainEndsInTime(t *testing.T) {
	r, a := rehearse(t, "start 3\njoin all\ndrain within 50ms\n")
	a.slow = time.Hour
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := r.drained["/l"]; d.line != 3 || d.left != 3 || !strings.Contains(d.String(), "with 0 of 3 released") {
		t.Errorf("%+v: %s", d, d)
	}
}

// What the step waits for may be asked while it runs.
func TestRunner_saysWhatItWaitsFor(t *testing.T) {
	r, _ := rehearse(t, "start 2\njoin all\nwait amber released\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	const want = "amber released: amber believes: holds (token 0x61)"
	for limit := time.Now().Add(10 * time.Second); r.Waiting() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("it waits for %q, want %q", r.Waiting(), want)
		}
	}
	cancel()
	<-done
	if text := r.Waiting(); text != "" {
		t.Errorf("it still waits for %q", text)
	}
}

// A session that has its connection at a follower may live half a tick longer than
// one at the server that counts.
func TestRunner_expiredInTime_followersAreHeardLater(t *testing.T) {
	for _, c := range []struct {
		servers int
		took    time.Duration
		ok      bool
	}{
		{1, 2000 * time.Millisecond, false}, {1, 2001 * time.Millisecond, true},
		{1, 2500*time.Millisecond + seeing, true}, {1, 2501*time.Millisecond + seeing, false},
		{3, 2000 * time.Millisecond, false}, {3, 2750*time.Millisecond + seeing, true}, {3, 2751*time.Millisecond + seeing, false},
	} {
		r, a := rehearse(t, "step one\nsay it\n")
		start := time.Now()
		for i := range c.servers {
			a.j.Append(journal.Event{At: start, By: journal.Server, Type: journal.ServerUp, Text: fmt.Sprint("s", i), Mode: "follower"})
		}
		a.j.Append(journal.Event{At: start, By: journal.Wire, Type: journal.SessionOpen, Who: "a", Session: 1, Timeout: 2 * time.Second, OK: true})
		a.j.Append(journal.Event{At: start.Add(c.took), By: journal.Server, Type: journal.SessionEnded, Who: "a", Session: 1, Op: "expired"})
		r.drain()
		one, _ := r.state().Contestant("a")
		one.Heard = start
		if f := expiredInTime(r, one); f.ok != c.ok {
			t.Errorf("%d servers, after %v: %v, want %v: %s", c.servers, c.took, f.ok, c.ok, f.is)
		}
	}
}

// What nobody here has ended ends the script at once, whatever it waits for.
func TestRunner_deathThatNobodyOrdered_endsTheScript(t *testing.T) {
	exit := journal.Event{By: journal.Process, Type: journal.Exited, Who: "amber", PID: 7, Text: "signal: killed"}
	kill := journal.Event{By: journal.Lab, Type: journal.Signal, Who: "basil", PID: 7, Op: "SIGKILL"} // of the same process
	well := exit
	well.Text = exitedWell
	left := exit
	left.Text = journal.QuitText
	down := journal.Event{By: journal.Server, Type: journal.ServerDown, Text: "s:1"}
	dead := down
	dead.Err = "signal: killed"
	for name, c := range map[string]struct {
		events []journal.Event
		want   *DiedError
	}{
		"killed from outside": {[]journal.Event{exit}, &DiedError{Who: "amber (pid 7)", How: "signal: killed"}},
		"killed by the lab":   {[]journal.Event{kill, exit}, nil},
		"went as asked":       {[]journal.Event{well}, nil},
		"left its process":    {[]journal.Event{left}, nil},
		"server killed":       {[]journal.Event{down, dead}, &DiedError{Server: true, Who: "s:1", How: "signal: killed"}},
		"server taken down":   {[]journal.Event{down}, nil},
	} {
		for _, text := range []string{"wait amber holds within 300ms", "start 1\njoin all\nwait amber holds\nrelease amber after 300ms", "start 2\njoin all\ndrain within 1s"} {
			r, a := rehearse(t, text+"\n")
			a.slow = 50 * time.Millisecond
			go func() {
				for r.Waiting() == "" {
					time.Sleep(time.Millisecond) // it tells nobody when it begins to wait
				}
				for _, e := range c.events {
					a.j.Append(e)
				}
			}()
			err := r.Run(t.Context())
			var died *DiedError
			if errors.As(err, &died) != (c.want != nil) || c.want != nil && *died != *c.want {
				t.Errorf("%s, %q: %v, want %v", name, text, err, c.want)
			}
		}
	}
}

// A stage that stood still for longer than a session lasts that there was proves
// nothing: that ends the script, and is no expectation that failed. A pause before
// anybody had a session, or after the last one's end, or in which one began, does not.
func TestRunner_stageStoodStill_endsTheScript(t *testing.T) {
	start := time.Now().Add(-time.Hour)
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	for name, c := range map[string]struct {
		from, to float64
		ends     bool
	}{
		"too short":            {11, 12.999, false},
		"as long as it lasts":  {11, 13, true},
		"forgotten by nobody":  {11, 15, true},
		"before the session":   {1, 9, false},
		"it began meanwhile":   {5, 11.5, false},
		"it began long before": {5, 12.5, true},
		"it ended meanwhile":   {29, 40, false},
		"after its end":        {31, 60, false},
	} {
		r, a := rehearse(t, "start 1\njoin all\nwait amber holds\nexpect overlap 1\n")
		a.j.Append(journal.Event{At: at(10), By: journal.Wire, Type: journal.SessionOpen, Who: "basil", Session: 'b', Timeout: 2 * time.Second, OK: true})
		a.j.Append(journal.Event{At: at(20), By: journal.Wire, Type: journal.SessionOpen, Who: "basil", Session: 'b', Timeout: 2 * time.Second, OK: true})
		a.j.Append(journal.Event{At: at(30), By: journal.Server, Type: journal.SessionEnded, Who: "basil", Session: 'b', Op: "closed"})
		a.still = []lab.Pause{{From: at(c.from), To: at(c.to)}}
		err := r.Run(t.Context())
		var still *StoodStillError
		if errors.As(err, &still) != c.ends || c.ends == errors.Is(err, ErrExpectation) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An end of time is one also while events come without end, and so is a key.
func TestRunner_endlessEvents_doNotPutOffTheEnd(t *testing.T) {
	for _, text := range []string{"wait amber released within 50ms", "drain within 50ms"} {
		r, a := rehearse(t, "start 1\njoin all\n"+text+"\n")
		a.slow = time.Hour
		stop := make(chan struct{})
		var flood sync.WaitGroup
		flood.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					a.j.Append(journal.Event{By: journal.Lab, Type: journal.Note})
				}
			}
		})
		done := make(chan error, 1)
		go func() { done <- r.Run(t.Context()) }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Errorf("%s: events put off its end", text)
		}
		close(stop)
		flood.Wait()
	}
}
