package lab

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"zklab/internal/journal"
	"zklab/internal/zkserver"
)

// modes is what the servers were last said to serve as. The readings say so, and
// the lab itself when it takes a server away.
type modes struct {
	mu    sync.Mutex
	said  map[string]string // by address: mode, "" when down
	taken map[string]bool   // by address: killed by the lab, or being so
	dead  map[string]bool   // by address: said to have died by itself
	// By address: paused by the lab; and without an answer, not even a refusal, when it
	// was last asked.
	paused, deaf map[string]bool

	deeds int // done to servers: a reading begun before one tells of the time before it
}

// readModes writes which servers serve, when that changed, and which of them have
// died without the lab's doing.
func (s *sessions) readModes(ctx context.Context) {
	servers := s.lab.o.Ensemble.Servers()
	before := s.modes.now()
	refused := 0
	answers := askAll(ctx, servers, s.modes.limit, askMode)
	if ctx.Err() != nil {
		return
	}
	for i, server := range servers {
		mode, err, died := answers[i].told, answers[i].err, ""
		switch {
		case errors.Is(err, errNotRunning):
			died = s.modes.untaken(server)
		case errors.Is(err, syscall.ECONNREFUSED) && !server.Control():
			// Of somebody else's servers one may be away; without any, all is over.
			if refused++; refused == len(servers) {
				died = "nobody listens there any more"
			}
		}
		s.modes.heard(server, !errors.Is(err, context.DeadlineExceeded))
		s.modes.write(s.lab.j, server, mode, died, before)
	}
}

var errNotRunning = errors.New("the server does not run")

func askMode(s *zkserver.Server, ctx context.Context) (string, error) {
	if !s.Running() {
		return "", errNotRunning
	}
	return s.Mode(ctx)
}

// limit is how long a server may take to say its mode: one that the lab has paused
// is only asked whether somebody else lets it go on.
func (m *modes) limit(addr string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.paused[addr] {
		return deafLimit
	}
	return askLimit
}

// pause notes that the lab has paused a server, or that it is not any more.
func (m *modes) pause(server *zkserver.Server, paused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused[server.Addr()] = paused
	if paused {
		m.deaf[server.Addr()] = true
	}
}

// heard notes whether a server has given any answer when it was asked for its mode.
func (m *modes) heard(server *zkserver.Server, answered bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deaf[server.Addr()] = !answered
}

// isDeaf reports whether the server at addr keeps silent, as a paused one does.
func (m *modes) isDeaf(addr string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deaf[addr]
}

// untaken says how a server that does not run has died, "" when the lab killed it.
func (m *modes) untaken(server *zkserver.Server) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken[server.Addr()] {
		return ""
	}
	if how := server.Ended(); how != "" {
		return how
	}
	return "its process has ended"
}

// take notes that the lab kills a server, or has started it again.
func (m *modes) take(server *zkserver.Server, killed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken[server.Addr()] = killed
}

// now is how many deeds were done to servers so far.
func (m *modes) now() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deeds
}

// write writes a reading that was begun after so many deeds, unless another deed
// has made it old or it says nothing new; died says how the server died by itself.
func (m *modes) write(j *journal.Journal, server *zkserver.Server, mode, died string, after int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known := m.said[server.Addr()]
	if m.deeds != after || known && before == mode && (died == "" || m.dead[server.Addr()]) {
		return
	}
	m.said[server.Addr()], m.dead[server.Addr()] = mode, died != ""
	e := modeEvent(server, mode, journal.Server)
	e.Err = died
	j.Append(e)
}

// begin makes all readings under way old: something is being done to a server.
func (m *modes) begin() {
	m.mu.Lock()
	m.deeds++
	m.mu.Unlock()
}

// down writes at once that a server serves no more, for the lab has seen to that:
// until the next reading it would be taken for what it was.
func (m *modes) down(j *journal.Journal, server *zkserver.Server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deeds++
	if before, known := m.said[server.Addr()]; known && before == "" {
		return
	}
	m.said[server.Addr()] = ""
	j.Append(modeEvent(server, "", journal.Lab))
}

func modeEvent(server *zkserver.Server, mode string, by journal.Observer) journal.Event {
	if mode == "" {
		return journal.Event{By: by, Type: journal.ServerDown, Text: server.Addr()}
	}
	return journal.Event{By: by, Type: journal.ServerUp, Text: server.Addr(), Mode: mode}
}

func newModes() modes {
	return modes{said: map[string]string{}, taken: map[string]bool{}, dead: map[string]bool{}, paused: map[string]bool{}, deaf: map[string]bool{}}
}

// knowsAll reports whether the server at addr tracks every session: a leader or a
// server that stands alone does.
func (s *sessions) knowsAll(addr string) bool {
	s.modes.mu.Lock()
	defer s.modes.mu.Unlock()
	mode := s.modes.said[addr]
	return mode == "leader" || mode == "standalone"
}
