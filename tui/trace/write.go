package trace

import (
	"time"

	"zklab/internal/journal"
)

// Write is one write to the fenced resource.
type Write struct {
	At     time.Time
	Who    string
	Token  int64
	OK     bool
	Text   string
	Stale  bool   // a larger token had written before
	Holder string // who held by its own belief with the largest token
	// With this one, of all:
	Accepted, Refused int
	Largest           int64 // token accepted
}

func (t *Tracer) write(e *journal.Event) {
	if e.Type != journal.Write {
		return
	}
	w := Write{At: e.At, Who: e.Who, Token: e.Token, OK: e.OK, Text: e.Text}
	if n := len(t.writes); n > 0 {
		last := t.writes[n-1]
		w.Accepted, w.Refused, w.Largest = last.Accepted, last.Refused, last.Largest
	}
	w.Stale = w.Largest > e.Token
	if w.OK {
		w.Accepted++
		w.Largest = max(w.Largest, w.Token)
	} else {
		w.Refused++
	}
	var largest int64
	for who, p := range t.people {
		if p.holds && p.token > largest {
			largest, w.Holder = p.token, who
		}
	}
	t.writes = keep(t, t.writes, w, MaxWrites, func(w Write) time.Time { return w.At }, &t.lost.Writes)
}
