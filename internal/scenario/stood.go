package scenario

import (
	"fmt"
	"time"

	"zklab/internal/journal"
	"zklab/internal/lab"
)

// StoodStillError is returned when zklab itself stood still for longer than a
// session lasts that there was: then it has ended without the script's doing.
type StoodStillError struct {
	For     time.Duration
	Session time.Duration // the timeout of one that was outlasted
}

func (e *StoodStillError) Error() string {
	return fmt.Sprintf("zklab itself stood still for %s (stopped by a signal or ctrl-Z, or this machine was too busy), longer than a session of %s lasts: sessions have ended for that alone, so what follows would prove nothing; run it again",
		secs(e.For), secs(e.Session))
}

// lives are the contestants' sessions by when they were there.
type lives map[journal.SessionID]*life

type life struct {
	since, to time.Time // to is zero while it lives
	timeout   time.Duration
}

func (l lives) take(e *journal.Event) {
	one := l[e.Session]
	switch {
	case e.Type == journal.SessionOpen && e.OK && one == nil:
		l[e.Session] = &life{since: e.At, timeout: e.Timeout}
	case e.Type == journal.SessionEnded && one != nil && one.to.IsZero():
		one.to = e.At
	}
}

// outlasted tells of the first pause in which a session was not heard for as long as
// it lasts. One that began in it, or that there was before or after it, is not meant.
func (l lives) outlasted(pauses []lab.Pause) error {
	for _, p := range pauses {
		for _, one := range l {
			from, to := p.From, p.To
			if one.since.After(from) {
				from = one.since
			}
			if !one.to.IsZero() && one.to.Before(to) {
				to = one.to
			}
			if one.timeout > 0 && to.Sub(from) >= one.timeout {
				return &StoodStillError{For: p.To.Sub(p.From), Session: one.timeout}
			}
		}
	}
	return nil
}
