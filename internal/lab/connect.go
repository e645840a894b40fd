package lab

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkdial"
)

// observerSession is the timeout of the observer's own session.
const observerSession = 10 * time.Second

// handshakeLimit is how long a server may take to answer the first request on a
// connection.
const handshakeLimit = 3 * time.Second

// dial opens the observer's session, and returns when it is there.
func dial(ctx context.Context, servers string) (*zk.Conn, error) {
	conn, err := zkdial.Session(ctx, servers, observerSession, handshakeLimit)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return conn, nil
}

func (o *observer) close() { o.conn.Close() }

// cleanLimit bounds the removing of nodes.
const cleanLimit = 2 * time.Second

// clean removes the followed locks and the parents made for them. It runs after the
// contestants are gone. Without a session it does nothing: a private server that
// is gone needs no cleaning, and an external ensemble's chroot is removed by whoever
// closes that.
func (o *observer) clean(ctx context.Context) error {
	if o.conn.State() != zk.StateHasSession {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cleanLimit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- o.removeAll(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		o.conn.Close() // ends the calls under way
		<-done
		return fmt.Errorf("remove the locks' nodes: %w", context.Cause(ctx))
	}
}

func (o *observer) removeAll(ctx context.Context) error {
	var errs []error
	chroot := o.lab.o.Ensemble.Chroot()
	for _, f := range o.all() {
		if err := o.remove(ctx, f.path); err != nil {
			errs = append(errs, fmt.Errorf("remove %s: %w", f.path, err))
			continue
		}
		for dir := path.Dir(f.path); dir != "/" && dir != chroot; dir = path.Dir(dir) {
			if o.conn.Delete(dir, -1) != nil {
				break // others use it, or it was never made
			}
		}
	}
	return errors.Join(errs...)
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
