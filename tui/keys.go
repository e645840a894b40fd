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
		name := d.key.Help().Key
		if name == "" {
			name = d.key.Keys()[0]
		}
		out = append(out, view.HelpLine{Key: name, Text: d.help, Works: works})
	}
	return out
}
