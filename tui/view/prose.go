package view

import (
	"fmt"
	"strings"
	"unicode"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/ansi"

	"zklab/lessons"
	"zklab/tui/theme"
)

// Prose is a Markdown text set for one width. Setting a text takes
// milliseconds: keep the Prose while the width stays.
type Prose struct {
	Width int
	lines [][]run // a line of code is one run, and may be wider than the rest
}

// run is a piece of a line in one style.
type run struct {
	text  string
	style theme.Style
}

// Lines is how many lines the text has.
func (p Prose) Lines() int { return len(p.lines) }

// The renderer marks what a piece of text is by basic colours of its own; they
// become roles again, so that a text looks like the rest of the screen.
const (
	markCode  = "6"
	markMuted = "5"
	markHead  = "3"
)

func ptr[T any](v T) *T { return &v }

// proseStyle is the explicit style that texts are set in: nothing is asked of
// the terminal.
func proseStyle() ansi.StyleConfig {
	head := ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: ptr(markHead), Bold: ptr(true), BlockSuffix: "\n"}}
	code := ansi.StylePrimitive{Color: ptr(markCode)}
	return ansi.StyleConfig{
		Document:       ansi.StyleBlock{Margin: ptr(uint(0))},
		BlockQuote:     ansi.StyleBlock{Indent: ptr(uint(1)), IndentToken: ptr("| ")},
		Heading:        head,
		Emph:           ansi.StylePrimitive{Underline: ptr(true)},
		Strong:         ansi.StylePrimitive{Bold: ptr(true)},
		HorizontalRule: ansi.StylePrimitive{Color: ptr(markMuted), Format: "\n--------\n"},
		List:           ansi.StyleList{LevelIndent: 2},
		Item:           ansi.StylePrimitive{BlockPrefix: "* "},
		Enumeration:    ansi.StylePrimitive{BlockPrefix: ". "},
		Task:           ansi.StyleTask{Ticked: "[x] ", Unticked: "[ ] "},
		Link:           ansi.StylePrimitive{Color: ptr(markMuted)},
		Code:           ansi.StyleBlock{StylePrimitive: code},
		CodeBlock:      ansi.StyleCodeBlock{StyleBlock: ansi.StyleBlock{StylePrimitive: code, Margin: ptr(uint(1))}},
		Table:          ansi.StyleTable{CenterSeparator: ptr("+"), ColumnSeparator: ptr("|"), RowSeparator: ptr("-")},
	}
}

// SetProse sets a Markdown text in lines of at most w cells. Code is never wrapped: a
// folded picture shows nothing. Fenced blocks of the language "lab" are left out: they
// are for the scenario, not for the eye.
func SetProse(markdown string, w int) (Prose, error) {
	p, s := Prose{Width: w}, setter{}
	for _, b := range lessons.Blocks(markdown) {
		switch {
		case b.Fenced && b.Lang != "lab":
			p.gap()
			for _, line := range b.Code() {
				p.lines = append(p.lines, []run{{" " + line, theme.Waits.Style()}})
			}
		case !b.Fenced:
			inList := false
			for _, part := range pieces(b.Lines) {
				lines, err := s.piece(part, w)
				if err != nil {
					return Prose{}, fmt.Errorf("setting a text: %w", err)
				}
				if !inList || part.marker == "" {
					p.gap()
				}
				p.lines, inList = append(p.lines, lines...), part.marker != ""
			}
		}
	}
	return p, nil
}

// setter sets pieces of a text. It keeps what it has made for a width.
type setter map[int]*glamour.TermRenderer

func (s *setter) piece(p piece, w int) ([][]run, error) {
	switch {
	case p.table:
		return s.table(p.lines, w)
	case p.marker != "":
		return s.item(p, w)
	}
	return s.text(strings.Join(p.lines, "\n"), w)
}

