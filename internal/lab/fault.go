package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"zklab/internal/contestant"
	"zklab/internal/journal"
	"zklab/internal/wiretap"
)

// The kinds of NetworkFault.
const (
	Cut       = "cut"        // open connections are closed with a reset; new ones are allowed
	Refuse    = "refuse"     // new connections are turned away
	BlackHole = "blackhole"  // bytes vanish in Direction, sockets stay open
	Delay     = "delay"      // every byte comes Delay later, in each direction
	DropReply = "drop-reply" // the next Op reaches the server, its reply does not come back
	FailWrite = "fail-write" // the next Op does not reach the server: the connection is cut
)

// NetworkFault is one fault of one contestant's network.
type NetworkFault struct {
	Kind      string
	Direction string        // of BlackHole: in (to the contestant), out, both
	Delay     time.Duration // of Delay
	Op        string        // of DropReply and FailWrite: the operation, as ZooKeeper calls it
}

// Network puts a fault in force. It stays until Heal, except for the ones that happen once.
func (l *Lab) Network(_ context.Context, who string, f NetworkFault) error {
	m, err := l.member(who)
	if err != nil {
		return err
	}
	apply, text, err := f.prepare(m.relay)
	if err != nil {
		return err
	}
	l.j.Append(journal.Event{By: journal.Lab, Type: journal.Fault, Who: who, Op: f.Kind, Text: text})
	if !apply() {
		return fmt.Errorf("lab: %s has too many faults that wait for an operation already", who)
	}
	return nil
}

// prepare checks a fault, and gives what puts it in force and what it does in words.
func (f NetworkFault) prepare(r *wiretap.Relay) (apply func() bool, text string, err error) {
	always := func(do func()) func() bool { return func() bool { do(); return true } }
	switch f.Kind {
	case Cut:
		return always(r.Cut), "connections reset", nil
	case Refuse:
		return always(func() { r.Refuse(true) }), "new connections turned away", nil
	case BlackHole:
		d, known := map[string]wiretap.Direction{"in": wiretap.ToClient, "out": wiretap.ToServer, "both": wiretap.Both, "": wiretap.Both}[f.Direction]
		if !known {
			return nil, "", fmt.Errorf("lab: a black hole has the direction in, out or both, not %q", f.Direction)
		}
		return always(func() { r.BlackHole(d, true) }), "sockets open, nothing arrives " + d.String(), nil
	case Delay:
		if f.Delay < 0 {
			return nil, "", fmt.Errorf("lab: a delay of %v", f.Delay)
		}
		return always(func() { r.Delay(f.Delay) }), f.Delay.String() + " each way", nil
	case DropReply, FailWrite:
		op, err := wiretap.ParseOp(f.Op)
		if err != nil {
			return nil, "", fmt.Errorf("lab: %w", err)
		}
		do := r.DropReply
		if f.Kind == FailWrite {
			do = r.FailWrite
		}
		return func() bool { return do(wiretap.Match{Op: op}) }, "of the next " + f.Op, nil
	}
	return nil, "", fmt.Errorf("lab: no network fault is called %q", f.Kind)
}

// Heal takes all faults of a contestant's network away.
func (l *Lab) Heal(_ context.Context, who string) error {
	m, err := l.member(who)
	if err != nil {
		return err
	}
	l.j.Append(journal.Event{By: journal.Lab, Type: journal.Healed, Who: who})
	m.relay.Heal()
	return nil
}

// Expire ends a contestant's session at the server at once, as if it had been
// silent for too long.
func (l *Lab) Expire(ctx context.Context, who string) error {
	m, err := l.member(who)
	if err != nil {
		return err
	}
	l.j.Append(journal.Event{By: journal.Lab, Type: journal.Fault, Who: who, Op: "expire", Text: "its session is ended at the server"})
	err = m.relay.ExpireSession(ctx)
	l.observer.nudge()
	if err != nil && !errors.Is(err, wiretap.ErrSessionOver) {
		return fmt.Errorf("lab: expire the session of %s: %w", who, err)
	}
	return nil
}

// Write has a contestant that believes it holds work for a while and then write text
// to the resource that its lock protects. Whether it is taken is in the journal.
func (l *Lab) Write(ctx context.Context, who, text string, work time.Duration) error {
	return l.ask(ctx, who, "write", func(p *contestant.Process, who string) error { return p.Write(who, text, work) })
}

// Fence turns the resource's check of tokens on or off. It is on at first.
func (l *Lab) Fence(on bool) {
	l.mu.Lock()
	l.fence = on
	l.mu.Unlock()
	word := map[bool]string{true: "on: smaller tokens are refused", false: "off: every write is taken"}[on]
	l.j.Append(journal.Event{By: journal.Lab, Type: journal.Note, Text: "the resource's fence is " + word})
}

// judge is the fenced resource that each lock protects: it refuses a token smaller
// than the largest it saw.
func (l *Lab) judge(r contestant.Report) {
	l.mu.Lock()
	largest := l.largest[r.Lock]
	ok := !l.fence || r.Token >= largest
	text := r.Text
	if !ok {
		text = fmt.Sprintf("%s (the resource has seen token 0x%x)", text, largest)
	}
	l.largest[r.Lock] = max(largest, r.Token)
	l.mu.Unlock()
	l.j.Append(journal.Event{At: r.At, By: journal.Process, Type: journal.Write, Who: r.Who, Token: r.Token, OK: ok, Text: text})
}
