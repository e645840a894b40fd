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

// On the smallest common screen, beside a step's whole narration, one still reads off
// the scale when the session ended.
func TestTimeline_80x24_oneKill_longNarration_scaleAndFactsAreThere(t *testing.T) {
	f := timeline(7.9)
	f.Steps = &view.Steps{At: 2, Of: 4, Text: "next: few are woken", Results: make([]view.Result, 3)}
	for i := range f.Steps.Results {
		f.Steps.Results[i] = view.Result{Text: strings.Repeat("a long finding ", 8), OK: true}
	}
	out := ansi.Strip(view.Timeline(f, 80, 24, looks["mono"]))
	for _, want := range []string{"0s ", "2s ", "SIGKILL to amber", "expired", "basil holds"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

func TestTimeline_80x24_killAndStop_oneScaleServesBoth(t *testing.T) {
	f := timeline(24)
	f.Steps = &view.Steps{At: 2, Of: 4, Text: "next: few are woken"}
	out := ansi.Strip(view.Timeline(f, 80, 24, looks["mono"]))
	if n := strings.Count(out, " 0s "); n != 1 {
		t.Errorf("%d scales, want 1:\n%s", n, out)
	}
}

// What was recorded stays as it is: no key makes an outage in a replay.
func TestTimeline_replay_invitesToNothing(t *testing.T) {
	f := timeline(1)
	f.Reel = &view.Reel{}
	out := ansi.Strip(view.Timeline(f, 80, 24, looks["mono"]))
	if !strings.Contains(out, "nobody was killed yet") || strings.Contains(out, "sends") {
		t.Errorf("a key is offered that does nothing:\n%s", out)
	}
}
