package lessons

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// Levels is how many hints each code has: a question, the rule, the line.
const Levels = 3

// Hints are the hints of one lesson, by diagnosis code, Levels for each.
type Hints map[string][Levels]string

var codePattern = regexp.MustCompile(`^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*$`)

// Codes lists the codes in alphabetical order.
func (h Hints) Codes() []string {
	codes := make([]string, 0, len(h))
	for code := range h {
		codes = append(codes, code)
	}
	sort.Strings(codes)
	return codes
}

// ParseHints reads a hints file:
//
//	# CODE
//	## 1
//	a question
//	## 2
//	the rule
//	## 3
//	the line
func ParseHints(text string) (Hints, error) {
	hints := Hints{}
	var code string
	var level int
	var levels [Levels]string
	finish := func() error {
		if code == "" {
			return nil
		}
		for i, hint := range levels {
			if levels[i] = strings.TrimSpace(hint); levels[i] == "" {
				return fmt.Errorf("%s lacks hint %d of %d", code, i+1, Levels)
			}
		}
		hints[code] = levels
		return nil
	}
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "# "):
			if err := finish(); err != nil {
				return nil, err
			}
			code, level, levels = strings.TrimSpace(line[2:]), 0, [Levels]string{}
			if !codePattern.MatchString(code) {
				return nil, fmt.Errorf("line %d: %q is not a diagnosis code", i+1, code)
			}
			if _, twice := hints[code]; twice {
				return nil, fmt.Errorf("line %d: %s comes twice", i+1, code)
			}
		case strings.HasPrefix(line, "## "):
			level++
			if code == "" || level > Levels || strings.TrimSpace(line[3:]) != fmt.Sprint(level) {
				return nil, fmt.Errorf("line %d: expected hint %d of a code, got %q", i+1, level, line)
			}
		case level > 0:
			levels[level-1] += line + "\n"
		case strings.TrimSpace(line) != "" && code != "":
			return nil, fmt.Errorf("line %d: text between a code and its first hint", i+1)
		}
	}
	return hints, finish()
}
