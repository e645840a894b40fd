package view

import (
	"regexp"
	"strings"

	"zklab/tui/theme"
)

// piece is a stretch of a text that is set in one way: an item of a list, a table, or
// whatever else stands between them.
type piece struct {
	marker string   // of a list's item, with what stands before and after it
	table  bool     // the lines are rows
	lines  []string // without the marker
}

var item = regexp.MustCompile(`^( *)([*-]|\d+\.) +`)

// pieces takes the lines of a text apart.
func pieces(lines []string) []piece {
	var all []piece
	open := false // the last piece goes on with a line that begins nothing
	for _, line := range lines {
		marker := item.FindString(line)
		switch {
		case strings.TrimSpace(line) == "":
			if open && all[len(all)-1].marker == "" && !all[len(all)-1].table {
				all[len(all)-1].lines = append(all[len(all)-1].lines, line)
			} else {
				open = false
			}
		case strings.HasPrefix(line, "|"):
			if !open || !all[len(all)-1].table {
				all = append(all, piece{table: true})
			}
			all[len(all)-1].lines, open = append(all[len(all)-1].lines, line), true
		case marker != "":
			all, open = append(all, piece{marker: marker, lines: []string{line[len(marker):]}}), true
		case open && !all[len(all)-1].table:
			all[len(all)-1].lines = append(all[len(all)-1].lines, strings.TrimPrefix(line, strings.Repeat(" ", len(all[len(all)-1].marker))))
		default:
			all, open = append(all, piece{lines: []string{line}}), true
		}
	}
	return all
}

// item sets an item of a list: what does not fit on its first line hangs below it.
func (s *setter) item(p piece, w int) ([][]run, error) {
	lines, err := s.text(strings.Join(p.lines, "\n"), w-width(p.marker))
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		before := strings.Repeat(" ", width(p.marker))
		if i == 0 {
			before = strings.Replace(p.marker, "-", "*", 1)
		}
		lines[i] = append([]run{{before, 0}}, line...)
	}
	return lines, nil
}

// table sets a table: side by side when each row fits on a line, else an entry a row.
// No word is broken for it.
func (s *setter) table(rows []string, w int) ([][]run, error) {
	var cells [][][]run
	var widest []int
	for i, row := range rows {
		if i == 1 { // the rule below the heads
			continue
		}
		var line [][]run
		for c, text := range strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|") {
			set, err := s.text(strings.TrimSpace(text), 1000)
			if err != nil {
				return nil, err
			}
			cell := []run{}
			if len(set) > 0 {
				cell = set[0]
			}
			if c == len(widest) {
				widest = append(widest, 0)
			}
			widest[c] = max(widest[c], cellsOf(cell))
			line = append(line, cell)
		}
		cells = append(cells, line)
	}
	const between = " | "
	sum := len(between) * (len(widest) - 1)
	for _, n := range widest {
		sum += n
	}
	if sum > w {
		return s.entries(rows, w)
	}
	var out [][]run
	for i, row := range cells {
		var line []run
		for c, cell := range row {
			if c > 0 {
				line = append(line, run{between, theme.Muted.Style()})
			}
			line = append(append(line, cell...), run{strings.Repeat(" ", widest[c]-cellsOf(cell)), 0})
		}
		if out = append(out, line); i == 0 {
			rules := make([]string, len(widest))
			for c, n := range widest {
				rules[c] = strings.Repeat("-", n)
			}
			out = append(out, []run{{strings.Join(rules, "-+-"), theme.Muted.Style()}})
		}
	}
	return out, nil
}

// entries sets a table's rows one below the other: the first cell, and below it the
// others with the heads of their columns.
func (s *setter) entries(rows []string, w int) ([][]run, error) {
	var heads []string
	var out [][]run
	for i, row := range rows {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
		switch i {
		case 0:
			heads = cells
			continue
		case 1:
			continue
		}
		for c, cell := range cells {
			p := piece{marker: "  ", lines: []string{strings.TrimSpace(cell)}}
			if c > 0 && c < len(heads) {
				p.lines[0] = strings.TrimSpace(heads[c]) + ": " + p.lines[0]
			} else {
				p.marker, p.lines[0] = "", "**"+p.lines[0]+"**"
			}
			lines, err := s.item(p, w)
			if err != nil {
				return nil, err
			}
			out = append(out, lines...)
		}
	}
	return out, nil
}

func cellsOf(line []run) (n int) {
	for _, r := range line {
		n += width(r.text)
	}
	return n
}
