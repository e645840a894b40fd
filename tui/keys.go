package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

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
	// name is what the key line calls the key itself; nil: as the binding does.
	name func(m *model) string
	do   func(m *model) tea.Cmd
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
		return m.pressHelp(k.String())
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

// pressHelp takes the keys of the help: a clicker's lead to its next part, any
// other back.
func (m *model) pressHelp(k string) tea.Cmd {
	switch k {
	case "ctrl+l":
		return tea.ClearScreen
	case "space", "down", "right", "pgdown", ".":
		if m.part+1 < view.HelpParts(m.helpLines(), m.w, m.h) {
			m.part++
			return nil
		}
	case "up", "left", "pgup":
		if m.part > 0 {
			m.part--
			return nil
		}
	}
	m.help = false
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

// Mode is in what kind of run a page is shown: with a script, in a sandbox, as a
// replay, or plainly.
type Mode struct{ Script, Sandbox, Replay bool }

func (m *model) mode() Mode {
	_, sandbox := m.o.Control.(Sandbox)
	return Mode{Script: m.o.Script != nil, Sandbox: sandbox, Replay: m.reel != nil}
}

// open shows a page.
func (m *model) open(p *page) { m.page, m.deeds = p, deedsOf(p, m.mode()) }

// deedsOf is the key table of a page. Its own keys come first, the most important
// ones foremost.
func deedsOf(p *page, in Mode) []deed {
	var all []deed
	if in.Script {
		all = scenario()
	}
	if in.Replay { // before the page's own: home and end mean the journal's
		all = append(all, replaying()...)
	}
	if p.deeds != nil {
		all = append(all, p.deeds()...)
	}
	if in.Sandbox && p.selects {
		all = append(all, sandboxed()...)
	}
	if !in.Replay && p.name != PageHome {
		all = append(all, pausing(in.Script)...)
		if !in.Script && p.name != PageWatch {
			all = append(all, leaping()...)
		}
	}
	if p.turns {
		all = append(all, turning()...)
	}
	return append(all, common()...)
}

// TableKey is an entry of a page's key table.
type TableKey struct {
	Keys []string // as the dispatcher knows them; each does the same
	Does string   // one sentence, as the help has it; empty for ctrl+c and ctrl+l
}

// KeyTable lists the keys of a page in a kind of run, from the table that the key
// line, the help and the keyboard itself go by: all that there are, whether they
// work at a moment or not.
func KeyTable(name string, in Mode) []TableKey {
	var table []TableKey
	for _, d := range deedsOf(pages[name], in) {
		table = append(table, TableKey{Keys: d.key.Keys(), Does: d.help})
	}
	return table
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
		if d.name != nil {
			k.Key = d.name(m)
		}
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
		out = append(out, view.HelpLine{Key: helpName(d), Text: d.help, Works: works})
	}
	return append(out, m.page.marks...)
}

// arrows is how the help writes the keys that move.
var arrows = map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}

// helpName is what the help calls a key. The key line may put one name on two keys
// that move, here each has its own sentence.
func helpName(d deed) string {
	first, label := d.key.Keys()[0], d.key.Help().Key
	if arrow := arrows[first]; arrow != "" {
		return arrow
	}
	if label == "" {
		return first
	}
	return label
}
