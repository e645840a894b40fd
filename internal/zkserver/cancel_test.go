package zkserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// stubborn is a backend that is unavailable as soon as its context has ended.
type stubborn struct{ asked *int }

func (stubborn) Name() string { return Java }
func (b stubborn) Start(ctx context.Context, _ Options, _ bool) (*Ensemble, error) {
	*b.asked++
	<-ctx.Done()
	return nil, fmt.Errorf("%w: the engine was not answering", ErrUnavailable)
}

// A start that was interrupted does not tell that there is no ZooKeeper, and asks no
// further backend.
func TestStart_interrupted_isNotUnavailable(t *testing.T) {
	for _, forced := range []string{"", Java} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		asked := 0
		_, err := startFirst(ctx, Options{Backend: forced}, []Backend{stubborn{&asked}, stubborn{&asked}})
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) || asked != 1 {
			t.Errorf("forced %q: after %d backends the error is %v", forced, asked, err)
		}
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
