package lab

import (
	"context"
	"strings"
	"testing"
	"time"

	"zklab/internal/journal"
)

// A pause of this process is known at once to who asks, and written when the next
// beat comes; a short one is not.
func TestPulse_tellsOfLongPausesOnly(t *testing.T) {
	for late, said := range map[time.Duration]bool{longPause / 2: false, 5 * time.Second: true} {
		j := journal.New(journal.Options{})
		sub := j.Subscribe(0)
		l := &Lab{pulse: pulse{start: time.Now().Add(-late)}}
		if got := l.StoodStill(); got < late-2*beatEvery || got > late+beatEvery {
			t.Errorf("%v late: it stood still for %v", late, got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*beatEvery)
		done := make(chan struct{})
		go func() { defer close(done); l.pulse.run(ctx, j) }()
		events, _, _ := sub.Next(ctx)
		if wrote := len(events) == 1 && strings.Contains(events[0].Text, "zklab itself stood still for 5"); wrote != said {
			t.Errorf("%v late: written %v, want %v: %+v", late, wrote, said, events)
		}
		<-done
		cancel()
		if got := l.StoodStill(); got < late-2*beatEvery {
			t.Errorf("%v late: forgotten, it says %v", late, got)
		}
	}
}
