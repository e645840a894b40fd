package curatorlike

import "context"

// SemaphoreMutex is a lock that is deliberately not reentrant and that any
// goroutine may release: a semaphore of one lease, as Curator's
// InterProcessSemaphoreMutex.
type SemaphoreMutex struct{ s *Semaphore }

// NewSemaphoreMutex returns a lock on the path.
func NewSemaphoreMutex(c *Client, path string, opts ...LockOption) (*SemaphoreMutex, error) {
	if _, err := lockOptionsOf(opts, suits{}); err != nil { // a shared maximum could be more than one
		return nil, err
	}
	s, err := NewSemaphore(c, path, 1, opts...)
	if err != nil {
		return nil, err
	}
	return &SemaphoreMutex{s}, nil
}

// Path returns the lock's path.
func (m *SemaphoreMutex) Path() string { return m.s.path }

// Acquire waits for the lock. A second Acquire by the same owner waits too.
func (m *SemaphoreMutex) Acquire(ctx context.Context) (*Hold, error) { return m.s.Acquire(ctx) }

// TryAcquire looks once and returns ErrBusy when it would have to wait.
func (m *SemaphoreMutex) TryAcquire(ctx context.Context) (*Hold, error) { return m.s.TryAcquire(ctx) }
