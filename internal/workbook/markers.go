package workbook

import (
	"errors"
	"fmt"
	"strings"
)

const (
	beginMarker = "// SOLUTION-BEGIN "
	endMarker   = "// SOLUTION-END"
	moreMarker  = "// | "
)

// ErrMarkers is returned when a reference answer's markers do not pair up or
// carry no task.
var ErrMarkers = errors.New("solution markers")

// Region is what a learner writes: the lines between two markers.
type Region struct {
	Begin, End int    // line numbers of the markers, from 1
	Indent     string // of the begin marker
	Task       string // what the learner is asked to do
}

// Regions finds the marked parts of a reference answer. The task is the rest of
// the begin marker's line and of the lines after it that start with "// | ".
func Regions(src string) ([]Region, error) {
	var all []Region
	var open *Region
	task := false
	for i, line := range strings.Split(src, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, strings.TrimSpace(beginMarker)):
			if open != nil {
				return nil, fmt.Errorf("%w: line %d: begins inside another", ErrMarkers, i+1)
			}
			open = &Region{
				Begin:  i + 1,
				Indent: line[:strings.Index(line, "/")],
				Task:   strings.TrimSpace(strings.TrimPrefix(text, strings.TrimSpace(beginMarker))),
			}
			if open.Task == "" {
				return nil, fmt.Errorf("%w: line %d: has no task", ErrMarkers, i+1)
			}
			task = true
		case text == endMarker:
			if open == nil {
				return nil, fmt.Errorf("%w: line %d: ends nothing", ErrMarkers, i+1)
			}
			open.End = i + 1
			all = append(all, *open)
			open, task = nil, false
		case task && strings.HasPrefix(text, moreMarker):
			open.Task += " " + strings.TrimPrefix(text, moreMarker)
		default:
			task = false
		}
	}
	switch {
	case open != nil:
		return nil, fmt.Errorf("%w: line %d: never ends", ErrMarkers, open.Begin)
	case len(all) == 0:
		return nil, fmt.Errorf("%w: there are none", ErrMarkers)
	}
	return all, nil
}

// Answer returns a reference answer as a learner would have written it: without
// the markers and tasks.
func Answer(src string) (string, error) {
	regions, err := Regions(src)
	if err != nil {
		return "", err
	}
	marker := map[int]bool{}
	for _, r := range regions {
		marker[r.Begin], marker[r.End] = true, true
	}
	var out []string
	for i, line := range strings.Split(src, "\n") {
		if !marker[i+1] && !strings.HasPrefix(strings.TrimSpace(line), moreMarker) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n"), nil
}
