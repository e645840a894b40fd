package tui

import (
	"fmt"
	"strings"
	"time"

	"zklab/tui/theme"
	"zklab/tui/view"
)

// The names of the pages.
const (
	PageQueue    = "queue"
	PageTimeline = "timeline"
	PageHerd     = "herd"
)

// page is one page: how it is drawn, and what its keys do.
type page struct {
	name  string
	title string
	draw  func(f view.Frame, w, h int, th theme.Theme) string
	deeds func() []deed
	// due says when the page changes next by itself, zero for never.
	due     func(m *model, now time.Time) time.Time
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
		{name: PageQueue, title: "queue", draw: view.Queue, deeds: contestants, due: barsDue, selects: true},
		{name: PageTimeline, title: "kill -9 and SIGSTOP", draw: view.Timeline, deeds: contestants, due: outageDue, selects: true},
		{name: PageHerd, title: "herd effect", draw: view.Herd, deeds: crowd, due: herdDue},
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

func barsDue(m *model, now time.Time) time.Time { return due(&m.live, m.lock(), now, m.tick()) }

func outageDue(m *model, now time.Time) time.Time {
	if view.Unfolding(m.trace, now) {
		return now.Add(m.tick())
	}
	return time.Time{}
}

func herdDue(m *model, now time.Time) time.Time {
	if !m.o.NoMotion && view.HerdLights(&m.live, now) {
		return now.Add(herdTick)
	}
	return time.Time{}
}
