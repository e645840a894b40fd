package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"zklab/internal/attach"
	"zklab/internal/journal"
	"zklab/tui/theme"
	"zklab/tui/view"
)

// ErrInterrupted is returned by Run when the person pressed ctrl+c or the
// program got SIGINT.
var ErrInterrupted = errors.New("tui: interrupted")

// Options of a Run. The zero value of everything works, but there is little to
// see without a Source.
type Options struct {
	Source  Source
	Control Control // nil: nobody can be acted on, as when watching or replaying
	Script  Script  // nil: no narration

	Page    string // the first page; empty: PageQueue
	Lock    string // path of the lock shown; empty: the first lock of the journal
	Title   string // in the header, instead of the first page's own name
	Address string // of the servers, for the header; empty: as the journal says

	Home   *Home   // for PageHome
	Lesson *Lesson // for PageLesson
	Watch  *Watch  // for PageWatch

	Theme    theme.Name // empty: dark
	ASCII    bool
	NoMotion bool
	Replay   bool   // the journal is a recorded one: play it from its start
	Held     bool   // a replay waits at its start instead of playing
	Opening  string // what a replay says before its first step

	// Say writes an error for people; nil: as it is.
	Say func(error) string

	Now    func() time.Time // the clock; nil: time.Now
	Input  io.Reader        // nil: the terminal
	Output io.Writer        // nil: standard output
	Width  int              // of the screen, where Output is no terminal
	Height int
	Env    []string // nil: the process's; NO_COLOR and TERM are read from it
}

// Home is what the home page is given.
type Home struct {
	View view.Home
	// Picked is called with what the person chose, before Run returns nil: the
	// number of a lesson, or the name of a demo; the other is empty. Without a
	// choice it is not called.
	Picked func(lesson, demo string)
}

// Lesson is what the lesson page is given.
type Lesson struct {
	Number, Of int
	Title      string
	Markdown   string // fenced "lab" blocks are not shown
	// Watch waits until there is a newer outcome than the one numbered seq, and
	// returns it with its number; nil: there are no outcomes.
	Watch func(ctx context.Context, seq int) (view.Outcome, int, error)
	// Check runs the learner's test now; its outcome comes through Watch. nil:
	// the key is not offered.
	Check func(ctx context.Context) error
	// Edit returns an editor for the learner's file, to run with the terminal to
	// itself; nil: the key is not offered. Its error is told on the screen.
	Edit func() (Editor, error)
	// Hint returns the next hint; nil: the key is not offered.
	Hint func(ctx context.Context) (string, error)
}

// Editor is a program that the terminal is lent to. *exec.Cmd is one but for the
// Set methods.
type Editor interface {
	Run() error
	SetStdin(io.Reader)
	SetStdout(io.Writer)
	SetStderr(io.Writer)
}

// Watch is what the watch page is given.
type Watch struct {
	Read  func(ctx context.Context) (attach.Reading, error)
	Every time.Duration // how often to read; 0: a second
}

func (o Options) withDefaults() (Options, error) {
	if o.Source == nil {
		o.Source = FromJournal(journal.New(journal.Options{Now: o.Now}))
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Page == "" {
		o.Page = PageQueue
	}
	var err error
	if o.Theme, err = theme.Parse(string(o.Theme)); err != nil {
		return o, fmt.Errorf("tui: %w", err)
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if w := o.Watch; w != nil && w.Every <= 0 {
		o.Watch = &Watch{Read: w.Read, Every: time.Second}
	}
	return o, o.checkPage()
}
