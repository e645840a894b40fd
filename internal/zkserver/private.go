package zkserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"zklab/internal/guardian"
)

// house is the folder that private servers live in, with its guardian.
type house struct {
	guard   *guardian.Guardian
	servers []*javaServer
	links   *links // between three servers; nil for one
}

// close kills the servers, removes the folder, and lets the guardian go.
func (h *house) close() error {
	for _, s := range h.servers {
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

	restarting sync.Mutex // one Restart at a time

	mu     sync.Mutex
	proc   *process
	logged int64 // size of the log when the process was started
	closed bool
}

const (
	logName       = "server.log"
	logTailLines  = 40 // shown when a start fails
	logRounds     = 10 // every so many questions a log is read for taken ports
	firstPatience = 60 * time.Millisecond
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
	cmd.Env = append(os.Environ(), s.env...)
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

func (s *javaServer) Pause() error    { return s.current().signal(syscall.SIGSTOP) }
func (s *javaServer) Continue() error { return s.current().signal(syscall.SIGCONT) }

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
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return s.awaitReady(ctx, s)
}

// awaitReady waits until this very process serves, and none of the processes in
// with has found a port taken. That may be another server's quorum or election
// port, which does not end its process and comes to light only later.
func (s *javaServer) awaitReady(ctx context.Context, with ...*javaServer) error {
	p := s.current()
	// A question that comes in the moment of start-up is sometimes accepted and
	// never answered, so the first ones are given up soon.
	patience := firstPatience
	for round := 1; ; round++ {
		last := s.ready(ctx, patience)
		if last == nil || round%logRounds == 0 {
			for _, other := range with {
				if saysPortTaken(other.logSinceLaunch(maxTail)) {
					return other.failure(errPortTaken)
				}
			}
		}
		switch {
		case last == nil:
			return nil
		case errors.Is(last, errPortTaken):
			return s.failure(last)
		case p.ended():
			return s.failure(errEndedByItself)
		case errors.Is(last, context.DeadlineExceeded):
			patience = min(2*patience, askTimeout)
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return s.failure(fmt.Errorf("%w; %w", err, last))
		}
	}
}

// ready is nil when our server answers `srvr` with a mode. Whoever answers must
// also name our folder: another process may sit on our port.
func (s *javaServer) ready(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	srvr, err := Ask(ctx, s.addr, "srvr")
	if err != nil {
		return err
	}
	if field(srvr, "Mode: ") == "" {
		return fmt.Errorf("not serving: %s", firstLine(srvr))
	}
	conf, err := Ask(ctx, s.addr, "conf")
	if err != nil {
		return err
	}
	// A caller may want a server that allows only srvr; then the AdminServer
	// tells whose it is.
	if !strings.Contains(conf, "not in the whitelist") && !strings.HasPrefix(field(conf, "dataDir="), s.dir) {
		return errPortTaken
	}
	return s.adminReady(ctx)
}

// adminReady is nil when our AdminServer answers, or there is none.
func (s *javaServer) adminReady(ctx context.Context) error {
	if s.adminAddr == "" {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.adminAddr+"/commands/configuration", nil)
	if err != nil {
		return err
	}
	req.Close = true
	client := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if !strings.Contains(string(body), s.dir) {
		return errPortTaken
	}
	return nil
}

var errEndedByItself = errors.New("it ended by itself")

// failure is ErrStart with the end of the log; a lost race for a port is marked.
func (s *javaServer) failure(why error) error {
	tail := s.logSinceLaunch(logTailLines)
	err := fmt.Errorf("%w at %s: %w; the end of its log:\n%s", ErrStart, s.addr, why, tail)
	if errors.Is(why, errPortTaken) || saysPortTaken(tail) {
		return fmt.Errorf("%w: %w", errPortTaken, err)
	}
	if strings.Contains(tail, "UnsupportedClassVersionError") {
		return fmt.Errorf("%w: Java %d is too old for this ZooKeeper: %w", ErrUnavailable, s.javaVersion, err)
	}
	return err
}

func saysPortTaken(log string) bool {
	return strings.Contains(log, "BindException") || strings.Contains(log, "Address already in use")
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
