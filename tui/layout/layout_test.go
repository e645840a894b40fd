package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"zklab/tui/layout"
)

// picture draws each part with a letter of its own.
func picture(w, h int, parts map[string]layout.Rect) string {
	grid := make([][]byte, h)
	for y := range grid {
		grid[y] = []byte(strings.Repeat(".", w))
	}
	for letter, r := range parts {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if grid[y][x] != '.' {
					letter = "!" // two parts overlap
				}
				grid[y][x] = letter[0]
			}
		}
	}
	out := make([]string, h)
	for y := range grid {
		out[y] = string(grid[y])
	}
	return strings.Join(out, "\n") + "\n"
}

func queueParts(q layout.Queue) map[string]layout.Rect {
	return map[string]layout.Rect{"H": q.Header, "K": q.Keys, "S": q.Steps, "i": q.Info,
		"T": q.Table, "L": q.Lanes, "e": q.Events, "|": q.Side}
}

func TestQueuePage_pictures(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {140, 45}} {
		for _, steps := range []int{0, 4, 8} {
			t.Run(fmt.Sprintf("%dx%d-steps-%d", size[0], size[1], steps), func(t *testing.T) {
				golden.RequireEqual(t, picture(size[0], size[1], queueParts(layout.QueuePage(size[0], size[1], steps))))
			})
		}
	}
}

func TestQueuePage_everySize_partsNeverOverlapOrLeaveTheScreen(t *testing.T) {
	for w := 0; w <= 200; w += 5 {
		for h := 0; h <= 60; h++ {
			for _, steps := range []int{0, 4, 8} {
				q := layout.QueuePage(w, h, steps)
				for name, r := range queueParts(q) {
					if r.X < 0 || r.Y < 0 || r.W < 0 || r.H < 0 || r.X+r.W > w || r.Y+r.H > h {
						t.Fatalf("%dx%d: part %s is off the screen: %+v", w, h, name, r)
					}
				}
				if strings.Contains(picture(w, h, queueParts(q)), "!") {
					t.Fatalf("%dx%d: parts overlap", w, h)
				}
				if layout.Fits(w, h) && q.Table.H < 3 {
					t.Fatalf("%dx%d steps %d: the table has %d rows", w, h, steps, q.Table.H)
				}
			}
		}
	}
}
