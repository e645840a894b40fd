package scenario

import (
	"fmt"
	"slices"
	"time"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
)

// aspect checks one thing about one contestant.
type aspect func(r *Runner, c journal.ContestantState) finding

// aboutOne reads "WHO ASPECT".
func aboutOne(w *words) (fact, error) {
	subject, err := w.who()
	if err != nil {
		return fact{}, err
	}
	word := w.next()
	check := aspects[word]
	if word == "expired" && w.take("in", "(T,", "T+tick]") {
		check = expiredInTime
	}
	if word == "on" || word == "off" {
		if check, err = sessionOn(w, word == "on"); err != nil {
			return fact{}, err
		}
	}
	if check == nil {
		return fact{}, w.wrong(fmt.Sprintf("%q says nothing about %s: facts are in the package documentation of internal/scenario", word, subject))
	}
	return fact{check: func(r *Runner, s journal.State) finding {
		names, err := subject.resolve(r)
		if err != nil {
			return finding{is: err.Error()}
		}
		all := finding{ok: true}
		for i, name := range names {
			c, _ := s.Contestant(name)
			f := check(r, c)
			if !f.ok || i == 0 {
				all = f
			}
			if !f.ok {
				break
			}
		}
		return all
	}}, nil
}

var aspects = map[string]aspect{
	"idle":      believes(journal.Idle),
	"waiting":   believes(journal.Waiting),
	"holds":     believes(journal.Holds),
	"suspended": believes(journal.Suspended),
	"lost":      believes(journal.Lost),
	"released":  believes(journal.Released),
	"failed":    believes(journal.Failed),
	"running":   process(journal.Running),
	"stopped":   process(journal.Stopped),
	"dead": func(r *Runner, c journal.ContestantState) finding {
		how, gone := r.watch.exited[c.Who]
		if how == journal.QuitText {
			return finding{is: fmt.Sprintf("%s has ended its session, its process (pid %d) goes on for others", c.Who, c.PID)}
		}
		if gone {
			return finding{ok: true, is: fmt.Sprintf("the process of %s (pid %d) is gone: %s", c.Who, c.PID, how)}
		}
		return finding{is: fmt.Sprintf("the process of %s (pid %d) is there", c.Who, c.PID)}
	},
	"connected": func(_ *Runner, c journal.ContestantState) finding {
		return finding{ok: c.Connected, is: connection(c)}
	},
	"disconnected": func(_ *Runner, c journal.ContestantState) finding {
		return finding{ok: !c.Connected, is: connection(c)}
	},
	"expired": func(_ *Runner, c journal.ContestantState) finding {
		if c.SessionEnd.IsZero() {
			return finding{is: fmt.Sprintf("the session of %s lives", c.Who)}
		}
		return finding{ok: c.EndedBy == "expired", is: fmt.Sprintf("the session of %s %s", c.Who, c.EndedBy)}
	},
	"out": func(_ *Runner, c journal.ContestantState) finding {
		if c.NodeGone.IsZero() {
			return finding{ok: false, is: fmt.Sprintf("the znode of %s is there: %s", c.Who, plain.Node(c.Node))}
		}
		return finding{ok: true, is: fmt.Sprintf("the server deleted the znode of %s", c.Who)}
	},
	"silent": silent,
}

func believes(b journal.BeliefKind) aspect {
	return func(_ *Runner, c journal.ContestantState) finding {
		is := fmt.Sprintf("%s believes: %s", c.Who, c.Belief)
		if c.Belief == journal.Holds {
			is += fmt.Sprintf(" (token 0x%x)", c.Token)
		}
		if c.Err != "" {
			is += ": " + c.Err
		}
		return finding{ok: c.Belief == b, is: is}
	}
}

func process(phases ...journal.Phase) aspect {
	return func(_ *Runner, c journal.ContestantState) finding {
		return finding{ok: slices.Contains(phases, c.Phase), is: fmt.Sprintf("the process of %s (pid %d) is %s", c.Who, c.PID, c.Phase)}
	}
}

func connection(c journal.ContestantState) string {
	if c.Connected {
		return c.Who + " has a connection"
	}
	return c.Who + " has no connection"
}

// silent reports whether no packet came since the process was killed or stopped.
// The kernel may still have sent what was written just before.
func silent(r *Runner, c journal.ContestantState) finding {
	at, signalled := r.watch.signalled[c.Who]
	if !signalled {
		return finding{is: c.Who + " was neither killed nor stopped"}
	}
	const underWay = 50 * time.Millisecond
	f := finding{ok: !c.Heard.After(at.Add(underWay))}
	f.is = fmt.Sprintf("no packet for %s, since the last of %s at +%s", secs(r.last.Sub(c.Heard)), c.Who, secs(c.Heard.Sub(r.state().Start)))
	if !f.ok {
		f.is = fmt.Sprintf("a packet %s after the signal, from %s", secs(c.Heard.Sub(at)), c.Who)
	}
	return f
}

// seeing is how much later than it happens an expiry may be seen here when the
// machine is busy: the server's expiry thread, the watch event, the relay.
const seeing = 250 * time.Millisecond

// expiredInTime checks the rule that a session ends in (T, T + tick] after the
// last packet that the server heard. The lower bound is strict whatever the
// observer's delay; the upper one allows for seeing it late, and in an ensemble for
// the half tick after which a follower tells the leader, who counts, whom it heard.
func expiredInTime(r *Runner, c journal.ContestantState) finding {
	gone := c.NodeGone
	if gone.IsZero() || !c.SessionEnd.IsZero() && c.SessionEnd.Before(gone) {
		gone = c.SessionEnd
	}
	switch {
	case gone.IsZero():
		return finding{is: fmt.Sprintf("the session of %s lives", c.Who)}
	case c.SessionEnd.IsZero():
		return finding{unknown: true, is: fmt.Sprintf("the server has not said yet how the session of %s ended", c.Who)}
	case c.EndedBy != "expired":
		return finding{is: fmt.Sprintf("the session of %s was %s, it did not expire", c.Who, c.EndedBy)}
	}
	took, tick := gone.Sub(c.Heard), r.stage.Tick()
	if tick <= 0 {
		return finding{unknown: true, is: "the server's tick is not known"}
	}
	last, bound := c.Timeout+tick, "T + tick"
	if len(r.state().Servers) > 1 {
		last, bound = last+tick/2, "T + tick, and half a tick from a follower to the leader"
	}
	f := finding{ok: took > c.Timeout && took <= last+seeing}
	f.is = fmt.Sprintf("%s after its last packet; T = %s, %s = %s (%s)", secs(took), secs(c.Timeout), bound, secs(last), c.Who)
	if late := took - last; f.ok && late > 0 {
		f.is += fmt.Sprintf(" (seen %s late)", secs(late))
	}
	return f
}
