package tui

import (
	"sort"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/internal/journal"
	"zklab/tui/view"
)

// reel is a recorded journal that is played. Its moment goes on with the clock,
// at its speed, until its end.
type reel struct {
	start, end time.Time
	at         time.Time // the moment shown
	since      time.Time // when the moment was last brought up to date
	playing    bool
	speed      int // index into speeds
}

// mark is a step, or an expectation that failed.
type mark struct {
	at   time.Time
	text string
	step bool
}

var speeds = []float64{0.125, 0.25, 0.5, 1, 2, 4, 8, 16}

const usualSpeed = 3

// rewind makes the model play its source from the start.
func (m *model) rewind() {
	start, end := m.o.Source.Bounds()
	now := m.o.Now()
	m.reel = &reel{start: start, end: end, at: start, since: now, playing: !m.o.Held, speed: usualSpeed}
	m.still, m.wanted, m.shownAt, m.from = true, start, start, end
}

// marksIn are the marks among events.
func marksIn(events []journal.Event) []mark {
	var out []mark
	for _, e := range events {
		if e.Type == journal.Step || e.Type == journal.Expect && !e.OK {
			out = append(out, mark{e.At, e.Text, e.Type == journal.Step})
		}
	}
	return out
}

// unseen bounds what passes between two pictures: after more than that the program
// was stopped, and nothing of it was seen.
const unseen = 10 * barTick

// moved brings the moment up to date and says whether it changed.
func (r *reel) moved(now time.Time) bool {
	was := r.at
	if r.playing {
		passed := now.Sub(r.since)
		if passed > unseen {
			passed = 0
		}
		r.at = r.at.Add(time.Duration(float64(passed) * speeds[r.speed]))
		if !r.at.Before(r.end) {
			r.at, r.playing = r.end, false
		}
	}
	r.since = now
	return !r.at.Equal(was)
}

// next is when the picture changes by itself.
func (r *reel) next(now time.Time) time.Time {
	if !r.playing {
		return time.Time{}
	}
	return now.Add(barTick)
}

func (r *reel) frame(f *view.Frame, marks []mark) {
	f.Clock = view.Paused
	if r.playing {
		f.Clock = view.Replay
	}
	f.Speed = speeds[r.speed]
	f.Reel = &view.Reel{Start: r.start, End: r.end}
	for _, m := range marks {
		f.Reel.Marks = append(f.Reel.Marks, m.at)
		if !m.at.After(f.Now) {
			f.Reel.Mark = m.text
		}
	}
}

// firedBetween are the watch events of a stretch of the recorded journal.
func (m *model) firedBetween(from, to time.Time) []journal.Event {
	all := m.trace.Messages
	i := sort.Search(len(all), func(i int) bool { return all[i].At.After(from) })
	var out []journal.Event
	for ; i < len(all) && !all[i].At.After(to); i++ {
		if all[i].Type == journal.WatchEvent {
			out = append(out, journal.Event{Type: journal.WatchEvent, At: all[i].At, Who: all[i].Who, Node: all[i].Node, Op: all[i].Op})
		}
	}
	return out
}

// jump goes to a moment and stops there.
func (m *model) jump(to time.Time) tea.Cmd {
	r := m.reel
	r.playing = false
	m.moving = motions{}
	if to.Before(r.start) {
		to = r.start
	}
	if to.After(r.end) {
		to = r.end
	}
	r.at, m.wanted = to, to
	return m.fetch()
}

// jumpMark goes to the n-th mark from here.
func (m *model) jumpMark(n int) tea.Cmd {
	return m.jump(neighbour(m.markTimes(), m.reel.at, n, m.reel.start, m.reel.end))
}

func (m *model) markTimes() []time.Time {
	at := make([]time.Time, len(m.marks))
	for i, k := range m.marks {
		at[i] = k.at
	}
	return at
}

// jumpLine goes to the moment of the next line told, or of the one before.
func (m *model) jumpLine(n int) tea.Cmd {
	at := make([]time.Time, len(m.lines))
	for i, l := range m.lines {
		at[i] = l.At
	}
	return m.jump(neighbour(at, m.reel.at, n, m.reel.start, m.reel.end))
}

// neighbour is the first of the ordered times after t, for n > 0, or the last
// before it; beyond them are start and end.
func neighbour(times []time.Time, t time.Time, n int, start, end time.Time) time.Time {
	if n > 0 {
		i := sort.Search(len(times), func(i int) bool { return times[i].After(t) })
		if i == len(times) {
			return end
		}
		return times[i]
	}
	i := sort.Search(len(times), func(i int) bool { return !times[i].Before(t) })
	if i == 0 {
		return start
	}
	return times[i-1]
}

// replaying are the keys that replace pause and scrub when a journal is played.
func replaying() []deed {
	faster := func(n int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd {
			m.reel.speed = min(max(m.reel.speed+n, 0), len(speeds)-1)
			return nil
		}
	}
	seek := func(d time.Duration) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.jump(m.reel.at.Add(d)) }
	}
	return []deed{
		{key: bind("space", "play", "space", "p"), help: "Plays on, or holds the picture still.",
			now: func(m *model) (bool, string) {
				switch {
				case m.reel.playing:
					return true, "pause"
				case !m.reel.at.Before(m.reel.end):
					return true, "play again"
				}
				return true, ""
			},
			do: func(m *model) tea.Cmd {
				r := m.reel
				r.playing = !r.playing
				if r.playing && !r.at.Before(r.end) {
					r.at = r.start
				}
				return nil
			}},
		{key: bind("←→", "1 s", "left"), help: "Goes back one second.", now: always, do: seek(-time.Second)},
		{key: bind("", "", "right"), help: "Goes on one second.", now: always, do: seek(time.Second)},
		{key: bind(",.", "event", ","), help: "Goes back to the event before.", now: always,
			do: func(m *model) tea.Cmd { return m.jumpLine(-1) }},
		{key: bind("", "", "."), help: "Goes on to the next event.", now: always,
			do: func(m *model) tea.Cmd { return m.jumpLine(1) }},
		{key: bind("pgup/dn", "mark", "pgup"), help: "Goes back to the mark before.", now: always,
			do: func(m *model) tea.Cmd { return m.jumpMark(-1) }},
		{key: bind("", "", "pgdown"), help: "Goes on to the next mark: a step, or an expectation that failed.", now: always,
			do: func(m *model) tea.Cmd { return m.jumpMark(1) }},
		{key: bind("+-", "speed", "+", "="), help: "Plays faster, up to 16 times.", now: always, do: faster(1)},
		{key: bind("", "", "-"), help: "Plays slower, down to an eighth.", now: always, do: faster(-1)},
		{key: bind("", "", "home"), help: "Goes to the start.", now: always,
			do: func(m *model) tea.Cmd { return m.jump(m.reel.start) }},
		{key: bind("", "", "end"), help: "Goes to the end.", now: always,
			do: func(m *model) tea.Cmd { return m.jump(m.reel.end) }},
	}
}
