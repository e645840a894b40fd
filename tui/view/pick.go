package view

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

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

// NameAt returns which of the names stands nearest to x in line y of a picture,
// as a word of its own; empty when none does.
func NameAt(picture string, x, y int, names []string) string {
	all := strings.Split(ansi.Strip(picture), "\n")
	if y < 0 || y >= len(all) {
		return ""
	}
	best, at := "", len(all[y])
	for from, word := range wordsOf(all[y]) {
		if d := max(from-x, x-from-width(word)+1, 0); slices.Contains(names, word) && d < at {
			best, at = word, d
		}
	}
	return best
}

// wordsOf are the words of a line, by the cell that each begins in.
func wordsOf(line string) map[int]string {
	words, from := map[int]string{}, 0
	for i := 0; i < len(line); {
		n := strings.IndexFunc(line[i:], func(r rune) bool { return r == ' ' || r == '(' || r == ')' || r == ',' || r == ':' })
		word := line[i:]
		if n >= 0 {
			word = line[i : i+n]
		}
		if word != "" {
			words[from] = word
		}
		from += width(word) + 1
		i += len(word) + 1
	}
	return words
}
