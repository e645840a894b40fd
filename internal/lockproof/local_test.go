package lockproof_test

import (
	"fmt"
	"sync"
	"testing"

	"zklab/curatorlike"
	"zklab/internal/lockproof"
)

// Goroutines of one process share its client, and stand in a queue of their
// own inside it. They are contestants like any other.
func TestGoroutines_2clients_5goroutinesEach(t *testing.T) {
	leavesNothing(t)
	for i := range recipes {
		r := &recipes[i]
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			a := newArena(t, r.suite(curatorlike.WithSessionTimeout(calmTimeout)))
			ctx := within(t, 3*patience)
			var all sync.WaitGroup
			for c := range 2 {
				first := a.player(fmt.Sprintf("c%d", c), r.victim)
				for g := range 5 {
					m := first.member
					m.Who = fmt.Sprintf("c%dg%d", c, g)
					if g%2 == 1 {
						m.Mode = r.rival
					}
					lock := first.session.Lock(m.Mode, a.path)
					all.Go(func() {
						for range 10 {
							if err := m.Round(ctx, lock, nil); err != nil {
								t.Errorf("%s: %v", m.Who, err)
								return
							}
						}
					})
				}
			}
			all.Wait()
			a.empties()
			if vs := a.verdict(); len(vs) > 0 {
				t.Errorf("%s\n%s", lockproof.Report(vs), a.logTail(60))
			}
		})
	}
}
