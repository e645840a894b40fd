package view

import (
	"zklab/internal/journal"
)

// QueueChosen returns which row of a lock's queue the keys act on: the one
// chosen while it is there, else the first that holds, else the first.
func QueueChosen(s *journal.State, path, choice string) string {
	t := newTable(Frame{State: *s, Lock: path})
	first := ""
	for _, r := range t.rows {
		if choice != "" && r.id() == choice {
			return choice
		}
		if first == "" && r.place.Holds {
			first = r.id()
		}
	}
	if first == "" && len(t.rows) > 0 {
		first = t.rows[0].id()
	}
	return first
}

// QueueNext returns the row n below the selected one (above, when n is
// negative), kept within the table.
func QueueNext(f Frame, n int) string {
	f.Motion = Motion{}
	t := newTable(f)
	if len(t.rows) == 0 {
		return ""
	}
	i := t.selected(f.Selected) + n
	return t.rows[min(max(i, 0), len(t.rows)-1)].id()
}

// QueueRowAt returns which row is drawn in line y of the queue page, empty when
// none is.
func QueueRowAt(f Frame, w, h, y int) string {
	at := queueLayout(f, w, h)
	t := newTable(f)
	step, from, to := window(len(t.rows), at.Table.H-1, t.selected(f.Selected), f.Big)
	y -= at.Table.Y + 1
	if from > 0 {
		y--
	}
	if y < 0 || y%step != 0 || from+y/step >= to {
		return ""
	}
	return t.rows[from+y/step].id()
}
