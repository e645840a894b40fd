package view

import (
	"zklab/tui/layout"
	"zklab/tui/theme"
)

// Menu is a box over a page, in which something is chosen.
type Menu struct {
	Title  string
	Rows   []MenuRow
	Chosen int
	Hint   string // which keys work in it
}

// MenuRow is one line of a menu. With a value, it can be changed in place.
type MenuRow struct{ Name, Value string }

// done draws what lies over the page, and renders it.
func (c *canvas) done(f Frame) string {
	if f.Menu != nil {
		menu(c, *f.Menu)
	}
	return c.String()
}

func menu(c *canvas, m Menu) {
	name, value := 0, 0
	for _, r := range m.Rows {
		name, value = max(name, width(r.Name)), max(value, width(r.Value))
	}
	inner := max(name+value+8, width(m.Title)+4, width(m.Hint)+2)
	w := min(inner+2, c.w-2)
	h := min(len(m.Rows)+3, c.h-4)
	p := c.pane(layout.Rect{X: (c.w - w) / 2, Y: max((c.h-h)/2, 0), W: w, H: h})
	g := c.th.Glyph
	for y := range p.r.H {
		p.repeat(0, y, w, " ", 0)
		p.put(0, y, g.Bar, theme.Muted.Style())
		p.put(w-1, y, g.Bar, theme.Muted.Style())
	}
	p.rule(0, m.Title)
	p.rule(h-1, "")
	for _, corner := range []struct {
		x, y  int
		glyph string
	}{{0, 0, g.GapTop}, {w - 1, 0, g.TopRight}, {0, h - 1, g.GapEnd}, {w - 1, h - 1, g.EndRight}} {
		p.put(corner.x, corner.y, corner.glyph, theme.Muted.Style())
	}
	p.fit(1, h-1, w-2, " "+p.th.Twin(m.Hint)+" ", theme.Muted.Style())
	rows := h - 2
	top := min(max(m.Chosen-rows+1, 0), max(len(m.Rows)-rows, 0))
	for i := top; i < len(m.Rows) && i-top < rows; i++ {
		menuRow(p.sub(1, 1+i-top, w-2, 1), m.Rows[i], name, i == m.Chosen)
	}
}

func menuRow(p pane, r MenuRow, name int, chosen bool) {
	style := theme.Text.Style()
	if chosen {
		style = style.Bold()
		p.put(0, 0, p.th.Glyph.Selected, style)
	}
	p.fit(2, 0, p.r.W-3, r.Name, style)
	if r.Value == "" {
		return
	}
	value := theme.Waits.Style()
	if chosen {
		value = value.Bold()
		p.put(name+3, 0, p.th.Glyph.Left, theme.Muted.Style())
		p.right(p.r.W-1, 0, p.th.Glyph.Right, theme.Muted.Style())
	}
	p.fit(name+5, 0, p.r.W-name-7, r.Value, value)
}
