package flawed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

// Lock is a lock of this package, as one client has it.
type Lock interface {
	Acquire(ctx context.Context) error
	Release(ctx context.Context) error
}

// restless is how long a step waits at most until everything is still.
const restless = 10 * time.Second

// Bench is a lock with its clients. Clients are made when they are first named. Each
// step returns when all that follows from it has happened: who can hold the lock
// holds it, and the others wait. Its methods are for the test's goroutine.
type Bench struct {
	lab     *locktest.Lab
	make    func(*Client) Lock
	clients map[string]*player
	moved   chan struct{}
	since   time.Time // of the last step
	steps   []locktest.Step
	looks   int    // since the last step
	unknown string // the first client that was named and had not come
}

// player is a client with its lock, and what came of it.
type player struct {
	*Client
	lock     Lock
	acquire  *locktest.Call   // the last one
	release  *locktest.Call   // the last one
	calls    []*locktest.Call // all
	released bool
	dead     bool
}

// NewBench makes a bench for a design. Close it before its lab ends.
func NewBench(lab *locktest.Lab, d Design) *Bench {
	return &Bench{lab: lab, make: d.Make, clients: map[string]*player{}, moved: make(chan struct{}, 1), since: time.Now()}
}

// Close ends all that is in progress: what was stopped goes on, who waits gives up.
func (b *Bench) Close() {
	b.looks = 0
	for _, p := range b.clients {
		p.open()
		if p.acquire != nil {
			p.acquire.Cancel()
		}
	}
	b.lab.Until(func() bool { return len(b.Waiting()) == 0 })
	for _, p := range b.clients {
		p.end()
	}
}

// Steps is what was done so far, and what came of it.
func (b *Bench) Steps() []locktest.Step { return b.steps }

func (b *Bench) client(name string) *player {
	p := b.clients[name]
	if p == nil {
		c := &Client{Name: name, Path: b.lab.Path(), link: b.lab.Client(name), gates: map[Op]chan bool{}, moved: b.moved}
		p = &player{Client: c, lock: b.make(c)}
		b.clients[name] = p
	}
	return p
}

// Ask lets clients ask for the lock, one after the other.
func (b *Bench) Ask(names ...string) {
	for _, name := range names {
		p := b.client(name)
		b.step(name, "asks for the lock", func() {
			p.released = false
			p.acquire = p.call("Acquire", p.lock.Acquire)
		})
	}
}

// call calls the lock, and lets the bench know when it is about to return.
func (p *player) call(what string, f func(context.Context) error) *locktest.Call {
	call := p.link.Do(what, func(ctx context.Context) error {
		defer p.change(func() {})
		return f(ctx)
	})
	p.calls = append(p.calls, call)
	return call
}

// running is how many calls have not returned.
func (p *player) running() int {
	n := 0
	for _, call := range p.calls {
		if !call.Ended() {
			n++
		}
	}
	return n
}

// Unknown names the first client that something should have happened to and that had not
// come; "" when there is none.
func (b *Bench) Unknown() string { return b.unknown }

// has returns a client that has come. When there is none it notes that.
func (b *Bench) has(name, text string) (*player, bool) {
	p := b.clients[name]
	if p == nil {
		b.steps = append(b.steps, locktest.Step{Who: name, Text: text, Effect: "there is no " + name})
		b.unknown = cmp.Or(b.unknown, name)
	}
	return p, p != nil
}

// Release lets a client give the lock back.
func (b *Bench) Release(name string) {
	p, ok := b.has(name, "releases")
	if !ok {
		return
	}
	b.step(name, "releases", func() {
		p.released = true
		p.release = p.call("Release", p.lock.Release)
	})
}

// GiveUp ends the context of a client's Acquire, as a time limit does.
func (b *Bench) GiveUp(name string) {
	p, ok := b.has(name, "its context ends")
	if !ok {
		return
	}
	b.step(name, "its context ends", func() {
		if p.acquire != nil {
			p.acquire.Cancel()
		}
	})
}

// Kill is kill -9: the process does nothing any more, and its session ends.
func (b *Bench) Kill(name string) {
	p, ok := b.has(name, "is killed")
	if !ok {
		return
	}
	b.step(name, "is killed; its session ends", func() {
		p.dead = true
		p.end()
		p.link.Kill()
	})
}

// EndSession ends a client's session while its process lives, as after a long
// pause. The client has a new session then.
func (b *Bench) EndSession(name string) {
	p, ok := b.has(name, "its session ends")
	if !ok {
		return
	}
	b.step(name, "sleeps; its session ends", func() {
		old := p.Session()
		p.link.Expire()
		b.lab.Until(func() bool { id := p.Session(); return id != 0 && id != old })
	})
}

// DeleteNode deletes the node of a client, as an administrator can.
func (b *Bench) DeleteNode(name string) {
	p, ok := b.has(name, "its node is deleted")
	if !ok {
		return
	}
	node := p.link.Node()
	if node == "" {
		b.steps = append(b.steps, locktest.Step{Who: "admin", Text: "looks for the node of " + name, Effect: name + " has no node"})
		return
	}
	b.step("admin", fmt.Sprintf("deletes the node of %s", name), func() { _ = b.lab.Observer().Delete(node, -1) })
}

