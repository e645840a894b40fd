package view

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"zklab/tui/layout"
	"zklab/tui/theme"
)

// cell is one place on the screen. A wide character owns its cell and an empty
// one behind it.
type cell struct {
	text  string
	style theme.Style
	cont  bool // the second half of a wide character
}

// canvas is a screen of cells. What is drawn on it can never be wider or higher
// than it is, whatever the texts are.
type canvas struct {
	w, h  int
	cells []cell
	th    theme.Theme
}

func newCanvas(w, h int, th theme.Theme) *canvas {
	w, h = max(w, 0), max(h, 0)
	return &canvas{w: w, h: h, th: th, cells: make([]cell, w*h)}
}

// set puts one character of the given width at x, y.
func (c *canvas) set(x, y int, text string, width int, s theme.Style) {
	i := y*c.w + x
	if c.cells[i].cont {
		c.cells[i-1] = cell{style: c.cells[i-1].style}
	}
	last := i + width - 1
	if x+width < c.w && c.cells[last+1].cont {
		c.cells[last+1] = cell{}
	}
	c.cells[i] = cell{text: text, style: s}
	if width == 2 {
		c.cells[last] = cell{style: s, cont: true}
	}
}

// String renders the canvas: h lines, each exactly w cells wide.
func (c *canvas) String() string {
	var b strings.Builder
	b.Grow(c.w*c.h*2 + 64*c.h)
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		c.write(&b, c.cells[y*c.w:(y+1)*c.w])
	}
	return b.String()
}

func (c *canvas) write(b *strings.Builder, cells []cell) {
	var now theme.Style
	for _, at := range cells {
		if at.cont {
			continue
		}
		if at.style != now {
			if now != 0 {
				b.WriteString(theme.Reset)
			}
			b.WriteString(c.th.SGR(at.style))
			now = at.style
		}
		if at.text == "" {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(at.text)
	}
	if now != 0 {
		b.WriteString(theme.Reset)
	}
}

// pane is a window on a canvas: its own origin, and nothing is drawn outside.
type pane struct {
	*canvas
	r    layout.Rect // its height in rows of its own, which may be spread
	wide int         // lines of the canvas for each row less one
}

func (c *canvas) pane(r layout.Rect) pane {
	r.W = max(min(r.W, c.w-r.X), 0)
	r.H = max(min(r.H, c.h-r.Y), 0)
	return pane{c, r, 0}
}

// spread leaves an empty line below each row, when asked to and when so many rows
// have the room.
func (p pane) spread(big bool, rows int) pane {
	if !big || p.wide > 0 || p.r.H < 2*rows-1 {
		return p
	}
	p.r.H, p.wide = (p.r.H+1)/2, 1
	return p
}

// line is the canvas's line of row y.
func (p pane) line(y int) int { return p.r.Y + y*(1+p.wide) }

// sub returns the part of p at x, y of the given size.
func (p pane) sub(x, y, w, h int) pane {
	w = max(min(w, p.r.W-x), 0)
	h = max(min(h, p.r.H-y), 0)
	return pane{p.canvas, layout.Rect{X: p.r.X + x, Y: p.line(y), W: w, H: h}, p.wide}
}

// put writes text from x, y on and returns the x behind it. What does not fit
// is left out; control characters become visible and harmless.
func (p pane) put(x, y int, text string, s theme.Style) int {
	if y < 0 || y >= p.r.H {
		return x
	}
	if x >= 0 && ascii(text) {
		for i := range len(text) {
			if x >= p.r.W {
				return x
			}
			p.set(p.r.X+x, p.line(y), text[i:i+1], 1, s)
			x++
		}
		return x
	}
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		glyph, width := g.Value(), g.Width()
		if glyph[0] < ' ' || glyph[0] == 0x7f {
			glyph, width = "?", 1
		}
		if width == 0 {
			continue
		}
		if x+width > p.r.W {
			break
		}
		if x >= 0 {
			p.set(p.r.X+x, p.line(y), glyph, min(width, 2), s)
		}
		x += width
	}
	return x
}

// ascii says whether text is only printable ASCII, where one byte is one cell.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// fit writes text at x, y into at most w cells; what is cut off shows as an
// ellipsis.
func (p pane) fit(x, y, w int, text string, s theme.Style) {
	w = min(w, p.r.W-x)
	if w <= 0 {
		return
	}
	if width(text) > w {
		text = displaywidth.TruncateString(text, w, p.th.Glyph.Ellipsis)
	}
	p.sub(x, y, w, 1).put(0, 0, text, s)
}

// right writes text so that it ends before column x.
func (p pane) right(x, y int, text string, s theme.Style) {
	p.put(x-width(text), y, text, s)
}

// repeat writes text n times.
func (p pane) repeat(x, y, n int, text string, s theme.Style) int {
	for range n {
		x = p.put(x, y, text, s)
	}
	return x
}

// rule draws a horizontal line with a title in it.
func (p pane) rule(y int, title string) {
	p.repeat(0, y, p.r.W, p.th.Glyph.Rule, theme.Muted.Style())
	if title != "" && p.r.W > 4 {
		p.fit(1, y, p.r.W-3, " "+title+" ", theme.Text.Style().Bold())
	}
}

// bar draws a vertical line through the pane.
func (p pane) bar(x int) {
	p.r.H, p.wide = (p.r.H-1)*(1+p.wide)+1, 0 // between its rows, too
	for y := range p.r.H {
		p.put(x, y, p.th.Glyph.Bar, theme.Muted.Style())
	}
}

// restyle adds attributes to what is already drawn in row y.
func (p pane) restyle(y int, with func(theme.Style) theme.Style) {
	if y < 0 || y >= p.r.H {
		return
	}
	row := p.cells[p.line(y)*p.w+p.r.X:]
	for i := range p.r.W {
		row[i].style = with(row[i].style)
	}
}

func width(text string) int {
	if ascii(text) {
		return len(text)
	}
	return displaywidth.String(text)
}
