package scenario

import (
	"testing"

	"zklab/lessons"
)

// Each lesson's demo is played on a real ZooKeeper, one after the other: the
// server's counters are everybody's.
func TestLessons_everyDemoHoldsWhatItExpects(t *testing.T) {
	all, err := lessons.Manifest("")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, lesson := range all {
		for _, block := range Blocks(lesson.Text) {
			played++
			t.Run(lesson.Slug, func(t *testing.T) {
				script, err := Parse(lesson.Slug, block.Text, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, s, err := playScript(t, script); err != nil || !s.OK() {
					t.Fatalf("%v\n%v", err, s)
				}
			})
		}
	}
	if played < 9 {
		t.Errorf("only %d lessons have a demo", played)
	}
}
