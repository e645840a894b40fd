package contestant

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// write looks whether the member believes that it holds, works for a while, and
// then writes to the fenced resource. What happens during that work changes
// nothing any more: that is the gap that only the resource can close.
func (m *member) write(c command) error {
	switch b := m.belief(); {
	case b != Holds:
		return fmt.Errorf("it does not believe that it holds (%s)", b)
	case m.writing != nil:
		return errors.New("a write is under way already")
	case c.Work < 0:
		return fmt.Errorf("it cannot work for %v", c.Work)
	}
	r := m.report(KindWrite, Holds)
	r.Text = c.Text
	m.writing = &r
	if c.Work > 0 { // who wants to stop it in the gap must know that it is there
		began := r
		began.Kind = KindWork
		m.say(began)
	}
	m.work.Reset(c.Work)
	return nil
}

func (m *member) written() {
	r := *m.writing
	r.At, m.writing = m.clock(), nil
	m.say(r)
}

// hear takes the client library's news in.
func (m *member) hear(ctx context.Context, n mail) {
	if !n.disconnected.IsZero() && !m.down && m.session.ID != 0 {
		m.down = true
		m.believeAt(n.disconnected, Suspended, nil)
	}
	if !n.expired.IsZero() {
		m.down, m.lost = true, m.session.ID
		if m.phase == holding {
			m.timer.Stop()
			m.endRound(Lost, errors.New("the session expired while it held the lock"))
		} else {
			m.believeAt(n.expired, Lost, nil)
		}
	}
	if n.connected.IsZero() {
		return
	}
	first := m.session.ID == 0
	m.session, m.down = n.session, false
	m.believeAt(n.connected, m.belief(), nil)
	if first && m.Join && m.phase == idle {
		_ = m.join(ctx) // an idle member can
	}
}

// belief is what the member thinks by its phase and its connection.
func (m *member) belief() Belief {
	switch {
	case m.down && m.lost != 0 && m.lost == m.session.ID:
		return Lost
	case m.down:
		return Suspended
	case m.phase == acquiring:
		return Waiting
	case m.phase == holding, m.phase == releasing:
		return Holds
	default:
		return Idle
	}
}

func (m *member) believe(b Belief, err error) { m.believeAt(m.clock(), b, err) }

func (m *member) believeAt(at time.Time, b Belief, err error) {
	r := m.report(KindBelief, b)
	r.At = at
	if err != nil {
		r.Err = err.Error()
	}
	m.say(r)
}

func (m *member) report(k Kind, b Belief) Report {
	return Report{
		V: Version, Kind: k, At: m.clock(), Who: m.Who, Belief: b, Lock: m.Lock,
		Node: m.grant.Node, Token: m.grant.Token,
		Session: m.session.ID, Timeout: m.session.Timeout, Round: m.round,
	}
}
