package zkserver

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"zklab/internal/guardian"
)

// house is the folder that private servers live in, with its guardian.
type house struct {
	guard   *guardian.Guardian
	servers []*javaServer
	links   *links // between three servers; nil for one
	serving bool   // all have come up
}

// close kills the servers, removes the folder, and lets the guardian go.
func (h *house) close() error {
	for _, s := range h.servers {
		if h.serving {
			s.leaveClasses()
		}
		s.shut()
	}
	h.links.close()
	err := os.RemoveAll(h.guard.Dir())
	h.guard.Dismiss(err == nil)
	if err != nil {
		return fmt.Errorf("zkserver: remove the servers' folder: %w", err)
	}
	return nil
}

// javaServer is one private server: its fixed place, and the process of now.
type javaServer struct {
	id                   int
	dir, addr, adminAddr string
	command, env         []string
	javaVersion          int
	house                *house
	classes              archive // that it makes at its end; none without a file

	restarting sync.Mutex // one Restart at a time

	mu     sync.Mutex
	proc   *process
	logged int64 // size of the log when the process was started
	paused bool  // and so does not end in good order
	closed bool
}

const (
	logName      = "server.log"
	logTailLines = 40 // shown when a start fails
)

func (s *javaServer) logFile() string { return filepath.Join(s.dir, logName) }

// launch starts the process, which must not be running.
func (s *javaServer) launch() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	defer log.Close()
	if st, err := log.Stat(); err == nil {
		s.logged = st.Size()
	}
	cmd := exec.Command(s.command[0], s.command[1:]...)
	cmd.Dir = s.dir
	cmd.Stdout, cmd.Stderr = log, log
	// Java opens no file with a letter in its path that the locale does not have.
	cmd.Env = append(append(os.Environ(), "LC_ALL=C.UTF-8"), s.env...)
	p, err := startProcess(cmd, s.house.guard.Group())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	s.proc = p
	return nil
}

// current is the latest process, which may have ended.
func (s *javaServer) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

// leaveClasses has the server write its archive of classes, if it is one that does.
func (s *javaServer) leaveClasses() {
	s.mu.Lock()
	p, ready := s.proc, !s.paused && !s.closed
	s.mu.Unlock()
	if ready && s.classes.missing() {
		_ = s.classes.keep(p, s.dir) // a saving; the next server tries again
	}
}

func (s *javaServer) shut() {
	s.mu.Lock()
	s.closed = true
	p := s.proc
	s.mu.Unlock()
	if p != nil {
		p.kill()
	}
}

func (s *javaServer) Running() bool {
	p := s.current()
	return p != nil && !p.ended()
}

// Ended says how the last run ended, "" while it runs.
func (s *javaServer) Ended() string {
	if p := s.current(); p != nil && p.ended() {
		return p.cmd.ProcessState.String()
	}
	return ""
}

func (s *javaServer) Pid() int {
	if p := s.current(); p != nil && !p.ended() {
		return p.pid()
	}
	return 0
}

func (s *javaServer) Pause() error {
	s.mu.Lock()
	s.paused = true
	s.mu.Unlock()
	return s.current().stop()
}

func (s *javaServer) Continue() error {
	err := s.current().signal(syscall.SIGCONT)
	s.mu.Lock()
	s.paused = s.paused && err != nil
	s.mu.Unlock()
	return err
}

func (s *javaServer) Kill() error {
	s.current().kill()
	return nil
}

func (s *javaServer) Restart(ctx context.Context) error {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	s.current().kill()
	if err := s.launch(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	return s.awaitReady(ctx, s)
}

// logSinceLaunch is the end of what the current process has logged, at most so
// many lines.
func (s *javaServer) logSinceLaunch(lines int) string {
	s.mu.Lock()
	from := s.logged
	s.mu.Unlock()
	return s.tail(from, lines)
}

// LogTail is the end of the log: at most n lines and 64 KiB.
func (s *javaServer) LogTail(n int) string { return s.tail(0, n) }

const maxTail = 64 << 10 // bytes of the log's end that are looked at

func (s *javaServer) tail(from int64, n int) string {
	f, err := os.Open(s.logFile())
	if err != nil {
		return ""
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil {
		from = max(from, st.Size()-maxTail)
	}
	b, _ := io.ReadAll(io.NewSectionReader(f, from, maxTail))
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
