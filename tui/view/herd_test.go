package view_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"zklab/tui/internal/fixture"
	"zklab/tui/view"
)

func herd(n, releases int, seconds float64) view.Frame {
	f := frame(fixture.Herd(n, releases), seconds)
	f.Page = "herd effect"
	f.Lock = fixture.NaiveLock
	return f
}

func TestHerd_10inLine_4releases(t *testing.T) { goldens(t, herd(10, 4, 14.6), view.Herd) }

func TestHerd_everySize(t *testing.T) {
	sweep(t, view.Herd, herd(10, 4, 14.6), herd(3, 0, 5), herd(90, 3, 20), view.Frame{})
}

func TestHerd_90inLine_diamondsStandForSeveral(t *testing.T) {
	out := ansi.Strip(view.Herd(herd(90, 3, 20), 80, 24, looks["mono"]))
	for _, want := range []string{"87 of 87 re-read the queue", "1 of 87 re-read the queue", "◆=7"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}
