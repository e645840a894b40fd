package wiretap

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxArmed bounds the matches that wait for their request at one relay.
const maxArmed = 256

// Match says which request a fault waits for.
type Match struct {
	// Op is the operation; OpAny is any but a heartbeat. OpCreate stands for every kind
	// of create, OpGetChildren for getChildren2 too, OpSetWatches for setWatches2
	// too: which of them a client sends depends on its version.
	Op Op
	// PathPrefix is how the path begins; of a multi, the path of any part. Empty: any.
	PathPrefix string
	// Skip is how many matching requests pass first.
	Skip int
}

func (m Match) fits(f *Frame) bool {
	if !m.Op.stands(f.Op) {
		return false
	}
	if strings.HasPrefix(f.Path, m.PathPrefix) {
		return true
	}
	for _, p := range f.Parts {
		if strings.HasPrefix(p.Path, m.PathPrefix) {
			return true
		}
	}
	return false
}

type verdict uint8

const (
	pass      verdict = iota
	failWrite         // cut before the request reaches the server
	dropReply         // cut before its reply reaches the client
)

type armed struct {
	match Match
	then  verdict
}

// faults is what is wrong with a relay's network.
type faults struct {
	delay  atomic.Int64 // nanoseconds
	hole   [3]atomic.Bool
	refuse atomic.Bool
	count  atomic.Int32 // len(armed), to read without the lock

	mu      sync.Mutex
	armed   []armed
	changed chan struct{} // closed when delay or hole change
}

// transparent reports whether bytes in direction d pass without waiting.
func (f *faults) transparent(d Direction) bool {
	return f.delay.Load() == 0 && !f.hole[d].Load()
}

func (f *faults) watch() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.changed
}

func (f *faults) tell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

func (f *faults) arm(m Match, then verdict) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.armed) >= maxArmed {
		return false
	}
	f.armed = append(f.armed, armed{m, then})
	f.count.Store(int32(len(f.armed)))
	return true
}

// judge finds the fault that waits for this request, and disarms it.
func (f *faults) judge(req *Frame) verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := -1
	for i := range f.armed {
		a := &f.armed[i]
		switch {
		case !a.match.fits(req):
		case a.match.Skip > 0:
			a.match.Skip--
		case found < 0:
			found = i
		}
	}
	if found < 0 {
		return pass
	}
	then := f.armed[found].then
	f.armed = append(f.armed[:found], f.armed[found+1:]...)
	f.count.Store(int32(len(f.armed)))
	return then
}

func (f *faults) disarm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = nil
	f.count.Store(0)
}

// Cut closes all open connections with a reset. New ones are allowed. What a
// delay or black hole holds back is lost.
func (r *Relay) Cut() {
	for _, c := range r.open() {
		c.reset("cut by the lab")
	}
}

// Refuse closes new connections at once while it is on. Open ones stay.
func (r *Relay) Refuse(on bool) { r.faults.refuse.Store(on) }

// BlackHole lets nothing arrive in direction d while it is on, and tells nobody:
// the sockets stay open, and not even a close gets through. New connections are
// accepted (the client's SYN is answered) and are as silent.
//
// As in a real partition nothing is lost while both sides still want it: TCP
// sends again what was not acknowledged. When the hole closes, what was sent into
// it arrives, late and in order, unless its connection has ended on both sides
// meanwhile. To lose it, Cut first. (What passed the relay just before the call
// may arrive just after it.)
func (r *Relay) BlackHole(d Direction, on bool) {
	for _, one := range []Direction{ToServer, ToClient} {
		if d&one != 0 {
			r.faults.hole[one].Store(on)
		}
	}
	r.faults.tell()
}

// Delay makes every byte arrive d later in each direction, so that a round trip
// takes 2d longer. Order is kept, and throughput is limited only by
// MaxHeldBytes in flight. Bytes under way when the delay changes go by the new one.
func (r *Relay) Delay(d time.Duration) {
	r.faults.delay.Store(int64(max(0, d)))
	r.faults.tell()
}

// DropReply delivers the next request that m fits to the server, and cuts the
// connection when its reply comes: the client never learns what became of it.
// It works once; false if too many matches are waiting already.
func (r *Relay) DropReply(m Match) bool { return r.faults.arm(m, dropReply) }

// FailWrite cuts the connection before the next request that m fits reaches the
// server. What the client sent before it does arrive. It works once; false if
// too many matches are waiting already.
func (r *Relay) FailWrite(m Match) bool { return r.faults.arm(m, failWrite) }

// Heal takes all faults away. Connections that a cut closed stay closed.
func (r *Relay) Heal() {
	r.faults.refuse.Store(false)
	r.faults.disarm()
	r.faults.delay.Store(0)
	r.BlackHole(Both, false)
}

// Faults is what is wrong with a relay's network at a moment.
type Faults struct {
	Refuse    bool
	BlackHole Direction // 0: none
	Delay     time.Duration
	Armed     int // DropReply and FailWrite matches that have not met their request
}

// Faults says which faults are in force.
func (r *Relay) Faults() Faults {
	f := Faults{
		Refuse: r.faults.refuse.Load(),
		Delay:  time.Duration(r.faults.delay.Load()),
		Armed:  int(r.faults.count.Load()),
	}
	for _, d := range []Direction{ToServer, ToClient} {
		if r.faults.hole[d].Load() {
			f.BlackHole |= d
		}
	}
	return f
}
