package curatorlike

import "time"

// established is called for the answer to a connect request.
func (s *session) established(id int64, timeout time.Duration, sent time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = 0
	switch {
	case id == 0: // expired; go-zookeeper reports it
	case s.id == 0:
		s.id, s.timeout, s.proof = id, timeout, sent
	case s.id == id:
		s.timeout = timeout
		s.prove(sent)
	}
}

func (s *session) proved(sent time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prove(sent)
}

func (s *session) prove(sent time.Time) {
	if sent.After(s.proof) {
		s.proof = sent
	}
}

// created notes the zxid of a create until its caller takes it, or drops it
// because nobody wants the node, or a later one has its name.
func (s *session) created(path string, zxid int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, again := s.zxids[path]; again || len(s.zxids) < maxNodes {
		s.zxids[path] = zxid
	}
}

func (s *session) takeZxid(path string) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	z, ok := s.zxids[path]
	delete(s.zxids, path)
	return z, ok
}

// confirmEnd is called when a server has answered the request that ends the session, or
// has said that it has expired.
func (s *session) confirmEnd() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
