package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
	"zklab/internal/lab"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

// play runs a demo on a real ZooKeeper and returns its lines and what came of it.
func play(t *testing.T, name string, set map[string]string) (string, Summary, error) {
	t.Helper()
	script, err := Demo(name, set)
	if err != nil {
		t.Fatal(err)
	}
	return playScript(t, script)
}

func playScript(t *testing.T, script *Script) (string, Summary, error) {
	t.Helper()
	if script.Servers > 1 { // what it does to them is nobody else's
		return playOn(t, zktest.Start(t, zkserver.Options{Size: script.Servers}), script)
	}
	return playOn(t, lending.lend(t), script)
}

func playOn(t *testing.T, e *zkserver.Ensemble, script *Script) (string, Summary, error) {
	t.Helper()
	j := journal.New(journal.Options{})
	opening, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	l, err := lab.New(opening, lab.Options{Ensemble: e, Journal: j, Lock: "/" + strings.NewReplacer("/", "-", "=", "-").Replace(t.Name())})
	if err != nil {
		t.Fatal(err)
	}
	r := NewRunner(script, l, j)
	err = r.Run(t.Context())
	r.Close()
	if err := l.Close(context.Background()); err != nil {
		t.Error(err)
	}
	text := story(j)
	t.Cleanup(func() {
		if t.Failed() || testing.Verbose() {
			t.Logf("%s\n%v", text, r.Summary())
		}
	})
	return text, r.Summary(), err
}

// story is what the journal tells, in lines.
func story(j *journal.Journal) string {
	events, _ := j.Since(0, 0)
	p := plain.New(plain.Story)
	var text strings.Builder
	for i := range events {
		for _, line := range p.Lines(&events[i]) {
			fmt.Fprintln(&text, line.String(events[0].At))
		}
	}
	return text.String()
}

// inOrder reports the first of the texts that does not follow the ones before.
func inOrder(text string, wanted ...string) error {
	for _, w := range wanted {
		_, after, found := strings.Cut(text, w)
		if !found {
			return fmt.Errorf("there is no %q after what comes before it", w)
		}
		text = after
	}
	return nil
}

var seconds = regexp.MustCompile(`\d+\.\d{3} s`)

// wantKillStory checks what the demo kill shows of a contestant that was killed.
func wantKillStory(t *testing.T, text string, s Summary) {
	t.Helper()
	if err := inOrder(text,
		"SIGKILL to amber (kill -9",
		"watch fired: NodeDeleted lock-0000000000 -> basil", "ok: victim expired in (T, T+tick]",
		"ok: wakes few: the release of lock-0000000000 fired 1 watch", "ok: token larger: basil"); err != nil {
		t.Error(err)
	}
	// On a screen of 80 cells a line is cut: what was measured stands before that.
	for _, r := range s.Results {
		line := r.Text + ": " + r.Found
		if strings.HasPrefix(r.Text, "victim expired in") || r.Text == "victim silent" {
			measured := seconds.FindStringIndex(line)
			if measured == nil || measured[1] > 50 {
				t.Errorf("what was measured is not at the front of %q", line)
			}
		}
	}
	for _, want := range []string{
		"process gone, pid", "connection gone", "heartbeats stop",
		"session 0x", "expired (amber; last heard", "deleted lock-0000000000 (amber)", "holds now: lock-0000000001 (basil)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line says %q", want)
		}
	}
}

func TestDemo_kill_aLockThatWakesAllFails(t *testing.T) {
	t.Parallel()
	_, s, err := play(t, "kill", map[string]string{"recipe": "unfair", "waiters": "4", "session": "1s"})
	if !errors.Is(err, ErrExpectation) || s.ExitCode() != 1 || s.Failed != 1 || s.Broken != nil {
		t.Fatalf("%v\n%v", err, s)
	}
	for _, r := range s.Results {
		if r.OK == (r.Text == "wakes few") {
			t.Errorf("%+v", r)
		}
	}
}

func TestDemo_queue_5naive_countsWakes(t *testing.T) {
	t.Parallel()
	text, s, err := play(t, "queue", map[string]string{"recipe": "naive", "waiters": "5"})
	if err != nil || !s.OK() {
		t.Fatalf("%v\n%v", err, s)
	}
	var notes []string
	for i, n := range []int{4, 3, 2, 1, 0} {
		notes = append(notes, fmt.Sprintf("the release of lock-%010d fired %s by the server's counters", i, count(n, "watch", "watches")))
	}
	if err := inOrder(text, notes...); err != nil {
		t.Error(err)
	}
}

// The library's mutex wakes the next in line and one that looks ahead, however
// many wait: that is few.
func TestDemo_kill_5mutex_isFew(t *testing.T) {
	t.Parallel()
	text, s, err := play(t, "kill", map[string]string{"recipe": "mutex", "waiters": "5", "session": "1s"})
	if err != nil || !s.OK() {
		t.Fatalf("%v\n%v", err, s)
	}
	if err := inOrder(text, "ok: wakes few: the release of", "fired 2 watches by the server's counters"); err != nil {
		t.Error(err)
	}
}

// The negative control: with the naive lock in both lines everything that is
// expected of the recipe fails, and nothing else.
func TestDemo_herd_naiveInBothLinesFails(t *testing.T) {
	t.Parallel()
	_, s, err := play(t, "herd", map[string]string{"recipe": "naive", "waiters": "5"})
	if !errors.Is(err, ErrExpectation) || s.ExitCode() != 1 || s.Broken != nil {
		t.Fatalf("%v\n%v", err, s)
	}
	for _, r := range s.Results {
		if few := r.Text == "wakes few" || r.Text == "fired few"; r.OK == few {
			t.Errorf("%+v", r)
		}
	}
}

// 1,000 in each line: the numbers are those of ten, times a hundred.
func TestDemo_herd_1000waiters(t *testing.T) {
	if os.Getenv("ZKLAB_LONG") == "" {
		t.Skip("takes a minute or two: ZKLAB_LONG=1")
	}
	_, s, err := play(t, "herd", map[string]string{"waiters": "1000"})
	if err != nil || !s.OK() {
		t.Fatalf("%v\n%v", err, s)
	}
	t.Logf("%v", s)
}
