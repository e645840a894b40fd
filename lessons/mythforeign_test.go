package lessons_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"zklab/internal/foreign"
	"zklab/internal/lockproof"
	"zklab/internal/locktest"
)

// Curator puts children in order by what follows "lock-" and the others by their whole
// names, kazoo knows its own names only. On one path they do not keep each other out.
func TestMyth05_curatorAndKazooOnOnePath_overlap(t *testing.T) {
	t.Parallel()
	lab, dir := locktest.New(t), t.TempDir()
	c := foreign.Contest{Servers: lab.Server(), Path: lab.Path(), Log: filepath.Join(dir, "log"),
		Marks: filepath.Join(dir, "marks"), Members: 2, Rounds: 50, Permits: 1}
	must(t, os.Mkdir(c.Marks, 0o700))
	must(t, os.WriteFile(c.Log, nil, 0o600))
	java := foreign.CompileJava(t)
	c.Recipe = "native"
	kazoo := foreign.Kazoo(t, c)
	c.Recipe = "mutex"
	curator := java.Curator(t, c)
	must(t, curator.Begin())
	must(t, kazoo.Begin())
	must(t, curator.Wait(time.Minute))
	must(t, kazoo.Wait(time.Minute))
	events, err := lockproof.ReadLog(c.Log)
	must(t, err)
	holds, err := lockproof.Holds(events)
	must(t, err)
	overlaps := lockproof.CheckOverlap(holds, 1)
	if len(overlaps) == 0 {
		t.Error("no two grants overlapped")
	}
	t.Logf("%d overlaps in %d grants", len(overlaps), len(holds))
}
