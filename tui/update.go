package tui

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/internal/journal"
	"zklab/tui/view"
)

// Update takes one message. It changes only the model; whatever waits or acts
// is returned as a command.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	m.dirty, m.aimed = true, false
	helped := m.help
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		m.colours(msg.Profile)
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	case tea.MouseClickMsg:
		m.click(msg.Mouse())
	case tea.MouseWheelMsg:
		m.wheel(msg.Mouse())
	case eventsMsg:
		cmd = m.take(msg)
	case tickMsg:
		if !m.clock.struck(msg) {
			m.dirty = false
			return m, nil
		}
		if m.steps != nil && m.steps.Running {
			m.readSteps()
		}
	case watchedMsg:
		cmd = m.watched(msg)
	case outcomeMsg:
		cmd = m.outcome(msg)
	case hintMsg:
		m.study.hinted(msg.text)
	case shownMsg:
		cmd = m.show(msg)
	case actedMsg:
		m.acted(msg)
	case failedMsg:
		if m.ctx.Err() == nil && !errors.Is(msg.err, context.Canceled) {
			m.notice = "no more events: " + m.say(msg.err)
		}
	default:
		m.dirty = false
		return m, nil
	}
	if m.reel != nil {
		if helped || m.help { // nobody sees what is under the help
			m.reel.since = m.o.Now()
		}
		if m.reel.moved(m.o.Now()) {
			m.wanted = m.reel.at
			cmd = tea.Batch(cmd, m.fetch())
		}
	}
	if release := m.autoRelease(m.o.Now()); release != nil {
		cmd = tea.Batch(cmd, release)
	}
	return m, tea.Batch(cmd, m.wind())
}

// actedMsg tells that an act is done.
type actedMsg struct {
	what  string
	err   error
	steps *view.Steps
}

func (m *model) acted(msg actedMsg) {
	if msg.err != nil && m.ctx.Err() == nil {
		m.notice = msg.what + ": " + m.say(msg.err)
		m.auto = m.auto && msg.what != releasesBoth // they have drained
	}
	if msg.steps != nil {
		m.takeSteps(msg.steps)
	}
}

// say writes an error for people, in one line.
func (m *model) say(err error) string {
	say := m.o.Say
	if say == nil {
		say = error.Error
	}
	return strings.ReplaceAll(strings.TrimSpace(say(err)), "\n", "; ")
}

// actLimit bounds one act on a contestant.
const actLimit = 10 * time.Second

// act runs something that may wait as a command. Run waits for it to end.
func (m *model) act(what string, limit time.Duration, do func(context.Context) error) tea.Cmd {
	ctx, script := m.ctx, m.o.Script
	return func() tea.Msg {
		if !m.acts.begin() {
			return nil
		}
		defer m.acts.end()
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		msg := actedMsg{what: what, err: do(ctx)}
		if script != nil {
			s := script.Steps()
			msg.steps = &s
		}
		return msg
	}
}

// shownMsg brings the state at a moment in the past.
type shownMsg struct {
	state journal.State
	at    time.Time
}

// scrub moves the moment shown by d, within the last minute.
func (m *model) scrub(d time.Duration) tea.Cmd {
	if !m.still {
		m.hold()
	}
	oldest, _ := m.o.Source.Bounds()
	if floor := m.from.Add(-scrubSpan); floor.After(oldest) {
		oldest = floor
	}
	if m.wanted.Before(oldest) { // a mark from before the span
		oldest = m.wanted
	}
	to := m.wanted.Add(d)
	if to.Before(oldest) {
		to = oldest
	}
	if to.After(m.from) {
		to = m.from
	}
	m.wanted = to
	return m.fetch()
}

// fetch asks for the state at the wanted moment, one at a time.
func (m *model) fetch() tea.Cmd {
	if m.scrubbing {
		return nil
	}
	m.scrubbing = true
	source, at := m.o.Source, m.wanted
	return func() tea.Msg { return shownMsg{source.At(at), at} }
}

func (m *model) show(msg shownMsg) tea.Cmd {
	m.scrubbing = false
	if !m.still {
		return nil
	}
	if m.reel != nil && m.reel.playing && !m.o.NoMotion {
		m.moving.begin(m.lock(), m.shown, msg.state, m.firedBetween(m.shownAt, msg.at), m.o.Now())
	}
	m.shown, m.shownAt = msg.state, msg.at
	if !msg.at.Equal(m.wanted) {
		return m.fetch()
	}
	return nil
}

// hold pauses: what is shown stays as it is now.
func (m *model) hold() {
	now := m.o.Now()
	m.still, m.from, m.wanted, m.shownAt, m.shown = true, now, now, now, m.live
	m.moving, m.held = motions{}, m.trace
}

// goOn follows the events again.
func (m *model) goOn() {
	m.still = false
	if n := len(m.past); n > 0 {
		m.seen.Reading = m.past[n-1]
	}
}

// click chooses the contestant whose name stands nearest in the line clicked on.
func (m *model) click(at tea.Mouse) {
	if !m.page.selects {
		return
	}
	s, _ := m.state()
	var names []string
	for i := range s.Contestants {
		if s.Contestants[i].Lock == m.lock() {
			names = append(names, s.Contestants[i].Who)
		}
	}
	if who := view.NameAt(m.drawn, at.X, at.Y, names); who != "" {
		m.choice = who
	}
}

func (m *model) wheel(at tea.Mouse) {
	n := 1
	switch at.Button {
	case tea.MouseWheelUp:
		n = -1
	case tea.MouseWheelDown:
	default:
		return
	}
	if m.reads() {
		m.scroll(n)
		return
	}
	m.choose(n)
}

// choose moves the choice by n rows.
func (m *model) choose(n int) {
	if m.page.selects {
		m.choice = view.QueueNext(m.frame(), n)
	}
}
