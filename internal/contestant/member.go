package contestant

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	mailLimit    = 16                     // commands that wait for one member
	openLimit    = 5 * time.Second        // after this a member says that it still has no session
	releaseLimit = 10 * time.Second       // for giving the lock back
	pauseOnError = 200 * time.Millisecond // between a failed round and the next
)

// errBusy is returned when a member has more commands waiting than it may have.
var errBusy = errors.New("too many commands wait already")

type phase int

const (
	idle phase = iota
	acquiring
	holding
	releasing
	pausing // between a failed round and the next
)

// member is the actor behind one contestant. Its fields belong to the goroutine
// that runs it; commands and session news come through channels, and the calls
// that may take long run beside it, one at a time.
type member struct {
	Member
	lock     Lock
	say      func(Report) // blocks while the parent does not read
	clock    func() time.Time
	commands chan command
	news     *mailbox

	phase   phase
	grant   Grant
	round   int
	again   bool               // another round follows this one
	giveUp  context.CancelFunc // ends the acquire that is under way
	left    bool               // told to leave while the acquire was under way
	session Session
	down    bool  // the connection is gone
	lost    int64 // the session that was lost last

	acquired chan acquired
	released chan error
	timer    *time.Timer // hold time or pause
	work     *time.Timer // until the write that is under way
	writing  *Report
}

type acquired struct {
	grant Grant
	err   error
}

func newMember(m Member, say func(Report), clock func() time.Time) *member {
	return &member{
		Member: m, say: say, clock: clock,
		commands: make(chan command, mailLimit),
		news:     newMailbox(clock),
		acquired: make(chan acquired, 1),
		released: make(chan error, 1),
		timer:    stoppedTimer(),
		work:     stoppedTimer(),
	}
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// order hands a command to the member without waiting for it.
func (m *member) order(c command) error {
	select {
	case m.commands <- c:
		return nil
	default:
		return errBusy
	}
}

// run obeys until it is told to quit or ctx ends, and then ends the session.
func (m *member) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer m.close()
	defer cancel()
	opening := time.NewTimer(openLimit)
	defer opening.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-m.commands:
			if c.Op == OpQuit {
				return
			}
			m.obey(ctx, c)
		case <-m.news.bell:
			m.hear(ctx, m.news.take())
		case a := <-m.acquired:
			m.afterAcquire(ctx, a)
		case err := <-m.released:
			m.afterRelease(ctx, err)
		case <-m.timer.C:
			m.timeUp(ctx)
		case <-m.work.C:
			m.written()
		case <-opening.C:
			if m.session.ID == 0 {
				m.believe(Failed, fmt.Errorf("no session with %s after %v; still trying", m.Servers, openLimit))
			}
		}
	}
}

// close ends the session and waits for the call that is under way, whose context
// has ended. Closing makes the client library give up on it.
func (m *member) close() {
	m.timer.Stop()
	m.work.Stop()
	err := m.lock.Close()
	switch m.phase {
	case acquiring:
		<-m.acquired
	case releasing:
		<-m.released
	}
	r := m.report(KindGone, "")
	if err != nil {
		r.Err = err.Error()
	}
	m.say(r)
}

func (m *member) obey(ctx context.Context, c command) {
	var err error
	switch c.Op {
	case OpJoin:
		err = m.join(ctx)
	case OpRelease:
		err = m.leave(ctx)
	case OpWrite:
		err = m.write(c)
	default:
		err = fmt.Errorf("unknown command %q", c.Op)
	}
	if err != nil {
		r := m.report(KindError, m.belief())
		r.Err = fmt.Sprintf("%s: %v", c.Op, err)
		m.say(r)
	}
}

func (m *member) join(ctx context.Context) error {
	if m.phase != idle {
		return errors.New("it takes part already")
	}
	m.round = 0
	m.nextRound(ctx)
	return nil
}

// nextRound stands in line once more.
func (m *member) nextRound(ctx context.Context) {
	m.round++
	m.again = m.Rounds < 0 || m.round < m.Rounds
	m.phase, m.left, m.grant = acquiring, false, Grant{}
	ctx, m.giveUp = context.WithCancel(ctx)
	m.believe(m.belief(), nil)
	go func() {
		g, err := m.lock.Acquire(ctx)
		m.acquired <- acquired{g, err}
	}()
}

func (m *member) afterAcquire(ctx context.Context, a acquired) {
	m.giveUp()
	switch {
	case a.err == nil && a.grant.Session != 0 && a.grant.Session == m.lost:
		m.endRound(Lost, errors.New("its session ended before it could enter"))
	case a.err == nil && m.left: // granted and told to leave at the same moment
		m.grant = a.grant
		m.startRelease(ctx)
	case a.err == nil:
		m.phase, m.grant = holding, a.grant
		m.believe(m.belief(), nil)
		if m.Hold > 0 {
			m.timer.Reset(m.Hold)
		}
	case m.left:
		m.endRound(Released, nil)
	default:
		m.endRound(Failed, a.err)
	}
}

// leave gives the lock back, or leaves the line.
func (m *member) leave(ctx context.Context) error {
	switch m.phase {
	case holding:
		m.startRelease(ctx)
	case acquiring:
		m.left, m.again = true, false
		m.giveUp()
	case pausing:
		m.timer.Stop()
		m.again = false
		m.endRound(Released, nil)
	default:
		return errors.New("it neither holds nor waits")
	}
	return nil
}

func (m *member) startRelease(ctx context.Context) {
	m.timer.Stop()
	m.phase = releasing
	go func() {
		ctx, cancel := context.WithTimeout(ctx, releaseLimit)
		defer cancel()
		m.released <- m.lock.Release(ctx)
	}()
}

func (m *member) afterRelease(ctx context.Context, err error) {
	switch {
	case err != nil:
		m.endRound(Failed, err)
	case m.again:
		m.believe(Released, nil)
		m.nextRound(ctx)
	default:
		m.endRound(Released, nil)
	}
}

// endRound says how the round ended. Another one follows after a pause, because
// what failed would fail again at once.
func (m *member) endRound(b Belief, err error) {
	m.phase = idle
	m.believe(b, err)
	m.grant = Grant{}
	if m.again {
		m.phase = pausing
		m.timer.Reset(pauseOnError)
	}
}

func (m *member) timeUp(ctx context.Context) {
	switch m.phase {
	case holding:
		m.startRelease(ctx)
	case pausing:
		m.nextRound(ctx)
	}
}
