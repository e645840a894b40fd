package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/tui/view"
)

// crowd are the keys of the herd page.
func crowd() []deed {
	driven := func(m *model) (bool, string) {
		_, ok := m.o.Control.(Crowd)
		return ok && !m.still, ""
	}
	grow := func(n int) func(m *model) tea.Cmd {
		return func(m *model) tea.Cmd {
			c := m.o.Control.(Crowd)
			return m.act("waiters", actLimit, func(ctx context.Context) error { return c.Grow(ctx, n) })
		}
	}
	return []deed{
		{key: bind("r", "release both", "r"), help: "Lets both holders release at the same moment.", now: driven, do: releaseAll},
		{key: bind("+", "waiters", "+", "="), help: "Adds a waiter to both queues.", now: driven, do: grow(1)},
		{key: bind("-", "fewer", "-"), help: "Takes a waiter from both queues.", now: driven, do: grow(-1)},
		{key: bind("a", "auto", "a"), help: "Releases both again and again by itself, or stops doing so.",
			now: func(m *model) (bool, string) {
				works, _ := driven(m)
				if m.auto {
					return works, "auto off"
				}
				return works, ""
			},
			do: func(m *model) tea.Cmd { m.auto = !m.auto; m.autoAt = m.o.Now(); return nil }},
		{key: bind("", "", "*"), help: "Adds ten waiters to both queues.", now: driven, do: grow(10)},
	}
}

// releasesBoth names the act that auto repeats until it fails.
const releasesBoth = "release both"

func releaseAll(m *model) tea.Cmd {
	c := m.o.Control.(Crowd)
	return m.act(releasesBoth, actLimit, c.ReleaseAll)
}

// autoEvery is how often the herd page releases by itself.
const autoEvery = 1200 * time.Millisecond

func herdDue(m *model, now time.Time) time.Time {
	if !m.o.NoMotion && view.HerdLights(&m.live, now) {
		return now.Add(herdTick)
	}
	if m.auto {
		return m.autoAt
	}
	return time.Time{}
}

// autoRelease releases both holders when it is time to.
func (m *model) autoRelease(now time.Time) tea.Cmd {
	if !m.auto || m.page.name != PageHerd || m.still || now.Before(m.autoAt) {
		return nil
	}
	m.autoAt = now.Add(autoEvery)
	return releaseAll(m)
}
