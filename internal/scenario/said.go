package scenario

import (
	"slices"
	"strings"

	"zklab/internal/journal"
	"zklab/internal/recipe"
)

// believing tells who believes that it holds.
func believing(who []string) string {
	switch len(who) {
	case 0:
		return "nobody believes that it holds"
	case 1:
		return who[0] + " alone believes that it holds"
	}
	return count(len(who), "believes", "believe") + " that they hold (" + strings.Join(who, ", ") + ")"
}

// neverTogether tells that nobody held beside one whom it excludes. Where some may
// share, it says who may not.
func neverTogether(s journal.State) string {
	kinds := map[recipe.Kind]bool{}
	for _, c := range s.Contestants {
		kinds[recipe.KindOf(c.Recipe)] = true
	}
	switch {
	case kinds[recipe.ReadWrite] && len(kinds) == 1:
		return "never did a writer believe that it holds beside a reader or another writer"
	case kinds[recipe.ReadWrite] || kinds[recipe.Semaphore] && slices.ContainsFunc(s.Contestants, sharesLease):
		return "never did two that exclude each other believe at once that they hold"
	}
	return "never did two believe at once that they hold"
}

// sharesLease reports whether one may hold a lease beside others.
func sharesLease(c journal.ContestantState) bool {
	return recipe.KindOf(c.Recipe) == recipe.Semaphore && !exclude(c.Recipe, c.Recipe)
}
