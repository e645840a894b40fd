package lockproof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Rule names what was broken.
type Rule string

// The rules.
const (
	Overlap      Rule = "overlap"       // two holds at once
	Order        Rule = "order"         // a contender was overtaken
	Tokens       Rule = "tokens"        // a fencing token did not increase
	Counter      Rule = "counter"       // an increment was lost, or refused without cause
	Linear       Rule = "linearizable"  // no order of the operations explains the answers
	Leftover     Rule = "leftover"      // a znode, a watch or a goroutine stayed behind
	Stuck        Rule = "stuck"         // an operation did not return, or nobody got a free lock
	Misinformed  Rule = "misinformed"   // a holder was not told that its hold ended, or told so wrongly
	WrongVerdict Rule = "wrong-verdict" // an operation reported something else than what happened
)

// Violation is one broken rule, in words that say what was seen.
type Violation struct {
	Rule Rule
	Text string
}

func (v Violation) String() string { return string(v.Rule) + ": " + v.Text }

func violation(r Rule, format string, args ...any) Violation {
	return Violation{Rule: r, Text: fmt.Sprintf(format, args...)}
}

// Report joins violations for a test's message; at most ten are spelled out.
func Report(vs []Violation) string {
	const most = 10
	var b strings.Builder
	for i, v := range vs {
		if i == most {
			fmt.Fprintf(&b, "… and %d more\n", len(vs)-most)
			break
		}
		fmt.Fprintln(&b, v)
	}
	return b.String()
}

// excludes says whether two holds of different contestants exclude each other
// outright. Leases do not: they are counted.
func (h Hold) excludes(o Hold) bool {
	if h.Who == o.Who || h.Mode == Lease || o.Mode == Lease {
		return false
	}
	return h.Mode == Exclusive || o.Mode == Exclusive
}

// endedBefore says whether h no longer counted when o was granted: it had been
// left, or its session was dead by what o then learned from the server.
func (h Hold) endedBefore(o Hold) bool {
	return h.Left < o.Entered || h.Dead <= o.Checked
}

func (h Hold) String() string {
	return fmt.Sprintf("%s (%s, node %s, line %d)", h.Who, h.Mode, h.Node, h.Entered+1)
}

// CheckOverlap requires that nobody entered while another hold that excludes
// it was still believed in and its session was alive, and that never more than
// permits leases were out.
func CheckOverlap(holds []Hold, permits int) []Violation {
	var vs []Violation
	for i, b := range holds {
		out := 0
		for _, a := range holds[:i] {
			if a.endedBefore(b) {
				continue
			}
			if a.excludes(b) {
				vs = append(vs, violation(Overlap, "%s entered while %s held", b, a))
			}
			if a.Mode == Lease && b.Mode == Lease {
				out++
			}
		}
		if b.Mode == Lease && out >= permits {
			vs = append(vs, violation(Overlap, "%s got a lease while %d of %d were out", b, out, permits))
		}
	}
	return vs
}

// CheckHonest is stricter than CheckOverlap: a holder has to stop believing
// before anybody else comes in, although its session had ended by then. Only
// those named in except are excused: processes that were killed or stopped
// cannot know.
func CheckHonest(holds []Hold, except ...string) []Violation {
	var vs []Violation
	for i, b := range holds {
		for _, a := range holds[:i] {
			excused := slices.Contains(except, a.Who)
			if a.excludes(b) && !excused && a.Left > b.Entered && a.Dead <= b.Checked {
				vs = append(vs, violation(Misinformed, "%s still believed when %s entered, after its session had ended", a, b))
			}
		}
	}
	return vs
}

