package lockproof

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// Limits of a history that CheckLinearizable takes: the search is exponential
// in the number of clients, and an answer that never comes proves nothing.
const (
	MaxClients    = 20
	MaxOperations = 20000
	linearLimit   = 30 * time.Second
)

// step is one operation on the lock's model.
type step struct {
	kind kind
	id   int // index of the hold
	mode Mode
	who  string
}

type kind int

const (
	acquire kind = iota // has to be possible at that moment
	release             // takes the hold away, if it is still there
	expire              // the session's end takes the hold away, if it is still there
)

// held is one hold in the model's state.
type held struct {
	id   int
	mode Mode
	who  string
}

// CheckLinearizable requires that the operations can be put in one order, each
// between its call and its return, in which every grant was allowed when it was
// given. The end of a session is an operation of its own: it happened some time
// between the last moment the session was known to live and the first at which
// it was known to be dead. A search that does not end in time is a violation.
func CheckLinearizable(events []Event, holds []Hold, permits int) []Violation {
	clients := map[string]int{}
	for _, h := range holds {
		if _, ok := clients[h.Who]; !ok {
			clients[h.Who] = len(clients)
		}
	}
	ops := operations(holds, clients, len(events))
	if len(clients) > MaxClients || len(ops) > MaxOperations {
		return []Violation{violation(Linear, "%d clients and %d operations are more than the check takes (%d, %d)",
			len(clients), len(ops), MaxClients, MaxOperations)}
	}
	switch r := porcupine.CheckOperationsTimeout(lockModel(permits), ops, linearLimit); r {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return []Violation{violation(Linear, "no answer within %v for %d operations of %d clients", linearLimit, len(ops), len(clients))}
	default:
		return []Violation{violation(Linear, "no order of the %d operations of %d clients allows every grant", len(ops), len(clients))}
	}
}

// operations makes porcupine's history of the holds. Positions in the log are
// doubled, so that a call and a return at one line do not coincide.
func operations(holds []Hold, clients map[string]int, end int) []porcupine.Operation {
	var ops []porcupine.Operation
	add := func(k kind, i int, from, to int) {
		h := holds[i]
		ops = append(ops, porcupine.Operation{ClientId: clients[h.Who], Input: step{k, i, h.Mode, h.Who},
			Call: int64(2 * min(from, end)), Return: int64(2*min(to, end+2)) + 1})
	}
	for i, h := range holds {
		add(acquire, i, h.Asked, h.Entered)
		if h.Left != Never {
			add(release, i, h.Left, h.Freed)
		}
		if ended := endedAfter(holds, i); h.Dead != Never && ended < h.Left {
			add(expire, i, ended, h.Dead)
		}
	}
	return ops
}

// endedAfter is the first position at which the session of hold i may have
// ended: after it was last listed as living, or, as CheckOverlap allows, before
// a later hold whose holder found it dead. (A server lists a session for a
// moment longer than it keeps its nodes, and others may ask in that moment.)
func endedAfter(holds []Hold, i int) int {
	h := holds[i]
	after := h.Lived + 1
	for _, later := range holds[i+1:] {
		if h.Dead <= later.Checked {
			after = min(after, later.Entered)
		}
	}
	return after
}

func lockModel(permits int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return []held{} },
		Step: func(state, input, _ any) (bool, any) {
			s, in := state.([]held), input.(step)
			if in.kind != acquire {
				return true, without(s, in.id)
			}
			if !allowed(s, in, permits) {
				return false, s
			}
			return true, append(s[:len(s):len(s)], held{in.id, in.mode, in.who})
		},
		Equal: func(a, b any) bool { return sameHolds(a.([]held), b.([]held)) },
		DescribeOperation: func(input, _ any) string {
			in := input.(step)
			return fmt.Sprintf("%s %s %s", in.who, [...]string{"acquires", "releases", "expires"}[in.kind], in.mode)
		},
	}
}

// allowed is the rule of every recipe: exclusive excludes all, shared excludes
// exclusive, leases are counted; nobody excludes itself.
func allowed(s []held, in step, permits int) bool {
	leases := 0
	for _, h := range s {
		if h.mode == Lease {
			leases++
		} else if h.who != in.who && (h.mode == Exclusive || in.mode == Exclusive) {
			return false
		}
	}
	return in.mode != Lease || leases < permits
}

func without(s []held, id int) []held {
	left := make([]held, 0, len(s))
	for _, h := range s {
		if h.id != id {
			left = append(left, h)
		}
	}
	return left
}

// sameHolds compares as sets: the order of entering does not matter.
func sameHolds(a, b []held) bool {
	if len(a) != len(b) {
		return false
	}
	for _, h := range a {
		found := false
		for _, o := range b {
			found = found || o == h
		}
		if !found {
			return false
		}
	}
	return true
}
