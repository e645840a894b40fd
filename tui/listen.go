package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/internal/journal"
	"zklab/tui/trace"
	"zklab/tui/view"
)

// eventsMsg brings new events, and the state after them.
type eventsMsg struct {
	events []journal.Event
	lines  []view.Line // what they say
	trace  trace.Trace
	state  journal.State
	missed int64
	steps  *view.Steps
	at     time.Time
}

// failedMsg tells that the source ended.
type failedMsg struct{ err error }

const (
	// coalesce is the least time between two deliveries: what happens within it
	// comes together. It leaves room for one frame within 100 ms of an event.
	coalesce = 40 * time.Millisecond
	maxBatch = 4096
	// quietFor is how long heartbeats alone are held back: with hundreds of
	// contestants they come all the time, and change nothing on the screen.
	quietFor = 250 * time.Millisecond
)

// listen waits for events and takes them. After a delivery at last it waits a
// little, so that a burst becomes one picture.
func (m *model) listen(last time.Time) tea.Cmd {
	ctx, source, now, seq, script, told, tracer := m.ctx, m.o.Source, m.o.Now, m.seq, m.o.Script, m.told, m.tracer
	return func() tea.Msg {
		if err := source.Wait(ctx, seq); err != nil {
			return failedMsg{err}
		}
		if rest := coalesce - now().Sub(last); !last.IsZero() && rest > 0 {
			pause(ctx, rest)
		}
		msg := eventsMsg{}
		msg.events, msg.missed = source.Since(seq, maxBatch)
		for began := now(); quiet(msg.events) && msg.missed == 0 && now().Sub(began) < quietFor; {
			pause(ctx, coalesce)
			if ctx.Err() != nil {
				return failedMsg{ctx.Err()}
			}
			msg.events, msg.missed = source.Since(seq, maxBatch)
		}
		for i := range msg.events {
			e := &msg.events[i]
			tracer.Apply(e)
			msg.lines = append(msg.lines, view.LinesOf(e, told.Lines(e))...)
		}
		msg.trace = tracer.Trace()
		if script != nil { // before the state: what has been found is then in the picture
			s := script.Steps()
			msg.steps = &s
		}
		msg.at = now()
		msg.state = source.Latest(msg.at)
		return msg
	}
}

// quiet says whether events are heartbeats only.
func quiet(events []journal.Event) bool {
	for i := range events {
		if t := events[i].Type; t != journal.Ping && t != journal.Pong {
			return false
		}
	}
	return true
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// take shows what new events brought.
func (m *model) take(msg eventsMsg) tea.Cmd {
	m.lines = append(m.lines, msg.lines...)
	maxLines := maxLines
	if m.reel != nil {
		maxLines = maxReelLines
	}
	if extra := len(m.lines) - maxLines; extra > maxLines/4 {
		m.lines = append([]view.Line(nil), m.lines[extra:]...)
	}
	if !m.o.NoMotion && !m.still {
		m.moving.begin(m.lock(), m.live, msg.state, msg.events, msg.at)
	}
	if n := len(msg.events); n > 0 {
		m.seq = msg.events[n-1].Seq
	} else {
		m.seq += msg.missed
	}
	m.live, m.trace, m.steps = msg.state, msg.trace, msg.steps
	m.marks = append(m.marks, marksIn(msg.events)...)
	return m.listen(msg.at)
}
