package scenario

import (
	"fmt"
	"slices"
	"time"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
	"zklab/internal/recipe"
)

// fact is something that is so or is not, by what the journal holds.
type fact struct {
	text  string // as written
	check func(r *Runner, s journal.State) finding
}

// finding is what a fact's check found.
type finding struct {
	ok      bool
	unknown bool   // no reading tells yet
	is      string // what was found, in words
}

// comparison is "N", "at most N", "at least N" or "few".
type comparison struct {
	how string
	n   int
}

// holds compares, where few are as many as that.
func (c comparison) holds(got, few int) bool {
	switch c.how {
	case "few":
		return got >= 0 && got <= few
	case "at most":
		return got >= 0 && got <= c.n
	case "at least":
		return got >= c.n
	}
	return got == c.n
}

func (w *words) comparison(few bool) (comparison, error) {
	c := comparison{}
	switch {
	case w.take("at", "most"):
		c.how = "at most"
	case w.take("at", "least"):
		c.how = "at least"
	case few && w.take("few"):
		return comparison{how: "few"}, nil
	}
	var err error
	c.n, err = w.number("the fact's number")
	return c, err
}

// parseFact reads a fact from the front of w.
func parseFact(w *words, numbered bool) (fact, error) {
	start := slices.Clone(w.list)
	f, err := parseFactWords(w, numbered)
	f.text = ""
	for i, word := range start[:len(start)-len(w.list)] {
		if i > 0 {
			f.text += " "
		}
		f.text += word
	}
	return f, err
}

func parseFactWords(w *words, numbered bool) (fact, error) {
	if w.empty() {
		return fact{}, w.wrong("the fact is missing")
	}
	if measure, known := measures[w.list[0]]; known {
		return parseMeasure(w, measure, numbered)
	}
	switch {
	case w.take("settled"):
		n, err := w.number("how many in line")
		if err != nil {
			return fact{}, err
		}
		at, err := w.at()
		return fact{check: func(r *Runner, s journal.State) finding { return settled(r, s, r.lock(at), n) }}, err
	case w.take("server"):
		return serverFact(w)
	case w.take("leader", "other", "than"):
		return otherLeads(w)
	case w.take("token", "larger"):
		return fact{check: tokenLarger}, nil
	case w.take("holder", "other", "than"):
		return holderFact(w, false)
	case w.take("holder"):
		return holderFact(w, true)
	}
	return aboutOne(w)
}

// parseMeasure reads what follows a fact's name: how it compares, and where.
func parseMeasure(w *words, m measure, numbered bool) (fact, error) {
	w.next()
	c := comparison{how: "at least"}
	if numbered {
		var err error
		if c, err = w.comparison(m.few != nil); err != nil {
			return fact{}, err
		}
	}
	at, err := w.at()
	return fact{check: func(r *Runner, s journal.State) finding {
		n, known, is := m.take(r, s, r.lock(at))
		few := 0
		if m.few != nil {
			few = m.few(r, s, r.lock(at))
		}
		return finding{ok: known && c.holds(n, few), unknown: !known, is: is}
	}}, err
}

// measure is a fact with a number, at one lock or at all.
type measure struct {
	take func(r *Runner, s journal.State, lock string) (n int, known bool, is string)
	few  func(r *Runner, s journal.State, lock string) int // what "few" means; nil: nothing
}

// everywhere is a measure that has no lock.
func everywhere(take func(*Runner, journal.State) (int, bool, string)) measure {
	return measure{take: func(r *Runner, s journal.State, _ string) (int, bool, string) { return take(r, s) }}
}

var measures = map[string]measure{
	"queue": {take: func(_ *Runner, s journal.State, lock string) (int, bool, string) {
		l, _ := s.Lock(lock)
		return len(l.Queue), true, fmt.Sprintf("%d in line", len(l.Queue))
	}},
	"holders": {take: func(_ *Runner, s journal.State, lock string) (int, bool, string) {
		l, _ := s.Lock(lock)
		return len(l.Holders), true, count(len(l.Holders), "holds", "hold") + " by the server"
	}},
	"believers": {take: func(_ *Runner, s journal.State, lock string) (int, bool, string) {
		b := s.HoldersBelieved(lock)
		return len(b), true, believing(b)
	}},
	"overlap": everywhere(func(r *Runner, s journal.State) (int, bool, string) {
		n, last := r.overlaps(s)
		if n == 0 {
			return 0, true, neverTogether(s)
		}
		return n, true, fmt.Sprintf("%s two believed at once that they hold, last %s", count(n, "time", "times"), last)
	}),
	"wakes":   {take: wakes, few: fewWakes},
	"fired":   {take: fired, few: fewFired},
	"packets": {take: packets},
	"rate":    everywhere(rate),
	"serving": everywhere(serving),
	"written": everywhere(func(_ *Runner, s journal.State) (int, bool, string) {
		n := 0
		for _, c := range s.Contestants {
			n += c.Writes
		}
		return n, true, count(n, "write", "writes") + " taken"
	}),
	"refused": everywhere(func(_ *Runner, s journal.State) (int, bool, string) {
		n := 0
		for _, c := range s.Contestants {
			n += c.Refused
		}
		return n, true, count(n, "write", "writes") + " refused"
	}),
}

