package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"zklab/internal/journal"
	"zklab/tui/layout"
	"zklab/tui/view"
)

// deed is something that a key does on a page.
type deed struct {
	key  key.Binding
	help string // one sentence
	// now says whether the key works at this moment, and what the key line calls
	// it; empty: the binding's own help.
	now func(m *model) (works bool, label string)
	do  func(m *model) tea.Cmd
}

func bind(label, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(label, does))
}

// always is a key that works at any time.
func always(*model) (bool, string) { return true, "" }

// press does what a key means now.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	m.notice, m.pressed = "", k.String()
	if !layout.Fits(m.w, m.h) {
		return m.pressSmall(k)
	}
	if m.help && k.String() != "ctrl+c" && k.String() != "q" {
		m.help = k.String() == "ctrl+l"
		if m.help {
			return tea.ClearScreen
		}
		return nil
	}
	if m.menu != nil {
		if cmd, taken := m.pressMenu(k.String()); taken {
			return cmd
		}
	}
	for _, d := range m.deeds {
		if !key.Matches(k, d.key) {
			continue
		}
		if works, _ := d.now(m); works {
			cmd := d.do(m)
			m.aimed = false
			return cmd
		}
	}
	return nil
}

// pressSmall takes the keys of a screen that is too small for a page.
func (m *model) pressSmall(k tea.KeyPressMsg) tea.Cmd {
	for _, d := range []deed{quit, interrupt, pauses, redraw} {
		if key.Matches(k, d.key) {
			return d.do(m)
		}
	}
	return nil
}

// open shows a page. Its keys come first, the most important ones foremost.
func (m *model) open(p *page) {
	m.page, m.deeds = p, nil
	if m.o.Script != nil {
		m.deeds = scenario()
	}
	if m.reel != nil { // before the page's own: home and end mean the journal's
		m.deeds = append(m.deeds, replaying()...)
	}
	if p.deeds != nil {
		m.deeds = append(m.deeds, p.deeds()...)
	}
	if _, ok := m.o.Control.(Sandbox); ok && p.selects {
		m.deeds = append(m.deeds, sandboxed()...)
	}
	if m.reel == nil && p.name != PageHome {
		m.deeds = append(m.deeds, pausing(m.o.Script != nil)...)
	}
	m.deeds = append(m.deeds, common()...)
}

// keyLine shows the keys that work now.
func (m *model) keyLine() view.Keys {
	var keys view.Keys
	for _, d := range m.deeds {
		h := d.key.Help()
		works, label := d.now(m)
		if !works || h.Key == "" {
			continue
		}
		if label == "" {
			label = h.Desc
		}
		k := view.Key{Key: h.Key, Does: label}
		if h.Key == "?" || h.Key == "q" {
			keys.Always = append(keys.Always, k)
			continue
		}
		keys.Page = append(keys.Page, k)
	}
	return keys
}

func (m *model) helpLines() []view.HelpLine {
	var out []view.HelpLine
	for _, d := range m.deeds {
		if d.help == "" {
			continue
		}
		works, _ := d.now(m)
		name := d.key.Help().Key
		if name == "" {
			name = d.key.Keys()[0]
		}
		out = append(out, view.HelpLine{Key: name, Text: d.help, Works: works})
	}
	return out
}

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

// common are the keys of every page.
func common() []deed {
	return []deed{
		{key: bind("", "", "]"), help: "Shows the next page.", now: turns,
			do: func(m *model) tea.Cmd { m.turn(1); return nil }},
		{key: bind("", "", "["), help: "Shows the page before.", now: turns,
			do: func(m *model) tea.Cmd { m.turn(-1); return nil }},
		{key: bind("", "", "l"), help: "Shows the next lock.", now: severalLocks,
			do: func(m *model) tea.Cmd { m.nextLock(); return nil }},
		{key: bind("", "", "b"), help: "Big mode for a projector, on or off: fewer things, more space.", now: always,
			do: func(m *model) tea.Cmd { m.big = !m.big; return nil }},
		{key: bind("", "", "m"), help: "Turns the mouse on or off; a click chooses a row.", now: always,
			do: func(m *model) tea.Cmd { m.mouse = !m.mouse; return nil }},
		{key: bind("?", "help", "?"), help: "Shows this help.", now: always,
			do: func(m *model) tea.Cmd { m.help = true; return nil }},
		redraw, interrupt, quit,
	}
}

func isStill(m *model) (bool, string) { return m.still, "" }

func turns(m *model) (bool, string) { return m.page.turns, "" }

func severalLocks(m *model) (bool, string) { return len(m.live.Locks) > 1 && m.page.turns, "" }

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

// scenario are the keys that run a scenario.
func scenario() []deed {
	return []deed{
		{key: bind("space", "step", "space", "enter", "pgdown", "."), help: "Runs the scenario's next step.",
			now: func(m *model) (bool, string) {
				return m.steps != nil && !m.steps.Running && !m.steps.Done, ""
			},
			do: func(m *model) tea.Cmd {
				m.steps.Running = true
				return m.act("step", 0, m.o.Script.Next)
			}},
		{key: bind("1-9", "predict", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
			help: "Answers the question with your prediction.",
			now:  func(m *model) (bool, string) { return m.asked(), "" },
			do: func(m *model) tea.Cmd {
				n, err := strconv.Atoi(m.pressed)
				if err != nil || n > len(m.steps.Choices) {
					return nil
				}
				return m.act("answer", 0, func(ctx context.Context) error { return m.o.Script.Answer(ctx, n) })
			}},
	}
}

// asked says whether a question waits for an answer.
func (m *model) asked() bool {
	return m.steps != nil && m.steps.Question != "" && m.steps.Answer == 0
}

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

// contestants are the keys that act on contestants.
func contestants() []deed {
	return []deed{
		joins("n", "join", "Lets a new contestant stand in line.", ""),
		{key: bind("r", "release", "r"), help: "Lets the chosen one give back the lock, or leave the line.",
			now: on(func(c journal.ContestantState) bool { return running(c) && c.Node != "" }, nil),
			do:  to("release", Control.Release)},
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
	}
}

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
		{key: bind("a", "auto", "a"), help: "Releases both again and again by itself, or stops doing so.", now: driven,
			do: func(m *model) tea.Cmd { m.auto = !m.auto; m.autoAt = m.o.Now(); return nil }},
		{key: bind("", "", "*"), help: "Adds ten waiters to both queues.", now: driven, do: grow(10)},
	}
}

func releaseAll(m *model) tea.Cmd {
	c := m.o.Control.(Crowd)
	return m.act("release both", actLimit, c.ReleaseAll)
}

// joins is the key that lets a contestant stand in line with an intent.
func joins(k, label, help, as string) deed {
	return deed{key: bind(k, label, k), help: help,
		now: func(m *model) (bool, string) { return m.o.Control != nil && !m.still, "" },
		do: func(m *model) tea.Cmd {
			control := m.o.Control
			return m.act(label, actLimit, func(ctx context.Context) error { return control.Join(ctx, as) })
		}}
}

// readersWriters are the keys of the read/write page.
func readersWriters() []deed {
	all := []deed{
		joins("R", "reader", "Lets a new reader stand in line.", "read"),
		joins("W", "writer", "Lets a new writer stand in line.", "write"),
	}
	return append(all, contestants()[1:]...)
}
