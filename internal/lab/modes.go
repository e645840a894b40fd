package lab

import (
	"context"
	"errors"
	"sync"
	"syscall"

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
	deeds int               // done to servers: a reading begun before one tells of the time before it
}

// readModes writes which servers serve, when that changed, and which of them have
// died without the lab's doing.
func (s *sessions) readModes(ctx context.Context) {
	servers := s.lab.o.Ensemble.Servers()
	refused := 0
	for _, server := range servers {
		before := s.modes.now()
		mode, died := "", ""
		if !server.Running() {
			died = s.modes.untaken(server)
		} else {
			var err error
			mode, err = server.Mode(ctx)
			if errors.Is(err, syscall.ECONNREFUSED) && !server.Control() {
				// Of somebody else's servers one may be away; without any, all is over.
				if refused++; refused == len(servers) {
					died = "nobody listens there any more"
				}
			}
		}
		if ctx.Err() != nil {
			return
		}
		s.modes.write(s.lab.j, server, mode, died, before)
	}
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
	return modes{said: map[string]string{}, taken: map[string]bool{}, dead: map[string]bool{}}
}

// knowsAll reports whether the server at addr tracks every session: a leader or a
// server that stands alone does.
func (s *sessions) knowsAll(addr string) bool {
	s.modes.mu.Lock()
	defer s.modes.mu.Unlock()
	mode := s.modes.said[addr]
	return mode == "leader" || mode == "standalone"
}
