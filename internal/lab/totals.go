package lab

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"zklab/internal/zkstat"
)

// counting is a server whose counters are read: a *zkstat.Reader.
type counting interface {
	Addr() string
	Srvr(context.Context) (zkstat.Srvr, error)
	Monitor(context.Context) (zkstat.Monitor, error)
}

// totals adds up what several servers have fired. What a server counted before it
// died or was started again stays in the sum, and so does what one said last that is
// silent: a sum never falls, and never jumps because somebody answers again.
// One goroutine uses it.
type totals struct {
	servers map[string]*counted
	unsure  bool // see sum; since the last call of written
}

// counted is what one server has told.
type counted struct {
	before  map[string]float64 // in its lives before this one
	now     map[string]float64
	uptime  float64
	watches int64
	silent  bool
	gone    bool
}

// sum is what all servers together have fired.
type sum struct {
	fired   map[string]float64
	watches int64
	// unsure: a server that may have fired something since the last sum that was
	// written did not tell, or has died or begun anew with what it had not told.
	unsure bool
}

func newTotals() *totals { return &totals{servers: map[string]*counted{}} }

// The limits of one sum.
const (
	askLimit   = 2 * time.Second        // for one server's answer,
	deafLimit  = 200 * time.Millisecond // and of one that was silent the time before
	levelLimit = 2 * time.Second        // for the last server to have done what the first has
	levelPause = 2 * time.Millisecond
)

// read adds up what the servers tell now. Everything that one of them had done when
// read was called is counted, on whichever server it fired watches. It reports false
// when no server tells.
func (t *totals) read(ctx context.Context, servers []counting) (sum, bool) {
	asked := servers
	if len(servers) > 1 {
		asked = t.level(ctx, servers)
	}
	ok := false
	for i, m := range t.ask(ctx, asked) {
		ok = t.take(asked[i].Addr(), m) || ok
	}
	here := map[string]bool{}
	for _, s := range servers {
		here[s.Addr()] = true
	}
	s := sum{fired: map[string]float64{}}
	for addr, one := range t.servers {
		if !here[addr] {
			t.lose(addr, syscall.ECONNREFUSED)
		}
		t.unsure = t.unsure || one.silent
		s.watches += one.watches
		for _, part := range []map[string]float64{one.before, one.now} {
			for name, v := range part {
				s.fired[name] += v
			}
		}
	}
	s.fired[zkstat.WatchCount] = float64(s.watches)
	s.unsure = t.unsure
	return s, ok
}

// written tells that the last sum is where the next growth begins.
func (t *totals) written() { t.unsure = false }

// answer is what became of a question to one server.
type answer[T any] struct {
	told T
	err  error
}

// askAll asks all servers side by side, each within its limit.
func askAll[S interface{ Addr() string }, T any](ctx context.Context, servers []S, limit func(addr string) time.Duration, ask func(S, context.Context) (T, error)) []answer[T] {
	answers := make([]answer[T], len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, limit(s.Addr()))
			defer cancel()
			answers[i].told, answers[i].err = ask(s, ctx)
		})
	}
	wg.Wait()
	return answers
}

func (t *totals) ask(ctx context.Context, servers []counting) []answer[zkstat.Monitor] {
	return askAll(ctx, servers, t.limit, counting.Monitor)
}

// limit is how long a server's answer may take.
func (t *totals) limit(addr string) time.Duration {
	if one := t.servers[addr]; one != nil && one.silent {
		return deafLimit
	}
	return askLimit
}

// level waits until every server has done what the furthest of them had done when it
// was called, and returns those that have. A follower applies a deletion after the
// leader, and fires the watches on it only then.
func (t *totals) level(ctx context.Context, servers []counting) []counting {
	ctx, cancel := context.WithTimeout(ctx, levelLimit)
	defer cancel()
	zxids := make(map[counting]int64, len(servers))
	furthest := int64(0)
	for i, a := range askAll(ctx, servers, t.limit, counting.Srvr) {
		if a.err != nil {
			t.lose(servers[i].Addr(), a.err)
			continue
		}
		zxids[servers[i]] = a.told.Zxid
		if isChange(a.told.Zxid) {
			furthest = max(furthest, a.told.Zxid)
		}
	}
	var there []counting
	for _, s := range servers {
		zxid, told := zxids[s]
		for told && zxid < furthest && pause(ctx, levelPause) == nil {
			srvr, err := s.Srvr(ctx)
			if err != nil {
				break
			}
			zxid = srvr.Zxid
		}
		switch {
		case told && zxid >= furthest:
			there = append(there, s)
		case told:
			t.lose(s.Addr(), context.DeadlineExceeded)
		}
	}
	return there
}

// isChange tells a change's number from the one that a new leader begins with, which
// its followers say only after the next change.
func isChange(zxid int64) bool { return zxid&0xffffffff != 0 }

// take notes what a server told of itself.
func (t *totals) take(addr string, a answer[zkstat.Monitor]) bool {
	if a.err != nil {
		t.lose(addr, a.err)
		return false
	}
	one := t.of(addr)
	now := a.told.Counters()
	delete(now, zkstat.WatchCount) // a level, and no count
	uptime := a.told.Values[upSince]
	if one.now != nil && (uptime < one.uptime || fell(one.now, now)) {
		for name, v := range one.now {
			one.before[name] += v
		}
		t.unsure = true
	}
	// What it comes back with may be from before it went.
	t.unsure = t.unsure || one.silent || one.gone || one.now == nil
	one.now, one.uptime, one.watches, one.silent, one.gone = now, uptime, a.told.Watches, false, false
	return true
}

// upSince is how long a server has been up, by mntr; 0 where it does not tell.
const upSince = "zk_uptime"

// fell reports whether a count is less than it was: then another life counts.
func fell(before, now map[string]float64) bool {
	for name, v := range before {
		if now[name] < v {
			return true
		}
	}
	return false
}

// of gives what is known of a server.
func (t *totals) of(addr string) *counted {
	if t.servers[addr] == nil {
		t.servers[addr] = &counted{before: map[string]float64{}}
	}
	return t.servers[addr]
}

// lose notes that a server does not tell. One without a process, or that serves
// nobody, has no clients and fires nothing; one that only does not answer may.
func (t *totals) lose(addr string, err error) {
	one := t.of(addr)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, zkstat.ErrNotServing) {
		// What it had fired since it was last read, it took with it.
		t.unsure = t.unsure || !one.gone
		one.gone, one.silent, one.watches = true, false, 0
		return
	}
	one.silent = true
}
