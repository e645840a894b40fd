package view

import (
	"fmt"
	"slices"

	"zklab/tui/layout"
	"zklab/tui/theme"
)

// HelpLine is one key and a sentence on what it does.
type HelpLine struct {
	Key, Text string
	Works     bool // at this moment
	Mark      bool // no key: a mark on the page
}

// Help draws the keys of a page in place of its body, or, when not all fit, the
// part of them numbered part, from 0.
func Help(f Frame, keys []HelpLine, part, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	parts := helpParts(keys, w, h)
	part = min(max(part, 0), len(parts)-1)
	back := Key{Key: "any key", Does: "back"}
	f.Keys = Keys{Always: []Key{back, {Key: "q", Does: "quit"}}}
	if len(parts) > 1 {
		f.Keys.Page = []Key{{Key: "space", Does: fmt.Sprintf("more, this is %d of %d", part+1, len(parts))}}
	}
	at := layout.Around(w, h, 0)
	f.Steps = nil
	c := page(f, w, h, th, at)
	p := c.pane(at.Body)
	for i, column := range parts[part] {
		helpColumn(p.sub(i*helpWidth(w), 0, helpWidth(w), p.r.H), column)
	}
	return c.String()
}

// HelpParts is how many parts the help has on a screen of w by h.
func HelpParts(keys []HelpLine, w, h int) int { return len(helpParts(keys, w, h)) }

// helpWidth is how wide a column of the help is: there are two on a wide screen.
func helpWidth(w int) int {
	if w >= 120 {
		return w / 2
	}
	return w
}

// helpParts puts whole entries into columns, and columns into parts. Those that
// work now come first, when not all fit on one.
func helpParts(keys []HelpLine, w, h int) [][][]HelpLine {
	rows, columns := max(layout.Around(w, h, 0).Body.H, 1), w/helpWidth(w)
	all := fillColumns(keys, helpWidth(w), rows)
	if len(all) > columns {
		sorted := slices.Clone(keys)
		slices.SortStableFunc(sorted, func(a, b HelpLine) int {
			return a.rank() - b.rank()
		})
		all = fillColumns(sorted, helpWidth(w), rows)
	}
	return slices.Collect(slices.Chunk(all, columns))
}

// rank is in which order lines stand: keys that work now, other keys, marks.
func (k HelpLine) rank() int {
	switch {
	case k.Mark:
		return 2
	case k.Works:
		return 0
	}
	return 1
}

// fillColumns puts keys into columns of w by h.
func fillColumns(keys []HelpLine, w, h int) [][]HelpLine {
	all := [][]HelpLine{nil}
	used := 0
	for _, k := range keys {
		need := len(helpText(k, w))
		if used > 0 && used+need > h {
			all, used = append(all, nil), 0
		}
		all[len(all)-1] = append(all[len(all)-1], k)
		used += need
	}
	return all
}

const helpIndent = 15

// helpText is a key's sentence in the lines it needs; one at least.
func helpText(k HelpLine, w int) []string {
	if l := wrap(k.Text, w-helpIndent-1); len(l) > 0 {
		return l
	}
	return []string{""}
}

func helpColumn(p pane, keys []HelpLine) {
	y := 0
	for _, k := range keys {
		style, text := theme.Text.Style().Bold(), theme.Text.Style()
		if !k.Works && !k.Mark {
			style, text = theme.Muted.Style(), theme.Muted.Style()
		}
		p.fit(2, y, helpIndent-3, p.th.Twin(k.Key), style)
		for _, l := range helpText(k, p.r.W) {
			p.put(helpIndent, y, p.th.Twin(l), text)
			y++
		}
	}
}
