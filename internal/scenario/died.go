package scenario

import (
	"fmt"

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
	case e.Type == journal.Exited && e.Text != exitedWell && e.Text != journal.QuitText && !d.killed[e.PID]:
		died = &DiedError{Who: fmt.Sprintf("%s (pid %d)", e.Who, e.PID), How: e.Text}
	case e.Type == journal.ServerDown && e.Err != "":
		died = &DiedError{Server: true, Who: e.Text, How: e.Err}
	}
	if died != nil && d.err == nil {
		d.err = died
	}
}

// dead is why the script cannot go on, nil when everybody lives who should.
func (r *Runner) dead() error {
	if err := r.watch.lives.outlasted(r.stage.StoodStill()); err != nil {
		return err
	}
	if r.watch.deaths.err != nil {
		return r.watch.deaths.err
	}
	return nil
}
