package tui

import (
	"context"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/tui/view"
)

// menu is an open menu: rows of values, and what the chosen ones do.
type menu struct {
	title  string
	rows   []menuRow
	chosen int
	do     func(*menu) tea.Cmd
}

// menuRow is a name with values to choose from; without values, the row itself
// is the choice.
type menuRow struct {
	name   string
	values []string
	at     int
}

func (r menuRow) value() string {
	if len(r.values) == 0 {
		return ""
	}
	return r.values[r.at]
}

func (m *menu) view() *view.Menu {
	v := &view.Menu{Title: m.title, Chosen: m.chosen, Hint: "↑↓ choose  enter do it  esc leave"}
	for _, r := range m.rows {
		v.Rows = append(v.Rows, view.MenuRow{Name: r.name, Value: r.value()})
		if len(r.values) > 0 {
			v.Hint = "↑↓ choose  ←→ change  enter do it  esc leave"
		}
	}
	return v
}

// pressMenu takes a key while a menu is open. It says whether that was the
// menu's key; quitting and redrawing are not.
func (m *model) pressMenu(k string) (cmd tea.Cmd, taken bool) {
	o := m.menu
	row := &o.rows[o.chosen]
	turn := func(n int) {
		if len(row.values) > 0 {
			row.at = min(max(row.at+n, 0), len(row.values)-1)
		}
	}
	switch k {
	case "ctrl+c", "ctrl+l":
		return nil, false
	case "up", "shift+tab":
		o.chosen = max(o.chosen-1, 0)
	case "down", "tab":
		o.chosen = min(o.chosen+1, len(o.rows)-1)
	case "left", "-":
		turn(-1)
	case "right", "+":
		turn(1)
	case "enter", "space":
		m.menu = nil
		return o.do(o), true
	case "esc", "q":
		m.menu = nil
	}
	return nil, true
}

// sandboxed are the keys of a Sandbox.
func sandboxed() []deed {
	sandbox := func(m *model) (bool, string) {
		_, ok := m.o.Control.(Sandbox)
		return ok && !m.still, ""
	}
	return []deed{
		{key: bind("j", "join like", "j"), help: "Lets new contestants join: recipe, number, session, hold and lock are yours to choose.",
			now: sandbox, do: func(m *model) tea.Cmd { m.menu = m.wishes(m.o.Control.(Sandbox)); return nil }},
		{key: bind("d", "do", "d"), help: "Does something else to the chosen one: network faults, the end of its session, a write.",
			now: func(m *model) (bool, string) {
				c, known := m.target()
				ok, _ := sandbox(m)
				return ok && known && alive(c), ""
			},
			do: func(m *model) tea.Cmd { m.menu = m.mischief(m.o.Control.(Sandbox)); return nil }},
	}
}

// mischief is the menu of what else can be done to the chosen contestant.
func (m *model) mischief(s Sandbox) *menu {
	c, _ := m.target()
	o := &menu{title: "to " + c.Who}
	for _, name := range s.Deeds() {
		o.rows = append(o.rows, menuRow{name: name})
	}
	if len(o.rows) == 0 {
		return nil
	}
	o.do = func(o *menu) tea.Cmd {
		deed := o.rows[o.chosen].name
		return m.act(deed+" "+c.Who, actLimit, func(ctx context.Context) error { return s.Do(ctx, c.Who, deed) })
	}
	return o
}

// wishes is the menu of what new contestants are like. It remembers what was
// chosen last.
func (m *model) wishes(s Sandbox) *menu {
	c := s.Choices()
	row := func(name string, n int, text func(int) string) menuRow {
		r := menuRow{name: name}
		for i := range n {
			r.values = append(r.values, text(i))
		}
		return r
	}
	o := &menu{title: "new contestants", rows: []menuRow{
		row("recipe", len(c.Recipes), func(i int) string { return c.Recipes[i] }),
		row("number", len(c.Counts), func(i int) string { return strconv.Itoa(c.Counts[i]) }),
		row("session", len(c.Sessions), func(i int) string { return c.Sessions[i].String() }),
		row("hold", len(c.Holds), func(i int) string { return holdText(c.Holds[i]) }),
		row("lock", len(c.Locks), func(i int) string { return c.Locks[i] }),
	}}
	for i := range o.rows {
		if len(o.rows[i].values) == 0 {
			return nil
		}
		o.rows[i].at = min(m.wished[i], len(o.rows[i].values)-1)
	}
	o.do = func(o *menu) tea.Cmd {
		for i, r := range o.rows {
			m.wished[i] = r.at
		}
		at := m.wished
		w := Wish{Recipe: c.Recipes[at[0]], Count: c.Counts[at[1]], Session: c.Sessions[at[2]], Hold: c.Holds[at[3]], Lock: c.Locks[at[4]]}
		return m.act("join", time.Minute, func(ctx context.Context) error { return s.JoinLike(ctx, w) })
	}
	return o
}

func holdText(d time.Duration) string {
	if d == 0 {
		return "until told"
	}
	return d.String()
}
