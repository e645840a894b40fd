package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"zklab/internal/attach"
	"zklab/internal/scenario"
	"zklab/internal/zkserver"
	"zklab/lessons"
)

// Exit codes, as kubectl and gh use them.
const (
	exitDone        = 0
	exitFailed      = 1   // a check or an expectation failed
	exitUsage       = 2   // wrong usage
	exitNoServer    = 3   // no ZooKeeper could be had
	exitInterrupted = 130 // ctrl-C
)

// errFailed is returned when a check or an expectation failed and the output
// has said so already.
var errFailed = errors.New("an expectation failed")

// errInterrupted is returned when the person pressed ctrl-C on the screen, where
// it is a key and no signal.
var errInterrupted = errors.New("interrupted")

// usageError is a mistake in the command line: what, why, and what to do.
type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// report writes the error as one line a person can act on, and says which
// exit code it means.
func report(ctx context.Context, err error, stderr io.Writer) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errFailed):
		return exitFailed
	case ctx.Err() != nil || errors.Is(err, errInterrupted):
		// Whatever failed then, failed because of it.
		return exitInterrupted
	case errors.As(err, &usage) || isUsage(err):
		fmt.Fprintf(stderr, "zklab: %s\nRun `zklab --help` for the commands and their flags.\n", withoutRoom(err))
		return exitUsage
	}
	fmt.Fprintf(stderr, "zklab: %s\n", withoutRoom(err))
	if errors.Is(err, zkserver.ErrUnavailable) || errors.Is(err, attach.ErrUnreachable) || errors.As(err, new(noServer)) || serverDied(err) {
		return exitNoServer
	}
	return exitFailed
}

// serverDied reports whether a demo ended because its ZooKeeper did.
func serverDied(err error) bool {
	var died *scenario.DiedError
	return errors.As(err, &died) && died.Server
}

// withoutRoom is an error's text without the names of packages, wherever they stand
// before a part of it: they say nothing to a person.
func withoutRoom(err error) string { return rooms.ReplaceAllString(readable(err.Error()), "$1") }

// rooms finds the packages' names before a part of an error.
var rooms = regexp.MustCompile(`(?m)(^|: |\()(?:(?:attach|bench|compose|contestant|curatorlike|flawed|foreign|guardian|journal|lab|lessons|` +
	`lockproof|locktest|minimutex|recipe|recipes|scenario|sqltap|theme|tui|view|wiretap|workbook|zkserver|zkstat): )+`)

// isUsage recognises what other rooms call wrong usage, and cobra's own
// complaints, which carry no type.
func isUsage(err error) bool {
	if errors.Is(err, zkserver.ErrOptions) || errors.Is(err, attach.ErrBadPath) || errors.Is(err, lessons.ErrNoLesson) {
		return true
	}
	for _, p := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ", "flag needs an argument"} {
		if strings.HasPrefix(err.Error(), p) {
			return true
		}
	}
	return false
}

// Bounds of what is quoted of somebody's input.
const (
	maxWord    = 200 // bytes without a space; a path or an address fits
	maxMessage = 8000
)

// readable bounds an error's text, which may quote anything: a word that goes on and
// on is cut, and what a terminal would obey is taken out.
func readable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(text, "?"))
	return cut(longWord.ReplaceAllStringFunc(text, func(word string) string { return cut(word, maxWord) }), maxMessage)
}

var longWord = regexp.MustCompile(`\S{200,}`)

// cut shortens text to about most bytes, and says by how much.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head := strings.ToValidUTF8(text[:most/2], "")
	return fmt.Sprintf("%s… (%d characters)", head, utf8.RuneCountInString(text))
}
