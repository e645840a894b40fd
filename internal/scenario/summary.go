package scenario

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
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

// Width is how many cells a line has where no terminal says otherwise.
const Width = 80

// String gives the summary as a few lines of text.
func (s Summary) String() string { return s.Text(Width) }

// Text gives the summary as a few lines of text, broken between words to be at most
// width cells wide where the words allow that.
func (s Summary) Text(width int) string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		b.WriteString(broken(fmt.Sprintf(format, args...), indent, width))
	}
	line(0, "%s", s.Title)
	line(0, "%s", s.outcome())
	for _, r := range s.Results {
		mark := "ok    "
		if !r.OK {
			mark = "NOT SO"
		}
		text := r.Text
		if r.Found != "" {
			text += ": " + r.Found
		}
		line(10, "  %s  %s", mark, text)
	}
	if s.Broken != nil {
		line(10, "  stopped at %v", s.Broken)
	}
	for _, g := range s.Guesses {
		line(4, "  %s %s", g.Question.Text, g.Verdict())
	}
	return b.String()
}

// outcome says how far it came and how many things were as expected.
func (s Summary) outcome() string {
	how := fmt.Sprintf("%d of %d steps", s.Steps, s.Of)
	switch {
	case s.Broken != nil:
		how = fmt.Sprintf("stopped in step %d of %d", s.Steps, s.Of)
	case s.Steps < s.Of:
		how = "left after " + how
	}
	return fmt.Sprintf("%s; %s, %d as expected, %d not", how, count(len(s.Results), "expectation", "expectations"), len(s.Results)-s.Failed, s.Failed)
}

// Verdict says in a sentence whether the answer was right, and what is.
func (g Guess) Verdict() string {
	right := g.Question.Choices[g.Question.Answer]
	switch {
	case g.Choice == g.Question.Answer:
		return fmt.Sprintf("You predicted \"%s\", and that is right.", right)
	case g.Choice >= 0 && g.Choice < len(g.Question.Choices):
		return fmt.Sprintf("You predicted \"%s\", but it is \"%s\".", g.Question.Choices[g.Choice], right)
	}
	return fmt.Sprintf("You predicted nothing. It is \"%s\".", right)
}

// broken breaks a line between words; what follows the first is indented. It ends
// with a newline.
func broken(text string, indent, width int) string {
	wrapped := ansi.Wordwrap(text, max(width, 1), " ")
	first, rest, more := strings.Cut(wrapped, "\n")
	if !more {
		return first + "\n"
	}
	room := max(width-indent, 1)
	rest = ansi.Wordwrap(strings.TrimSpace(strings.ReplaceAll(rest, "\n", " ")), room, " ")
	margin := "\n" + strings.Repeat(" ", indent)
	return strings.TrimRight(first, " ") + margin + strings.ReplaceAll(rest, "\n", margin) + "\n"
}
