package tui

import (
	"fmt"
	"slices"
	"time"

	"zklab/internal/attach"
	"zklab/tui/view"
)

// member tells one contender from all others: a parent that was made again starts its
// numbers again.
type member struct {
	node  string
	token int64
}

func memberOf(p attach.Place) member { return member{p.Node, p.Token} }

// tenure is who holds alone, and since which look.
type tenure struct {
	who   member
	since time.Time
	begun bool // it was seen to begin; else it may have held long before
}

// next is the tenure after one look more.
func (t tenure) next(r attach.Reading) tenure {
	hold := r.Holders()
	switch {
	case len(hold) != 1:
		return tenure{since: r.At, begun: true}
	case t.who == memberOf(hold[0]):
		return t
	}
	return tenure{who: memberOf(hold[0]), since: r.At, begun: !t.since.IsZero()}
}

// told says how long the holder of a reading has been the same: that a contender has
// long been in line does not tell how long it holds.
func (t tenure) told(r attach.Reading) string {
	hold := r.Holders()
	if len(hold) != 1 || memberOf(hold[0]) != t.who || r.At.Before(t.since) {
		return ""
	}
	least := ""
	if !t.begun {
		least = "at least "
	}
	return "same holder for " + least + view.Age(r.At.Sub(t.since))
}

// talk is what the servers told last of a contender's connection.
type talk struct {
	host    string
	timeout time.Duration
}

// heard is what is known of each contender's connection after one look more.
func heard(before map[member]talk, r attach.Reading) map[member]talk {
	now := make(map[member]talk, len(r.Places))
	for _, p := range r.Places {
		t := talk{p.Host, p.Timeout}
		if p.Host == "" {
			t = before[memberOf(p)]
		}
		now[memberOf(p)] = t
	}
	return now
}

// maxGone is of how many contenders it is told that their connections have gone.
const maxGone = 2

// gone tells of the contenders whose connection the servers do not list any more: a
// node stays as long as its session. A look at which a server did not answer tells
// nothing of connections.
func gone(known map[member]talk, before, r attach.Reading) []string {
	for _, note := range r.Notes {
		if !slices.Contains(before.Notes, note) {
			return nil
		}
	}
	var out []string
	for _, p := range r.Places {
		was := known[memberOf(p)]
		if p.Host != "" || was.host == "" || len(out) == maxGone {
			continue
		}
		does := "waits"
		if p.Holds {
			does = "holds"
		}
		out = append(out, fmt.Sprintf("%s %s without a connection (it came from %s): unless it comes back, its session ends %s after it was last heard",
			p.Node, does, was.host, was.timeout))
	}
	return out
}
