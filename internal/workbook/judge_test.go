package workbook

import (
	"strings"
	"testing"

	"zklab/lessons"
)

// A disk that is full is nobody's mistake in lock.go: what go test printed is shown.
func TestJudge_buildFailsOnAFullDisk_isNotTheLearnersMistake(t *testing.T) {
	l := lessons.Lesson{Number: "01", Slug: "01-one-name-one-winner"}
	full := "# zklab/exercises/01-one-name-one-winner\nmkdir /tmp/go-build1: no space left on device\nFAIL\tzklab/exercises/01-one-name-one-winner [build failed]\nFAIL\n"
	if code, message := judge(l, full); code != CodeUnclear || !strings.Contains(message, "no space left on device") {
		t.Errorf("[%s] %s", code, message)
	}
	broken := "# zklab/exercises/01-one-name-one-winner\n./lock.go:8:2: undefined: x\nFAIL\tzklab/exercises/01-one-name-one-winner [build failed]\nFAIL\n"
	if code, message := judge(l, broken); code != CodeDoesNotBuild || !strings.Contains(message, "lock.go:8: undefined: x") {
		t.Errorf("[%s] %s", code, message)
	}
}
