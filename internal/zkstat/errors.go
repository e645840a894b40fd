package zkstat

import (
	"errors"
	"fmt"
)

var (
	// ErrNotAllowed is returned when the server does not allow a four-letter
	// word. The error itself is a *NotAllowedError and says what to set.
	ErrNotAllowed = errors.New("zkstat: the server does not allow this four-letter word")
	// ErrNotServing is returned when the server process answers but serves nobody: it
	// has no quorum, or is still starting.
	ErrNotServing = errors.New("zkstat: the server is up but not serving requests")
	// ErrTooLong is returned when an answer is longer than MaxAnswer.
	ErrTooLong = errors.New("zkstat: the answer is too long")
	// ErrFormat is returned when an answer cannot be read: the server is of
	// an unknown version, or it is no ZooKeeper.
	ErrFormat = errors.New("zkstat: the answer cannot be read")
)

// NotAllowedError says which word a server does not allow. ZooKeeper allows only
// srvr unless told otherwise.
type NotAllowedError struct {
	Addr string
	Word string
}

func (e *NotAllowedError) Error() string {
	return fmt.Sprintf("zkstat: %s does not allow the four-letter word %q: set 4lw.commands.whitelist=* "+
		"(or a list with %s in it) in its zoo.cfg and restart it, or give the address of its AdminServer",
		e.Addr, e.Word, e.Word)
}

// Is makes errors.Is(err, ErrNotAllowed) true.
func (e *NotAllowedError) Is(target error) bool { return target == ErrNotAllowed }

func badLine(what, line string) error {
	const limit = 120
	if len(line) > limit {
		line = line[:limit] + "…"
	}
	return fmt.Errorf("%w: %s: %q", ErrFormat, what, line)
}
