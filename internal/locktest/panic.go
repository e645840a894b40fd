package locktest

import (
	"fmt"
	"regexp"
	"strings"
)

var panicked = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.*)$`)

// FindPanic finds in what go test printed that a goroutine of the learner's own has
// panicked, which no test can catch, and returns the message for people.
func FindPanic(output, exercise string) (message string, found bool) {
	m := panicked.FindStringSubmatchIndex(output)
	if m == nil || strings.HasPrefix(output[m[2]:m[3]], "test timed out") {
		return "", false
	}
	// The goroutine that panicked is the first; each is a paragraph.
	_, stack, _ := strings.Cut(output[m[1]:], "\ngoroutine ")
	stack, _, _ = strings.Cut(stack, "\n\n")
	if !strings.Contains(stack, "/lock.go:") {
		return "", false
	}
	says := fmt.Sprintf("A goroutine of yours panicked: %s, at %s.", output[m[2]:m[3]], learnersLine(stack))
	return Diagnosis{CodePanics, says, nil}.withNext(exercise, false), true
}
