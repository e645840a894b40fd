package lockproof_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"zklab/internal/lockproof"
	"zklab/internal/wiretap"
)

// player is a contestant in the test's own process.
type player struct {
	a       *arena
	member  lockproof.Member
	relay   *wiretap.Relay
	session session
	lock    lockproof.Lock
	stay    chan struct{} // closed: release
	entered chan struct{} // closed: it was granted
	done    chan error    // the round's end
	once    sync.Once
	reply   atomic.Pointer[func(wiretap.Frame)] // told of every reply to the player
}

// player opens a session through a relay of its own.
func (a *arena) player(who string, mode lockproof.Mode) *player { return a.playerAs(who, who, mode) }

func (a *arena) playerAs(who, id string, mode lockproof.Mode) *player {
	a.t.Helper()
	ctx := within(a.t, patience)
	p := &player{a: a}
	relay, err := wiretap.Start(ctx, a.targets(len(a.players)), wiretap.Options{Name: who, OnFrame: p.onFrame})
	if err != nil {
		a.t.Fatal(err)
	}
	customer, err := lockproof.DialResource(a.resource.Addr())
	if err != nil {
		a.t.Fatal(err)
	}
	p.relay = relay
	p.member = lockproof.Member{Who: who, Mode: mode, Log: a.log, Server: a.server, Guards: customer, Work: time.Millisecond}
	a.players = append(a.players, p)
	if p.session, err = a.suite.open(ctx, relay.Addr(), id); err != nil {
		a.t.Fatal(err)
	}
	p.lock = p.session.Lock(mode, a.path)
	return p
}

func (p *player) name() string { return p.member.Who }

func (p *player) network() *wiretap.Relay { return p.relay }

func (p *player) release() {
	select {
	case <-p.stay: // told before
	default:
		close(p.stay)
	}
}

func (p *player) granted() <-chan struct{} { return p.entered }

func (p *player) ended() <-chan error { return p.done }

// over says whether the round has ended.
func (p *player) over() bool { return len(p.done) > 0 }

func (p *player) onFrame(f wiretap.Frame) {
	if tell := p.reply.Load(); tell != nil && f.Kind == wiretap.Reply {
		(*tell)(f)
	}
}

func (p *player) close() {
	p.once.Do(func() {
		if p.session != nil {
			p.session.Close()
		}
		p.member.Guards.Close()
		if err := p.relay.Close(); err != nil {
			p.a.t.Error(err)
		}
	})
}

// expire ends the player's session at the server. The client is kept from
// connecting meanwhile, because it would take its session back.
func (p *player) expire() error {
	p.relay.Refuse(true)
	defer p.relay.Refuse(false)
	return p.relay.ExpireSession(within(p.a.t, patience))
}

// begin starts a round; the player holds until told to go.
func (p *player) begin(ctx context.Context) {
	stay, entered, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	p.stay, p.entered, p.done = stay, entered, done
	p.a.work.Go(func() {
		g, err := p.member.Acquire(ctx, p.lock)
		if err != nil {
			done <- err
			return
		}
		close(entered)
		why := p.member.Use(p.a.over, g, stay)
		free, cancel := context.WithTimeout(context.Background(), p.a.patience)
		defer cancel()
		done <- p.member.Release(free, g, why)
	})
}

// holds begins a round and waits until it is granted.
func (p *player) holds() {
	p.a.t.Helper()
	p.begin(within(p.a.t, 3*p.a.patience))
	if !p.enters(p.a.patience) {
		p.a.t.Fatalf("%s did not get a free lock", p.member.Who)
	}
}

// queues begins a round and waits until its node is in the directory.
func (p *player) queues(ctx context.Context) (node string) {
	p.a.t.Helper()
	return p.a.queue(p, ctx)
}

// queue begins a round of c and waits until its node is there and its watch
// is set. Where nobody stands in line, as with an unfair lock, the watch alone
// says that it waits, and where it sets none of this kind, the node.
func (a *arena) queue(c contestant, ctx context.Context) (node string) {
	a.t.Helper()
	before, watches := a.children(), a.watches()
	c.begin(ctx)
	var watching time.Time
	waitFor(a.t, patience, c.name()+" joins the queue", func() bool {
		if o, ok := c.(interface{ over() bool }); ok && o.over() {
			a.violated(lockproof.Stuck, "%s did not get as far as the queue", c.name())
			return true
		}
		now := a.children() // one look: by the next the node may be gone
		if i := slices.IndexFunc(now, func(n string) bool { return !slices.Contains(before, n) }); i >= 0 {
			node = now[i]
		}
		if a.watches() > watches {
			return node != "" || a.suite.name == "unfair"
		}
		if node != "" && watching.IsZero() {
			watching = time.Now()
		}
		return node != "" && time.Since(watching) > moment
	})
	return node
}

// watches counts the data watches below the lock directory, over all servers
// that answer.
func (a *arena) watches() int {
	a.t.Helper()
	sum := 0
	for _, addr := range a.addrs {
		n, err := lockproof.DataWatches(within(a.t, patience), addr, a.path)
		if err != nil && len(a.addrs) == 1 {
			a.t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// enters says whether the player is granted in time.
func (p *player) enters(limit time.Duration) bool {
	select {
	case <-p.entered:
		return true
	case <-time.After(limit):
		return false
	}
}

// mustEnter makes it a violation if it does not.
func (p *player) mustEnter() {
	if !p.enters(p.a.patience) {
		p.a.violated(lockproof.Stuck, "%s did not get the lock within %v although nobody held it", p.member.Who, p.a.patience)
	}
}

// ends waits for the end of the round.
func (p *player) ends() error {
	select {
	case err := <-p.done:
		return err
	case <-time.After(p.a.patience):
		p.a.violated(lockproof.Stuck, "the round of %s did not end within %v", p.member.Who, p.a.patience)
		return errors.New("stuck")
	}
}

// goes lets the player release and waits until it has.
func (p *player) goes() {
	close(p.stay)
	if err := p.ends(); err != nil {
		p.a.violated(lockproof.WrongVerdict, "%s: %v", p.member.Who, err)
	}
}
