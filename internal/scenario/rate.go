package scenario

import (
	"fmt"
	"math"
	"time"

	"zklab/internal/journal"
)

// rate is how many acquisitions a second there were in the current step: by the
// grants' own times, from the first to the last of them, rounded up.
func rate(r *Runner, _ journal.State) (n int, known bool, is string) {
	events, _ := r.j.Since(0, 0)
	var first, last time.Time
	grants := 0
	for i := range events {
		switch e := &events[i]; {
		case e.Type == journal.Step:
			grants = 0
		case e.Type == journal.Belief && e.Belief == journal.Holds:
			if grants == 0 {
				first = e.At
			}
			last = e.At
			grants++
		}
	}
	if grants < 2 || !last.After(first) {
		return 0, false, fmt.Sprintf("%s in this step: too few to tell a rate", count(grants, "acquisition", "acquisitions"))
	}
	perSecond := float64(grants-1) / last.Sub(first).Seconds()
	return int(math.Ceil(perSecond)), true, fmt.Sprintf("%d acquisitions within %s: %.1f a second", grants, secs(last.Sub(first)), perSecond)
}
