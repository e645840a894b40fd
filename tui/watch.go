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
		m.seen.Failure = msg.err.Error()
		return next
	}
	m.seen.Failure = ""
	before := m.seen.Reading
	if !before.At.IsZero() {
		for _, text := range attach.Changes(before, msg.reading) {
			m.lines = append(m.lines, view.Line{At: msg.reading.At, Who: "watch", Text: text, Role: theme.Text})
		}
		m.lines = m.lines[max(len(m.lines)-maxLines, 0):]
	}
	if !m.still {
		m.seen.Reading = msg.reading
	}
	return next
}

func drawWatch(m *model, f view.Frame) string {
	if f.State.Start.IsZero() {
		f.State.Start = m.opened
	}
	return view.Watch(f, m.seen, m.w, m.h, m.theme)
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
		{key: bind("", "", "home"), help: "Moves to the head of the queue.", now: always, do: move(-1 << 30)},
	}
}
