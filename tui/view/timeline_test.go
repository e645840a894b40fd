package view_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"zklab/tui/internal/fixture"
	"zklab/tui/view"
)

func timeline(seconds float64) view.Frame {
	f := frame(fixture.KillAndStop(), seconds)
	f.Page = "kill -9 and SIGSTOP"
	return f
}

func TestTimeline_killThenStop(t *testing.T) { goldens(t, timeline(24), view.Timeline) }

func TestTimeline_stoppedHolder_stillBelieves(t *testing.T) {
	goldens(t, timeline(12.47), view.Timeline)
}

func TestTimeline_networkCutThenHealed(t *testing.T) {
	f := frame(fixture.CutOff(), 10)
	f.Page = "kill -9 and SIGSTOP"
	goldens(t, f, view.Timeline)
}

func TestTimeline_everySize(t *testing.T) {
	told := timeline(24)
	told.Steps = &view.Steps{At: 1, Of: 2, Text: "The holder is killed.", Waiting: "its session to expire"}
	sweep(t, view.Timeline, timeline(1), timeline(5), timeline(24), told, frame(fixture.CutOff(), 5), frame(fixture.CutOff(), 11), view.Frame{})
}

func TestTimeline_showsNothingThatHasNotHappened(t *testing.T) {
	out := ansi.Strip(view.Timeline(timeline(4), 80, 24, looks["mono"]))
	if strings.Contains(out, "session …e0003 expired") || strings.Contains(out, "basil holds") {
		t.Errorf("two seconds after the kill, the page tells what comes later:\n%s", out)
	}
	if !strings.Contains(out, "nobody was stopped yet") {
		t.Errorf("the page does not say that nobody was stopped:\n%s", out)
	}
}
