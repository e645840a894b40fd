package minimutex

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The node ahead is the one with the largest smaller number, in whatever order
// the children come and whatever else there is.
func TestInFront_anyOrder_foreignChildren(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.IntRange(0, 2147483647), 1, 30, rapid.ID).Draw(t, "numbers")
		mine := rapid.SampledFrom(numbers).Draw(t, "mine")
		children := rapid.SliceOf(rapid.StringMatching(`(lock-|x-|_c_0f-lock-)?[-+ 0-9a-z]{0,9}`)).Draw(t, "foreign")
		want, nearest := "", -1
		for _, n := range numbers {
			children = append(children, fmt.Sprintf("lock-%010d", n))
			if n < mine && n > nearest {
				want, nearest = fmt.Sprintf("/l/lock-%010d", n), n
			}
		}
		children = rapid.Permutation(children).Draw(t, "children")
		before := slices.Clone(children)
		got, err := inFront(fmt.Sprintf("/l/lock-%010d", mine), children)
		if err != nil || got != want {
			t.Fatalf("in front of %d: %q, %v, want %q", mine, got, err, want)
		}
		if !slices.Equal(before, children) {
			t.Fatal("inFront changed the list it was given")
		}
	})
}

func TestInFront_ownNodeMissing(t *testing.T) {
	for _, node := range []string{"/l/lock-0000000001", "/l/lock--2147483648", "/l/other"} {
		if got, err := inFront(node, []string{"lock-0000000000", "lock--2147483648", "other"}); !errors.Is(err, ErrNotInLine) {
			t.Errorf("in front of %s: %q, %v, want %v", node, got, err, ErrNotInLine)
		}
	}
}
