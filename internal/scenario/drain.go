package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"zklab/internal/journal"
	"zklab/internal/lab"
)

// drained is how it went when a line was let run out.
type drained struct {
	line, left int // in line at the beginning and at the end
	took       time.Duration
}

func (d drained) String() string {
	if d.left > 0 {
		return fmt.Sprintf("stopped after %s with %d of %d released", secs(d.took), d.line-d.left, d.line)
	}
	return fmt.Sprintf("%d drained in %s", d.line, secs(d.took))
}

func parseDrain(w *words) (doer, error) {
	at, err := w.at()
	if err != nil {
		return nil, err
	}
	within := time.Duration(0)
	if w.take("within") {
		if within, err = w.duration("the time to drain"); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, r *Runner) error {
		limit := within
		if limit == 0 {
			limit = r.patience()
		}
		return r.runOut(ctx, r.lock(at), limit)
	}, w.done()
}

// runOut has whoever holds the lock release as soon as it says that it holds,
// until nobody is in line or the limit is over. That the line is not empty by then
// is a finding, no failure.
func (r *Runner) runOut(ctx context.Context, lock string, limit time.Duration) error {
	r.drain()
	s := r.state()
	l, _ := s.Lock(lock)
	d := drained{line: len(l.Queue), left: len(l.Queue)}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer r.waiting.Store(nil)
	start := time.Now()
	for _, who := range s.HoldersBelieved(lock) {
		if err := r.letGo(ctx, who); err != nil {
			return err
		}
	}
	for d.left > 0 {
		if err := r.dead(); err != nil {
			return err
		}
		text := fmt.Sprintf("%d of %d are still in line", d.left, d.line)
		r.waiting.Store(&text)
		events, _, err := r.sub.Next(timed)
		if err != nil || timed.Err() != nil { // also where events never cease
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			break
		}
		for i := range events {
			e := &events[i]
			r.take(e)
			switch {
			case e.Type == journal.Queue && e.Lock == lock:
				d.left = len(e.Nodes)
			case e.Type == journal.Belief && e.Belief == journal.Holds && e.Lock == lock:
				if err := r.letGo(ctx, e.Who); err != nil {
					return err
				}
			}
		}
	}
	d.took = time.Since(start)
	r.drained[lock] = d
	r.note(fmt.Sprintf("%s: %s", lock, d))
	return r.told(ctx, lock)
}

// letGo has one release. One that has ended meanwhile needs not be told.
func (r *Runner) letGo(ctx context.Context, who string) error {
	if err := r.stage.Release(ctx, who); err != nil && !errors.Is(err, lab.ErrGone) {
		return err
	}
	return nil
}

// told waits until the server's counters and the relays tell the same: the last
// of a herd may be on its way for a while. Whether they do is for "fired" to say.
func (r *Runner) told(ctx context.Context, lock string) error {
	_, err := r.until(ctx, fact{check: func(r *Runner, s journal.State) finding {
		_, known, why := watchesFired(r, s, lock)
		l, _ := s.Lock(lock)
		if known && !s.Counters.At.After(l.Changed) {
			known, why = false, "the server's counters not read since the last change"
		}
		return finding{ok: known || s.Counters.At.IsZero(), is: why}
	}}, r.patience(), func(f finding) bool { return f.ok })
	return err
}
