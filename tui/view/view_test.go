package view_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"zklab/internal/journal/plain"
	"zklab/tui/internal/fixture"
	"zklab/tui/theme"
	"zklab/tui/trace"
	"zklab/tui/view"
)

// frame is the story at a time, as the model would show it.
func frame(s *fixture.Story, seconds float64) view.Frame {
	f := view.Frame{
		Page: "queue", Address: "127.0.0.1:2181", State: s.State(seconds), Now: fixture.At(seconds),
		Lock: fixture.Demo,
		Keys: view.Keys{
			Page: []view.Key{{"n", "join"}, {"k", "kill -9 25217"}, {"z", "stop"}, {"x", "cut"},
				{"space", "pause"}, {"←→", "scrub"}},
			Always: []view.Key{{"?", "help"}, {"q", "quit"}},
		},
	}
	p, tr := plain.New(plain.Story), trace.New()
	for i := range s.Events {
		e := &s.Events[i]
		if e.At.After(f.Now) {
			break
		}
		tr.Apply(e)
		f.Lines = append(f.Lines, view.LinesOf(e, p.Lines(e))...)
	}
	f.Trace = tr.Trace()
	return f
}

type drawn func(f view.Frame, w, h int, th theme.Theme) string

var sizes = [][2]int{{80, 24}, {140, 45}}

// looks are the themes in which every page has a golden file.
var looks = map[string]theme.Theme{
	"dark":   theme.New(theme.Dark, theme.Full, false),
	"light":  theme.New(theme.Light, theme.Full, false),
	"mono":   theme.New(theme.Mono, theme.None, false),
	"ascii":  theme.New(theme.Mono, theme.None, true),
	"dark16": theme.New(theme.Dark, theme.Sixteen, false),
}

// goldens compares a page with its golden files: every size in every look.
func goldens(t *testing.T, f view.Frame, draw drawn) {
	t.Helper()
	for _, size := range sizes {
		for name, th := range looks {
			t.Run(fmt.Sprintf("%dx%d-%s", size[0], size[1], name), func(t *testing.T) {
				out := draw(f, size[0], size[1], th)
				exact(t, out, size[0], size[1])
				golden.RequireEqual(t, out)
			})
		}
	}
}

// exact fails unless out is h lines of w cells.
func exact(t *testing.T, out string, w, h int) {
	t.Helper()
	lines := strings.Split(out, "\n")
	if len(lines) != h {
		t.Fatalf("%dx%d: %d lines", w, h, len(lines))
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Fatalf("%dx%d: line %d is %d cells wide: %q", w, h, i, got, l)
		}
	}
}

// sweep draws a page in all sizes from 20x5 to 200x60, or, unless ZKLAB_LONG is
// set, in those around which a page changes.
func sweep(t *testing.T, draw drawn, frames ...view.Frame) {
	t.Helper()
	widths := []int{20, 40, 59, 60, 61, 75, 76, 80, 99, 119, 120, 121, 140, 200}
	heights := []int{5, 15, 16, 17, 19, 20, 24, 29, 30, 35, 36, 45, 60}
	if os.Getenv("ZKLAB_LONG") != "" {
		widths, heights = upTo(20, 200), upTo(5, 60)
	}
	for _, f := range frames {
		for _, w := range widths {
			for _, h := range heights {
				f.Big = false
				exact(t, draw(f, w, h, looks["mono"]), w, h)
				f.Big = true
				exact(t, draw(f, w, h, looks["mono"]), w, h)
			}
		}
	}
}

func upTo(from, to int) []int {
	var all []int
	for i := from; i <= to; i++ {
		all = append(all, i)
	}
	return all
}

func TestQueue_fiveInLine(t *testing.T) { goldens(t, frame(fixture.Queue(), 42.3), view.Queue) }

func TestQueue_middleClientDied(t *testing.T) {
	goldens(t, frame(fixture.MiddleDies(), 10.5), view.Queue)
}

func TestQueue_threeWatchesEach_arrowIsToTheNearestInFront(t *testing.T) {
	goldens(t, frame(fixture.ThreeWatches(6), 2), view.Queue)
}

func TestQueue_aReaderPassesReadersOver_isNoGap(t *testing.T) {
	f := shared("queue", fixture.ReadWrite(), 30)
	goldens(t, f, view.Queue)
}

