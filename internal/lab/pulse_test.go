package lab

import (
	"context"
	"strings"
	"testing"
	"time"

	"zklab/internal/journal"
)

// A pause of this process is known at once to who asks, kept, and written when the
// next beat comes; a short one is not.
func TestPulse_tellsOfLongPausesOnly(t *testing.T) {
	for late, long := range map[time.Duration]bool{longPause / 2: false, 5 * time.Second: true} {
		j := journal.New(journal.Options{})
		sub := j.Subscribe(0)
		due := time.Now().Add(-late)
		l := &Lab{j: j, pulse: pulse{next: due}, members: map[string]*member{"amber": {}}}
		wantPause := func(when string) {
			t.Helper()
			all := l.StoodStill()
			if (len(all) == 1) != long || long && (!all[0].From.Equal(due) || all[0].To.Sub(due) < late) {
				t.Errorf("%v late, %s: it stood still %v, want long %v", late, when, all, long)
			}
		}
		wantPause("under way")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.pulse.run(ctx, func(p Pause) { l.tellPause(p); cancel() }) }()
		if !long {
			time.AfterFunc(3*beatEvery, cancel)
		}
		events, _, _ := sub.Next(ctx)
		if wrote := len(events) == 1 && strings.Contains(events[0].Text, "zklab itself stood still for 5") && strings.Contains(events[0].Text, "network"); wrote != long {
			t.Errorf("%v late: written %v, want %v: %+v", late, wrote, long, events)
		}
		<-done
		cancel()
		wantPause("over")
	}
}

func TestPulse_100pauses_keepsTheLast(t *testing.T) {
	start := time.Now()
	p := pulse{next: start}
	for i := range 100 {
		p.beat(start.Add(time.Duration(i+1) * 2 * longPause))
	}
	if all := p.pulseEnd(); len(all) != maxPauses || !all[len(all)-1].To.Equal(start.Add(200*longPause)) {
		t.Errorf("%d are kept, the last %v", len(all), all[len(all)-1])
	}
}

// pulseEnd gives what is kept.
func (p *pulse) pulseEnd() []Pause { return p.pauses(p.next) }
