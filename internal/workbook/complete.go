package workbook

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"zklab/lessons"
)

// Bounds for the length of a lesson's text, in words.
const (
	minWords = 400
	maxWords = 900
)

// Widths for fenced blocks: on a screen of 80 columns, a picture stands beside the live
// queue, and code fits at least where the text has the full width. Neither is wrapped.
const (
	pictureWidth = 40
	codeWidth    = 77
)

var testCode = regexp.MustCompile(`Code:\s*"([A-Z0-9-]+)"`)

// Missing names what a lesson still lacks, in words that say what to do. It is
// the check for people who add one.
func Missing(texts, solutions fs.FS, slug string) []string {
	var lacks []string
	lack := func(format string, args ...any) { lacks = append(lacks, fmt.Sprintf(format, args...)) }

	l, err := lessons.Read(texts, slug, lessons.DefaultLang)
	if err != nil {
		lack("a readable lesson: %v", err)
		return lacks
	}
	if n := l.Words(); n < minWords || n > maxWords {
		lack("a text of %d to %d words: it has %d", minWords, maxWords, n)
	}
	for _, part := range []string{"## Your turn", "## Myth and fact", "## In production"} {
		if !strings.Contains(l.Text, "\n"+part+"\n") {
			lack("the part %q in lesson.en.md", part)
		}
	}
	lacks = append(lacks, tooWide(l.Text)...)
	if !strings.Contains(l.Demo, "\npredict ") {
		lack("a live demo with a prediction: a fenced lab block with a predict line in lesson.en.md")
	}
	if strings.TrimSpace(l.Notes) == "" {
		lack("speaker notes in notes.en.md")
	}
	if _, ok := l.Hints[CodeTODO]; !ok {
		lack("hints for %s in hints.en.md: for those who have not begun", CodeTODO)
	}
	return append(lacks, missingCode(solutions, l)...)
}

// tooWide names the lines of pictures and code that the page has no room for.
func tooWide(text string) []string {
	var lacks []string
	for _, b := range lessons.Blocks(text) {
		most := codeWidth
		switch {
		case !b.Fenced || b.Lang == "lab":
			continue
		case b.Lang == "":
			most = pictureWidth
		}
		for _, line := range b.Code() {
			if n := utf8.RuneCountInString(line); n > most {
				lacks = append(lacks, fmt.Sprintf("room on the page: this line has %d columns, and at most %d are seen (a fence with a language may have %d): %s",
					n, most, codeWidth, line))
			}
		}
	}
	return lacks
}

// missingCode looks at the exercise: answer, test, wrong answers and their hints.
func missingCode(solutions fs.FS, l lessons.Lesson) []string {
	var lacks []string
	lack := func(format string, args ...any) { lacks = append(lacks, fmt.Sprintf(format, args...)) }
	src, err := fs.ReadFile(solutions, l.Slug+"/lock.go")
	if err != nil {
		lack("a reference answer: solutions/%s/lock.go", l.Slug)
		return lacks
	}
	tests, err := testsIn(solutions, l.Slug)
	if err != nil {
		lack("a test: solutions/%s/lock_test.go", l.Slug)
	}
	if _, err := Stub(string(src)); err != nil {
		lack("a stub: %v", err)
	}
	answer, err := Answer(string(src))
	if err != nil {
		return lacks
	}
	if len(l.Wrong) == 0 {
		lack("wrong answers: lessons/%s/wrong/CODE.edit", l.Slug)
	}
	common, err := lessons.CommonHints(lessons.DefaultLang)
	if err != nil {
		lack("readable hints for any exercise: %v", err)
	}
	have := map[string]bool{}
	for _, w := range l.Wrong {
		have[w.Code] = true
		if _, err := w.Apply(answer); err != nil {
			lack("a wrong answer that fits: %v", err)
		}
		_, ok := l.Hints[w.Code]
		if _, any := common[w.Code]; !ok && !any {
			lack("hints for %s in hints.en.md", w.Code)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		for _, m := range testCode.FindAllStringSubmatch(tests[name], -1) {
			if !have[m[1]] {
				have[m[1]] = true
				lack("a wrong answer for %s, which %s can say", m[1], path.Base(name))
			}
		}
	}
	return lacks
}
