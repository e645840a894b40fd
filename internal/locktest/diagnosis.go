package locktest

import (
	"fmt"
	"regexp"
	"strings"
)

// Codes that any exercise can yield.
const (
	CodeTODO       = "TODO"             // the exercise is not written yet
	CodePanics     = "PANICS"           // the learner's code panicked
	CodeUnexpected = "UNEXPECTED-ERROR" // it returned an error where it should not
	CodeNoServer   = "NO-SERVER"        // no ZooKeeper could be had
	CodeOwnError   = "OWN-ERROR"        // so, and the learner's code has made the error itself

	CodeNeverReturns = "NEVER-RETURNS" // a call waits for something that cannot come
)

// Diagnosis says what is wrong with a lock.
type Diagnosis struct {
	Code  string // CAPITALS-WITH-DASHES; hints are found by it
	Says  string // one sentence or two, in the lesson's terms
	Steps []Step // of this very run, those that matter
}

// Step is one line of what happened.
type Step struct {
	Who    string // whose step: a client's name
	Text   string // what it did
	Effect string // what came of it; may be empty
}

// line is the step by itself, for the journal.
func (s Step) line() string {
	line := strings.Join(strings.Fields(s.Who+" "+s.Text), " ")
	if s.Effect != "" {
		line += " -> " + s.Effect
	}
	return line
}

const (
	textWidth = 70 // of the sentence
	minWhat   = 25 // what a step did is padded to at least so many columns
)

// String is the message for people: code, sentence, steps.
func (d Diagnosis) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "what went wrong  [%s]\n", d.Code)
	for _, line := range wrap(d.Says, textWidth) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if len(d.Steps) == 0 {
		return b.String()
	}
	b.WriteString("what happened\n")
	who, what := 1, minWhat
	for _, s := range d.Steps {
		who = max(who, len(s.Who))
		if s.Effect != "" {
			what = max(what, len(s.Text))
		}
	}
	for _, s := range d.Steps {
		line := fmt.Sprintf("  %-*s  %s", who, s.Who, s.Text)
		if s.Effect != "" {
			line = fmt.Sprintf("  %-*s  %-*s  -> %s", who, s.Who, what, s.Text, s.Effect)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// withNext adds the next command.
func (d Diagnosis) withNext(exercise string, replay bool) string {
	nn, _, _ := strings.Cut(exercise, "-")
	next := "next: zklab hint " + nn
	if replay {
		next += "      replay: zklab replay last"
	}
	return d.String() + next + "\n"
}

var headline = regexp.MustCompile(`^what went wrong  \[([A-Z0-9-]+)\]$`)

// FindDiagnosis finds the first diagnosis in what go test printed, and returns
// its code and its message. The code is "" when there is none.
func FindDiagnosis(output string) (code, message string) {
	var block []string
	indent := ""
	for _, line := range strings.Split(output, "\n") {
		if m := headline.FindStringSubmatch(strings.TrimSpace(line)); m != nil && code == "" {
			code = m[1]
			indent = line[:strings.Index(line, "w")]
		}
		if code == "" {
			continue
		}
		text := strings.TrimPrefix(line, indent)
		block = append(block, text)
		if strings.HasPrefix(text, "next: ") {
			break
		}
	}
	return code, strings.Join(block, "\n")
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
