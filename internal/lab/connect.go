package lab

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// observerSession is the timeout of the observer's own session.
const observerSession = 10 * time.Second

// silent keeps the client library from writing over a full-screen terminal.
type silent struct{}

func (silent) Printf(string, ...any) {}

// dial opens the observer's session, and returns when it is there.
func dial(ctx context.Context, servers string) (*zk.Conn, error) {
	conn, events, err := zk.Connect(strings.Split(servers, ","), observerSession, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, fmt.Errorf("lab: connect to %s: %w", servers, err)
	}
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn, nil
			}
		case <-ctx.Done():
			conn.Close()
			return nil, fmt.Errorf("lab: no session with %s: %w", servers, context.Cause(ctx))
		}
	}
}

func (o *observer) close() { o.conn.Close() }

// clean removes the followed locks and the parents made for them. It runs after the
// contestants are gone, and stops when ctx ends.
func (o *observer) clean(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		var errs []error
		for _, f := range o.all() {
			if err := o.remove(ctx, f.path); err != nil {
				errs = append(errs, fmt.Errorf("remove %s: %w", f.path, err))
				continue
			}
			chroot := o.lab.o.Ensemble.Chroot()
			for dir := path.Dir(f.path); dir != "/" && dir != chroot; dir = path.Dir(dir) {
				if o.conn.Delete(dir, -1) != nil {
					break // others use it, or it was never made
				}
			}
		}
		done <- errors.Join(errs...)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		o.conn.Close() // ends the calls under way
		<-done
		return context.Cause(ctx)
	}
}

// remove deletes a node with all below it.
func (o *observer) remove(ctx context.Context, node string) error {
	children, _, err := o.conn.Children(node)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range children {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := o.remove(ctx, path.Join(node, name)); err != nil {
			return err
		}
	}
	if err := o.conn.Delete(node, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return nil
}
