package curatorlike

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// future is a request on its way. go-zookeeper's calls cannot be cancelled:
// the caller stops waiting, the request goes on in its goroutine, which ends
// with the answer, the connection or the session.
type future[T any] struct {
	done chan struct{}
	val  T
	err  error
}

// launch starts a request in the session.
func launch[T any](s *session, request func(*zk.Conn) (T, error)) *future[T] {
	f := &future[T]{done: make(chan struct{})}
	if !s.begin() {
		f.err = ErrSessionLost
		close(f.done)
		return f
	}
	go func() {
		defer s.calls.Done()
		f.val, f.err = request(s.conn)
		close(f.done)
	}()
	return f
}

// wait waits for the answer, the context or the end of the session.
func (f *future[T]) wait(ctx context.Context, s *session) (T, error) {
	var none T
	select {
	case <-f.done:
		if why := cmp.Or(s.overErr(), ctxErr(ctx)); why != nil && !answered(f.err) && !strange(f.err) {
			return none, why // both at once: the connection's error would not say it
		}
		return f.val, f.err
	case <-s.ended:
		return none, s.overErr()
	case <-ctx.Done():
		return none, ctxErr(ctx)
	}
}

// call is a request that is waited for.
func call[T any](ctx context.Context, s *session, request func(*zk.Conn) (T, error)) (T, error) {
	return launch(s, request).wait(ctx, s)
}

// answered says whether err is a server's answer, so that the outcome of the
// request is known. Everything else is a lost connection: the request may or
// may not have been carried out.
func answered(err error) bool {
	for _, e := range []error{
		zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNotEmpty,
		zk.ErrNoChildrenForEphemerals, zk.ErrInvalidACL, zk.ErrAPIError, zk.ErrBadArguments,
		zk.ErrInvalidFlags, zk.ErrAuthFailed, zk.ErrInvalidPath,
		zk.ErrShortBuffer, // go-zookeeper's own, of a request that it does not send
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return err == nil
}

// strange says whether err is a server's answer for which go-zookeeper has no
// name, for example an exceeded quota. What it means for the request is not known.
func strange(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.HasPrefix(err.Error(), "unknown error: ") {
			return true
		}
	}
	return false
}

// interrupted says whether err came from the caller's context or the end of
// the session, not from the servers.
func interrupted(ctx context.Context, s *session) bool {
	return ctx.Err() != nil || s.overErr() != nil
}

// repeat says whether a read that failed with err may be repeated: it returns nil
// after a short pause if so, and otherwise why not. A node that came and went while it
// was looked for is looked for again.
func (s *session) repeat(ctx context.Context, err error) error {
	if err != nil && (answered(err) && !errors.Is(err, zk.ErrNoNode) || strange(err) || interrupted(ctx, s)) {
		return err
	}
	s.pauseWithin(ctx, shortly)
	return cmp.Or(s.overErr(), ctxErr(ctx))
}
