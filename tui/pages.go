package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"zklab/internal/recipe"
	"zklab/tui/theme"
	"zklab/tui/view"
)

// The names of the pages.
const (
	PageQueue     = "queue"
	PageTimeline  = "timeline"  // kill -9 and SIGSTOP
	PageHerd      = "herd"      // two queues side by side
	PageReadWrite = "readwrite" // lanes of readers and writers
	PageSemaphore = "semaphore" // leases
	PageZombie    = "zombie"    // beliefs, the server and the resource
	PageEnsemble  = "ensemble"  // who leads, which session is where
	PageSequence  = "sequence"  // the frames on the wire
	PageWatch     = "watch"     // a lock path of any ZooKeeper; needs Options.Watch
	PageHome      = "home"      // the ladder and the demos; needs Options.Home
	PageLesson    = "lesson"    // text beside the live queue; needs Options.Lesson
)

// page is one page: how it is drawn, and what its keys do.
type page struct {
	name  string
	title string
	draw  func(m *model, f view.Frame) string
	deeds func() []deed
	// due says when the page changes next by itself, zero for never.
	due     func(m *model, now time.Time) time.Time
	selects bool // one of its rows is chosen
	marks   []view.HelpLine
	// turns says that ] and [ lead to it from the other pages of a live run.
	turns bool
	// fits says whether there is something for the page to show; nil: always.
	fits func(m *model) bool
}

// plainly makes the draw of a page that a frame is all for.
func plainly(draw func(view.Frame, int, int, theme.Theme) string) func(*model, view.Frame) string {
	return func(m *model, f view.Frame) string { return draw(f, m.w, m.h, m.theme) }
}

// pages are all pages, and order is how those of a live run follow each other.
// They are set in init because the keys of a page lead back to the pages.
var (
	pages map[string]*page
	order []string
)

func init() {
	all := []*page{
		{name: PageQueue, title: "queue", draw: plainly(view.Queue), marks: view.QueueMarks, deeds: contestants, due: barsDue, selects: true, turns: true},
		{name: PageTimeline, title: "kill -9 and SIGSTOP", draw: plainly(view.Timeline), deeds: contestants, due: outageDue, selects: true, turns: true},
		{name: PageSequence, title: "frames on the wire", draw: plainly(view.Sequence), deeds: contestants, due: neverDue, selects: true, turns: true},
		{name: PageEnsemble, title: "ensemble", draw: drawEnsemble, deeds: ensemble, due: neverDue, turns: true},
		{name: PageZombie, title: "zombie", draw: plainly(view.Zombie), deeds: contestants, due: barsDue, selects: true, turns: true},
		{name: PageHerd, title: "herd effect", draw: plainly(view.Herd), marks: view.HerdMarks, deeds: crowd, due: herdDue, turns: true, fits: severalQueues},
		{name: PageReadWrite, title: "read/write lock", draw: plainly(view.ReadWrite), deeds: contestants, due: lanesDue, selects: true, turns: true, fits: isReadWrite},
		{name: PageSemaphore, title: "semaphore", draw: plainly(view.Semaphore), marks: view.QueueMarks, deeds: contestants, due: barsDue, selects: true, turns: true, fits: isSemaphore},
		{name: PageWatch, title: "watch", draw: drawWatch, deeds: watching, due: neverDue},
		{name: PageHome, title: "home", draw: drawHome, deeds: atHome, due: neverDue},
		{name: PageLesson, title: "lesson", draw: drawLesson, marks: view.QueueMarks, deeds: learning, due: barsDue, selects: true},
	}
	pages = make(map[string]*page, len(all))
	for _, p := range all {
		pages[p.name] = p
		if p.turns {
			order = append(order, p.name)
		}
	}
}

// PageNames are the names of all pages, in alphabetical order.
func PageNames() []string { return slices.Sorted(maps.Keys(pages)) }

// checkPage checks that a page can be shown with these options.
func (o Options) checkPage() error {
	switch {
	case pages[o.Page] == nil:
		return fmt.Errorf("tui: page %q: not known; use one of %s", o.Page, strings.Join(PageNames(), ", "))
	case o.Page == PageWatch && o.Watch == nil,
		o.Page == PageHome && o.Home == nil,
		o.Page == PageLesson && o.Lesson == nil:
		return fmt.Errorf("tui: page %q: nothing was given to show on it", o.Page)
	}
	return nil
}

func neverDue(*model, time.Time) time.Time { return time.Time{} }

func barsDue(m *model, now time.Time) time.Time { return due(&m.live, m.lock(), now, m.tick()) }

// lanesDue is when the lanes of a busy lock have moved by a cell.
func lanesDue(m *model, now time.Time) time.Time {
	if len(m.live.Contestants) == 0 {
		return time.Time{}
	}
	return now.Add(slowTick)
}

func outageDue(m *model, now time.Time) time.Time {
	if view.Unfolding(m.trace, now) {
		return now.Add(m.tick())
	}
	return time.Time{}
}

func severalQueues(m *model) bool { return len(m.live.Locks) > 1 }

func isReadWrite(m *model) bool {
	l, _ := m.live.Lock(m.lock())
	return recipe.KindOf(l.Recipe) == recipe.ReadWrite
}

func isSemaphore(m *model) bool {
	l, _ := m.live.Lock(m.lock())
	return l.Permits > 0
}
