package lockproof

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Never is the position of something that did not happen within the log.
const Never = math.MaxInt

// Hold is one stretch in which a contestant believed that it held the lock.
// Positions are indexes into the log.
type Hold struct {
	Who     string
	Mode    Mode
	Node    string
	Seq     int64 // the place in the queue; -1 when the name has none
	Token   int64
	Session int64

	Asked   int // when it asked
	Entered int // when it was granted
	Checked int // when the holder then had asked the server which sessions live; Entered if it did not
	Left    int // when it stopped believing; Never if it did not
	Freed   int // when its release had returned; Never if it did not
	Lived   int // the last position at which its session was known to live
	Dead    int // the first position at which its session was known to be dead; Never if it was not
}

// Holds folds the log into the holds of every contestant, in grant order.
// It returns an error when the log itself makes no sense: a contestant that
// leaves what it did not enter.
func Holds(events []Event) ([]Hold, error) {
	var holds []Hold
	asked := map[string]int{}
	for i, e := range events {
		key := e.Who + "\t" + string(e.Mode)
		switch e.Verb {
		case Ask:
			asked[key] = i
		case Enter:
			at, ok := asked[key]
			if !ok {
				at = i
			}
			holds = append(holds, Hold{Who: e.Who, Mode: e.Mode, Node: e.Node, Seq: Sequence(e.Node), Token: e.Token,
				Session: e.Session, Asked: at, Entered: i, Checked: i, Left: Never, Freed: Never, Lived: i, Dead: Never})
		case Leave, Left:
			h := openHold(holds, e)
			if h == nil {
				return nil, fmt.Errorf("log line %d: %s writes %s %s without having entered", i+1, e.Who, e.Verb, e.Mode)
			}
			if e.Verb == Leave {
				h.Left = i
			} else {
				h.Freed = i
			}
		}
	}
	markDeaths(events, holds)
	return holds, nil
}

// WithoutStillborn leaves out the holds whose session was dead already when
// their holder asked the server, right after it entered. Where a test ends
// sessions at the server at any moment, and not by their timeout, the client
// may hear of a grant that came before the end only after it, and somebody else
// may be noted first. No clock can prevent that; the fence does.
func WithoutStillborn(holds []Hold) []Hold {
	return slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool { return h.Dead <= h.Checked })
}

// openHold finds the innermost hold that a Leave or Left line speaks of.
func openHold(holds []Hold, e Event) *Hold {
	for i := len(holds) - 1; i >= 0; i-- {
		h := &holds[i]
		if h.Who != e.Who || h.Mode != e.Mode || (e.Node != "" && e.Node != h.Node) {
			continue
		}
		if e.Verb == Leave && h.Left == Never || e.Verb == Left && h.Left != Never && h.Freed == Never {
			return h
		}
	}
	return nil
}

// markDeaths reads the lists of living sessions. A list speaks only of the
// sessions that held before the writer's previous line, because the server was
// asked some time between the two.
func markDeaths(events []Event, holds []Hold) {
	previous := map[string]int{}
	for i, e := range events {
		before, spoke := previous[e.Who]
		previous[e.Who] = i
		if e.Verb != Alive || !spoke {
			continue
		}
		alive := sessionsIn(e.Text)
		for j := range holds {
			h := &holds[j]
			if h.Session == 0 || h.Entered > before {
				continue
			}
			if h.Who == e.Who && h.Checked == h.Entered {
				h.Checked = i
			}
			switch {
			case slices.Contains(alive, h.Session):
				h.Lived = max(h.Lived, before)
				if h.Dead <= before { // it was asked for after the list that lacked it: that one was wrong
					h.Dead = Never
				}
			case h.Dead == Never:
				h.Dead = i
			}
		}
	}
}

// SessionList is the text of an Alive event.
func SessionList(ids []int64) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = "0x" + strconv.FormatUint(uint64(id), 16)
	}
	return strings.Join(parts, " ")
}

func sessionsIn(text string) []int64 {
	var ids []int64
	for _, f := range strings.Fields(text) {
		if id, err := parseSession(f); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// Sequence is the number that ZooKeeper appended to a name, or -1. A negative
// number, which a counter past 2^31 gives, is no place in a queue.
func Sequence(name string) int64 {
	const digits = 10
	if len(name) < digits {
		return -1
	}
	rest, last := name[:len(name)-digits], name[len(name)-digits:]
	n, err := strconv.ParseUint(last, 10, 31)
	if err != nil || strings.HasSuffix(rest, "--") {
		return -1
	}
	return int64(n)
}
