package scenario

import (
	"fmt"
	"math"
	"time"

	"zklab/internal/journal"
)

// pace counts the acquisitions of the current step.
type pace struct {
	first, last time.Time
	grants      int
	tokens      map[string]int64 // of each one's last grant
}

func newPace() pace { return pace{tokens: map[string]int64{}} }

func (p *pace) take(e *journal.Event) {
	switch {
	case e.Type == journal.Step:
		p.grants = 0
		return
	case e.Type != journal.Belief || e.Belief != journal.Holds:
		return
	case e.Token != 0 && p.tokens[e.Who] == e.Token:
		return // the same hold, after a doubt
	}
	p.tokens[e.Who] = e.Token
	if p.grants == 0 || e.At.Before(p.first) {
		p.first = e.At
	}
	if p.grants == 0 || e.At.After(p.last) {
		p.last = e.At
	}
	p.grants++
}

// rate is how many acquisitions a second there were in the current step: by the
// grants' own times, from the first to the last of them, rounded up.
func rate(r *Runner, _ journal.State) (n int, known bool, is string) {
	p := r.watch.pace
	if p.grants < 2 || !p.last.After(p.first) {
		return 0, false, fmt.Sprintf("%s in this step: too few to tell a rate", count(p.grants, "acquisition", "acquisitions"))
	}
	took := p.last.Sub(p.first)
	perSecond := float64(p.grants-1) / took.Seconds()
	return int(math.Ceil(perSecond)), true, fmt.Sprintf("%d acquisitions within %s: %.1f a second", p.grants, secs(took), perSecond)
}
