package curatorlike

import "context"

// Lock is what all recipes with a single hold have in common.
type Lock interface {
	// Acquire waits until the lock is granted, ctx ends or the session is lost.
	Acquire(ctx context.Context) (*Hold, error)
	// TryAcquire looks once and returns ErrBusy when it would have to wait.
	TryAcquire(ctx context.Context) (*Hold, error)
	// Path returns the lock's path, below the chroot.
	Path() string
}

var (
	_ Lock = (*Mutex)(nil)
	_ Lock = (*side)(nil)
	_ Lock = (*Semaphore)(nil)
	_ Lock = (*SemaphoreMutex)(nil)
	_ Lock = (*UnfairLock)(nil)
)
