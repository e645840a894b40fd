package view_test

import (
	"strings"
	"testing"

	"zklab/lessons"
	"zklab/tui/view"
)

const listed = `Before.

1. create a node that is ephemeral and has a number
2. look at all
* and wait

| what | lesson | in curatorlike |
|---|---|---|
| one winner | 01 | ` + "`UnfairLock`" + ` |
| gives up in time, leaves nothing | 08 | the cleaner |

After.`

// What does not fit hangs below its item, and no word of a table is broken.
func TestSetProse_listsAndTables(t *testing.T) {
	for w, want := range map[int]string{
		30: `Before.

1. create a node that is
   ephemeral and has a number
2. look at all
* and wait

one winner
  lesson: 01
  in curatorlike: UnfairLock
gives up in time, leaves
nothing
  lesson: 08
  in curatorlike: the cleaner

After.`,
		70: `Before.

1. create a node that is ephemeral and has a number
2. look at all
* and wait

what                             | lesson | in curatorlike
---------------------------------+--------+---------------
one winner                       | 01     | UnfairLock
gives up in time, leaves nothing | 08     | the cleaner

After.`,
	} {
		prose, err := view.SetProse(listed, w)
		if err != nil {
			t.Fatal(err)
		}
		if got := prose.Text(); got != want {
			t.Errorf("in %d cells:\n%s\nwant:\n%s", w, got, want)
		}
	}
}

// Every word of every lesson is whole at the width beside the live pane.
func TestSetProse_lessons_noWordIsBroken(t *testing.T) {
	all, err := lessons.Manifest("")
	if err != nil {
		t.Fatal(err)
	}
	const w = 41
	for _, l := range all {
		wide, err := view.SetProse(l.Text, 1000)
		if err != nil {
			t.Fatal(err)
		}
		narrow, err := view.SetProse(l.Text, w)
		if err != nil {
			t.Fatal(err)
		}
		there := strings.ReplaceAll(strings.Join(strings.Fields(narrow.Text()), " "), "- ", "-") // after a hyphen it may be
		for _, word := range strings.Fields(wide.Text()) {
			if len(word) > 3 && len(word) < w-8 && !strings.Contains(word, "--") && !strings.Contains(there, word) {
				t.Errorf("lesson %s: the word %q is broken in %d cells", l.Number, word, w)
			}
		}
	}
}
