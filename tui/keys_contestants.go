package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"zklab/internal/journal"
	"zklab/internal/recipe"
	"zklab/tui/view"
)

// target is the contestant that the keys act on: the chosen one while it is
// there, else the holder.
func (m *model) target() (journal.ContestantState, bool) {
	s, _ := m.state()
	return s.Contestant(m.chosen())
}

// chosen is the row that the keys act on.
func (m *model) chosen() string {
	if !m.aimed {
		s, _ := m.state()
		m.aim, m.aimed = view.QueueChosen(s, m.lock(), m.choice), true
	}
	return m.aim
}

// on makes the condition of a key that acts on the target.
func on(fit func(journal.ContestantState) bool, label func(journal.ContestantState) string) func(*model) (bool, string) {
	return func(m *model) (bool, string) {
		c, known := m.target()
		if !known || m.o.Control == nil || m.still || !fit(c) {
			return false, ""
		}
		if label != nil {
			return true, label(c)
		}
		return true, ""
	}
}

// to makes what a key does to the target.
func to(what string, do func(Control, context.Context, string) error) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		c, known := m.target()
		if !known {
			return nil
		}
		control := m.o.Control
		return m.act(what+" "+c.Who, actLimit, func(ctx context.Context) error { return do(control, ctx, c.Who) })
	}
}

func alive(c journal.ContestantState) bool {
	return c.Phase == journal.Running || c.Phase == journal.Stopped
}

func running(c journal.ContestantState) bool { return c.Phase == journal.Running }

var release = deed{key: bind("r", "release", "r"), help: "Lets the chosen one give back the lock, or leave the line.",
	now: on(func(c journal.ContestantState) bool { return running(c) && c.Node != "" }, nil),
	do:  to("release", Control.Release)}

// contestants are the keys that act on contestants.
func contestants() []deed {
	return append(joining(), []deed{
		release,
		{key: bind("k", "kill -9", "k"), help: "Kills the chosen one's process with SIGKILL: no last word, no clean-up.",
			now: on(alive, func(c journal.ContestantState) string { return fmt.Sprintf("kill -9 %d", c.PID) }),
			do:  to("kill", Control.Kill)},
		{key: bind("z", "stop", "z"), help: "Stops the chosen one's process with SIGSTOP: alive, but it does nothing.",
			now: on(running, nil), do: to("stop", Control.Stop)},
		{key: bind("c", "cont", "c"), help: "Lets a stopped process go on with SIGCONT.",
			now: on(func(c journal.ContestantState) bool { return c.Phase == journal.Stopped }, nil),
			do:  to("continue", Control.Cont)},
		{key: bind("x", "cut", "x"), help: "Cuts the chosen one's network connection.",
			now: on(func(c journal.ContestantState) bool { return alive(c) && len(c.Faults) == 0 }, nil),
			do:  to("cut", Control.Cut)},
		{key: bind("h", "heal", "h"), help: "Takes the chosen one's network faults away.",
			now: on(func(c journal.ContestantState) bool { return alive(c) && len(c.Faults) > 0 }, nil),
			do:  to("heal", Control.Heal)},
		{key: bind("", "", "up", "shift+tab"), help: "Chooses the row above.", now: always,
			do: func(m *model) tea.Cmd { m.choose(-1); return nil }},
		{key: bind("", "", "down", "tab"), help: "Chooses the row below.", now: always,
			do: func(m *model) tea.Cmd { m.choose(1); return nil }},
		{key: bind("", "", "home", "g"), help: "Chooses nobody: the keys act on whoever holds.", now: always,
			do: func(m *model) tea.Cmd { m.choice = ""; return nil }},
	}...)
}

// joining are the keys that let a newcomer stand in line at the lock shown: one
// where all want the same of it, two where readers and writers do.
func joining() []deed {
	return []deed{
		joins("n", "join", "Lets a new contestant stand in line, who is like the others there.", ""),
		joins("R", "reader", "Lets a new reader stand in line.", "read"),
		joins("W", "writer", "Lets a new writer stand in line.", "write"),
	}
}

// joins is the key that lets a contestant stand in line with an intent.
func joins(k, label, help, as string) deed {
	return deed{key: bind(k, label, k), help: help,
		now: func(m *model) (bool, string) {
			if m.o.Control == nil || m.still {
				return false, ""
			}
			usual, known := m.o.Control.Usual(m.lock())
			return known && (recipe.KindOf(usual) == recipe.ReadWrite) == (as != ""), ""
		},
		do: func(m *model) tea.Cmd {
			control, lock := m.o.Control, m.lock()
			return m.act(label, actLimit, func(ctx context.Context) error { return control.Join(ctx, lock, as) })
		}}
}
