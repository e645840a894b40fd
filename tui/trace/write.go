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
}

func (t *Tracer) write(e *journal.Event) {
	if e.Type != journal.Write {
		return
	}
	w := Write{At: e.At, Who: e.Who, Token: e.Token, OK: e.OK, Text: e.Text}
	for _, old := range t.writes {
		if old.OK && old.Token > e.Token {
			w.Stale = true
		}
	}
	var largest int64
	for who, p := range t.people {
		if p.holds && p.token > largest {
			largest, w.Holder = p.token, who
		}
	}
	t.writes = keep(t.writes, w, MaxWrites)
}
