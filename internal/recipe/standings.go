package recipe

import (
	"cmp"
	"slices"
	"strings"
)

// contenders sorts a lock's children into those that take part in a lock of
// that kind, in queue order, and the foreign ones, in the order of their names.
// Order is by the number alone: a GUID or an intent in front of it means nothing.
func contenders(kind Kind, children []string) (in []Contender, foreign []string) {
	for _, name := range children {
		if kind == Unfair {
			if name == Itself {
				in = append(in, Contender{Name: name, Seq: -1, Family: Plain})
			} else {
				foreign = append(foreign, name)
			}
			continue
		}
		c, ok := Parse(name)
		if ok && takesPart(kind, c.Intent) {
			in = append(in, c)
		} else {
			foreign = append(foreign, name)
		}
	}
	slices.SortFunc(in, func(a, b Contender) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Seq, b.Seq), strings.Compare(a.Name, b.Name))
	})
	slices.Sort(foreign)
	return in, foreign
}

// rank puts a semaphore's leases before those who wait in its inner lock.
func rank(c Contender) int {
	if c.Intent != Lease && strings.HasPrefix(c.Name, "locks/") {
		return 1
	}
	return 0
}

func takesPart(kind Kind, intent Intent) bool {
	switch kind {
	case ReadWrite:
		return intent != Lease
	case Semaphore:
		return intent == Lease || intent == Exclusive
	default:
		return intent == Exclusive
	}
}

// Standings says who holds and who waits for whom, in queue order, and which
// children are foreign. permits is how many leases a Semaphore gives out (below
// 1 counts as 1); other kinds ignore it.
//
// Families that do not see each other (kazoo's own names and all others) are
// ranked apart, so that each has a holder: that is what their clients do.
func Standings(kind Kind, permits int, children []string) (standings []Standing, foreign []string) {
	in, foreign := contenders(kind, children)
	standings = make([]Standing, len(in))
	groups := map[string]*group{}
	for i, c := range in {
		g := groups[c.excludes()]
		if g == nil {
			g = &group{permits: max(permits, 1)}
			groups[c.excludes()] = g
		}
		standings[i] = g.next(kind, c)
	}
	return standings, foreign
}

// group is what is known while walking one group of contenders in order.
type group struct {
	permits    int
	previous   string // nearest contender in front
	lastWriter string // nearest contender in front that excludes readers
	leases     int
}

func (g *group) next(kind Kind, c Contender) Standing {
	s := Standing{Contender: c}
	switch {
	case kind == ReadWrite && c.Intent == Read:
		s.WaitsFor, s.Holds = g.lastWriter, g.lastWriter == ""
	case kind == Semaphore && c.Intent == Lease:
		s.Holds = g.leases < g.permits
		g.leases++
		return s // waits for any lease, not for one
	case kind == Semaphore:
		// In the inner lock: at its head it still needs a lease.
		s.WaitsFor = g.previous
	default:
		s.WaitsFor, s.Holds = g.previous, g.previous == ""
	}
	g.previous = c.Name
	if c.Intent != Read {
		g.lastWriter = c.Name
	}
	return s
}

// Detect guesses the kind of a lock from its children's names alone: any intent
// in a name decides, and otherwise it is a Mutex. It reports false when no child
// belongs to a known recipe.
func Detect(children []string) (Kind, bool) {
	kind, known := Mutex, false
	for _, name := range children {
		c, ok := Parse(name)
		if !ok {
			continue
		}
		known = true
		switch c.Intent {
		case Read, Write:
			return ReadWrite, true
		case Lease:
			return Semaphore, true
		}
	}
	return kind, known
}

// Strangers reports whether the children belong to libraries that do not
// exclude each other on one path, and names the families of each side.
func Strangers(children []string) (kazoo, others []Family, strangers bool) {
	for _, name := range children {
		c, ok := Parse(name)
		if !ok {
			continue
		}
		side := &others
		if c.excludes() == "kazoo" {
			side = &kazoo
		}
		if !slices.Contains(*side, c.Family) {
			*side = append(*side, c.Family)
		}
	}
	return kazoo, others, len(kazoo) > 0 && len(others) > 0
}
