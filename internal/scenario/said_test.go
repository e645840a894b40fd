package scenario

import (
	"testing"

	"zklab/internal/journal"
)

// Three readers hold together on the screen: beside them nothing may say that never two
// did.
func TestNeverTogether_saysOnlyWhatIsSoOfTheRecipes(t *testing.T) {
	for _, c := range []struct {
		recipes []string
		want    string
	}{
		{[]string{"mini", "naive"}, "never did two believe at once that they hold"},
		{[]string{"read", "write"}, "never did a writer believe that it holds beside a reader or another writer"},
		{[]string{"semaphore", "semaphore"}, "never did two that exclude each other believe at once that they hold"},
		{[]string{"semaphore-mutex"}, "never did two believe at once that they hold"},
		{[]string{"mutex", "read"}, "never did two that exclude each other believe at once that they hold"},
	} {
		var s journal.State
		for _, r := range c.recipes {
			s.Contestants = append(s.Contestants, journal.ContestantState{Recipe: r})
		}
		if got := neverTogether(s); got != c.want {
			t.Errorf("%v: %q, want %q", c.recipes, got, c.want)
		}
	}
}

func TestBelieving_noneOneSeveral(t *testing.T) {
	for want, who := range map[string][]string{
		"nobody believes that it holds":           nil,
		"amber alone believes that it holds":      {"amber"},
		"2 believe that they hold (amber, basil)": {"amber", "basil"},
	} {
		if got := believing(who); got != want {
			t.Errorf("%v: %q, want %q", who, got, want)
		}
	}
}
