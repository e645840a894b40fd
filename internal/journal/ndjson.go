package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The errors of reading a journal.
var (
	// ErrForeign is returned when a file does not begin with a journal's header.
	ErrForeign = errors.New("not a zklab journal")
	// ErrVersion is returned when a journal was written in a version of the
	// format that this program does not know.
	ErrVersion = errors.New("unknown journal version")
)

// DamageError is returned, together with all events before the damage, when a
// journal cannot be read to its end: cut off, or overwritten.
type DamageError struct {
	Line  int   // the first line that cannot be used, from 1
	Kept  int   // events before it
	Cause error // why
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("journal damaged at line %d: %v; the %d events before it were read", e.Line, e.Cause, e.Kept)
}

func (e *DamageError) Unwrap() error { return e.Cause }

// maxLine bounds one line of a journal.
const maxLine = 16 << 20

// header is the first line of a journal.
type header struct {
	Version int       `json:"zklab_journal"`
	Started time.Time `json:"started"`
}

// Writer writes events as lines of JSON behind a header. It is not safe for
// concurrent use.
type Writer struct {
	out    *bufio.Writer
	enc    *json.Encoder
	opened bool
}

// NewWriter returns a Writer onto w. It buffers: call Flush.
func NewWriter(w io.Writer) *Writer {
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return &Writer{out: out, enc: enc}
}

// Write adds events. The first call writes the header.
func (w *Writer) Write(events ...Event) error {
	for i := range events {
		if !w.opened {
			w.opened = true
			if err := w.enc.Encode(header{Version, events[i].At}); err != nil {
				return fmt.Errorf("write journal: %w", err)
			}
		}
		if err := w.enc.Encode(&events[i]); err != nil {
			return fmt.Errorf("write journal: event %d: %w", events[i].Seq, err)
		}
	}
	return nil
}

// Flush writes what is buffered. A journal without events gets its header.
func (w *Writer) Flush() error {
	if !w.opened {
		w.opened = true
		if err := w.enc.Encode(header{Version: Version}); err != nil {
			return fmt.Errorf("write journal: %w", err)
		}
	}
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// Read reads a journal. A file that is none is ErrForeign, one of another
// version ErrVersion. A damaged one gives the events before the damage and a
// *DamageError.
func Read(r io.Reader) ([]Event, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	lines.Split(wholeLines)
	if !lines.Scan() {
		if err := lines.Err(); err != nil && !errors.Is(err, errCutOff) && !errors.Is(err, bufio.ErrTooLong) {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		return nil, fmt.Errorf("%w: no header line", ErrForeign)
	}
	var h header
	if err := json.Unmarshal(lines.Bytes(), &h); err != nil || h.Version == 0 {
		return nil, fmt.Errorf("%w: its first line is not a journal's header", ErrForeign)
	}
	if h.Version != Version {
		return nil, fmt.Errorf("%w: %d; this program reads %d", ErrVersion, h.Version, Version)
	}
	var events []Event
	line := 1
	for lines.Scan() {
		line++
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return events, &DamageError{line, len(events), fmt.Errorf("it is no event (%w)", err)}
		}
		if e.Type == "" || e.At.IsZero() {
			return events, &DamageError{line, len(events), errors.New("a line without type or time")}
		}
		if n := len(events); n > 0 && e.Seq <= events[n-1].Seq {
			return events, &DamageError{line, n, fmt.Errorf("event %d after event %d", e.Seq, events[n-1].Seq)}
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		return events, &DamageError{line + 1, len(events), err}
	}
	return events, nil
}

// errCutOff is the cause of damage when the last line lacks its end.
var errCutOff = errors.New("the file ends in the middle of a line")

// wholeLines splits into lines and takes an unfinished last one as damage.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, errCutOff
	}
	return 0, nil, nil
}
