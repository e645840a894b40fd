package tui

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"zklab/internal/journal"
	"zklab/internal/journal/plain"
	"zklab/tui/theme"
	"zklab/tui/trace"
	"zklab/tui/view"
)

// Cast says how a journal becomes an asciicast. The zero value is the queue
// page at 80x24 in the dark theme.
type Cast struct {
	Page          string // a page of a live run; empty: PageQueue
	Lock          string // empty: the first lock of the journal
	Title         string
	Width, Height int
	Theme         theme.Name
	ASCII         bool
	Rate          int // pictures a second at most; 0: 10
}

// WriteCast writes a journal as an asciicast v2: the page at each moment at
// which it changed, and a mark at each step. It stops early when ctx ends. The
// error is of ctx, of w, or says what is wrong with the options.
func WriteCast(ctx context.Context, w io.Writer, events []journal.Event, c Cast) error {
	r, err := newRecorder(ctx, w, events, c)
	if err != nil {
		return err
	}
	if err := r.record(ctx, events); err != nil {
		return err
	}
	return r.out.Flush()
}

// Picture draws a journal's page at one moment as plain text, for a document.
// Nothing in it moves. Of a moment after the last event nothing is known: its
// picture is that of the last event. The error says what is wrong with the options.
func Picture(events []journal.Event, at time.Time, c Cast) (string, error) {
	if len(events) == 0 {
		return "", errors.New("tui: nothing is in the journal")
	}
	c.Theme = theme.Mono
	r, err := newRecorder(context.Background(), io.Discard, events, c)
	if err != nil {
		return "", err
	}
	if end := events[len(events)-1].At; at.After(end) {
		at = end
	}
	n := 0
	for n < len(events) && !events[n].At.After(at) {
		n++
	}
	if err := r.frame(events[:n], at, 0); err != nil {
		return "", err
	}
	r.m.moving = motions{}
	return ansi.Strip(r.m.draw()), nil
}

func newRecorder(ctx context.Context, w io.Writer, events []journal.Event, c Cast) (*recorder, error) {
	o, err := Options{Source: FromJournal(journal.Of(events)), Page: c.Page, Lock: c.Lock, Title: c.Title, Theme: c.Theme}.withDefaults()
	if err != nil {
		return nil, err
	}
	if !pages[o.Page].turns {
		return nil, fmt.Errorf("tui: page %q cannot be recorded: it shows more than a journal", o.Page)
	}
	if c.Width <= 0 || c.Height <= 0 {
		c.Width, c.Height = 80, 24
	}
	if c.Rate <= 0 {
		c.Rate = 10
	}
	r := &recorder{out: bufio.NewWriter(w), c: c, m: newModel(ctx, o), told: plain.New(plain.Story), tracer: trace.New(), fold: journal.NewFolder()}
	r.m.w, r.m.h = c.Width, c.Height
	r.m.theme = theme.New(o.Theme, theme.Full, c.ASCII)
	return r, nil
}

// recorder draws a journal at the pace of its own time.
type recorder struct {
	out    *bufio.Writer
	c      Cast
	m      *model
	told   *plain.Printer
	tracer *trace.Tracer
	fold   *journal.Folder
	drawn  string
}

func (r *recorder) record(ctx context.Context, events []journal.Event) error {
	head := map[string]any{"version": 2, "width": r.c.Width, "height": r.c.Height, "title": r.c.Title,
		"env": map[string]string{"TERM": "xterm-256color"}}
	if len(events) > 0 {
		head["timestamp"] = events[0].At.Unix()
	}
	if err := r.line(head); err != nil || len(events) == 0 {
		return err
	}
	start, end := events[0].At, events[len(events)-1].At
	step := time.Second / time.Duration(r.c.Rate)
	next := 0
	for at := start; ; at = at.Add(step) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var batch []journal.Event
		for next < len(events) && !events[next].At.After(at) {
			batch = append(batch, events[next])
			next++
		}
		if err := r.frame(batch, at, at.Sub(start)); err != nil {
			return err
		}
		if at.After(end.Add(time.Second)) {
			return nil
		}
	}
}

// frame draws one moment, after the events that led to it.
func (r *recorder) frame(batch []journal.Event, at time.Time, since time.Duration) error {
	for i := range batch {
		e := &batch[i]
		r.fold.Apply(e)
		r.tracer.Apply(e)
		r.m.lines = append(r.m.lines, view.LinesOf(e, r.told.Lines(e))...)
		if e.Type == journal.Step {
			if err := r.line([]any{since.Seconds(), "m", e.Text}); err != nil {
				return err
			}
		}
	}
	state := r.fold.State(at)
	r.m.moving.begin(r.m.lock(), r.m.live, state, batch, at)
	r.m.live, r.m.trace = state, r.tracer.Trace()
	r.m.o.Now = func() time.Time { return at }
	r.m.aimed = false
	picture := r.m.draw()
	if picture == r.drawn {
		return nil
	}
	r.drawn = picture
	return r.line([]any{since.Seconds(), "o", "\x1b[H" + strings.ReplaceAll(picture, "\n", "\r\n")})
}

func (r *recorder) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("tui: asciicast: %w", err)
	}
	if _, err := r.out.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("tui: asciicast: %w", err)
	}
	return nil
}
