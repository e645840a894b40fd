package layout

// BigTimelinePage is TimelinePage for a projector: one outage, spread, and what
// followed it.
func BigTimelinePage(w, h, steps int) Timeline {
	t := Timeline{Frame: Around(w, h, steps)}
	rest := t.Body
	if rest.H >= 20 {
		rest.top(1)
	}
	t.Outages = []Rect{rest.top(min(15, rest.H))}
	t.Facts = rest
	return t
}

// Timeline is the page of what follows a kill -9, a SIGSTOP, and a network's end.
type Timeline struct {
	Frame
	Outages []Rect // one for each that was asked for; empty where there is no room
	Facts   Rect
	Events  Rect // tall screens only
}

// Rows of the timeline's parts.
const (
	outageRows  = 8 // a title, five lanes and a scale of two
	barelyRows  = 6 // the same without the scale
	inviteRows  = 2 // a title, and which key would make one
	factRows    = 4
	threeFrom   = 24 // three outages from so many rows of a body, two from twoFrom
	twoFrom     = 12
	gapsFrom    = 26
	eventsAbove = 14
)

// TimelineHolds is how many outages the timeline page has room for.
func TimelineHolds(h, steps int) int {
	switch rows := Around(0, h, steps).Body.H; {
	case rows < twoFrom:
		return 1
	case rows < threeFrom:
		return 2
	}
	return 3
}

// TimelinePage lays out the timeline page: for each outage, whether there was one.
// What there was has the room; where there was none yet, two rows say so, if they are
// left. All have the same scale: on a low screen only the last one shows it.
func TimelinePage(w, h, steps int, was []bool) Timeline {
	t := Timeline{Frame: Around(w, h, steps)}
	rest := t.Body
	gap := 0
	if rest.H >= gapsFrom {
		gap = 1
	}
	for _, n := range timelineRows(rest.H, gap, was) {
		if n > 0 {
			rest.top(gap)
		}
		t.Outages = append(t.Outages, rest.top(n))
	}
	rest.top(gap)
	if rest.H >= eventsAbove {
		t.Events = rest.bottom(rest.H - 9)
	}
	t.Facts = rest
	return t
}

// timelineRows is how many rows each outage gets of so many, 0 for none.
func timelineRows(rows, gap int, was []bool) []int {
	out := make([]int, len(was))
	n, last := 0, 0
	for i, there := range was {
		if there {
			n, last = n+1, i
		}
	}
	if n == 0 {
		for i := range out {
			out[i] = min(outageRows, rows/len(was))
		}
		return out
	}
	each := outageRows
	if n*(each+gap)+factRows-1 > rows {
		each = barelyRows
	}
	left := rows - factRows
	for i, there := range was {
		switch {
		case there && i == last:
			out[i] = outageRows
		case there:
			out[i] = each
		}
		left -= out[i] + gap
	}
	for i, there := range was {
		if !there && left >= inviteRows+gap {
			out[i] = inviteRows
			left -= inviteRows + gap
		}
	}
	return out
}
