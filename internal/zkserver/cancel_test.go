package zkserver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Whoever interrupts a start is told that, and not that the server failed.
func TestStart_cancelled_isTheContextsError(t *testing.T) {
	needJava(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, Options{Backend: Java}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want the context's", err)
	}
}

func TestFirstLine_ofAStranger_isShortAndPrintable(t *testing.T) {
	for _, said := range []string{strings.Repeat("x", 1<<20), "\x1b[2J\x1b]0;mine\x07 hello", "\xff\xfe\x00", strings.Repeat("é", 500)} {
		line := firstLine(said)
		if n := utf8.RuneCountInString(line); n > maxQuoted || n == 0 || strings.ContainsAny(line, "\x00\x07\x1b") || !utf8.ValidString(line) {
			t.Errorf("%d characters: %q", n, line)
		}
	}
}
