package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"zklab/internal/journal"
)

// who names one or several contestants, now or by their place.
type who struct {
	word string // name, holder, holders, next, last, waiter, all, newest, guest
	n    int    // of waiter
	of   server // of guest
	at   string // lock; "": the stage's own
}

func (w who) String() string {
	switch w.word {
	case "waiter":
		return fmt.Sprintf("waiter %d", w.n)
	case "guest":
		return "guest " + w.of.word
	}
	return w.word
}

// words are the rest of a statement, taken from the front.
type words struct {
	list  []string
	usage string
}

func (w *words) empty() bool { return len(w.list) == 0 }

func (w *words) next() string {
	if len(w.list) == 0 {
		return ""
	}
	first := w.list[0]
	w.list = w.list[1:]
	return first
}

// take removes the given words from the front if they stand there.
func (w *words) take(expected ...string) bool {
	if len(w.list) < len(expected) || !slices.Equal(w.list[:len(expected)], expected) {
		return false
	}
	w.list = w.list[len(expected):]
	return true
}

// wrong is the error that says how the statement is written.
func (w *words) wrong(what string) error {
	return fmt.Errorf("%s; write: %s", what, w.usage)
}

// done reports words that are too many.
func (w *words) done() error {
	if w.empty() {
		return nil
	}
	return w.wrong(fmt.Sprintf("%q is too much", strings.Join(w.list, " ")))
}

func (w *words) number(of string) (int, error) {
	text := w.next()
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1_000_000 {
		return 0, w.wrong(fmt.Sprintf("%s must be a number, not %q", of, text))
	}
	return n, nil
}

func (w *words) who() (who, error) {
	text := w.next()
	switch {
	case text == "waiter":
		n, err := w.number("the waiter's place")
		if err == nil && n < 1 {
			err = w.wrong("the first waiter is waiter 1")
		}
		at, atErr := w.at()
		return who{word: text, n: n, at: at}, errors.Join(err, atErr)
	case text == "guest":
		of, err := w.server()
		return who{word: text, of: of}, err
	case isName(text):
		at, err := w.at()
		return who{word: text, at: at}, err
	}
	return who{}, w.wrong(fmt.Sprintf("%q is no contestant: a name, holder, holders, next, last, waiter N, newest, guest S, all", text))
}

// isReserved reports whether a word means somebody, or a server, by itself.
func isReserved(word string) bool {
	switch word {
	case "holder", "holders", "next", "last", "waiter", "all", "newest", "guest", "server", "leader", "follower":
		return true
	}
	return false
}

// resolve finds the contestants meant, by the server's queue of the moment.
func (w who) resolve(r *Runner) ([]string, error) {
	state := r.state()
	path := r.lock(w.at)
	lock, _ := state.Lock(path)
	line := inLine(lock)
	waiting := waitingOf(line)
	place := -1
	switch w.word {
	case "guest":
		return lastGuest(r, w.of)
	case "newest":
		if n := len(r.started); n > 0 {
			return r.started[n-1:], nil
		}
		return nil, fmt.Errorf("there is no newest: nobody was started")
	case "all":
		if all := r.startedAt(path); len(all) > 0 {
			return all, nil
		}
		return nil, fmt.Errorf("there is nobody at %s; contestants were started at %s", path, r.startedWhere())
	case "holders":
		if all := holders(state); len(all) > 0 {
			return all, nil
		}
		return nil, fmt.Errorf("there are no holders: nobody of ours holds by the server")
	case "holder":
		for _, p := range line {
			if p.Holds {
				return []string{p.Who}, nil
			}
		}
		return nil, fmt.Errorf("there is no holder: nobody of ours holds %s by the server", path)
	case "next":
		place = 0
	case "last":
		place = len(waiting) - 1
	case "waiter":
		place = w.n - 1
	default:
		if name, remembered := r.names[w.word]; remembered {
			return []string{name}, nil
		}
		if slices.Contains(r.started, w.word) {
			return []string{w.word}, nil
		}
		return nil, fmt.Errorf("there is no contestant %q; there are %s", w.word, strings.Join(r.started, ", "))
	}
	if place < 0 || place >= len(waiting) {
		return nil, fmt.Errorf("there is no %s: %d of ours wait in line", w, len(waiting))
	}
	return []string{waiting[place].Who}, nil
}

// waitingOf gives the places of those who hold nothing.
func waitingOf(line []journal.Place) []journal.Place {
	return slices.DeleteFunc(slices.Clone(line), func(p journal.Place) bool { return p.Holds })
}

// one resolves to exactly one contestant.
func (w who) one(r *Runner) (string, error) {
	names, err := w.resolve(r)
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("%s must be one contestant, it is %d", w, len(names))
	}
	if err != nil {
		return "", err
	}
	return names[0], nil
}

// inLine gives the places that belong to contestants of ours.
func inLine(l journal.LockState) []journal.Place {
	return slices.DeleteFunc(slices.Clone(l.Queue), func(p journal.Place) bool { return p.Who == "" })
}
