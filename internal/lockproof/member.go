package lockproof

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// releaseLimit bounds the release of a contestant that was told to go.
const releaseLimit = 10 * time.Second

// Member is a contestant: it plays rounds with a lock and appends what it
// believes.
type Member struct {
	Who    string
	Mode   Mode
	Log    *Log
	Server string    // asked for its living sessions after each grant; empty: nobody is asked
	Guards *Customer // what an exclusive hold protects; nil: nothing
	// Work is how long an increment takes between its read and its write.
	Work time.Duration
}

// Round acquires, works, stays until the channel is closed or the hold is no
// longer certain, and releases. A nil channel means not to stay. It returns
// the error of the acquire or of the release; a hold that ended early is
// none.
func (m Member) Round(ctx context.Context, lock Lock, stay <-chan struct{}) error {
	g, err := m.Acquire(ctx, lock)
	if err != nil {
		return err
	}
	why := m.Use(ctx, g, stay)
	// A caller whose context ended still gives back what it has.
	free, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	return m.Release(free, g, why)
}

// Acquire asks, and notes the answer.
func (m Member) Acquire(ctx context.Context, lock Lock) (*Grant, error) {
	m.write(Event{Verb: Ask})
	g, err := lock.Acquire(ctx)
	if err != nil {
		m.write(Event{Verb: Fail, Text: err.Error()})
		return nil, err
	}
	m.Entered(g)
	return g, nil
}

// Entered notes a grant, and which sessions live.
func (m Member) Entered(g *Grant) {
	m.write(Event{Verb: Enter, Node: g.Node, Token: g.Token, Session: g.Session})
	m.Witness()
}

// Witness notes which sessions live.
func (m Member) Witness() {
	if m.Server == "" {
		return
	}
	ids, err := LiveSessions(context.Background(), m.Server)
	if err != nil {
		// Without a list nothing counts as dead, which can only make the checks stricter.
		m.write(Event{Verb: Note, Text: "sessions not known: " + err.Error()})
		return
	}
	m.write(Event{Verb: Alive, Text: SessionList(ids)})
}

// Use works under the hold, stays, works again, and says why it ended.
func (m Member) Use(ctx context.Context, g *Grant, stay <-chan struct{}) string {
	certain := g.certain()
	if m.Guards != nil && m.Mode == Exclusive {
		m.increment(certain, g.Token)
	}
	if stay == nil {
		stay = closed
	}
	select {
	case <-certain.Done():
	case <-stay:
	case <-ctx.Done():
	}
	if m.Guards != nil && m.Mode == Exclusive && certain.Err() == nil {
		m.increment(certain, g.Token) // a process that was stopped meanwhile may do what it no longer should
	}
	if certain.Err() != nil {
		return "no longer certain: " + context.Cause(certain).Error()
	}
	return "done"
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// increment reads, takes its time, and writes. The holder writes only what it
// may by its own belief; the fence is for what it cannot know.
func (m Member) increment(certain context.Context, token int64) {
	value, err := m.Guards.Increment(token, func() { time.Sleep(m.Work) })
	switch {
	case errors.Is(err, ErrRefused) && certain.Err() == nil:
		m.write(Event{Verb: Wrote, Token: token, Text: Refused})
	case errors.Is(err, ErrRefused):
		m.write(Event{Verb: Note, Text: "refused after the hold had ended by its own belief"})
	case err != nil:
		m.write(Event{Verb: Note, Text: "the resource does not answer: " + err.Error()})
	default:
		m.write(Event{Verb: Wrote, Token: token, Text: fmt.Sprint(value)})
	}
}

// Leave notes that the belief in the newest hold ends.
func (m Member) Leave(why string) { m.write(Event{Verb: Leave, Text: why}) }

// Release notes that the belief ends, and gives the lock back.
func (m Member) Release(ctx context.Context, g *Grant, why string) error {
	m.write(Event{Verb: Leave, Node: g.Node, Text: why})
	return m.Free(ctx, g)
}

// Free gives back a hold that was left before.
func (m Member) Free(ctx context.Context, g *Grant) error {
	err := g.Release(ctx)
	text := ""
	if err != nil {
		text = err.Error()
	}
	m.write(Event{Verb: Left, Node: g.Node, Text: text})
	return err
}

func (m Member) write(e Event) {
	e.Who, e.Mode = m.Who, m.Mode
	if err := m.Log.Append(e); err != nil {
		// A log with a hole proves nothing, so there is nothing to go on for.
		panic("lockproof: append to the log: " + err.Error())
	}
}