// Put makes a child of the lock's path that has nothing to do with the lock.
func (b *Bench) Put(child string) {
	b.step("admin", "makes a child "+child, func() {
		_, _ = b.lab.Observer().Create(b.lab.Path()+"/"+child, nil, zk.FlagPersistent, everybody)
	})
}

// StopBefore stops a client before its next request of a kind, until Continue.
func (b *Bench) StopBefore(name string, op Op) {
	b.client(name).stop(op)
	b.steps = append(b.steps, locktest.Step{Who: name, Text: "will be stopped before its next " + string(op)})
}

// Continue lets a client go on that was stopped.
func (b *Bench) Continue(name string) {
	if p, ok := b.has(name, "goes on"); ok {
		b.step(name, "goes on", p.open)
	}
}

// LoseReply lets a client's next request of a kind be carried out, and breaks the
// connection before the reply. The client comes back to the same session.
func (b *Bench) LoseReply(name string, op Op) {
	ops := map[Op]wiretap.Op{Create: wiretap.OpCreate, List: wiretap.OpGetChildren, Watch: wiretap.OpGetData, Delete: wiretap.OpDelete}
	b.client(name).link.DropReply(wiretap.Match{Op: ops[op], PathPrefix: b.lab.Path()})
	b.steps = append(b.steps, locktest.Step{Who: name, Text: "will lose the reply to its next " + string(op)})
}

// Holders lists, in order of their names, the clients that believe to hold the lock:
// their Acquire has returned nil and they have not released it. The dead believe
// nothing.
func (b *Bench) Holders() []string {
	return b.which(func(p *player) bool {
		return p.acquire != nil && p.acquire.Ended() && p.acquire.Err() == nil && !p.released
	})
}

// Waiting lists the clients whose Acquire has not returned.
func (b *Bench) Waiting() []string {
	return b.which(func(p *player) bool { return p.acquire != nil && !p.acquire.Ended() })
}

// Woken lists the clients that a watch has woken in the last step.
func (b *Bench) Woken() []string {
	return b.which(func(p *player) bool { return p.link.Did(b.since, "woken") })
}

// restlessLooks is how many looks without a step in between show a loop that waits for
// something.
const restlessLooks = 10000

func (b *Bench) which(is func(*player) bool) []string {
	if b.looks++; b.looks > restlessLooks {
		b.lab.Fail(locktest.Diagnosis{Code: locktest.CodeNeverReturns,
			Says:  "Your test looks at the bench again and again, and nothing changes by that. Each step of the bench returns when all that follows from it has happened: look once, and take what you see.",
			Steps: b.steps})
	}
	var names []string
	for name, p := range b.clients {
		if !p.dead && is(p) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Children lists the children of the lock's path, in alphabetical order.
func (b *Bench) Children() []string { return b.lab.Children() }

// AcquireErr is what a client's last Acquire returned; nil as well while it has not
// returned.
func (b *Bench) AcquireErr(name string) error {
	if p, ok := b.has(name, "is asked for what Acquire returned"); ok && p.acquire != nil {
		return p.acquire.Err()
	}
	return nil
}

// ReleaseErr is what a client's last Release returned.
func (b *Bench) ReleaseErr(name string) error {
	if p, ok := b.has(name, "is asked for what Release returned"); ok && p.release != nil {
		return p.release.Err()
	}
	return nil
}

// step does something, waits until all is still, and notes what came of it.
func (b *Bench) step(who, text string, do func()) {
	b.since, b.looks = time.Now(), 0
	do()
	b.settle()
	effect := "nobody holds the lock"
	if holders := b.Holders(); len(holders) > 0 {
		effect = strings.Join(holders, ", ") + " holds"
		if len(holders) > 1 {
			effect = strings.Join(holders, ", ") + " hold"
		}
	}
	if p := b.clients[who]; p != nil && p.acquire != nil && p.acquire.Ended() && p.acquire.Err() != nil {
		effect += "; " + who + "'s Acquire says " + said(p.acquire.Err())
	}
	b.steps = append(b.steps, locktest.Step{Who: who, Text: text, Effect: effect})
}

func said(err error) string {
	if errors.Is(err, context.Canceled) {
		return "that its context has ended"
	}
	return err.Error()
}

// settle waits until no client will do anything by itself: each call has returned,
// is stopped, or sleeps on a watch that is set at the server. Twice the same, with
// everything in between on record, is still.
func (b *Bench) settle() {
	limit := time.NewTimer(restless)
	defer limit.Stop()
	for last := -1; ; {
		b.lab.Flush()
		still, moves := b.still()
		if still && moves == last {
			return
		}
		if last = moves; still {
			continue
		}
		select {
		case <-b.moved:
		case <-time.After(2 * time.Millisecond): // a watch has fired, or a call is about to return
		case <-limit.C:
			return
		}
	}
}

func (b *Bench) still() (bool, int) {
	all, moves := true, 0
	for _, p := range b.clients {
		if p.dead {
			continue
		}
		still, n := p.still(p.running())
		all = all && still
		moves += n
	}
	return all, moves
}