// CheckOrder requires that grants follow the queue: of two holds that exclude
// each other the one with the smaller sequence number entered first, and a
// lease was granted only when fewer than permits of those before it were still
// waiting or out. Holds whose node carries no sequence number are left out.
// All nodes must have had one parent, which was not made anew in between.
func CheckOrder(holds []Hold, permits int) []Violation {
	var vs []Violation
	for i, b := range holds {
		if b.Seq < 0 {
			continue
		}
		before := 0
		for j, a := range holds {
			if i == j || a.Seq < 0 || a.Seq >= b.Seq {
				continue
			}
			if a.excludes(b) && a.Entered > b.Entered {
				vs = append(vs, violation(Order, "%s overtook %s", b, a))
			}
			if a.Mode == Lease && b.Mode == Lease && !a.endedBefore(b) {
				before++
			}
		}
		if b.Mode == Lease && before >= permits {
			vs = append(vs, violation(Order, "%s got a lease before %d of those ahead of it had given theirs back (permits %d)", b, before, permits))
		}
	}
	return vs
}

// CheckTokens requires that of two grants that exclude each other the later
// one has the larger token. A grant within a hold of the same contestant (a
// nested acquire, a downgrade) keeps its token. Leases have no order.
func CheckTokens(holds []Hold) []Violation {
	var vs []Violation
	for i, b := range holds {
		if b.Mode == Lease {
			continue
		}
		for _, a := range holds[:i] {
			nested := a.Who == b.Who && b.Entered < a.Left
			if a.Mode == Lease || nested || a.Mode == Shared && b.Mode == Shared {
				continue
			}
			if a.Token >= b.Token {
				vs = append(vs, violation(Tokens, "%s has token 0x%x, not larger than 0x%x of the earlier %s", b, b.Token, a.Token, a))
				break // one is enough to name the grant
			}
		}
		if b.Token <= 0 {
			vs = append(vs, violation(Tokens, "%s has no token", b))
		}
	}
	return vs
}

// CheckCounter requires that the resource ends at the number of increments it
// took, and that it refused only holders whose session had ended or who had
// already left: with a lock that excludes, nobody else is refused.
func CheckCounter(events []Event, holds []Hold, final int64) []Violation {
	var vs []Violation
	var taken int64
	for i, e := range events {
		if e.Verb != Wrote {
			continue
		}
		if e.Text != Refused {
			taken++
			continue
		}
		k := slices.IndexFunc(holds, func(h Hold) bool {
			return h.Who == e.Who && h.Token == e.Token && h.Entered < i
		})
		if k < 0 || holds[k].Dead == Never && i < holds[k].Left {
			vs = append(vs, violation(Counter, "the resource refused %s (token 0x%x) at line %d although its session lived", e.Who, e.Token, i+1))
		}
	}
	if taken != final {
		vs = append(vs, violation(Counter, "%d increments were taken, the counter says %d", taken, final))
	}
	return vs
}

// CheckMarks turns what the contestants themselves saw into violations.
func CheckMarks(events []Event) []Violation {
	var vs []Violation
	for i, e := range events {
		if e.Verb == Saw {
			vs = append(vs, violation(Overlap, "%s saw %s inside (line %d)", e.Who, e.Text, i+1))
		}
	}
	return vs
}

// CheckLeftovers compares the children of a lock directory with those that
// belong there.
func CheckLeftovers(path string, children, expected []string) []Violation {
	var vs []Violation
	for _, c := range children {
		if !slices.Contains(expected, c) {
			vs = append(vs, violation(Leftover, "%s/%s is still there", path, c))
		}
	}
	for _, e := range expected {
		if !slices.Contains(children, e) {
			vs = append(vs, violation(Leftover, "%s/%s, which belongs to somebody else, is gone", path, e))
		}
	}
	return vs
}

// Rules lists the rules broken by vs, each once, sorted.
func Rules(vs []Violation) []Rule {
	var rules []Rule
	for _, v := range vs {
		if !slices.Contains(rules, v.Rule) {
			rules = append(rules, v.Rule)
		}
	}
	slices.SortFunc(rules, func(a, b Rule) int { return cmp.Compare(a, b) })
	return rules
}
