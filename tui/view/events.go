package view

import (
	"fmt"
	"strings"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
	"zklab/tui/theme"
)

// LinesOf gives what was said of an event its looks.
func LinesOf(e *journal.Event, said []plain.Line) []Line {
	lines := make([]Line, len(said))
	for i, l := range said {
		lines[i] = Line{At: l.At, Who: l.Actor, Text: l.Text, Role: roleOf(e)}
	}
	return lines
}

// roleOf says what kind of news an event is.
func roleOf(e *journal.Event) theme.Role {
	switch e.Type {
	case journal.Note, journal.Step:
		return theme.Muted
	case journal.WatchEvent:
		return theme.Fired
	case journal.Signal, journal.Exited, journal.Fault, journal.ConnClosed, journal.ServerDown:
		return theme.Dead
	case journal.SessionEnded:
		if e.Op == "expired" {
			return theme.Dead
		}
	case journal.Expect, journal.Write:
		if !e.OK {
			return theme.Dead
		}
		return theme.Reader
	case journal.Belief:
		switch e.Belief {
		case journal.Holds:
			return theme.Holds
		case journal.Suspended, journal.Lost, journal.Failed:
			return theme.Dead
		}
	}
	return theme.Text
}

// events draws the event pane, newest at the bottom.
func events(p pane, f Frame) {
	p.rule(0, "events")
	rows := p.r.H - 1
	show := f.Lines[max(len(f.Lines)-max(rows, 0), 0):]
	for i, l := range show {
		eventLine(p, 1+i, f, l)
	}
}

// eventText is where a line's text begins, in a run of less than three hours.
const eventText = 19

func eventLine(p pane, y int, f Frame, l Line) {
	at := fmt.Sprintf("+%6.2fs", l.At.Sub(f.State.Start).Seconds())
	if l.Same {
		at = strings.Repeat(" ", len(at))
	}
	x := p.put(1, y, at, theme.Muted.Style())
	p.fit(x+2, y, 7, l.Who, theme.Text.Style().Bold())
	p.fit(x+10, y, p.r.W-x-11, p.th.Arrows(l.Text), l.Role.Style())
}
