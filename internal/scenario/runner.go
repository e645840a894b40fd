package scenario

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"zklab/internal/journal"
)

// ErrExpectation is returned when an expectation did not hold, or something
// awaited did not come in time.
var ErrExpectation = errors.New("an expectation did not hold")

// Patience is how long a wait without "within" waits, beside two session timeouts.
const Patience = 30 * time.Second

// Runner plays one script on one stage, step by step or straight through. One
// goroutine may use it; Waiting alone may be called from others.
type Runner struct {
	script *Script
	stage  Stage
	j      *journal.Journal
	sub    *journal.Subscription
	fold   *journal.Folder
	line   int       // of the statement that runs
	last   time.Time // the newest event taken

	next    int // step
	started []string
	at      map[string]string // the lock's path of each one started
	names   map[string]string
	servers map[string]int // by the names that let gave them
	watch   watch
	results []Result
	broken  error // why no further step runs
	guesses []Guess
	marked  marked
	drained map[string]drained     // by the lock's path
	waiting atomic.Pointer[string] // what the statement that runs waits for
}

// Result is one expectation, and what was found.
type Result struct {
	Step  string
	Line  int
	Text  string
	Found string
	OK    bool
}

// Guess is an answer to a question.
type Guess struct {
	Question *Question
	Choice   int
}

// NewRunner returns a Runner at the first step. It reads what is in the journal
// from now on. End it with Close.
func NewRunner(s *Script, stage Stage, j *journal.Journal) *Runner {
	return &Runner{
		script: s, stage: stage, j: j, sub: j.Subscribe(0), fold: journal.NewFolder(),
		at: map[string]string{}, drained: map[string]drained{}, names: map[string]string{}, servers: map[string]int{},
		watch: watch{held: newHeld(), signalled: map[string]time.Time{}, exited: map[string]string{}, works: map[string]int{}, deaths: deaths{killed: map[int]bool{}}, lives: lives{}, pace: newPace()},
	}
}

// Close gives up the runner's place at the journal. The stage is not its own.
func (r *Runner) Close() { r.sub.Close() }

// Current returns the step that Advance would run, and false when there is none.
func (r *Runner) Current() (Step, bool) {
	if r.broken != nil || r.next >= len(r.script.Steps) {
		return Step{}, false
	}
	return r.script.Steps[r.next], true
}

// Waiting says what the step that runs is waiting for, and what there is instead
// at this moment; "" when it waits for nothing.
func (r *Runner) Waiting() string {
	if text := r.waiting.Load(); text != nil {
		return *text
	}
	return ""
}

// Position says how many steps are done, and of how many.
func (r *Runner) Position() (done, of int) { return r.next, len(r.script.Steps) }

// Predict answers the current step's question, and reports whether that is right.
func (r *Runner) Predict(choice int) bool {
	step, ok := r.Current()
	if !ok || step.Question == nil {
		return false
	}
	r.guesses = append(r.guesses, Guess{step.Question, choice})
	return choice == step.Question.Answer
}

// Advance runs the current step to its end. An expectation that does not hold
// is a Result and not an error. The error is one of ctx, or why the script cannot
// go on: then no further step runs.
func (r *Runner) Advance(ctx context.Context) error {
	step, ok := r.Current()
	if !ok {
		return r.broken
	}
	r.j.Append(journal.Event{By: journal.Lab, Type: journal.Step, Text: step.Text})
	r.next++
	for _, a := range step.actions {
		r.drain()
		r.line = a.line
		err := r.dead()
		if err == nil {
			err = a.do(ctx, r)
		}
		if err != nil {
			if r.drain(); r.dead() != nil { // whatever failed then, failed because of it
				err = r.dead()
			}
			r.broken = fmt.Errorf("line %d: %s: %w", a.line, a.text, err)
			if ctx.Err() == nil && !errors.Is(err, ErrExpectation) {
				r.result(finding{is: err.Error()}, a.text)
			}
			return r.broken
		}
	}
	return nil
}

// Run plays all that is left. The error is why it could not be played to its end;
// ErrExpectation when it was and an expectation did not hold.
func (r *Runner) Run(ctx context.Context) error {
	for {
		step, more := r.Current()
		if !more {
			break
		}
		if q := step.Question; q != nil {
			r.note(fmt.Sprintf("predict: %s", q.Text))
			for _, c := range q.Choices {
				r.note("  - " + c)
			}
		}
		if err := r.Advance(ctx); err != nil {
			return err
		}
		if q := step.Question; q != nil {
			r.note("answer: " + q.Choices[q.Answer])
		}
	}
	if s := r.Summary(); s.Failed > 0 {
		return ErrExpectation
	}
	return r.broken
}

func (r *Runner) note(text string) {
	r.j.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: text})
}

// result records what became of an expectation.
func (r *Runner) result(f finding, text string) {
	e := journal.Event{By: journal.Lab, Type: journal.Expect, Text: text, OK: f.ok}
	if f.ok && f.is != "" {
		e.Text += ": " + f.is
	} else {
		e.Err = f.is
	}
	r.j.Append(e)
	step := ""
	if r.next > 0 {
		step = r.script.Steps[r.next-1].Text
	}
	r.results = append(r.results, Result{Step: step, Line: r.line, Text: text, Found: f.is, OK: f.ok})
}

// watch is what the runner remembers beside the state.
type watch struct {
	held      held
	deaths    deaths
	lives     lives
	pace      pace
	signalled map[string]time.Time
	exited    map[string]string // how
	works     map[string]int    // how often it began to work for a write
	lastFired time.Time         // the last watch event
}

// take folds an event in, and reports whether it may make a fact true that the
// next event makes false again.
func (r *Runner) take(e *journal.Event) bool {
	r.fold.Apply(e)
	r.last = e.At
	r.watch.held.take(e)
	r.watch.deaths.take(e)
	r.watch.lives.take(e)
	r.watch.pace.take(e)
	switch e.Type {
	case journal.WatchEvent:
		r.watch.lastFired = e.At
		return false
	case journal.Signal:
		if e.Op != "SIGCONT" {
			r.watch.signalled[e.Who] = e.At
		}
	case journal.Work:
		r.watch.works[e.Who]++
	case journal.Exited:
		r.watch.exited[e.Who] = e.Text
	case journal.Belief, journal.ConnOpened, journal.ConnClosed, journal.Queue, journal.Counters, journal.SessionEnded:
	default:
		return false
	}
	return true
}

func (r *Runner) state() journal.State { return r.fold.State(r.last) }

// drain takes all events that are there.
func (r *Runner) drain() {
	for {
		events, missed := r.sub.Take()
		for i := range events {
			r.take(&events[i])
		}
		if len(events) == 0 && missed == 0 {
			return
		}
	}
}
