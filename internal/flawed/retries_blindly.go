package flawed

import (
	"context"
	"errors"
)

// RetriesBlindly creates again when the reply to its create was lost. If the first
// one was carried out, its node stands in front of the second, and the client waits
// for itself. Curator had it before it knew GUIDs (CURATOR-45).
type RetriesBlindly struct{ line }

// Acquire waits until the client holds the lock.
func (r *RetriesBlindly) Acquire(ctx context.Context) error {
	err := r.join()
	for unknown(err) && ctx.Err() == nil {
		err = r.join()
	}
	if err == nil {
		err = r.wait(ctx)
	}
	if err != nil {
		return errors.Join(err, r.leave())
	}
	return nil
}
