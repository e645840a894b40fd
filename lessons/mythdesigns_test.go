package lessons_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zklab/internal/flawed"
	"zklab/internal/locktest"
	"zklab/lessons"
	"zklab/solutions"
	trials "zklab/solutions/17-break-these-locks"
)

// A lock that takes its wake-up for its turn passes every test of lesson 06.
func TestMyth07_wokenIsOwner_passesTheTestsOfLesson06(t *testing.T) {
	t.Parallel()
	const slug = "06-call-the-next"
	answer, err := fs.ReadFile(solutions.FS(), slug+"/lock.go")
	must(t, err)
	woken := lessons.Wrong{File: "woken", Edits: []lessons.Edit{{Old: "\t\t<-gone\n", New: "\t\t<-gone\n\t\treturn nil\n"}}}
	content, err := woken.Apply(string(answer))
	must(t, err)
	folder, err := filepath.Abs(filepath.Join("..", "solutions", slug))
	must(t, err)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "lock.go"), []byte(content), 0o600))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(folder, "lock.go"): filepath.Join(dir, "lock.go")}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 8*late) // it has to be built
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay", filepath.Join(dir, "overlay.json"), "./"+slug)
	cmd.Dir = filepath.Dir(folder)
	cmd.Env = append(os.Environ(), "ZKLAB_SERVERS="+locktest.New(t).Server())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// bad are the ten locks of lesson 17, each with the trial that catches it.
var bad = []struct {
	flawed.Design
	trial func(*flawed.Bench) error
}{
	{flawed.Outlives, trials.HolderDies}, {flawed.Woken, trials.MiddleDies}, {flawed.Herd, trials.OneWake},
	{flawed.Sorts, trials.OrderOfArrival}, {flawed.Forgets, trials.GivesUp}, {flawed.Timeout, trials.GivesUp},
	{flawed.Missing, trials.GoneBeforeTheWatch}, {flawed.Blind, trials.ReplyLost}, {flawed.Nodeless, trials.NodeDeleted},
	{flawed.Whoever, trials.LateRelease},
}

// Under load one holder follows the other, with eight of the ten locks at least. The
// trial catches each of them, in each run.
func TestMyth17_load_findsNothing(t *testing.T) {
	found := map[string]bool{}
	for _, d := range bad {
		t.Run(d.Name, func(t *testing.T) {
			b := flawed.NewBench(locktest.New(t), d.Design)
			t.Cleanup(b.Close)
			found[d.Name] = loadFinds(b)
		})
	}
	if found[flawed.Missing.Name] {
		t.Error("load has found what only a trial should")
	}
	n := 0
	for _, yes := range found {
		if yes {
			n++
		}
	}
	if n > 2 {
		t.Errorf("load has found %d of %d flaws: %v", n, len(bad), found)
	}
	for range 3 {
		b := flawed.NewBench(locktest.New(t), flawed.Missing)
		t.Cleanup(b.Close)
		if trials.GoneBeforeTheWatch(b) == nil {
			t.Error("GoneBeforeTheWatch did not catch SleepsOnMissing")
		}
	}
}

// loadFinds has four clients take the lock in turn, always three in line, and reports
// whether there was ever another number of holders than one.
func loadFinds(b *flawed.Bench) bool {
	line := []string{"A", "B", "C", "D"}
	b.Ask(line...)
	for range 8 {
		holders := b.Holders()
		if len(holders) != 1 {
			return true
		}
		b.Release(holders[0])
		b.Ask(holders[0])
	}
	return len(b.Holders()) != 1
}

var twoHold = regexp.MustCompile(`, \w+ hold\b`)

// Of ten locks that are all wrong, five never let two in. One of them wakes everybody,
// and with the other four nobody gets the lock any more.
func TestMyth17_trials_fiveOfTenLetTwoIn(t *testing.T) {
	var two, none, herd []string
	for _, d := range bad {
		b := flawed.NewBench(locktest.New(t), d.Design)
		if d.trial(b) == nil {
			t.Errorf("%s was not caught", d.Name)
		}
		overlap := slices.ContainsFunc(b.Steps(), func(s locktest.Step) bool { return twoHold.MatchString(s.Effect) })
		switch {
		case overlap:
			two = append(two, d.Name)
		case len(b.Holders()) == 0 && len(b.Waiting()) > 0:
			none = append(none, d.Name)
		case len(b.Woken()) > 1:
			herd = append(herd, d.Name)
		default:
			t.Errorf("%s: %v", d.Name, b.Steps())
		}
		b.Close()
	}
	if len(two) != 5 || len(none) != 4 || len(herd) != 1 {
		t.Errorf("two hold: %s; nobody holds: %s; all are woken: %s", strings.Join(two, " "), strings.Join(none, " "), strings.Join(herd, " "))
	}
}
