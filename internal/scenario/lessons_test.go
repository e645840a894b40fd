package scenario

import (
	"testing"

	"zklab/lessons"
)

// Each lesson's demo is played on a real ZooKeeper, on one of its own: the server's
// counters are everybody's.
func TestLessons_everyDemoHoldsWhatItExpects(t *testing.T) {
	t.Parallel()
	all, err := lessons.Manifest("")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, lesson := range all {
		if lesson.Demo == "" {
			continue
		}
		played++
		t.Run(lesson.Slug, func(t *testing.T) {
			t.Parallel()
			script, err := Parse(lesson.Slug, lesson.Demo, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, s, err := playScript(t, script); err != nil || !s.OK() {
				t.Fatalf("%v\n%v", err, s)
			}
		})
	}
	if played < 9 {
		t.Errorf("only %d lessons have a demo", played)
	}
}
