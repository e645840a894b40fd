package flawed

import (
	"context"
	"errors"
)

// TimeoutIsSuccess waits for its turn as long as its context lasts, and does not look
// which of the two came. A widely copied article waits on a latch with a time limit
// and drops what the latch says.
type TimeoutIsSuccess struct{ line }

// Acquire waits until the client holds the lock.
func (t *TimeoutIsSuccess) Acquire(ctx context.Context) error {
	err := t.join()
	if err == nil {
		err = t.wait(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return errors.Join(err, t.leave())
	}
	return nil
}
