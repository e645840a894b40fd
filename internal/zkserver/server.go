package zkserver

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Server is one ZooKeeper server of an Ensemble.
type Server struct {
	id        int
	addr      string
	adminAddr string
	control   Controller
}

// Controller is a backend's hold on one server. Its methods may be called from
// several goroutines.
type Controller interface {
	Pid() int                          // 0 when not running or not known
	Running() bool                     // also true while paused
	Pause() error                      // freezes it: sockets stay, nothing is answered
	Continue() error                   // thaws it
	Kill() error                       // without warning; returns when it is gone
	Restart(ctx context.Context) error // same port, same data; returns when it serves
	LogTail(n int) string              // its last n lines
}

// NewServer is for backends. A nil Controller means that somebody else runs it.
func NewServer(id int, addr, adminAddr string, c Controller) *Server {
	return &Server{id: id, addr: addr, adminAddr: adminAddr, control: c}
}

// ID is the server's number in the ensemble, from 1 on (ZooKeeper's myid).
func (s *Server) ID() int { return s.id }

// Addr is the client address "127.0.0.1:port".
func (s *Server) Addr() string { return s.addr }

// AdminAddr is the AdminServer's address "127.0.0.1:port", "" when there is none.
func (s *Server) AdminAddr() string { return s.adminAddr }

// Control says whether Pause, Continue, Kill and Restart are possible.
func (s *Server) Control() bool { return s.control != nil }

// Pid is the process id; 0 when it is not running or not on this machine.
func (s *Server) Pid() int {
	if s.control == nil {
		return 0
	}
	return s.control.Pid()
}

// Running says whether the process is there; a paused one is. Of an external
// server it says whether it is known to be down, which is never: true.
func (s *Server) Running() bool { return s.control == nil || s.control.Running() }

// Ended says how the process of a server that does not run has ended, as "signal:
// killed"; "" when that is not known.
func (s *Server) Ended() string {
	if one, tells := s.control.(interface{ Ended() string }); tells {
		return one.Ended()
	}
	return ""
}

// Pause freezes the server (SIGSTOP): its sockets stay open and silent.
func (s *Server) Pause() error {
	if s.control == nil {
		return ErrNoControl
	}
	return s.control.Pause()
}

// Continue thaws a paused server (SIGCONT).
func (s *Server) Continue() error {
	if s.control == nil {
		return ErrNoControl
	}
	return s.control.Continue()
}

// Kill ends the server without warning (SIGKILL) and returns when its process
// is gone. Killing one that is not running is no error.
func (s *Server) Kill() error {
	if s.control == nil {
		return ErrNoControl
	}
	return s.control.Kill()
}

// Restart starts the server again with the same port and data, killing it first
// when it runs, and returns when it serves. In an ensemble that needs a quorum:
// when the context ends before there is one, Restart returns ErrStart and the
// process stays, so that it can join when others come.
func (s *Server) Restart(ctx context.Context) error {
	if s.control == nil {
		return ErrNoControl
	}
	return s.control.Restart(ctx)
}

// LogTail is the end of the server's log, at most n lines; "" when not known.
func (s *Server) LogTail(n int) string {
	if s.control == nil {
		return ""
	}
	return s.control.LogTail(n)
}

// Mode asks the server: "standalone", "leader", "follower" or "observer". A
// server that is up but not serving is an error. It takes at most a second.
func (s *Server) Mode(ctx context.Context) (string, error) { return s.askMode(ctx, askTimeout) }

func (s *Server) askMode(ctx context.Context, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := Ask(ctx, s.addr, "srvr")
	if err != nil {
		return "", err
	}
	if mode := field(text, "Mode: "); mode != "" {
		return mode, nil
	}
	return "", fmt.Errorf("not serving: %s", firstLine(text))
}

// field is the rest of the first line that starts with prefix.
func field(text, prefix string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// firstLine is what is quoted of an answer that may come from anybody: short,
// and without what a terminal would obey.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return "no answer"
	}
	line = fmt.Sprintf("%.*s", maxQuoted, strings.ToValidUTF8(line, "?"))
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, line)
}

const maxQuoted = 120 // characters of an answer that is no ZooKeeper's
