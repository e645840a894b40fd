// Package layout says where the parts of a page stand. Every function is a pure
// function of the size, so that it can be tested with pictures.
package layout

// The smallest screen that a page is drawn on.
const (
	MinWidth  = 60
	MinHeight = 16
)

// Fits says whether a screen is large enough for a page.
func Fits(w, h int) bool { return w >= MinWidth && h >= MinHeight }

// Rect is a part of the screen, in cells from the top left.
type Rect struct{ X, Y, W, H int }

// Empty says whether nothing can be drawn in r.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// top cuts n rows off the top of r.
func (r *Rect) top(n int) Rect {
	n = min(max(n, 0), r.H)
	cut := Rect{r.X, r.Y, r.W, n}
	r.Y += n
	r.H -= n
	return cut
}

// bottom cuts n rows off the bottom of r.
func (r *Rect) bottom(n int) Rect {
	n = min(max(n, 0), r.H)
	r.H -= n
	return Rect{r.X, r.Y + r.H, r.W, n}
}

// right cuts n columns off the right of r.
func (r *Rect) right(n int) Rect {
	n = min(max(n, 0), r.W)
	r.W -= n
	return Rect{r.X + r.W, r.Y, n, r.H}
}

// Frame is what every page has around its body.
type Frame struct {
	Header Rect // title line and rule
	Body   Rect
	Steps  Rect // narration of a scenario, when there is one
	Keys   Rect // rule and key line
}

// Around lays out a page of w by h. A narration of so many rows stands above the
// key line, or as many as there is room for.
func Around(w, h int, steps int) Frame {
	rest := Rect{0, 0, max(w, 0), max(h, 0)}
	var f Frame
	f.Header = rest.top(2)
	f.Keys = rest.bottom(2)
	f.Steps = rest.bottom(min(steps, stepRows(h)))
	f.Body = rest
	return f
}

// stepRows is how many rows a narration gets at most.
func stepRows(h int) int {
	switch {
	case h < 20:
		return 6
	case h < 36:
		return 8
	default:
		return 10
	}
}

// Queue is the queue page.
type Queue struct {
	Frame
	Info   Rect // one line about the lock
	Table  Rect // heading and contenders
	Lanes  Rect // who did what in the last half minute; tall screens only
	Events Rect
	Side   Rect // what the server says; wide screens only
}

// Widths from which the queue page has its extra parts.
const (
	sideFrom  = 120
	lanesFrom = 36
)

// QueuePage lays out the queue page. Its parts do not move when contestants
// come and go: only the size and the narration count.
func QueuePage(w, h, steps int) Queue {
	return queue(w, h, steps, w >= sideFrom, h >= lanesFrom)
}

// BigQueuePage is QueuePage for a projector: the queue and little else.
func BigQueuePage(w, h, steps int) Queue { return queue(w, h, steps, false, false) }

func queue(w, h, steps int, side, lanes bool) Queue {
	q := Queue{Frame: Around(w, h, steps)}
	rest := q.Body
	if side {
		q.Side = rest.right(w/3 + 1)
	}
	q.Info = rest.top(1)
	if h >= 20 {
		rest.top(1)
	}
	q.Events = rest.bottom(min(eventRows(h, steps), maxEvents(side || lanes)))
	if lanes {
		q.Lanes = rest.bottom(8)
	}
	q.Table = rest
	return q
}

// maxEvents bounds the event pane where little else is shown.
func maxEvents(full bool) int {
	if full {
		return 1 << 10
	}
	return 6
}

func eventRows(h int, steps int) int {
	switch {
	case h < 20 && steps > 0:
		return 2
	case h < 20:
		return 3
	case h < 30 && steps > 0:
		return max(8-steps, 2)
	case h < 30:
		return 6
	default:
		return h / 4
	}
}

// Herd is the page of two queues side by side.
type Herd struct {
	Frame
	Left, Middle, Right Rect
}

// HerdPage lays out the herd page.
func HerdPage(w, h int, steps int) Herd {
	p := Herd{Frame: Around(w, h, steps)}
	rest := p.Body
	p.Right = rest.right((rest.W - 1) / 2)
	p.Middle = rest.right(1)
	p.Left = rest
	return p
}

// Stack is a page whose parts stand one above the other.
type Stack struct {
	Frame
	Info   Rect // one line
	Main   Rect
	Foot   Rect // rule and lines below the main part
	Events Rect // empty on low screens
}

// BigStackPage is StackPage for a projector: without the events.
func BigStackPage(w, h int, steps int, foot int) Stack { return stack(w, h, steps, foot, false) }

// StackPage lays out a stack with a foot of n rows.
func StackPage(w, h int, steps int, foot int) Stack {
	return stack(w, h, steps, foot, h >= 20 && !(steps > 0 && h < 30))
}

func stack(w, h, steps, foot int, events bool) Stack {
	s := Stack{Frame: Around(w, h, steps)}
	rest := s.Body
	s.Info = rest.top(1)
	if h >= 20 {
		rest.top(1)
	}
	if events {
		s.Events = rest.bottom(eventRows(h, steps))
	}
	s.Foot = rest.bottom(min(foot, rest.H/2))
	s.Main = rest
	return s
}

// Lesson is the page of a lesson: its text beside the live queue.
type Lesson struct {
	Frame
	Text, Middle, Live Rect
	Outcome            Rect // of the learner's last test run
}

// LessonPage lays out a lesson, with so many rows for the last test run.
func LessonPage(w, h int, steps int, outcome int) Lesson {
	l := Lesson{Frame: Around(w, h, steps)}
	rest := l.Body
	if outcome > 0 {
		l.Outcome = rest.bottom(min(outcome, rest.H/2))
	}
	l.Live = rest.right(max(w*45/100, 30))
	l.Middle = rest.right(1)
	l.Text = rest
	return l
}

// BigLessonPage is LessonPage for a projector: the text alone, or the live queue
// alone.
func BigLessonPage(w, h int, steps int, outcome int, reading bool) Lesson {
	l := Lesson{Frame: Around(w, h, steps)}
	rest := l.Body
	if outcome > 0 {
		l.Outcome = rest.bottom(min(outcome, rest.H/2))
	}
	if !reading {
		l.Live = rest
		return l
	}
	rest.W = min(rest.W, 100) // longer lines are hard to read
	l.Text = rest
	return l
}

// Home is the page of the ladder and the demos.
type Home struct {
	Frame
	Ladder, Middle, Demos Rect
}

// HomePage lays out the home page.
func HomePage(w, h int) Home {
	p := Home{Frame: Around(w, h, 0)}
	rest := p.Body
	p.Demos = rest.right(min(max(w*42/100, 26), 46))
	p.Middle = rest.right(1)
	p.Ladder = rest
	return p
}
