package lockproof_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"zklab/internal/lockproof"
	"zklab/internal/wiretap"
)

// chaosFor is how long the networks are broken at random.
func chaosFor() time.Duration {
	if os.Getenv("ZKLAB_LONG") != "" {
		return time.Minute
	}
	return 4 * time.Second
}

// TestChaos lets eight sessions give up, hold and release at random while
// their networks break at random, and then requires every check to pass.
func TestChaos_8sessions(t *testing.T) {
	leavesNothing(t)
	for i := range recipes {
		r := &recipes[i]
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			a := newArena(t, r.suite())
			chaos(a, r, seed)
			// Sessions are ended here by the server alone, so a holder may hear of it
			// after the next one was granted. Which it may not is in the matrix.
			all := make([]string, 0, len(a.players))
			for _, p := range a.players {
				all = append(all, p.name())
			}
			vs := a.verdict(all...)
			t.Log(tally(t, a))
			if len(vs) > 0 {
				t.Errorf("seed %d:\n%s", seed, lockproof.Report(vs))
				keepLog(t, a)
			}
		})
	}
}

func chaos(a *arena, r *recipe, seed uint64) {
	a.expires = true
	ctx, over := context.WithTimeout(context.Background(), chaosFor())
	defer over()
	var all sync.WaitGroup
	modes := []lockproof.Mode{r.victim, r.rival}
	for i := range 8 {
		a.player(fmt.Sprintf("c%d", i), modes[i%2])
	}
	for i, p := range a.players {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() { wander(ctx, p, rnd) })
		all.Go(func() { breaks(ctx, p, rand.New(rand.NewPCG(seed, uint64(100+i)))) })
	}
	all.Wait()
	for _, p := range a.players { // whole again, everybody gets the lock once more
		p.relay.Heal()
	}
	for _, p := range a.players {
		all.Go(func() {
			end := time.Now().Add(3 * patience)
			for {
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				err := p.member.Round(ctx, p.lock, nil)
				cancel()
				if err == nil {
					return
				}
				if time.Now().After(end) {
					a.note("%s is stuck: %v", p.name(), err)
					a.t.Errorf("%s did not get the lock again: %v", p.name(), err)
					return
				}
			}
		})
	}
	all.Wait()
	a.empties()
}

// wander acquires with more or less patience, and holds more or less long.
func wander(ctx context.Context, p *player, rnd *rand.Rand) {
	for ctx.Err() == nil {
		limit := 2 * time.Second
		if rnd.IntN(3) == 0 {
			limit = time.Duration(rnd.IntN(20)) * time.Millisecond
		}
		try, cancel := context.WithTimeout(ctx, limit)
		stay := make(chan struct{})
		timer := time.AfterFunc(time.Duration(rnd.IntN(5))*time.Millisecond, func() { close(stay) })
		_ = p.member.Round(try, p.lock, stay) // every way to fail is allowed
		timer.Stop()
		cancel()
	}
}

// breaks does something to the player's network now and then.
func breaks(ctx context.Context, p *player, rnd *rand.Rand) {
	match := func() wiretap.Match {
		ops := []wiretap.Op{wiretap.OpCreate, wiretap.OpDelete, wiretap.OpGetChildren, wiretap.OpGetData}
		return wiretap.Match{Op: ops[rnd.IntN(len(ops))], PathPrefix: p.a.path}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(50+rnd.IntN(500)) * time.Millisecond):
		}
		switch rnd.IntN(7) {
		case 0:
			p.relay.Cut()
		case 1:
			p.relay.DropReply(match())
		case 2:
			p.relay.FailWrite(match())
		case 3:
			p.relay.Delay(time.Duration(rnd.IntN(30)) * time.Millisecond)
		case 4:
			p.relay.BlackHole(wiretap.Both, true)
			time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
			p.relay.Heal()
		case 5:
			p.relay.Heal()
		case 6:
			if rnd.IntN(3) == 0 {
				_ = p.expire() // there may be no session at the moment
			}
		}
	}
}

// tally says how much happened, so that nobody takes an idle run for a proof.
func tally(t *testing.T, a *arena) string {
	t.Helper()
	events, err := lockproof.ReadLog(a.logFile)
	if err != nil {
		t.Fatal(err)
	}
	n := map[lockproof.Verb]int{}
	for _, e := range events {
		n[e.Verb]++
	}
	var conns, dropped int64
	for _, p := range a.players {
		c := p.relay.Counters()
		conns, dropped = conns+c.Conns, dropped+c.Dropped
	}
	if n[lockproof.Enter] < len(a.players) || n[lockproof.Fail] == 0 || dropped == 0 {
		t.Errorf("nothing much happened: %d grants, %d failed acquires, %d frames lost", n[lockproof.Enter], n[lockproof.Fail], dropped)
	}
	return fmt.Sprintf("%d grants, %d failed acquires, %d connections, %d frames lost", n[lockproof.Enter], n[lockproof.Fail], conns, dropped)
}

// keepLog copies the log to where "go test -artifacts" keeps it.
func keepLog(t *testing.T, a *arena) {
	t.Helper()
	text, err := os.ReadFile(a.logFile)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.ArtifactDir(), "log")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("the log is %s (with -artifacts)\n%s", file, a.logTail(60))
}
