package lock

import (
	"fmt"
	"path"
	"strings"
	"time"

	"zklab/internal/journal"
	"zklab/internal/locktest"
)

// oneEach requires that a client has created no more leases than it was asked for.
func (p pool) oneEach(m *locktest.Member) {
	p.t.Helper()
	made := 0
	for _, c := range m.Creates() {
		if c.Node != "" && strings.Contains(c.Node, "/leases/") {
			made++
		}
	}
	w := m.Lock.(*worker)
	w.mu.Lock()
	calls := w.calls
	w.mu.Unlock()
	if made > calls {
		says := "Only one of them can be returned; the others are out, and nobody has them."
		if p.has(m) <= calls {
			says = "It has deleted the one before each time; but its own delete and its own create change the list as well, and wake whoever watches that: itself, for nothing."
		}
		p.Fail(locktest.Diagnosis{Code: "TWO-LEASES",
			Says:  fmt.Sprintf("%s has created more than one lease for one Acquire. %s", m.Name, says),
			Steps: p.steps(locktest.Both(locktest.By(m.Name), locktest.Both(leaseSteps, untilEntered())))})
	}
}

// untilEntered picks what comes before a client has entered: later its watch tells of
// what others do, or does not yet.
func untilEntered() locktest.Pick {
	entered := false
	return func(s locktest.Seen) bool {
		entered = entered || locktest.Doing("entered")(s)
		return !entered
	}
}

// has counts the leases that a client has at the server.
func (p pool) has(m *locktest.Member) int {
	p.t.Helper()
	n := 0
	for _, name := range p.in("leases") {
		if p.Owner(p.Path()+"/leases/"+name) == m.Name {
			n++
		}
	}
	return n
}

// mustGet requires that a client gets its lease; what says what holds it up if not.
func (p pool) mustGet(m *locktest.Member, whatIf func() locktest.Diagnosis) {
	p.t.Helper()
	p.Until(func() bool { return m.Ended() || m.Polls() })
	p.oneEach(m)
	if !m.Ended() {
		p.Fail(whatIf())
	}
	if m.Err() != nil {
		p.Fail(locktest.Diagnosis{Code: locktest.CodeUnexpected,
			Says:  fmt.Sprintf("Acquire of %s returned an error although nothing was wrong: %q.", m.Name, m.Err()),
			Steps: p.steps(locktest.By(m.Name))})
	}
	w := m.Lock.(*worker)
	p.isOneOfThem(m, w.lease(len(w.leases)-1))
	p.countedLast(m)
	p.doorIsFree(m)
}

// isOneOfThem requires that what Acquire has returned is a lease.
func (p pool) isOneOfThem(m *locktest.Member, lease string) {
	p.t.Helper()
	says, name := "", path.Base(lease)
	switch there := strings.HasPrefix(lease, "/") && p.exists(lease); {
	case there && path.Dir(lease) != p.Path()+"/leases":
		says = fmt.Sprintf("%s has created its lease, %q, beside the folder of leases and not in it: nobody counts it there.", m.Name, name)
	case !there || lease == p.Path()+"/leases":
		says = fmt.Sprintf("Acquire of %s returned a path that ends in %q, and there is no such node among the leases. It must return the full path that Create gave it.", m.Name, name)
	case !isALease(name):
		says = fmt.Sprintf("%s has created %q among the leases. That is no lease's name, which is \"lease-\" and the ten digits that the server appends: nobody counts it, not even %s.", m.Name, name, m.Name)
	default:
		return
	}
	p.Fail(locktest.Diagnosis{Code: "NOT-A-LEASE", Says: says,
		Steps: p.Steps(m.Lock.(*worker).since(), locktest.Both(locktest.By(m.Name), func(s locktest.Seen) bool {
			return changes(s) && !strings.HasPrefix(s.Node, p.Path()+"/locks/")
		}))})
}

// countedLast requires that a client has not counted before it created its lease, and
// gone in by that.
func (p pool) countedLast(m *locktest.Member) {
	p.t.Helper()
	var created, before, after bool
	for _, s := range p.Since(m.Lock.(*worker).since()) {
		switch {
		case s.Who != m.Name || s.Type != journal.Reply || s.Err != "":
		case strings.HasPrefix(s.Node, p.Path()+"/leases/") && strings.HasPrefix(s.Op, "create"):
			created = true
		case s.Node == p.Path()+"/leases" && strings.HasPrefix(s.Op, "getChildren"):
			before, after = before || !created, after || created
		}
	}
	if !created || !before || after {
		return
	}
	p.Fail(locktest.Diagnosis{Code: "COUNTS-FIRST",
		Says: fmt.Sprintf("%s has counted first, and created its lease by what it had seen. The door keeps others out only as long as %s's session lives: if %s sleeps in between until that has ended, the next one counts the same free lease, "+
			"and when %s wakes up both have it. Create first, then count: then each sees the other's.", m.Name, m.Name, m.Name, m.Name),
		Steps: p.Steps(m.Lock.(*worker).since(), locktest.Both(locktest.By(m.Name), locktest.Doing("create", "children", "childrenW", "delete", "entered")))})
}

