package scenario

import (
	"fmt"
	"time"

	"zklab/internal/journal"
)

// DiedError is returned when something ended that nobody had ended: a contestant's
// process, or a server. What the script waits for will not come then, or prove nothing.
type DiedError struct {
	Server bool   // a server, and no contestant
	Who    string // its name or address
	How    string
}

func (e *DiedError) Error() string {
	what := "the process of " + e.Who
	if e.Server {
		what = "the server at " + e.Who
	}
	return fmt.Sprintf("%s died by itself: %s; nobody here ended it, so what follows would prove nothing: run it again", what, e.How)
}

// exitedWell is what a process says that ends as it was asked to.
const exitedWell = "exit status 0"

// deaths remembers whose end was ordered, and the first one that was not.
type deaths struct {
	killed map[int]bool // by process id
	err    *DiedError
}

func (d *deaths) take(e *journal.Event) {
	var died *DiedError
	switch {
	case e.Type == journal.Signal && e.Op == "SIGKILL":
		d.killed[e.PID] = true
	case e.Type == journal.Exited && e.Text != exitedWell && !d.killed[e.PID]:
		died = &DiedError{Who: fmt.Sprintf("%s (pid %d)", e.Who, e.PID), How: e.Text}
	case e.Type == journal.ServerDown && e.Err != "":
		died = &DiedError{Server: true, Who: e.Text, How: e.Err}
	}
	if died != nil && d.err == nil {
		d.err = died
	}
}

// StoodStillError is returned when zklab itself stood still for longer than a
// session lasts: then sessions have ended that the script had no part in.
type StoodStillError struct {
	For     time.Duration
	Session time.Duration // the shortest one's timeout
}

func (e *StoodStillError) Error() string {
	return fmt.Sprintf("zklab itself stood still for %s (stopped by a signal or ctrl-Z, or this machine was too busy), longer than a session of %s lasts: sessions have ended for that alone, so what follows would prove nothing; run it again",
		secs(e.For), secs(e.Session))
}

// noSessionSooner is the shortest session of a private server.
const noSessionSooner = time.Second

// dead is why the script cannot go on, nil when everybody lives who should.
func (r *Runner) dead() error {
	if still := r.stage.StoodStill(); still >= noSessionSooner {
		if shortest := r.shortest(); shortest > 0 && still >= shortest {
			return &StoodStillError{For: still, Session: shortest}
		}
	}
	if r.watch.deaths.err != nil {
		return r.watch.deaths.err
	}
	return nil
}

// shortest is the shortest session timeout of all contestants, 0 without any.
func (r *Runner) shortest() time.Duration {
	shortest := time.Duration(0)
	for _, c := range r.state().Contestants {
		if c.Timeout > 0 && (shortest == 0 || c.Timeout < shortest) {
			shortest = c.Timeout
		}
	}
	return shortest
}
