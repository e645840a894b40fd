package flawed

import (
	"context"
	"errors"
)

// Sound is the lock without a flaw: what lessons 06 to 09 have built, but for what
// lesson 09 does when the connection breaks: there a waiter goes on waiting, here it gets
// the error.
type Sound struct{ line }

// Acquire waits until the client holds the lock. It leaves no node when it fails, unless
// ctx ends while it is not known whether there is one.
func (s *Sound) Acquire(ctx context.Context) error {
	err := s.joinSurely(ctx)
	if err == nil {
		err = s.wait(ctx)
	}
	if err != nil {
		return errors.Join(err, s.leave())
	}
	return nil
}
