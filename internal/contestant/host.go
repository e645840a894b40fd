package contestant

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits for leaving. Together they stay below the two seconds in which no
// contestant may be left after its parent has gone.
const (
	quitLimit  = 1200 * time.Millisecond // for all members to end their sessions
	flushLimit = 300 * time.Millisecond  // for the last reports
)

// Main is the process's side: it obeys the commands on stdin and reports on stdout
// until stdin ends, which is how it learns that its parent has gone, or ctx ends.
// It returns when every member's session has ended, or after a second and a half.
// A command that makes no sense is answered by a report of KindError and changes
// nothing. When ctx ends, stdin is closed if it can be, to end the reading.
func Main(ctx context.Context, stdin io.Reader, stdout io.Writer, args []string, recipes map[string]Recipe) error {
	if len(args) > 0 {
		return fmt.Errorf("contestant: takes no arguments, got %q; commands come on standard input", args)
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	h := &host{ctx: running, recipes: recipes, out: newReporter(stdout), members: map[string]*member{}}
	read := make(chan error, 1)
	go func() { read <- eachLine(stdin, h.line) }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
		if c, ok := stdin.(io.Closer); ok {
			_ = c.Close()
		}
	}
	stop()
	h.leave()
	if err != nil {
		return fmt.Errorf("contestant: read commands: %w", err)
	}
	return nil
}

// host holds the members of this process.
type host struct {
	ctx     context.Context // ends when the process has to leave
	recipes map[string]Recipe
	out     *reporter

	mu      sync.Mutex
	leaving bool // nobody opens any more
	members map[string]*member
	running sync.WaitGroup
}

// line obeys one line. It never waits, so that the end of stdin is seen at once.
func (h *host) line(line []byte) {
	if line == nil {
		h.refuse("", fmt.Errorf("a line of more than %d bytes", MaxLine))
		return
	}
	c, err := parseCommand(line)
	if err == nil {
		err = h.obey(c)
	}
	if err != nil {
		h.refuse(c.Who, err)
	}
}

func (h *host) refuse(who string, err error) {
	h.out.trySay(Report{V: Version, Kind: KindError, At: time.Now(), Who: who, Err: err.Error()})
}

func (h *host) obey(c command) error {
	switch c.Op {
	case OpOpen:
		return h.open(*c.Member)
	case OpJoin, OpRelease, OpWrite, OpQuit:
		h.mu.Lock()
		m := h.members[c.Who]
		h.mu.Unlock()
		if m == nil {
			return fmt.Errorf("%s: no member %q here", c.Op, c.Who)
		}
		return m.order(c)
	default:
		return fmt.Errorf("unknown command %q", c.Op)
	}
}

func (h *host) open(cfg Member) error {
	recipe := h.recipes[cfg.Recipe]
	if recipe == nil {
		known := strings.Join(slices.Sorted(maps.Keys(h.recipes)), ", ")
		return fmt.Errorf("open %s: unknown recipe %q; known are %s", cfg.Who, cfg.Recipe, known)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.leaving {
		return fmt.Errorf("open %s: the process is leaving", cfg.Who)
	}
	if h.members[cfg.Who] != nil {
		return fmt.Errorf("open %s: there is a member of that name", cfg.Who)
	}
	if len(h.members) >= MaxMembers {
		return fmt.Errorf("open %s: the process has %d members, which is the limit", cfg.Who, MaxMembers)
	}
	m := newMember(cfg, func(r Report) { h.out.say(h.ctx, r) }, time.Now)
	lock, err := recipe(cfg, m.news.put)
	if err != nil {
		return fmt.Errorf("open %s: %w", cfg.Who, err)
	}
	m.lock = lock
	h.members[cfg.Who] = m
	h.running.Go(func() {
		m.run(h.ctx)
		h.mu.Lock()
		delete(h.members, cfg.Who)
		h.mu.Unlock()
	})
	return nil
}

// leave waits for the members, who have been told by their context, and writes
// the last reports.
func (h *host) leave() {
	h.mu.Lock()
	h.leaving = true
	h.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		h.running.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(quitLimit):
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	h.out.close(ctx)
}
