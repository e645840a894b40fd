package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"zklab/tui/view"
)

func aHome(lessons int) view.Home {
	v := view.Home{Next: 0, Demos: []view.Demo{{Name: "rw", Title: "Readers share, a writer is alone, and nobody overtakes"}}}
	for i := range lessons {
		v.Lessons = append(v.Lessons, view.Rung{Number: fmt.Sprintf("%02d", i+1), Title: "One name, one winner",
			Summary: "The server tells you once that something has changed. What it was, and what has changed since then, you must look up yourself."})
	}
	return v
}

func homePage(v view.Home, w, h int) string {
	return ansi.Strip(view.HomePage(view.Frame{}, v, -1, w, h, looks["mono"]))
}

// A summary is shown in whole sentences or not at all: three letters of it help nobody.
func TestHome_18lessons_summariesOnlyWhereSentencesFit(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {100, 30}, {140, 30}, {140, 45}, {200, 60}} {
		out := homePage(aHome(18), size[0], size[1])
		ladder := ""
		for _, l := range strings.Split(out, "\n") {
			l, _, _ = strings.Cut(l, "│")
			ladder += l + "\n"
		}
		if strings.Contains(ladder, "…") {
			t.Errorf("%v: a summary is cut:\n%s", size, out)
		}
		if want := size[1] >= 45; want != strings.Contains(ladder, "tells you once") {
			t.Errorf("%v: summaries are shown: %v, want %v:\n%s", size, !want, want, out)
		}
	}
}

func TestHome_80x24_demoTitleIsWholeWords(t *testing.T) {
	if out := homePage(aHome(18), 80, 24); !strings.Contains(out, "Readers share ") || strings.Contains(out, "Readers share,") {
		t.Errorf("the title is cut:\n%s", out)
	}
}
