package lab

import (
	"context"
	"sync"

	"zklab/internal/journal"
	"zklab/internal/zkserver"
)

// modes is what the servers were last said to serve as. The readings say so, and
// the lab itself when it takes a server away.
type modes struct {
	mu    sync.Mutex
	said  map[string]string // by address: mode, "" when down
	deeds int               // done to servers: a reading begun before one tells of the time before it
}

// readModes writes which servers serve, when that changed.
func (s *sessions) readModes(ctx context.Context) {
	for _, server := range s.lab.o.Ensemble.Servers() {
		before := s.modes.now()
		mode := ""
		if server.Running() {
			if m, err := server.Mode(ctx); err == nil {
				mode = m
			}
		}
		if ctx.Err() != nil {
			return
		}
		s.modes.write(s.lab.j, server, mode, before)
	}
}

// now is how many deeds were done to servers so far.
func (m *modes) now() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deeds
}

// write writes a reading that was begun after so many deeds, unless another deed
// has made it old or it says nothing new.
func (m *modes) write(j *journal.Journal, server *zkserver.Server, mode string, after int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known := m.said[server.Addr()]
	if m.deeds != after || known && before == mode {
		return
	}
	m.said[server.Addr()] = mode
	j.Append(modeEvent(server, mode, journal.Server))
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

// knowsAll reports whether the server at addr tracks every session: a leader or a
// server that stands alone does.
func (s *sessions) knowsAll(addr string) bool {
	s.modes.mu.Lock()
	defer s.modes.mu.Unlock()
	mode := s.modes.said[addr]
	return mode == "leader" || mode == "standalone"
}
