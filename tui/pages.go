package tui

import (
	"fmt"
	"strings"

	"zklab/tui/theme"
	"zklab/tui/view"
)

// The names of the pages.
const (
	PageQueue = "queue"
)

// page is one page: how it is drawn, and what its keys do.
type page struct {
	name    string
	title   string
	draw    func(f view.Frame, w, h int, th theme.Theme) string
	deeds   func() []deed
	selects bool // one of its rows is chosen
}

// pages are all pages, and order is how they follow each other. They are set in
// init because the keys of a page lead back to the pages.
var (
	pages map[string]*page
	order []string
)

func init() {
	all := []*page{
		{name: PageQueue, title: "queue", draw: view.Queue, deeds: contestants, selects: true},
	}
	pages = make(map[string]*page, len(all))
	for _, p := range all {
		pages[p.name] = p
		order = append(order, p.name)
	}
}

// knownPage checks a page's name.
func knownPage(name string) error {
	if _, known := pages[name]; !known {
		return fmt.Errorf("page %q: not known; use one of %s", name, strings.Join(order, ", "))
	}
	return nil
}
