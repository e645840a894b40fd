package scenario

import (
	"slices"
	"time"

	"zklab/internal/journal"
	"zklab/internal/recipe"
)

// held is who believed to hold what, and when. Observers write side by side, so on
// a busy machine word of a fact may come after word of a later one: all is judged by
// when it was observed. It grows by an entry for each hold and for each end of one;
// a script, which has no loop, bounds that.
type held struct {
	holds []hold
	open  map[string]int       // who's hold that it still believes in
	ends  map[string][]givenUp // what ended holds of who, beside its own belief
}

// hold is a stretch of time in which somebody believed to hold.
type hold struct {
	who, lock, node string
	token           int64
	from, to        time.Time // to is zero while it believes so
}

// givenUp is a moment at which somebody's hold was over before it said so: it asked
// the server to delete its node or to end its session, or its process was gone. Word
// of that comes when it is done, and the next one may hold already by then.
type givenUp struct {
	at   time.Time
	node string // "": whatever it held
}

func newHeld() held { return held{open: map[string]int{}, ends: map[string][]givenUp{}} }

func (h *held) take(e *journal.Event) {
	switch {
	case e.Type == journal.Belief:
		h.believed(e)
	case e.Type == journal.Request && e.Op == "delete":
		h.ends[e.Who] = append(h.ends[e.Who], givenUp{e.At, e.Node})
	case e.Type == journal.CloseSession, e.Type == journal.Exited, e.Type == journal.Signal && e.Op == "SIGKILL":
		h.ends[e.Who] = append(h.ends[e.Who], givenUp{at: e.At})
	}
}

func (h *held) believed(e *journal.Event) {
	i, open := h.open[e.Who]
	if open && (e.Belief != journal.Holds || e.Node != h.holds[i].node || e.Token != h.holds[i].token) {
		h.holds[i].to = e.At
		delete(h.open, e.Who)
		open = false
	}
	if e.Belief == journal.Holds && !open {
		h.open[e.Who] = len(h.holds)
		h.holds = append(h.holds, hold{who: e.Who, lock: e.Lock, node: e.Node, token: e.Token, from: e.At})
	}
}

// inOrder lists all holds by when they began, each with its true end.
func (h *held) inOrder() []hold {
	all := slices.Clone(h.holds)
	for i := range all {
		one := &all[i]
		for _, end := range h.ends[one.who] {
			ofThis := end.node == "" || one.node == "" || end.node == one.node
			if ofThis && !end.at.Before(one.from) && (one.to.IsZero() || end.at.Before(one.to)) {
				one.to = end.at
			}
		}
	}
	slices.SortStableFunc(all, func(a, b hold) int { return a.from.Compare(b.from) })
	return all
}

// overlaps counts how often one began to hold while another one did that excludes
// it, and says who with whom the last time.
func (h *held) overlaps(exclusive func(a, b string) bool) (n int, last string) {
	var lasting []hold
	for _, one := range h.inOrder() {
		lasting = slices.DeleteFunc(lasting, func(o hold) bool { return !o.to.IsZero() && !o.to.After(one.from) })
		for _, other := range lasting {
			if other.who != one.who && other.lock == one.lock && exclusive(one.who, other.who) {
				n++
				last = other.who + " with " + one.who
			}
		}
		lasting = append(lasting, one)
	}
	return n, last
}

// grants lists the last two grants, older first. A hold that goes on after a doubt
// is no new one.
func (h *held) grants() []hold {
	var last []hold
	for _, one := range h.inOrder() {
		if n := len(last); n > 0 && last[n-1].who == one.who && last[n-1].token == one.token {
			continue
		}
		if len(last) == 2 {
			last = last[1:]
		}
		last = append(last, one)
	}
	return last
}

// overlaps counts those that should never have held together, by their recipes.
func (r *Runner) overlaps(s journal.State) (n int, last string) {
	recipes := make(map[string]string, len(s.Contestants))
	for _, c := range s.Contestants {
		recipes[c.Who] = c.Recipe
	}
	return r.watch.held.overlaps(func(a, b string) bool { return exclude(recipes[a], recipes[b]) })
}

// exclude reports whether contestants of these recipes may never hold together.
func exclude(a, b string) bool {
	switch recipe.KindOf(a) {
	case recipe.Semaphore:
		return a == "semaphore-mutex"
	case recipe.ReadWrite:
		return a != "read" || b != "read"
	}
	return true
}
