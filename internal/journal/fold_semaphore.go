package journal

import (
	"slices"

	"zklab/internal/recipe"
)

// oneEach takes from a semaphore's queue the nodes of those who stand in it already.
// Who is at the head of the inner lock makes a lease, waits until that is among the
// lowest, and deletes its node of the inner lock only then: until it has the lease,
// its node in the inner lock is its place, and from then on the lease is.
//
// A session of a program that nobody of ours runs may have several clients in it. Of
// those only the one at the head can have a lease that does not count yet.
func oneEach(queue []Place) (places, beside []Place) {
	isLease := func(p Place) bool { return p.Intent == string(recipe.Lease) }
	head := slices.IndexFunc(queue, func(p Place) bool { return !isLease(p) })
	if head < 0 {
		return queue, nil
	}
	granted := map[string]bool{}
	for _, p := range queue {
		if p.Holds && p.Who != "" {
			granted[p.Who] = true
		}
	}
	places = make([]Place, 0, len(queue))
	for _, p := range queue {
		over := !isLease(p) && granted[p.Who]
		early := isLease(p) && !p.Holds && !granted[p.Who] && p.Session != 0 && p.Session == queue[head].Session
		if over || early {
			beside = append(beside, p)
		} else {
			places = append(places, p)
		}
	}
	return places, beside
}