// doorIsFree requires that a client that wants nothing any more has left the line.
func (p pool) doorIsFree(m *locktest.Member) {
	p.t.Helper()
	at := func() string {
		for _, name := range p.in("locks") {
			if p.Owner(p.Path()+"/locks/"+name) == m.Name {
				return name
			}
		}
		return ""
	}
	if p.Until(func() bool { return at() == "" }) {
		return
	}
	p.Fail(locktest.Diagnosis{Code: "KEEPS-THE-DOOR",
		Says: fmt.Sprintf("Acquire of %s has returned, and %s still stands in the door: nobody else can even ask for a lease. "+
			"The door is held while one looks for a lease, not while one has it.", m.Name, m.Name),
		Steps: append(p.Steps(time.Time{}, locktest.Both(locktest.By(m.Name), changes)),
			locktest.Step{Who: m.Name, Text: "Acquire returned", Effect: at() + " still there"})})
}

// mustWait requires that a client waits: all leases are out.
func (p pool) mustWait(m *locktest.Member, why string) {
	p.t.Helper()
	if m.Ended() && m.Err() == nil {
		if elsewhere := p.listed(m); elsewhere != "" {
			why = fmt.Sprintf("It has counted in %s, and the leases are in the folder \"leases\" below that.", elsewhere)
		}
		p.Fail(locktest.Diagnosis{Code: "OVERSUBSCRIBED",
			Says:  fmt.Sprintf("There are %d leases, they were out, and %s got a third one. %s", permits, m.Name, why),
			Steps: p.steps(changes)})
	}
}

// listed names a folder that a client has listed, if it has listed that and not the leases.
func (p pool) listed(m *locktest.Member) (elsewhere string) {
	for _, s := range p.Since(m.Lock.(*worker).since()) {
		switch {
		case s.Who != m.Name || s.Type != journal.Reply || !strings.HasPrefix(s.Op, "getChildren"):
		case s.Node == p.Path()+"/leases":
			return ""
		case s.Node == p.Path():
			elsewhere = "the pool's own path"
		}
	}
	return elsewhere
}

// giveBack returns a client's lease, and requires that its node goes.
func (p pool) giveBack(m *locktest.Member) {
	p.t.Helper()
	lease := m.Lock.(*worker).lease(0)
	call := m.Do("Return", m.Lock.Release)
	p.MustReturn(m.Client, "Return", call)
	if p.exists(lease) {
		p.Fail(locktest.Diagnosis{Code: "LEASE-LEAK",
			Says: fmt.Sprintf("%s returned its lease, and the lease's node is still there: one of %d leases is lost until %s's session ends.", m.Name, permits, m.Name),
			Steps: append(p.steps(locktest.Both(locktest.By(m.Name), changes)),
				locktest.Step{Who: m.Name, Text: "Return has returned", Effect: path.Base(lease) + " still there"})})
	}
}

// neverPromoted says why a client that is next sleeps although a lease is free.
func (p pool) neverPromoted(m *locktest.Member) func() locktest.Diagnosis {
	return func() locktest.Diagnosis {
		p.Flush()
		why := "It has no watch on the leases: nothing will wake it."
		for _, w := range m.Armed() {
			switch {
			case w.Node == p.Path()+"/leases" && w.Kind != journal.ChildWatch:
				why = "It watches the folder itself, and that does not change when a lease goes: what changes is the list of its children."
			case w.Node == p.Path()+"/leases":
				why = "It was woken, counted, and sleeps again: the leases of clients that wait count as well. " +
					"Only one may wait with a lease, the one who holds the door, until it has what it wants."
			case strings.HasPrefix(w.Node, p.Path()+"/leases/"):
				why = fmt.Sprintf("It watches %s, which is still out. Any of the leases may be the one that is returned.", path.Base(w.Node))
			}
		}
		return locktest.Diagnosis{Code: "NEVER-PROMOTED",
			Says:  fmt.Sprintf("A lease was returned, so one is free, and %s, who is next, still waits. %s", m.Name, why),
			Steps: p.steps(locktest.Any(locktest.Doing("create", "delete"), locktest.Both(locktest.By(m.Name), leaseSteps)))}
	}
}

// done requires that nothing is left.
func (p pool) done() {
	p.t.Helper()
	for _, name := range p.in("leases") {
		if isALease(name) {
			p.Fail(locktest.Diagnosis{Code: "LEASE-LEAK",
				Says:  fmt.Sprintf("All have returned their leases, and %s is still there: one of %d leases is lost.", name, permits),
				Steps: p.steps(changes)})
		}
	}
}
