package workbook

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
	"zklab/internal/lab"
	"zklab/internal/scenario"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
	"zklab/lessons"
)

// Each lesson's demo does on a real ZooKeeper what its text says.
func TestDemos(t *testing.T) {
	t.Parallel()
	ensemble := zktest.Start(t, zkserver.Options{}) // its counters are of the demo alone
	all, err := lessons.Manifest(lessons.DefaultLang)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		t.Run(l.Slug, func(t *testing.T) {
			script, err := scenario.Parse(l.Slug, l.Demo, nil)
			if err != nil {
				t.Fatal(err)
			}
			j := journal.New(journal.Options{})
			stage, err := lab.New(t.Context(), lab.Options{Ensemble: serversFor(t, script, ensemble), Journal: j, Lock: "/demo-" + l.Number})
			if err != nil {
				t.Fatal(err)
			}
			r := scenario.NewRunner(script, stage, j)
			err = r.Run(t.Context())
			r.Close()
			if closeErr := stage.Close(context.Background()); closeErr != nil {
				t.Error(closeErr)
			}
			if s := r.Summary(); err != nil || !s.OK() {
				t.Errorf("%v\n%v\n%s", err, s, story(j))
			}
		})
	}
}

// serversFor gives a demo as many servers as it needs: the common one, or an ensemble
// of its own that it may kill.
func serversFor(t *testing.T, s *scenario.Script, common *zkserver.Ensemble) *zkserver.Ensemble {
	t.Helper()
	if s.Servers == 1 {
		return common
	}
	e := zktest.Start(t, zkserver.Options{Size: s.Servers})
	if all := e.Servers(); len(all) != s.Servers || !all[0].Control() {
		t.Skipf("the demo needs %d servers that it can kill", s.Servers)
	}
	return e
}

// story is what happened, one line an event.
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
