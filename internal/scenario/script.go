package scenario

import (
	"context"
	"fmt"
	"strings"

	"zklab/internal/lab"
)

// Script is a parsed demo. It is immutable: several runners may play it.
type Script struct {
	Title   string
	Servers int // that the demo needs: 1 or 3
	Params  []Param
	Steps   []Step
}

// Param is a value of a demo that may be set from outside.
type Param struct {
	Name, Default, Value, Help string
	kind                       paramKind
	low, high                  string // bounds as written, empty: none
}

// Step is what is done on one key.
type Step struct {
	Text     string // what it is about, in one line
	Line     int    // where it begins
	Question *Question
	actions  []action
}

// Question is asked before a step runs.
type Question struct {
	Text    string
	Choices []string
	Answer  int // index of the right choice
}

// action is one statement that does something.
type action struct {
	line int
	text string
	do   func(ctx context.Context, r *Runner) error
}

// Newcomer is one contestant like those of the script's first start at a lock, by
// the lock's name in the script ("": the stage's own). It reports false when the
// script starts nobody there.
func (s *Script) Newcomer(lock string) (lab.Group, bool) {
	for _, step := range s.Steps {
		for _, a := range step.actions {
			rest, starts := strings.CutPrefix(a.text, "start ")
			if !starts {
				continue
			}
			if g, err := (&words{list: strings.Fields(rest)}).group(); err == nil && g.Lock == lock {
				g.Count = 1
				return g, true
			}
		}
	}
	return lab.Group{}, false
}

// Error is a mistake in a script.
type Error struct {
	Name string // of the script
	Line int    // from 1
	Text string // what is wrong and what to write instead
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Text) }

// Errors are all mistakes of a script, in the order of their lines.
type Errors []*Error

func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}
