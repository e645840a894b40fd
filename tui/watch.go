package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/internal/attach"
	"zklab/tui/theme"
	"zklab/tui/view"
)

// watchedMsg brings a reading of the watched path.
type watchedMsg struct {
	reading attach.Reading
	err     error
}

// look reads the watched path after a while.
func (m *model) look(after time.Duration) tea.Cmd {
	ctx, w := m.ctx, m.o.Watch
	return func() tea.Msg {
		if after > 0 {
			pause(ctx, after)
		}
		if ctx.Err() != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, actLimit)
		defer cancel()
		r, err := w.Read(ctx)
		return watchedMsg{r, err}
	}
}

// watched shows a reading, and what changed since the one before.
func (m *model) watched(msg watchedMsg) tea.Cmd {
	next := m.look(m.o.Watch.Every)
	if msg.err != nil {
		m.seen.Failure = m.say(msg.err)
		return next
	}
	m.seen.Failure = ""
	m.tenure, m.talks = m.tenure.next(msg.reading), heard(m.talks, msg.reading)
	if n := len(m.past); n > 0 {
		before := m.past[n-1]
		m.seen.Gone = gone(m.talks, before, msg.reading)
		for _, text := range attach.Changes(before, msg.reading) {
			m.lines = append(m.lines, view.Line{At: msg.reading.At, Who: "watch", Text: text, Role: theme.Text})
		}
		m.lines = m.lines[max(len(m.lines)-maxLines, 0):]
	}
	m.remember(msg.reading)
	m.seen.Cost = m.costNow()
	if !m.still {
		m.seen.Reading = msg.reading
	}
	return next
}

// costSpan is how long looking is watched to tell what it costs: long enough for
// the slower questions to count.
const costSpan = 10 * time.Second

// costNow tells what looking costs the servers, by the last readings.
func (m *model) costNow() string {
	newest := m.past[len(m.past)-1]
	before := newest
	for i := len(m.past) - 1; i >= 0 && newest.At.Sub(before.At) < costSpan; i-- {
		before = m.past[i]
	}
	if !before.At.Before(newest.At) {
		return "looking cost " + newest.Cost.String()
	}
	return "looking costs " + newest.Cost.Since(before.Cost).Per(newest.At.Sub(before.At))
}

// maxPlaces bounds the readings kept for scrubbing, by the places in them.
const maxPlaces = 100_000

// remember keeps a reading for scrubbing: those of two spans, because one may be
// held still for as long as another, while they are not too large.
func (m *model) remember(r attach.Reading) {
	m.past = append(m.past, r)
	places := 0
	for i := len(m.past) - 1; i >= 0; i-- {
		places += len(m.past[i].Places)
		if r.At.Sub(m.past[i].At) > 2*scrubSpan || places > maxPlaces && i < len(m.past)-1 {
			m.past = append([]attach.Reading(nil), m.past[i+1:]...)
			return
		}
	}
}

// seenAt is what the watch page shows: the newest reading, or while it is held
// still the last one by that moment.
func (m *model) seenAt() view.Watched {
	v := m.seen
	if !m.still || len(m.past) == 0 {
		v.Held = m.tenure.told(v.Reading)
		return v
	}
	v.Reading, v.Failure, v.Gone = m.past[0], "", nil
	for _, r := range m.past {
		if !r.At.After(m.shownAt) {
			v.Reading = r
		}
	}
	v.Held = m.tenure.told(v.Reading)
	return v
}

func drawWatch(m *model, f view.Frame) string {
	if f.State.Start.IsZero() {
		f.State.Start = m.opened
	}
	return view.Watch(f, m.seenAt(), m.w, m.h, m.theme)
}

// watching are the keys of the watch page.
func watching() []deed {
	move := func(n int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd {
			last := max(len(m.seen.Reading.Places), len(m.seen.Reading.Locks)) - 1
			m.seen.Top = min(max(m.seen.Top+n, 0), max(last, 0))
			return nil
		}
	}
	return []deed{
		{key: bind("↑↓", "scroll", "down"), help: "Moves down the queue.", now: always, do: move(1)},
		{key: bind("", "", "up"), help: "Moves up the queue.", now: always, do: move(-1)},
		{key: bind("", "", "pgdown"), help: "Moves down by ten.", now: always, do: move(10)},
		{key: bind("", "", "pgup"), help: "Moves up by ten.", now: always, do: move(-10)},
		{key: bind("", "", "G", "end"), help: "Moves to the end of the queue.",
			now: func(m *model) (bool, string) { return !m.still, "" }, do: move(1 << 30)},
		{key: bind("", "", "home"), help: "Moves to the head of the queue.", now: always, do: move(-1 << 30)},
	}
}
