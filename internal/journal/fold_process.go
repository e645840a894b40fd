package journal

import (
	"slices"
	"strings"
	"time"

	"zklab/internal/recipe"
)

// applyProcess takes what the lab did to a contestant and what the contestant
// believes.
func (f *Folder) applyProcess(e *Event) {
	if e.Who == "" {
		return
	}
	c := f.contestant(e.Who)
	switch e.Type {
	case Joined:
		f.join(c, e)
	case Started:
		c.PID, c.Phase, c.DiedAt = e.PID, Running, time.Time{}
		if e.Timeout > 0 {
			c.Asked = e.Timeout
		}
	case Exited:
		c.DiedAt = e.At
		if c.Phase != Killed {
			c.Phase = Gone
			if strings.Contains(e.Text, "killed") {
				c.Phase = Killed
			}
		}
		c.closeSpan(e.At)
	case Signal:
		f.signal(e)
	case Fault:
		if e.Op != "cut" && e.Op != "expire" { // those are over when they are done
			c.Faults = append(slices.Clip(c.Faults), e.Op)
		}
	case Healed:
		c.Faults = nil
	case Belief:
		c.Belief, c.BeliefAt, c.Err = e.Belief, e.At, e.Err
		if e.Lock != "" {
			c.Lock = e.Lock
		}
		if e.Token != 0 {
			c.Token = e.Token
		}
		f.bind(c, e.Session, e.Timeout)
	case Write:
		if e.OK {
			c.Writes++
		} else {
			c.Refused++
		}
	}
}

// join takes a contestant into the queue of a lock, for the first time or again.
func (f *Folder) join(c *contestant, e *Event) {
	if c.JoinedAt.IsZero() {
		c.JoinedAt = e.At
	}
	c.Lock, c.Recipe = e.Lock, e.Recipe
	if e.PID != 0 {
		c.PID, c.Phase, c.DiedAt = e.PID, Running, time.Time{}
	}
	if e.Timeout > 0 {
		c.Asked = e.Timeout
	}
	if e.Lock == "" {
		return
	}
	l := f.lock(e.Lock)
	if l.Recipe == "" {
		l.Recipe, l.kind = e.Recipe, recipe.KindOf(e.Recipe)
	}
	if recipe.KindOf(e.Recipe) == recipe.Semaphore { // the queue may have been read by another rule so far
		l.Permits = max(e.Count, 1)
	}
}

// signal marks every contestant of the process that got one: a process may host
// several.
func (f *Folder) signal(e *Event) {
	for i := range f.contestants {
		c := &f.contestants[i]
		if c.Who != e.Who && (e.PID == 0 || c.PID != e.PID) {
			continue
		}
		if c.Phase == Killed || c.Phase == Gone {
			continue
		}
		switch e.Op {
		case "SIGKILL":
			c.Phase, c.DiedAt = Killed, e.At
		case "SIGSTOP":
			c.Phase = Stopped
		case "SIGCONT":
			c.Phase = Running
		}
	}
}

// stretch says what the contestant does from now on, by the server. A longer
// list than MaxSpans loses its oldest.
func (c *contestant) stretch(what SpanKind, at time.Time) {
	if n := len(c.Spans); n > 0 && c.Spans[n-1].To.IsZero() {
		if c.Spans[n-1].What == what {
			return
		}
		c.closeSpan(at)
	}
	old := c.Spans
	if len(old) >= MaxSpans {
		old = old[len(old)-MaxSpans+1:]
	}
	c.Spans = append(slices.Clip(old), Span{From: at, What: what})
}

func (c *contestant) closeSpan(at time.Time) {
	if n := len(c.Spans); n > 0 && c.Spans[n-1].To.IsZero() {
		c.Spans = slices.Clone(c.Spans)
		c.Spans[n-1].To = at
	}
}
