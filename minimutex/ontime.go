package minimutex

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// onTime returns what work returns, or the error of ctx as soon as ctx ends: a
// call of the client library may last as long as the network stays silent, and
// goes on by itself then. What came of work that failed, or whose success came
// too late, is undone. The hand-over is unbuffered, so that both sides agree on
// whether it was in time.
func onTime[T any](ctx context.Context, work func(context.Context) (T, error), undo func(T) error) (T, error) {
	type outcome struct {
		of  T
		err error
	}
	result := make(chan outcome)
	go func() {
		of, err := work(ctx)
		if err != nil {
			_ = undo(of) // there is the error of work to report
		}
		select {
		case result <- outcome{of, err}:
		case <-ctx.Done():
			if err == nil {
				_ = undo(of) // nobody listens any more
			}
		}
	}()
	select {
	case r := <-result:
		return r.of, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// leave deletes node for sure, and returns when that is done or ctx ends.
func (m *Mutex) leave(ctx context.Context, node string) error {
	left := func(context.Context) (string, error) { return node, m.leaveForSure(node) }
	_, err := onTime(ctx, left, func(string) error { return nil })
	return err
}

// maxTries bounds how often leaveForSure asks. While the connection is down the
// client library keeps a request until it has a connection or has tried every
// server, which is about a second a try: together that is longer than the longest
// session of a server with default settings (40 s). On a closed connection every
// try fails at once, and the node has gone with its session.
const maxTries = 60

// leaveForSure deletes node and returns when it is certain to be gone. It knows no
// context: a node that is left behind would block everybody for as long as its
// session lives, so it goes on after its caller has given up.
func (m *Mutex) leaveForSure(node string) (err error) {
	if node == "" {
		return ErrNotInLine
	}
	for try := range maxTries {
		err = m.conn.Delete(node, -1)
		if err == zk.ErrNoNode && try == 0 {
			return ErrNotInLine
		}
		switch err {
		case nil, zk.ErrNoNode: // the reply to an earlier try got lost
			return nil
		case zk.ErrNoAuth: // an answer, and it will be the same again
			return err
		}
	}
	return err
}
