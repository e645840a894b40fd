package scenario

import (
	"context"
	"fmt"
	"time"

	"zklab/internal/journal"
)

func parseWait(w *words) (doer, error) {
	f, err := parseFact(w, true)
	if err != nil {
		return nil, err
	}
	var within time.Duration
	if w.take("within") {
		if within, err = w.duration("the time to wait"); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, r *Runner) error {
		limit := within
		if limit == 0 {
			limit = r.patience()
		}
		found, err := r.until(ctx, f, limit, func(f finding) bool { return f.ok })
		if err != nil || found.ok {
			return err
		}
		found.is = fmt.Sprintf("not within %s; %s", secs(limit), found.is)
		r.result(found, f.text)
		return fmt.Errorf("%w: %s", ErrExpectation, found.is)
	}, w.done()
}

// telling is how long an expectation waits for the reading that tells it.
const telling = 5 * time.Second

func parseFactStatement(verb string, w *words) (doer, error) {
	f, err := parseFact(w, verb == "expect")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, r *Runner) error {
		found, err := r.until(ctx, f, telling, func(f finding) bool { return !f.unknown })
		if err != nil {
			return err
		}
		if verb == "show" {
			r.note(found.is)
			return nil
		}
		if !found.ok {
			if err := r.dead(); err != nil {
				return err
			}
		}
		r.result(found, f.text)
		return nil
	}, w.done()
}

// patience is how long something may take that a session's end may have to
// precede.
func (r *Runner) patience() time.Duration {
	longest := time.Duration(0)
	for _, c := range r.state().Contestants {
		longest = max(longest, c.Timeout)
	}
	return Patience + 2*longest
}

// until checks the fact on each event that may make it so for a moment, and on
// each stretch of events, until enough says so or the limit is over. It returns
// the last finding.
func (r *Runner) until(ctx context.Context, f fact, limit time.Duration, enough func(finding) bool) (finding, error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r.drain()
	found := f.check(r, r.state())
	defer r.waiting.Store(nil)
	for !enough(found) {
		if err := r.dead(); err != nil {
			return found, err
		}
		r.waitsFor(f, found)
		events, _, err := r.sub.Next(timed)
		if err != nil || timed.Err() != nil { // also where events never cease
			if ctx.Err() != nil {
				return found, context.Cause(ctx)
			}
			return found, nil
		}
		for i := range events {
			if moment := r.take(&events[i]); moment && !enough(found) {
				found = f.check(r, r.state())
			}
		}
		if !enough(found) {
			found = f.check(r, r.state())
		}
	}
	return found, nil
}

// waitsFor tells Waiting's callers what is missing.
func (r *Runner) waitsFor(f fact, found finding) {
	text := f.text
	switch {
	case text == "":
		text = found.is
	case found.is != "":
		text += ": " + found.is
	}
	r.waiting.Store(&text)
}

// heldFor waits until what the contestant believes now (that it holds, when it is to
// release) is d old. It is the work that a holder does, not a wait for something to
// happen.
func (r *Runner) heldFor(ctx context.Context, name string, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	c, _ := r.state().Contestant(name)
	text := fmt.Sprintf("%s holds for %s", name, secs(d))
	r.waiting.Store(&text)
	defer r.waiting.Store(nil)
	timed, cancel := context.WithDeadline(ctx, c.BeliefAt.Add(d))
	defer cancel()
	for r.dead() == nil {
		events, _, err := r.sub.Next(timed)
		for i := range events {
			r.take(&events[i])
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil || timed.Err() != nil:
			return nil
		}
	}
	return r.dead()
}

// standsInLine waits until the contestant has its node, or holds, or is known to
// wait without one, so that the next one comes after it.
func (r *Runner) standsInLine(ctx context.Context, name string) error {
	there := fact{check: func(_ *Runner, s journal.State) finding {
		c, _ := s.Contestant(name)
		ok := c.Node != "" || c.Belief == journal.Holds || c.Belief == journal.Waiting && len(c.Watches) > 0
		return finding{ok: ok, is: name + " is not in line; " + believes(c.Belief)(r, c).is}
	}}
	return r.mustBecome(ctx, there)
}

// mustBecome waits for what a statement needs before it is done.
func (r *Runner) mustBecome(ctx context.Context, f fact) error {
	limit := r.patience()
	found, err := r.until(ctx, f, limit, func(f finding) bool { return f.ok })
	if err == nil && !found.ok {
		err = fmt.Errorf("%w: not within %s; %s", ErrExpectation, secs(limit), found.is)
	}
	return err
}
