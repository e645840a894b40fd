package journal

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A client of a semaphore has a node in the inner lock, and at its head a lease too:
// it stands in line once all the same, and the numbers of holders and waiting are
// those of clients.
func TestFold_semaphore_eachClientStandsOnce(t *testing.T) {
	names := map[SessionID]string{1: "amber", 2: "basil", 3: "coral", 4: "delta"}
	lease := func(n int, s SessionID) Node {
		return Node{Name: fmt.Sprintf("leases/lease-%010d", n), Owner: s, Czxid: int64(100 + n)}
	}
	inner := func(n int, s SessionID) Node {
		return Node{Name: fmt.Sprintf("locks/lock-%010d", n), Owner: s, Czxid: int64(200 + n)}
	}
	for name, c := range map[string]struct {
		nodes        []Node
		line, beside string
	}{
		"at the head without a lease": {[]Node{lease(0, 1), lease(1, 2), inner(2, 3), inner(3, 4)},
			"amber lease-0!, basil lease-1!, coral lock-2, delta lock-3", ""},
		"at the head with a lease that does not count yet": {[]Node{lease(0, 1), lease(1, 2), lease(2, 3), inner(2, 3), inner(3, 4)},
			"amber lease-0!, basil lease-1!, coral lock-2, delta lock-3", "coral lease-2"},
		"granted, and still at the door": {[]Node{lease(1, 2), lease(2, 3), inner(2, 3), inner(3, 4)},
			"basil lease-1!, coral lease-2!, delta lock-3", "coral lock-2"},
		"granted and gone in": {[]Node{lease(1, 2), lease(2, 3), inner(3, 4)},
			"basil lease-1!, coral lease-2!, delta lock-3", ""},
		// One program with three clients in one session: one holds, one is at the
		// door with a lease, one is behind it.
		"strangers of one session": {[]Node{lease(0, 7), lease(1, 1), lease(2, 7), inner(1, 7), inner(2, 7)},
			" lease-0!, amber lease-1!,  lock-1,  lock-2", " lease-2"},
		"a stranger that stands behind itself": {[]Node{lease(0, 7), lease(1, 1), inner(1, 7)},
			" lease-0!, amber lease-1!,  lock-1", ""},
	} {
		s := &story{}
		for id, who := range names {
			s.at(0, Event{Type: Joined, Who: who, Lock: "/l", Recipe: "semaphore", Count: 2})
			s.at(1, Event{Type: SessionOpen, Who: who, Session: id, OK: true, Timeout: time.Second})
		}
		s.at(2, Event{Type: Queue, Lock: "/l", Recipe: "semaphore", Count: 2, Nodes: c.nodes})
		l, _ := s.state(3).Lock("/l")
		if got := told(l.Queue); got != c.line {
			t.Errorf("%s: in line %q, want %q", name, got, c.line)
		}
		if got := told(l.Beside); got != c.beside {
			t.Errorf("%s: beside it %q, want %q", name, got, c.beside)
		}
	}
}

func told(places []Place) string {
	text := ""
	for i, p := range places {
		if i > 0 {
			text += ", "
		}
		kind := "lock"
		if p.Intent != "" {
			kind = p.Intent
		}
		text += fmt.Sprintf("%s %s-%d", p.Who, kind, p.Seq)
		if p.Holds {
			text += "!"
		}
	}
	return text
}

// Whatever a semaphore's list holds, every node stands in line or beside it, once.
func TestOneEach_losesNoNode(t *testing.T) {
	for n := range 1 << 12 {
		var queue []Place
		for k := range 4 {
			bits := n >> (3 * k) & 7
			p := Place{Node: Node{Czxid: int64(k)}, Session: SessionID(bits & 1), Holds: bits&2 != 0}
			if bits&4 != 0 {
				p.Intent = "lease"
			}
			if p.Session == 1 {
				p.Who = "amber"
			}
			queue = append(queue, p)
		}
		places, beside := oneEach(slices.Clone(queue))
		all := append(slices.Clone(places), beside...)
		slices.SortFunc(all, func(a, b Place) int { return int(a.Node.Czxid - b.Node.Czxid) })
		if len(all) != len(queue) || slices.ContainsFunc(beside, func(p Place) bool { return p.Holds && p.Intent == "lease" }) {
			t.Fatalf("%+v became %+v and %+v", queue, places, beside)
		}
	}
}
