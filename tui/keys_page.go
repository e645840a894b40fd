package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// The keys of every page.
var (
	quit = deed{key: bind("q", "quit", "q"), help: "Quits: every contestant ends, the terminal is as before.",
		now: always, do: func(*model) tea.Cmd { return tea.Quit }}
	interrupt = deed{key: bind("", "", "ctrl+c"), now: always,
		do: func(m *model) tea.Cmd { m.interrupted = true; return tea.Quit }}
	pauses = deed{key: bind("space", "pause", "space", "p"),
		help: "Holds the picture still, or lets it go on; the contestants never wait.",
		now: func(m *model) (bool, string) {
			if m.still {
				return true, "go on"
			}
			return true, ""
		},
		do: func(m *model) tea.Cmd {
			switch {
			case m.reel != nil:
				m.reel.playing = !m.reel.playing
			case m.still:
				m.goOn()
			default:
				m.hold()
			}
			return nil
		}}
	// The contestants run on meanwhile, but their network, which is here, does not.
	suspend = deed{key: bind("", "", "ctrl+z"), now: func(*model) (bool, string) { return canSuspend(), "" },
		do: func(*model) tea.Cmd { return tea.Suspend }}
	redraw = deed{key: bind("", "", "ctrl+l"), now: always, do: func(*model) tea.Cmd { return tea.ClearScreen }}
)

// pausing are the keys that hold a live page still and look into its past.
// With a scenario space means its next step, and only p pauses.
func pausing(scenario bool) []deed {
	pauses := pauses
	if scenario {
		pauses.key = bind("p", "pause", "p")
	}
	back := func(d time.Duration) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.scrub(d) }
	}
	return []deed{
		pauses,
		{key: bind("←→", "scrub", "left"), help: "Steps one second back, through the last minute.", now: always, do: back(-time.Second)},
		{key: bind("", "", "right"), help: "Steps one second forward again.", now: isStill, do: back(time.Second)},
		{key: bind("", "", "shift+left", ","), help: "Steps a tenth of a second back.", now: always, do: back(-time.Second / 10)},
		{key: bind("", "", "shift+right", ";"), help: "Steps a tenth of a second forward.", now: isStill, do: back(time.Second / 10)},
		{key: bind("", "", "end", "esc"), help: "Returns to the present.", now: isStill,
			do: func(m *model) tea.Cmd { m.goOn(); return nil }},
	}
}

// leaping are the keys that look further into the past, where they do not mean the
// steps of a scenario or the rows of a list.
func leaping() []deed {
	by := func(d time.Duration) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.scrub(d) }
	}
	return []deed{
		{key: bind("", "", "pgup"), help: "Steps ten seconds back.", now: always, do: by(-10 * time.Second)},
		{key: bind("", "", "pgdown"), help: "Steps ten seconds forward again.", now: isStill, do: by(10 * time.Second)},
	}
}

// turning are the keys of the pages between which one turns.
func turning() []deed {
	return []deed{
		{key: bind("", "", "]"), help: "Shows the next page.", now: always,
			do: func(m *model) tea.Cmd { m.turn(1); return nil }},
		{key: bind("", "", "["), help: "Shows the page before.", now: always,
			do: func(m *model) tea.Cmd { m.turn(-1); return nil }},
		{key: bind("", "", "l"), help: "Shows the next lock.", now: severalLocks,
			do: func(m *model) tea.Cmd { m.nextLock(); return nil }},
	}
}

// common are the keys of every page.
func common() []deed {
	return []deed{
		{key: bind("", "", "b"), help: "Big mode for a projector, on or off: fewer things, more space.", now: always,
			do: func(m *model) tea.Cmd { m.big = !m.big; return nil }},
		{key: bind("", "", "m"), help: "Turns the mouse on or off; a click chooses a row.", now: always,
			do: func(m *model) tea.Cmd { m.mouse = !m.mouse; return nil }},
		{key: bind("?", "help", "?"), help: "Shows this help.", now: always,
			do: func(m *model) tea.Cmd { m.help, m.part = true, 0; return nil }},
		redraw, suspend, interrupt, quit,
	}
}

func isStill(m *model) (bool, string) { return m.still, "" }

func severalLocks(m *model) (bool, string) { return len(m.live.Locks) > 1, "" }

// nextLock shows the lock after the one shown.
func (m *model) nextLock() {
	here := m.lock()
	for i, l := range m.live.Locks {
		if l.Path == here {
			m.path = m.live.Locks[(i+1)%len(m.live.Locks)].Path
			m.choice, m.moving = "", motions{}
			return
		}
	}
}

// turn shows the next page in direction n that has something to show.
func (m *model) turn(n int) {
	at := slices.Index(order, m.page.name)
	for range order {
		at = (at + n + len(order)) % len(order)
		if p := pages[order[at]]; p.fits == nil || p.fits(m) {
			m.open(p)
			return
		}
	}
}
