package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"zklab/internal/journal"
)

// server names one ZooKeeper server: by its number from 1, its role, or a name
// that was given to it with let.
type server struct{ word string }

func (w *words) server() (server, error) {
	text := w.next()
	if s := (server{text}); s.numbered() || isName(text) {
		return s, nil
	}
	return server{}, w.wrong(fmt.Sprintf("%q is no server: its number from 1, leader, follower, or a name given with let", text))
}

func (s server) numbered() bool { return len(s.word) == 1 && s.word[0] >= '1' && s.word[0] <= '9' }

// number finds the server meant, by what the servers said last of their roles. One
// that the lab has killed, paused or cut off has none, whatever it said last.
func (s server) number(r *Runner) (int, error) {
	state := r.state()
	if s.numbered() {
		if n := int(s.word[0] - '0'); n <= len(state.Servers) {
			return n, nil
		}
		return 0, fmt.Errorf("there is no server %s; there are %d", s.word, len(state.Servers))
	}
	if n, named := r.servers[s.word]; named {
		return n, nil
	}
	best, most := 0, -1
	for i, one := range state.Servers {
		if len(one.Faults) > 0 {
			continue
		}
		if one.Mode == s.word || s.word == "leader" && one.Mode == "standalone" {
			if n := len(guests(state, i+1)); n > most {
				best, most = i+1, n
			}
		}
	}
	if best == 0 {
		return 0, fmt.Errorf("no server is %s now: %s", s.word, roles(state))
	}
	return best, nil
}

// guests are the contestants whose session is on a server, in order of joining.
func guests(s journal.State, number int) []string {
	var who []string
	for _, c := range s.Contestants {
		if c.Server != "" && c.Server == s.Servers[number-1].Addr {
			who = append(who, c.Who)
		}
	}
	return who
}

// roles says who serves as what.
func roles(s journal.State) string {
	var said []string
	for i, one := range s.Servers {
		role := map[string]string{"leader": "leads", "follower": "follows", "standalone": "stands alone", "": "does not serve"}[one.Mode]
		if role == "" {
			role = "is " + one.Mode
		}
		said = append(said, fmt.Sprintf("server %d %s", i+1, role))
	}
	return strings.Join(said, ", ")
}

// parseServer reads the statements that do something to a server.
func parseServer(verb string, w *words) (doer, error) {
	whom, err := w.server()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, r *Runner) error {
		which := whom.word
		if which != "leader" && !whom.numbered() { // the stage finds those itself
			n, err := whom.number(r)
			if err != nil {
				return err
			}
			which = fmt.Sprint(n)
		}
		return r.stage.Server(ctx, verb, which)
	}, w.done()
}

// parseLetServer reads what stands behind "let NAME = server".
func parseLetServer(name string, w *words) (doer, error) {
	whom, err := w.server()
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, r *Runner) error {
		n, err := whom.number(r)
		r.servers[name] = n
		return err
	}, w.done()
}

// serving counts the servers that serve, and says where everybody's session is.
func serving(_ *Runner, s journal.State) (int, bool, string) {
	n := 0
	var sessions []string
	for i, one := range s.Servers {
		if one.Mode != "" {
			n++
		}
		if who := guests(s, i+1); len(who) > 0 {
			sessions = append(sessions, fmt.Sprintf("%s on %d", few(who), i+1))
		}
	}
	is := fmt.Sprintf("%d of %d serve (%s)", n, len(s.Servers), roles(s))
	if len(sessions) > 0 {
		is += "; sessions: " + strings.Join(sessions, "; ")
	}
	return n, len(s.Servers) > 0, is
}

// serverFact reads "server S leads", "follows" or "down".
func serverFact(w *words) (fact, error) {
	whom, err := w.server()
	if err != nil {
		return fact{}, err
	}
	word := w.next()
	mode, known := map[string]string{"leads": "leader", "follows": "follower", "down": ""}[word]
	if !known {
		return fact{}, w.wrong(fmt.Sprintf("a server leads, follows or is down, not %q", word))
	}
	return fact{check: func(r *Runner, s journal.State) finding {
		n, err := whom.number(r)
		if err != nil {
			return finding{is: err.Error()}
		}
		return finding{ok: s.Servers[n-1].Mode == mode, is: roles(s)}
	}}, nil
}

// otherLeads reads the server of "leader other than S".
func otherLeads(w *words) (fact, error) {
	whom, err := w.server()
	return fact{check: func(r *Runner, s journal.State) finding {
		n, err := whom.number(r)
		if err != nil {
			return finding{is: err.Error()}
		}
		i := slices.IndexFunc(s.Servers, func(one journal.ServerState) bool { return one.Mode == "leader" })
		return finding{ok: i >= 0 && i+1 != n, is: roles(s)}
	}}, err
}

// sessionOn reads the server of "WHO on S" and "WHO off S": off means that the
// session is on another one. "WHO on any" is so when it is known which.
func sessionOn(w *words, on bool) (aspect, error) {
	anywhere := on && w.take("any")
	var whom server
	var err error
	if !anywhere {
		whom, err = w.server()
	}
	return func(r *Runner, c journal.ContestantState) finding {
		s := r.state()
		i := slices.IndexFunc(s.Servers, func(one journal.ServerState) bool { return one.Addr == c.Server })
		if i < 0 {
			return finding{is: fmt.Sprintf("the session of %s is on no server that is known", c.Who)}
		}
		n := i + 1
		if !anywhere {
			var err error
			if n, err = whom.number(r); err != nil {
				return finding{is: err.Error()}
			}
		}
		return finding{ok: (i+1 == n) == on, is: fmt.Sprintf("the session of %s is on server %d", c.Who, i+1)}
	}, err
}

// lastGuest is the last in line whose session is on the server.
func lastGuest(r *Runner, whom server) ([]string, error) {
	n, err := whom.number(r)
	if err != nil {
		return nil, err
	}
	state := r.state()
	lock, _ := state.Lock(r.stage.Lock())
	there := guests(state, n)
	line := inLine(lock)
	for i := len(line) - 1; i >= 0; i-- {
		if slices.Contains(there, line[i].Who) {
			return []string{line[i].Who}, nil
		}
	}
	return nil, fmt.Errorf("nobody in line has a session on server %d", n)
}
