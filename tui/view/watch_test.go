package view_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"zklab/internal/attach"
	"zklab/internal/recipe"
	"zklab/tui/view"
)

// What the server listed as watched two seconds ago may have gone since.
func TestWatch_newHolder_itsFiredWatchIsNotShown(t *testing.T) {
	v := view.Watched{Reading: attach.Reading{Path: "/locks/job", Kind: recipe.Mutex, Exists: true, Places: []attach.Place{
		{Node: "lock-0000000041", Seq: 41, Holds: true, Observed: true, Watches: []string{"lock-0000000040"}},
		{Node: "lock-0000000042", Seq: 42, WaitsFor: "lock-0000000041", Observed: true, Watches: []string{"lock-0000000041"}},
	}}}
	out := ansi.Strip(view.Watch(watchFrame(), v, 80, 24, looks["mono"]))
	if strings.Contains(out, "▲ 40") || !strings.Contains(out, "▲ 41") {
		t.Errorf("the holder waits for one that has gone:\n%s", out)
	}
}
