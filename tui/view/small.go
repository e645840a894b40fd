package view

import (
	"fmt"
	"strings"

	"zklab/tui/layout"
	"zklab/tui/theme"
)

// TooSmall tells that a screen is too small for a page, and how large it must
// be.
func TooSmall(w, h int, th theme.Theme) string {
	c := newCanvas(w, h, th)
	p := c.pane(layout.Rect{W: w, H: h})
	show := []string{
		"zklab",
		fmt.Sprintf("this screen is %dx%d", w, h),
		fmt.Sprintf("a page needs %dx%d", layout.MinWidth, layout.MinHeight),
		"make it larger, or q quit, space pause",
	}
	for i, text := range show {
		p.fit(1, max((h-len(show))/2, 0)+i, w-1, text, theme.Text.Style())
	}
	return c.String()
}

func lines(text string) []string { return strings.Split(text, "\n") }
