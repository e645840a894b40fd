package view_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"zklab/tui/internal/fixture"
	"zklab/tui/view"
)

func narrated(s view.Steps) string {
	f := frame(fixture.Queue(), 42.3)
	f.Steps = &s
	return ansi.Strip(view.Queue(f, 80, 24, looks["mono"]))
}

func TestSteps_aStepWithoutResults_showsNoneOfTheStepBefore(t *testing.T) {
	s := view.Steps{At: 3, Of: 4, Text: "next: the last one", Results: []view.Result{{Text: "found before", OK: true}}}
	if out := narrated(s); !strings.Contains(out, "found before") {
		t.Fatalf("the step's own result is missing:\n%s", out)
	}
	s.Earlier = 1
	if out := narrated(s); strings.Contains(out, "found before") {
		t.Errorf("a result of the step before stands beside this one:\n%s", out)
	}
}

func TestSteps_longResults_leaveTheTextWhole(t *testing.T) {
	s := view.Steps{At: 3, Of: 4, Text: "next: " + strings.Repeat("each line drains ", 5) + "END"}
	for _, name := range []string{"first", "second", "third"} {
		s.Results = append(s.Results, view.Result{Text: name + strings.Repeat(" a long finding", 8), OK: true})
	}
	out := narrated(s)
	if !strings.Contains(out, "END") || !strings.Contains(out, "third a long") {
		t.Errorf("the text, or the newest result, is cut:\n%s", out)
	}
}

func TestSteps_textLongerThanItsRoom_saysThatItIsCut(t *testing.T) {
	s := view.Steps{At: 3, Of: 4, Text: "next: " + strings.Repeat("each line drains ", 60) + "END"}
	if out := narrated(s); strings.Contains(out, "END") || !strings.Contains(out, "…") {
		t.Errorf("no sign that the text goes on:\n%s", out)
	}
}

// On a low screen the choices of a question do not push the question away.
func TestSteps_60x16_theQuestionStandsAboveItsChoices(t *testing.T) {
	f := frame(fixture.Queue(), 42.3)
	f.Steps = &view.Steps{At: 1, Of: 4, Text: "next: kill", Question: "When does the next one hold?", Choices: []string{"at once", "later", "never"}}
	out := ansi.Strip(view.Queue(f, 60, 16, looks["mono"]))
	for _, want := range []string{"When does the next one hold?", "1 at once", "3 never"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}
