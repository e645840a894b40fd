package lab

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"zklab/internal/journal"
)

const (
	beatEvery  = 100 * time.Millisecond
	longPause  = time.Second // from this on a pause is written to the journal
	pauseShown = 100 * time.Millisecond
)

// pulse notices when this very process stands still: stopped by a signal or by
// ctrl-Z, or starved. Its relays pass nothing on meanwhile, so that sessions end which
// nobody has cut off.
type pulse struct {
	start   time.Time
	beat    atomic.Int64 // since start
	longest atomic.Int64
}

// run beats until ctx ends, and writes each long pause.
func (p *pulse) run(ctx context.Context, j *journal.Journal) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		gap := p.gap()
		p.beat.Store(int64(time.Since(p.start)))
		if gap > p.longestSoFar() {
			p.longest.Store(int64(gap))
		}
		if gap >= longPause {
			j.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: fmt.Sprintf(
				"zklab itself stood still for %v, and with it the network of every contestant", gap.Round(pauseShown))})
		}
	}
}

func (p *pulse) longestSoFar() time.Duration { return time.Duration(p.longest.Load()) }

// gap is how long the next beat is overdue.
func (p *pulse) gap() time.Duration {
	return max(time.Since(p.start)-time.Duration(p.beat.Load())-beatEvery, 0)
}

// StoodStill is the longest time that this process has stood still since the lab
// was opened. It is known at the first moment after that.
func (l *Lab) StoodStill() time.Duration { return max(l.pulse.longestSoFar(), l.pulse.gap()) }
