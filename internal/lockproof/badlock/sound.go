package badlock

import (
	"context"

	"zklab/internal/lockproof"
)

// The kinds of node.
const (
	lockKind  = "-lock-"
	readKind  = "-__READ__"
	writeKind = "-__WRIT__"
	leaseKind = "-lease-"
)

// Sound is the plain mutex without a flaw.
func Sound(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		return q.acquire(ctx, s, lockKind, anybody)
	})
}

// SoundWriter is the write half of a read/write lock without a flaw. What it
// shares keeps the place of the writer.
func SoundWriter(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		g, err := q.acquire(ctx, s, writeKind, anybody)
		if err != nil {
			return nil, err
		}
		g.Share = func(context.Context) (*lockproof.Grant, error) { return q.share(s, g) }
		return g, nil
	})
}

// SoundReader is the read half.
func SoundReader(s *Session, path string) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		return q.acquire(ctx, s, readKind, writers)
	})
}

// SoundSemaphore is a semaphore without a flaw: the queue's first contenders
// hold, as many as there are permits.
func SoundSemaphore(s *Session, path string, permits int) lockproof.Lock {
	q := queue{s.Conn, path}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		t, err := q.join(leaseKind)
		if err != nil {
			return nil, err
		}
		if err := q.awaitPermit(ctx, t, permits, inOrder); err != nil {
			return nil, q.giveUp(t, err)
		}
		return q.grant(s, t), nil
	})
}
