package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"zklab/internal/contestant"
	"zklab/internal/journal"
)

// member finds one that has not ended.
func (l *Lab) member(who string) (*member, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.members[who]
	switch {
	case l.closed:
		return nil, ErrClosed
	case m == nil:
		return nil, fmt.Errorf("lab: %w: %s", ErrNobody, who)
	case m.gone || m.host == nil:
		return nil, fmt.Errorf("lab: %w: %s has ended", ErrGone, who)
	}
	return m, nil
}

// Join has a contestant stand in line.
func (l *Lab) Join(ctx context.Context, who string) error {
	m, err := l.member(who)
	if err != nil {
		return err
	}
	l.j.Append(journal.Event{
		By: journal.Lab, Type: journal.Joined, Who: who, Lock: m.lock, Recipe: m.group.Recipe,
		PID: m.host.process.Pid(), Timeout: m.group.Session, Count: m.group.Permits,
	})
	return l.tell(ctx, who, func() error { return m.host.process.Join(who) })
}

// Release has a contestant give the lock back, or leave the line.
func (l *Lab) Release(ctx context.Context, who string) error {
	return l.ask(ctx, who, "release", (*contestant.Process).Release)
}

// Quit has a contestant end its session and go.
func (l *Lab) Quit(ctx context.Context, who string) error {
	return l.ask(ctx, who, "quit", (*contestant.Process).Quit)
}

func (l *Lab) ask(ctx context.Context, who, op string, do func(*contestant.Process, string) error) error {
	m, err := l.member(who)
	if err != nil {
		return err
	}
	l.j.Append(journal.Event{By: journal.Lab, Type: journal.Asked, Who: who, Op: op})
	return l.tell(ctx, who, func() error { return do(m.host.process, who) })
}

// A process with a thousand members may be behind with its commands.
const (
	busyLimit = 3 * time.Second
	busyPause = 5 * time.Millisecond
)

// tell gives a command to a process, again while that is too busy to take it.
func (l *Lab) tell(ctx context.Context, who string, command func() error) error {
	ctx, cancel := context.WithTimeout(ctx, busyLimit)
	defer cancel()
	err := command()
	for errors.Is(err, contestant.ErrBusy) && pause(ctx, busyPause) == nil {
		err = command()
	}
	return l.told(who, err)
}

// told says why a command did not reach its process.
func (l *Lab) told(who string, err error) error {
	switch {
	case errors.Is(err, contestant.ErrExited):
		return fmt.Errorf("lab: %w: %s has ended", ErrGone, who)
	case err != nil:
		return fmt.Errorf("lab: %s: %w", who, err)
	}
	return nil
}

// Kill ends a contestant's process with SIGKILL, and all members in it.
func (l *Lab) Kill(_ context.Context, who string) error {
	return l.signal(who, "SIGKILL", (*contestant.Process).Kill)
}

// Stop freezes a contestant's process with SIGSTOP, and all members in it.
func (l *Lab) Stop(_ context.Context, who string) error {
	return l.signal(who, "SIGSTOP", (*contestant.Process).Stop)
}

// Continue has a stopped process go on (SIGCONT).
func (l *Lab) Continue(_ context.Context, who string) error {
	return l.signal(who, "SIGCONT", (*contestant.Process).Cont)
}

func (l *Lab) signal(who, name string, send func(*contestant.Process) error) error {
	m, err := l.member(who)
	if err != nil {
		return err
	}
	// Written first: what it causes must not stand before it.
	l.j.Append(journal.Event{By: journal.Lab, Type: journal.Signal, Who: who, PID: m.host.process.Pid(), Op: name})
	return l.told(who, send(m.host.process))
}
