package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// doRelease is how long Do waits for its release to be confirmed.
const doRelease = 5 * time.Second

// Do acquires lock, calls work under the hold's context, and releases it, also when
// work panics. It waits for the lock as long as ctx lasts; work is not called when
// Acquire fails, and Do returns Acquire's error.
//
// When the hold was no longer certain before work returned, the error says why beside
// what work returned: errors.Is finds ErrSuspended, ErrSessionLost, ErrNodeDeleted,
// ErrRevoked or ErrClosed. What work did last may then have been done beside
// another holder; only a fencing token (hold.Token) keeps that out.
//
// The release has a context of its own, so it is done although ctx has ended. Where it
// takes longer than 5 s the client goes on with it in the background, and Do
// does not count that as an error.
func Do(ctx context.Context, lock Lock, work func(ctx context.Context, hold *Hold) error) (err error) {
	if lock == nil || work == nil {
		return fmt.Errorf("%w: nil lock or work", ErrBadArgument)
	}
	hold, err := lock.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if held := hold.Context(); held.Err() != nil && !hold.Released() {
			err = errors.Join(err, fmt.Errorf("the hold of %s ended before its work: %w", lock.Path(), context.Cause(held)))
		}
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), doRelease)
		defer cancel()
		if failed := hold.Release(late); failed != nil && !errors.Is(failed, ErrReleasePending) {
			err = errors.Join(err, failed)
		}
	}()
	return work(hold.Context(), hold)
}
