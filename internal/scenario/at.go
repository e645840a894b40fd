package scenario

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"zklab/internal/journal"
)

// at takes "at LOCK" from the front; "" when there is none: the stage's own lock
// is meant. ("At once" is no lock.)
func (w *words) at() (string, error) {
	if w.empty() || w.list[0] != "at" || len(w.list) > 1 && w.list[1] == "once" {
		return "", nil
	}
	w.next()
	name := w.next()
	if !isName(name) {
		return "", w.wrong(fmt.Sprintf("%q is no name for a lock", name))
	}
	return name, nil
}

// lock is the path of a lock by its name in the script: it lies beside the
// stage's own.
func (r *Runner) lock(name string) string {
	if name == "" {
		return r.stage.Lock()
	}
	return path.Join(path.Dir(r.stage.Lock()), name)
}

// startedAt names those that were started at a lock, in order.
func (r *Runner) startedAt(lock string) []string {
	var names []string
	for _, name := range r.started {
		if r.at[name] == lock {
			names = append(names, name)
		}
	}
	return names
}

// startedWhere lists the locks at which somebody was started, in words.
func (r *Runner) startedWhere() string {
	var locks []string
	for _, name := range r.started {
		if !slices.Contains(locks, r.at[name]) {
			locks = append(locks, r.at[name])
		}
	}
	if len(locks) == 0 {
		return "no lock yet"
	}
	return strings.Join(locks, ", ")
}

// holders names the first holder of each lock.
func holders(s journal.State) []string {
	var names []string
	for _, l := range s.Locks {
		for _, p := range l.Queue {
			if p.Holds && p.Who != "" {
				names = append(names, p.Who)
				break
			}
		}
	}
	return names
}
