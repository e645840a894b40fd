package lockproof_test

import (
	"slices"
	"testing"

	"zklab/internal/lockproof"
	"zklab/internal/lockproof/badlock"
)

// flawed are recipes that the matrix must find broken, each by a fault.
var flawed = []struct {
	recipe *recipe
	fault  string
	round  int // even: the victim holds
	broken lockproof.Rule
}{
	{flawedRecipe("wakes-and-enters", badlock.WakesAndEnters), "clean close", 1, lockproof.Overlap},
	{flawedRecipe("token-from-version", badlock.TokenFromVersion), "SIGSTOP > T+tick", 0, lockproof.Tokens},
	{flawedRecipe("never-doubts", badlock.NeverDoubts), "black hole > T", 0, lockproof.Misinformed},
	{flawedRecipe("plain", badlock.Sound), "create reply lost", 1, lockproof.WrongVerdict},
	{flawedRecipe("plain", badlock.Sound), "list reply lost", 1, lockproof.WrongVerdict},
}

// shortMutex is a flawed lock with sessions as short as those of the matrix.
func shortMutex(m makes) suite {
	return badSuite("flawed", 1, sessionTimeout, func(string) map[lockproof.Mode]makes {
		return map[lockproof.Mode]makes{lockproof.Exclusive: m}
	})
}

func flawedRecipe(name string, m makes) *recipe {
	return &recipe{name: name, open: shortMutex(m).open, permits: 1, nodes: []string{"/_c_"}, lists: true,
		victim: lockproof.Exclusive, rival: lockproof.Exclusive}
}

// The matrix itself has to be able to fail, with sessions and with processes.
func TestFaults_findFlaws(t *testing.T) {
	leavesNothing(t)
	for _, c := range flawed {
		f := &faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == c.fault })]
		t.Run(c.recipe.name+"/"+c.fault, func(t *testing.T) {
			t.Parallel()
			b := newBout(t, c.recipe, f, c.round)
			b.a.patience = shortPatience
			b.setUp()
			b.strike()
			b.finish()
			if got := lockproof.Rules(b.verdict()); !slices.Contains(got, c.broken) {
				t.Errorf("the matrix did not find %q broken; it found %v\n%s", c.broken, got, b.a.logTail(40))
			}
		})
	}
}
