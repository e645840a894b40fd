package lab

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"zklab/internal/journal"
)

const (
	beatEvery  = 100 * time.Millisecond
	longPause  = time.Second // from this on a pause is kept, and written to the journal
	pauseShown = 100 * time.Millisecond
	maxPauses  = 64 // kept; the oldest go
)

// Pause is a time in which zklab itself stood still.
type Pause struct{ From, To time.Time }

// pulse notices when this very process stands still: stopped by a signal or by
// ctrl-Z, or starved. Its relays pass nothing on meanwhile, so that sessions end which
// nobody has cut off.
type pulse struct {
	mu   sync.Mutex
	next time.Time // when the next beat is due
	long []Pause   // that are over, oldest first
}

// run beats until ctx ends, and has each long pause told when it is over.
func (p *pulse) run(ctx context.Context, tell func(Pause)) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if pause := p.beat(time.Now()); pause.To.Sub(pause.From) >= longPause {
			tell(pause)
		}
	}
}

// beat ends a pause, however short, and keeps a long one.
func (p *pulse) beat(now time.Time) Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	pause := Pause{p.next, now}
	p.next = now.Add(beatEvery)
	if pause.To.Sub(pause.From) >= longPause {
		p.long = append(p.long[max(len(p.long)+1-maxPauses, 0):], pause)
	}
	return pause
}

// pauses are the long ones, with the one under way.
func (p *pulse) pauses(now time.Time) []Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Clone(p.long)
	if now.Sub(p.next) >= longPause {
		all = append(all, Pause{p.next, now})
	}
	return all
}

// StoodStill tells when this process has stood still for a second or longer since the
// lab was opened, oldest first. A pause is known at the first moment after it.
func (l *Lab) StoodStill() []Pause { return l.pulse.pauses(time.Now()) }

// tellPause writes a pause to the journal.
func (l *Lab) tellPause(p Pause) {
	text := fmt.Sprintf("zklab itself stood still for %v", p.To.Sub(p.From).Round(pauseShown))
	if l.anybody() {
		text += ", and with it the network of every contestant"
	}
	l.j.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: text})
}

// anybody reports whether a contestant has not ended.
func (l *Lab) anybody() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.members {
		if !m.gone {
			return true
		}
	}
	return false
}
