package tui

import (
	"context"
	"time"

	"zklab/internal/journal"
)

// Source is the record that the pages show. *journal.Journal, wrapped by
// FromJournal, is one. All methods may be called concurrently.
type Source interface {
	// Wait blocks until there is an event after the one numbered seq, or until
	// ctx ends; then it returns ctx's error.
	Wait(ctx context.Context, seq int64) error
	// Since returns what follows the event numbered seq, oldest first, at most
	// limit events, and how many are no longer kept.
	Since(seq int64, limit int) (events []journal.Event, missed int64)
	// Latest gives the state after the newest event, for time t.
	Latest(t time.Time) journal.State
	// At gives the state at time t.
	At(t time.Time) journal.State
	// Bounds returns the times of the oldest kept and the newest event.
	Bounds() (oldest, newest time.Time)
}

// FromJournal makes a Source of a journal.
func FromJournal(j *journal.Journal) Source { return fromJournal{j} }

type fromJournal struct{ *journal.Journal }

func (s fromJournal) Wait(ctx context.Context, seq int64) error {
	sub := s.Subscribe(seq)
	defer sub.Close()
	select {
	case <-sub.Ready():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