// text sets what is neither list nor table.
func (s *setter) text(markdown string, w int) ([][]run, error) {
	w = max(w, 8)
	r := (*s)[w]
	if r == nil {
		var err error
		if r, err = glamour.NewTermRenderer(glamour.WithStyles(proseStyle()), glamour.WithWordWrap(w)); err != nil {
			return nil, err
		}
		(*s)[w] = r
	}
	out, err := r.Render(markdown)
	if err != nil {
		return nil, err
	}
	var lines [][]run
	for _, l := range strings.Split(strings.Trim(out, "\n"), "\n") {
		line := runs(l)
		for n := len(line); n > 0; n-- { // the renderer fills up to the width
			if line[n-1].text = strings.TrimRight(line[n-1].text, " "); line[n-1].text != "" {
				break
			}
			line = line[:n-1]
		}
		lines = append(lines, line)
	}
	for len(lines) > 0 && len(lines[len(lines)-1]) == 0 { // below code
		lines = lines[:len(lines)-1]
	}
	return lines, nil
}

// Text is the text as it is set, without its styles.
func (p Prose) Text() string {
	var b strings.Builder
	for _, line := range p.lines {
		var text string
		for _, r := range line {
			text += r.text
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// gap leaves a line free below what is there.
func (p *Prose) gap() {
	if len(p.lines) > 0 {
		p.lines = append(p.lines, nil)
	}
}

// Cut returns the lines that are wider than what the text is set for, of which only
// the beginning is shown.
func (p Prose) Cut() []string {
	var out []string
	for _, line := range p.lines {
		if len(line) == 1 && width(line[0].text) > p.Width {
			out = append(out, line[0].text)
		}
	}
	return out
}

// Find returns the line in which p has what stands in line top of the same text
// set for another width.
func (p Prose) Find(other Prose, top int) int {
	before := 0
	for _, line := range other.lines[:min(max(top, 0), len(other.lines))] {
		before += letters(line)
	}
	for y, line := range p.lines {
		if before -= letters(line); before < 0 {
			return y
		}
	}
	return max(len(p.lines)-1, 0)
}

// letters counts what does not depend on the width.
func letters(line []run) int {
	n := 0
	for _, r := range line {
		for _, c := range r.text {
			if unicode.IsLetter(c) || unicode.IsDigit(c) {
				n++
			}
		}
	}
	return n
}

// runs splits a rendered line at its escape sequences.
func runs(line string) []run {
	var out []run
	var style theme.Style
	for line != "" {
		esc := strings.Index(line, "\x1b[")
		if esc < 0 {
			return append(out, run{line, style})
		}
		if esc > 0 {
			out = append(out, run{line[:esc], style})
		}
		line = line[esc+2:]
		end := strings.IndexFunc(line, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return out
		}
		if line[end] == 'm' {
			style = restyled(style, line[:end])
		}
		line = line[end+1:]
	}
	return out
}

// restyled applies the parameters of one SGR sequence.
func restyled(s theme.Style, params string) theme.Style {
	for _, p := range strings.Split(params, ";") {
		switch p {
		case "", "0":
			s = 0
		case "1":
			s = s.Bold()
		case "4":
			s = s.Underline()
		case "3" + markCode:
			s = s.In(theme.Waits)
		case "3" + markMuted:
			s = s.In(theme.Muted)
		case "3" + markHead:
			s = s.In(theme.Holds)
		}
	}
	return s
}

// draw draws the text from line top on.
func (p Prose) draw(to pane, top int) {
	top = min(max(top, 0), max(len(p.lines)-1, 0))
	for y := 0; y < to.r.H && top+y < len(p.lines); y++ {
		x := 1
		if line := p.lines[top+y]; len(line) == 1 {
			to.fit(x, y, p.Width, to.th.Twin(line[0].text), line[0].style)
			continue
		}
		for _, r := range p.lines[top+y] {
			x = to.put(x, y, to.th.Twin(r.text), r.style)
		}
	}
}

// where says which of the text's lines stand in a pane of h rows, when not all do.
func (p Prose) where(top, h int, g theme.Glyphs) string { return whereIn(top, h, len(p.lines), g) }

// whereIn says which of n lines, from line top on, stand in a pane of h rows, when not
// all do.
func whereIn(top, h, n int, g theme.Glyphs) string {
	top = min(max(top, 0), max(n-1, 0))
	if n <= h || h <= 0 {
		return ""
	}
	glyph := g.Down
	if top+h >= n {
		glyph = g.Up
	}
	return fmt.Sprintf("%s %d-%d of %d", glyph, top+1, min(top+h, n), n)
}
