package view

import (
	"zklab/tui/layout"
	"zklab/tui/theme"
)

// HelpLine is one key and a sentence on what it does.
type HelpLine struct {
	Key, Text string
	Works     bool // at this moment
}

// Help draws the keys of a page in place of its body.
func Help(f Frame, keys []HelpLine, w, h int, th theme.Theme) string {
	if !layout.Fits(w, h) {
		return TooSmall(w, h, th)
	}
	f.Keys = Keys{Always: []Key{{Key: "any key", Does: "back"}, {Key: "q", Does: "quit"}}}
	at := layout.Around(w, h, 0)
	f.Steps = nil
	c := page(f, w, h, th, at)
	p := c.pane(at.Body)
	if len(keys) > p.r.H && w >= 120 {
		half := (len(keys) + 1) / 2
		helpColumn(p.sub(0, 0, w/2, p.r.H), keys[:half])
		helpColumn(p.sub(w/2, 0, w-w/2, p.r.H), keys[half:])
		return c.String()
	}
	helpColumn(p, keys)
	return c.String()
}

// helpColumn draws as many keys as fit; those that work now come first, when
// not all do.
func helpColumn(p pane, keys []HelpLine) {
	if len(keys) > p.r.H {
		sorted := make([]HelpLine, 0, len(keys))
		for _, works := range []bool{true, false} {
			for _, k := range keys {
				if k.Works == works {
					sorted = append(sorted, k)
				}
			}
		}
		keys = sorted
	}
	for y, k := range keys {
		style, text := theme.Text.Style().Bold(), theme.Text.Style()
		if !k.Works {
			style, text = theme.Muted.Style(), theme.Muted.Style()
		}
		p.fit(2, y, 12, p.th.Twin(k.Key), style)
		p.fit(15, y, p.r.W-16, k.Text, text)
	}
}
