package tui

import (
	"errors"
	"io"
	"time"

	"zklab/tui/theme"
)

// ErrInterrupted is returned by Run when the person pressed ctrl+c or the
// program got SIGINT.
var ErrInterrupted = errors.New("tui: interrupted")

// Options of a Run. Source is needed; the zero value of everything else works.
type Options struct {
	Source  Source
	Control Control // nil: nobody can be acted on, as when watching or replaying
	Script  Script  // nil: no narration

	Page    string // the first page; empty: PageQueue
	Lock    string // path of the lock shown; empty: the first lock of the journal
	Title   string // in the header, instead of the page's own name
	Address string // of the servers, for the header; empty: as the journal says

	Theme    theme.Name // empty: dark
	ASCII    bool
	NoMotion bool
	Replay   bool // the journal is a recorded one: begin at its start, and play

	Now    func() time.Time // the clock; nil: time.Now
	Input  io.Reader        // nil: the terminal
	Output io.Writer        // nil: standard output
	Width  int              // of the screen, where Output is no terminal
	Height int
	Env    []string // nil: the process's; NO_COLOR and TERM are read from it
}
