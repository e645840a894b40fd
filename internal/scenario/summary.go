package scenario

import (
	"fmt"
	"strings"
)

// Summary is what was expected and what happened.
type Summary struct {
	Title   string
	Steps   int // run
	Of      int
	Results []Result
	Failed  int
	Broken  error // why the script did not come to its end
	Guesses []Guess
}

// Summary gives what has happened so far.
func (r *Runner) Summary() Summary {
	s := Summary{Title: r.script.Title, Steps: r.next, Of: len(r.script.Steps), Results: r.results, Broken: r.broken, Guesses: r.guesses}
	for _, result := range r.results {
		if !result.OK {
			s.Failed++
		}
	}
	return s
}

// OK reports whether the script came to its end and everything was as expected.
func (s Summary) OK() bool { return s.Failed == 0 && s.Broken == nil && s.Steps == s.Of }

// ExitCode is 0 when all was as expected, else 1.
func (s Summary) ExitCode() int {
	if s.OK() {
		return 0
	}
	return 1
}

// String gives the summary as a few lines of text.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", s.Title)
	fmt.Fprintf(&b, "%d of %d steps; %s, %d as expected, %d not\n", s.Steps, s.Of, count(len(s.Results), "expectation", "expectations"), len(s.Results)-s.Failed, s.Failed)
	for _, r := range s.Results {
		mark := "ok    "
		if !r.OK {
			mark = "NOT SO"
		}
		fmt.Fprintf(&b, "  %s  %s", mark, r.Text)
		if r.Found != "" {
			fmt.Fprintf(&b, ": %s", r.Found)
		}
		b.WriteString("\n")
	}
	if s.Broken != nil {
		fmt.Fprintf(&b, "  stopped at %v\n", s.Broken)
	}
	for _, g := range s.Guesses {
		verdict := "right"
		if g.Choice != g.Question.Answer {
			verdict = "it was: " + g.Question.Choices[g.Question.Answer]
		}
		choice := "no answer"
		if g.Choice >= 0 && g.Choice < len(g.Question.Choices) {
			choice = g.Question.Choices[g.Choice]
		}
		fmt.Fprintf(&b, "  predicted  %s %s: %s\n", g.Question.Text, choice, verdict)
	}
	return b.String()
}