func TestQueue_everySize(t *testing.T) {
	wide := frame(fixture.Wide(), 6)
	wide.Lock = "/locks/日本"
	told := frame(fixture.Queue(), 42.3)
	told.Steps = &view.Steps{At: 2, Of: 5, Text: strings.Repeat("The holder gets kill -9. ", 6),
		Question: "Who wakes?", Choices: []string{"everybody", "the next one", "nobody"}}
	sweep(t, view.Queue, frame(fixture.Queue(), 42.3), frame(fixture.MiddleDies(), 10.5), wide, told,
		frame(fixture.Crowd(200), 3), view.Frame{})
}

func TestQueue_namesOfTwoCells(t *testing.T) {
	f := frame(fixture.Wide(), 6)
	f.Lock = "/locks/日本"
	f.Selected = "さくら"
	goldens(t, f, view.Queue)
}

func TestQueue_200inLine_windowFollowsTheSelection(t *testing.T) {
	f := frame(fixture.Crowd(200), 3)
	for _, at := range []int{0, 5, 100, 199} {
		f.Selected = fixture.Name(at)
		out := ansi.Strip(view.Queue(f, 80, 24, looks["mono"]))
		if !strings.Contains(out, "▌") || !strings.Contains(out, " "+fixture.Name(at)+" ") {
			t.Errorf("contestant %d is selected and not on the screen:\n%s", at, out)
		}
		if !strings.Contains(out, "more below") && !strings.Contains(out, "more above") {
			t.Errorf("nothing says how many rows are hidden:\n%s", out)
		}
	}
}

func BenchmarkQueue_140x45_200inLine(b *testing.B) {
	f := frame(fixture.Crowd(200), 3)
	th := looks["dark"]
	for b.Loop() {
		view.Queue(f, 140, 45, th)
	}
}

func BenchmarkQueue_140x45_fiveInLine(b *testing.B) {
	f := frame(fixture.Queue(), 42.3)
	th := looks["dark"]
	for b.Loop() {
		view.Queue(f, 140, 45, th)
	}
}

func TestQueue_asciiTwin_isPureASCII(t *testing.T) {
	f := frame(fixture.MiddleDies(), 10.5)
	f.Keys.Page = []view.Key{{Key: "←→", Does: "scrub"}, {Key: "↑↓", Does: "choose"}}
	for i, b := range []byte(view.Queue(f, 140, 45, looks["ascii"])) {
		if b > '~' {
			t.Fatalf("byte %d is %#x", i, b)
		}
	}
}

func TestQueue_scenarioAsksForAPrediction(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	f.Steps = &view.Steps{At: 1, Of: 4, Text: "next: kill -9 of the holder",
		Question: "The holder's process is killed with -9. When does the next one hold?", Answer: 1, Right: 2,
		Choices: []string{"at once: the kernel closes the socket", "when the session has run out", "never"}}
	goldens(t, f, view.Queue)
}

func TestQueue_scenarioIsDone(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	f.Steps = &view.Steps{At: 4, Of: 4, Done: true, Results: []view.Result{{Text: "wakes 1: 1", OK: true},
		{Text: "token larger", OK: true}, {Text: "overlap 0: two believed at once", OK: false}}}
	goldens(t, f, view.Queue)
}

func TestQueue_menuOverIt(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	f.Menu = &view.Menu{Title: "new contestants", Chosen: 1, Hint: "↑↓ choose  ←→ change  enter do it  esc leave",
		Rows: []view.MenuRow{{"recipe", "mini"}, {"number", "5"}, {"session", "4s"}, {"hold", "until told"}, {"lock", "/locks/demo"}}}
	goldens(t, f, view.Queue)
	many := f
	many.Menu = &view.Menu{Title: "排他", Rows: make([]view.MenuRow, 90), Chosen: 70}
	sweep(t, view.Queue, f, many)
}

func TestQueue_big(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	f.Big = true
	goldens(t, f, view.Queue)
	crowd := frame(fixture.Crowd(30), 3)
	crowd.Big = true
	sweep(t, view.Queue, f, crowd)
}

func TestQueue_childWatches_areNotSaidToBeListedByTheServer(t *testing.T) {
	f := frame(fixture.Herd(6, 0), 5)
	f.Lock = fixture.NaiveLock
	out := ansi.Strip(view.Queue(f, 140, 45, looks["mono"]))
	for _, want := range []string{"no data watches", "5 watches more, by the wire alone", "▲ parent", "0 data, 5 child"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

// A path that is too long keeps its end, which says which lock it is.
func TestQueue_longPath_keepsItsEnd(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	f.Lock = "/zklab-67ede3867572705c/locks/demo"
	if out := ansi.Strip(view.Queue(f, 80, 24, looks["mono"])); !strings.Contains(out, " /zklab-67ede38…/locks/demo ") {
		t.Errorf("the lock's own name is cut off:\n%s", out)
	}
}
