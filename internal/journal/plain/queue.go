package plain

import (
	"fmt"
	"path"
	"slices"

	"zklab/internal/journal"
)

// queue says what a reading of a queue changed: who left, and who holds now.
// Who joins has said so itself.
func (p *Printer) queue(e *journal.Event, before journal.State) []string {
	now, _ := p.now.Lock(e.Lock)
	was, _ := before.Lock(e.Lock)
	var texts []string
	there := append(slices.Clip(now.Queue), now.Beside...)
	for _, old := range append(slices.Clip(was.Queue), was.Beside...) {
		if slices.ContainsFunc(there, func(n journal.Place) bool { return n.Node.Czxid == old.Node.Czxid }) {
			continue
		}
		texts = append(texts, fmt.Sprintf("deleted %s%s", Node(path.Join(e.Lock, old.Node.Name)), whose(old)))
	}
	if !slices.Equal(now.Holders, was.Holders) {
		texts = append(texts, holders(now))
	}
	for _, n := range now.Foreign {
		if !slices.ContainsFunc(was.Foreign, func(o journal.Node) bool { return o.Name == n.Name }) {
			texts = append(texts, fmt.Sprintf("%s is a foreign child: it takes no part in the lock", n.Name))
		}
	}
	return texts
}

func whose(p journal.Place) string {
	if p.Who == "" {
		return ""
	}
	return " (" + p.Who + ")"
}

func holders(l journal.LockState) string {
	var who []string
	for _, p := range l.Queue {
		if p.Holds {
			who = append(who, fmt.Sprintf("%s%s, token 0x%x", Node(path.Join(l.Path, p.Node.Name)), whose(p), p.Node.Czxid))
		}
	}
	switch len(who) {
	case 0:
		return l.Path + ": nobody holds it"
	case 1:
		return fmt.Sprintf("holds now: %s; %d in line", who[0], len(l.Queue))
	}
	return fmt.Sprintf("hold now: %s; %d in line", list(who), len(l.Queue))
}

// counters says, for each release that the server's counters now explain, how
// many watches it fired.
func (p *Printer) counters(e *journal.Event) []string {
	var texts []string
	for _, l := range p.now.Locks {
		for _, w := range l.Wakes {
			if w.Until.After(p.counted) {
				texts = append(texts, release(w))
			}
		}
	}
	p.counted = e.At
	return texts
}

func release(w journal.Wake) string {
	text := fmt.Sprintf("release of %s: ", Node(w.Node))
	if w.Server < 0 {
		text += fmt.Sprintf("%s fired by the wire; the server's counters cannot be told apart", plural(w.Events, "watch", "watches"))
	} else {
		text += plural(int(w.Server), "watch", "watches") + " fired, by the server's counters"
	}
	if len(w.Clients) > 0 {
		text += " -> " + list(w.Clients)
	}
	return text
}
