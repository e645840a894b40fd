package lockproof

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Verb says what a line of the log records.
type Verb string

// The verbs. A contestant writes Ask before it asks for the lock and Enter
// after it was granted; it writes Leave before it gives the lock back and Left
// after that was done. Whatever lies between Enter and Leave it believed to
// hold. A contestant that is killed in between never leaves.
const (
	Ask   Verb = "ask"   // Who, Mode
	Enter Verb = "enter" // Who, Mode, Node, Token, Session
	Leave Verb = "leave" // Who, Mode, Text: why
	Left  Verb = "left"  // Who, Mode, Text: error of the release
	Fail  Verb = "fail"  // Who, Mode, Text: why the acquire failed
	Saw   Verb = "saw"   // Who saw the mark of another that excludes it: Text
	Alive Verb = "alive" // Who asked the server: Text lists the sessions that live
	Wrote Verb = "wrote" // Who incremented the resource with Token: Text is what it took, or "refused"
	Note  Verb = "note"  // the test did something: Text
)

// Mode is what a hold excludes.
type Mode string

// The modes.
const (
	Exclusive Mode = "X" // excludes every other hold
	Shared    Mode = "R" // excludes exclusive ones
	Lease     Mode = "L" // counts against the maximum of the semaphore
)

// Event is one line of the log. Its position is the time: lines are appended
// by one write each to one file, so their order is the same for everybody.
type Event struct {
	Verb    Verb
	Who     string
	Mode    Mode
	Node    string // the znode's name, without the path
	Token   int64
	Session int64
	Text    string
}

// String is the line without its newline: the fields separated by tabs. A
// field that has no value is a dash, so that every language can split it.
func (e Event) String() string {
	text := strings.NewReplacer("\t", " ", "\n", " ").Replace(e.Text)
	return strings.Join([]string{string(e.Verb), orDash(e.Who), orDash(string(e.Mode)), orDash(e.Node),
		strconv.FormatInt(e.Token, 10), "0x" + strconv.FormatUint(uint64(e.Session), 16), orDash(text)}, "\t")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func orEmpty(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

// Log is the file that all contestants append to. It may be used by several
// goroutines, and by several processes that opened the same file.
type Log struct{ f *os.File }

// OpenLog opens the log for appending, and creates it where it is missing.
func OpenLog(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &Log{f: f}, nil
}

// Append writes one line with one write.
func (l *Log) Append(e Event) error {
	_, err := l.f.Write([]byte(e.String() + "\n"))
	return err
}

// Close closes the file.
func (l *Log) Close() error { return l.f.Close() }

// ReadLog reads every line of a log. A last line without its newline is an
// error: a writer died in the middle of a write, which one write cannot do.
func ReadLog(path string) ([]Event, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseLog(b)
}

// ParseLog reads what Log and the contestants of other languages wrote.
func ParseLog(b []byte) ([]Event, error) {
	var events []Event
	for i, line := range bytes.SplitAfter(b, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		e, err := parseEvent(string(line))
		if err != nil {
			return nil, fmt.Errorf("log line %d: %w", i+1, err)
		}
		events = append(events, e)
	}
	return events, nil
}

func parseEvent(line string) (Event, error) {
	body, whole := strings.CutSuffix(line, "\n")
	if !whole {
		return Event{}, fmt.Errorf("%q ends without a newline", line)
	}
	f := strings.Split(body, "\t")
	if len(f) != 7 {
		return Event{}, fmt.Errorf("%q has %d fields, not 7", body, len(f))
	}
	token, err := strconv.ParseInt(f[4], 10, 64)
	if err != nil {
		return Event{}, fmt.Errorf("token %q: %w", f[4], err)
	}
	session, err := parseSession(f[5])
	if err != nil {
		return Event{}, err
	}
	return Event{Verb: Verb(f[0]), Who: orEmpty(f[1]), Mode: Mode(orEmpty(f[2])), Node: orEmpty(f[3]),
		Token: token, Session: session, Text: orEmpty(f[6])}, nil
}

func parseSession(s string) (int64, error) {
	u, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("session %q: %w", s, err)
	}
	return int64(u), nil
}
