package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"zklab/internal/zkserver"
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
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err())):
		return exitInterrupted
	case errors.As(err, &usage) || isCobraUsage(err):
		fmt.Fprintf(stderr, "zklab: %v\nRun `zklab --help` for the commands and their flags.\n", err)
		return exitUsage
	case errors.Is(err, zkserver.ErrUnavailable):
		fmt.Fprintf(stderr, "zklab: %v\n", err)
		return exitNoServer
	}
	fmt.Fprintf(stderr, "zklab: %v\n", err)
	return exitFailed
}

// isCobraUsage recognises cobra's own complaints, which carry no type.
func isCobraUsage(err error) bool {
	for _, p := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ", "flag needs an argument"} {
		if strings.HasPrefix(err.Error(), p) {
			return true
		}
	}
	return false
}
