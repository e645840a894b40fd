package workbook

import (
	"os"
	"strings"
	"testing"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
)

// checkJournal requires that a failed run's journal can be replayed, tells what the
// message tells, and ends with the diagnosis.
func checkJournal(t *testing.T, path, code, message string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := journal.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	last := events[len(events)-1]
	if last.Type != journal.Expect || last.OK || !strings.HasPrefix(last.Text, "["+code+"]") {
		t.Errorf("the last event is %+v", last)
	}
	j := journal.Of(events)
	s := j.Latest(last.At)
	if len(s.Locks) == 0 || len(s.Contestants) < 2 {
		t.Errorf("the journal shows %d locks and %d contestants", len(s.Locks), len(s.Contestants))
	}
	seen := map[journal.Type]int{}
	for _, e := range events {
		seen[e.Type]++
	}
	for _, want := range []journal.Type{journal.Joined, journal.Belief, journal.Request, journal.Reply, journal.Queue, journal.SessionOpen} {
		if seen[want] == 0 {
			t.Errorf("no event says %s", want)
		}
	}
	told := map[string]bool{}
	printer := plain.New(plain.Frames)
	for i := range events {
		for _, line := range printer.Lines(&events[i]) {
			told[line.Text] = true
			if strings.Contains(line.Text, "recipe") || strings.Contains(line.Text, "pid") {
				t.Errorf("a client of an exercise has no recipe and no process: %s", line.Text)
			}
		}
	}
	_, steps, _ := strings.Cut(message, "what happened\n")
	steps, _, _ = strings.Cut(steps, "next: ")
	for step := range strings.Lines(steps) {
		who, rest, _ := strings.Cut(step, "->")
		line := strings.Join(strings.Fields(who), " ")
		if rest = strings.TrimSpace(rest); rest != "" {
			line += " -> " + rest
		}
		if !told[line] {
			t.Errorf("the journal does not tell %q", line)
		}
	}
}