// wakes is what the last release fired. A dead holder's end is a release too.
func wakes(_ *Runner, s journal.State, lock string) (int, bool, string) {
	l, _ := s.Lock(lock)
	if len(l.Wakes) == 0 {
		return 0, false, "no release yet"
	}
	w := l.Wakes[len(l.Wakes)-1]
	if w.Until.IsZero() {
		return 0, false, fmt.Sprintf("the server's counters do not tell yet for the release of %s (%d on the wire)", plain.Node(w.Node), w.Events)
	}
	if w.Server < 0 {
		n, why := -1, "something else fired watches too, or a server did not tell, so the servers' counters cannot say"
		if s.Counters.Shared {
			n, why = w.Events, "others use these servers too, so their counters cannot say"
		}
		return n, true, fmt.Sprintf("the release of %s fired %s by the wire (%s); %s",
			plain.Node(w.Node), count(w.Events, "watch", "watches"), few(w.Clients), why)
	}
	n := int(w.Server)
	return n, true, fmt.Sprintf("the release of %s fired %s by the server's counters, woke %d (%s)", plain.Node(w.Node), count(n, "watch", "watches"), len(w.Clients), few(w.Clients))
}

// settled reports whether n are in line and nothing is under way any more: the
// holder knows that it holds, each waiter has its watch and is in the server's list,
// and the counters were read after the last change. Then the next release can be
// counted exactly.
func settled(r *Runner, s journal.State, lock string, n int) finding {
	l, _ := s.Lock(lock)
	listed, holding := map[string]bool{}, map[string]bool{}
	for _, p := range l.Queue {
		listed[p.Who] = true
		holding[p.Who] = holding[p.Who] || p.Holds
	}
	line, unarmed, unlisted, unaware := 0, 0, 0, 0
	for _, c := range s.Contestants {
		if c.Lock != lock || c.Phase == journal.Killed || c.Phase == journal.Gone {
			continue
		}
		holds := holding[c.Who]
		waits := !holds && (c.Node != "" || c.Belief == journal.Waiting)
		switch {
		case holds:
			line++
			if c.Belief != journal.Holds {
				unaware++
			}
		case waits:
			line++
			if len(c.Watches) == 0 {
				unarmed++
			}
			if !listed[c.Who] && recipe.KindOf(c.Recipe) != recipe.Unfair { // its waiters have no node
				unlisted++
			}
		}
	}
	counted := s.Counters.At.After(l.Changed) && s.Counters.At.After(r.watch.lastFired)
	if k := len(l.Wakes); k > 0 && float64(l.Wakes[k-1].Events) < l.Wakes[k-1].Server {
		counted = false // some events are still on their way to their clients
	}
	is := fmt.Sprintf("%d in line, %d of them without a watch yet", line, unarmed)
	if unlisted > 0 {
		is += fmt.Sprintf("; %d not in the server's list yet", unlisted)
	}
	if unaware > 0 {
		is += "; the holder does not know yet"
	}
	if !counted {
		is += "; the server's counters not read since the last change"
	}
	return finding{ok: line == n && unarmed == 0 && unlisted == 0 && unaware == 0 && counted, is: is}
}

// tokenLarger compares the tokens of the last two grants.
func tokenLarger(r *Runner, _ journal.State) finding {
	last := r.watch.held.grants()
	if len(last) < 2 {
		return finding{unknown: true, is: count(len(last), "grant", "grants") + " so far"}
	}
	a, b := last[0], last[1]
	return finding{ok: b.token > a.token, is: fmt.Sprintf("%s got token 0x%x after %s had 0x%x", b.who, b.token, a.who, a.token)}
}

func holderFact(w *words, same bool) (fact, error) {
	subject, err := w.who()
	return fact{check: func(r *Runner, s journal.State) finding {
		name, err := subject.one(r)
		if err != nil {
			return finding{is: err.Error()}
		}
		l, _ := s.Lock(r.lock(subject.at))
		for _, p := range l.Queue {
			if p.Holds && p.Who != "" {
				return finding{ok: (p.Who == name) == same, is: fmt.Sprintf("%s holds by the server (%s)", p.Who, p.Node.Name)}
			}
		}
		return finding{is: "nobody holds by the server"}
	}}, err
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func few(who []string) string {
	if len(who) == 0 {
		return "nobody"
	}
	text := ""
	for i, name := range who {
		if i == 4 && len(who) > 5 {
			return fmt.Sprintf("%s and %d more", text, len(who)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

func secs(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }
