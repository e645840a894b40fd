package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/contestant"
	"zklab/internal/zkdial"
)

// errLost is returned when the node of a lock that seemed to be held has gone.
var errLost = errors.New("the lock was lost before: its node has gone")

// minHandshake bounds the handshake of very short sessions from below.
const minHandshake = time.Second

// client is a session of go-zookeeper's for one member.
type client struct {
	*zk.Conn
	path   string        // of the lock
	opened chan struct{} // closed when there has been a session
}

// connect opens a session and tells of its changes. The session timeout is asked
// for as it is; the library does not tell what was negotiated.
func connect(m contestant.Member, tell func(contestant.Session)) (client, error) {
	made, opened := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(opened) })
	var conn *zk.Conn
	hear := func(e zk.Event) {
		if e.Type != zk.EventSession {
			return
		}
		switch e.State {
		case zk.StateHasSession:
			<-made // zk.Connect is about to return
			tell(contestant.Session{State: contestant.Connected, ID: conn.SessionID()})
			first()
		case zk.StateDisconnected:
			tell(contestant.Session{State: contestant.Disconnected})
		case zk.StateExpired:
			tell(contestant.Session{State: contestant.Expired})
		}
	}
	var err error
	conn, _, err = zk.Connect(strings.Split(m.Servers, ","), m.Session,
		zk.WithLogger(zkdial.Silent{}), zk.WithLogInfo(false), zk.WithEventCallback(hear), zk.WithDialer(zkdial.Dialer(max(m.Session, minHandshake))))
	close(made)
	if err != nil {
		return client{}, fmt.Errorf("connect to %s: %w", m.Servers, err)
	}
	return client{Conn: conn, path: m.Lock, opened: opened}, nil
}

// Close ends the session and returns within about three seconds: the library waits
// that long for a connection over which to say so.
func (c client) Close() error {
	c.Conn.Close()
	return nil
}

// onTime returns what call returns, or the error of ctx as soon as ctx ends; call
// then goes on by itself until the library gives up on it, at the latest when the
// session is closed.
func onTime(ctx context.Context, call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ensure waits for the first session, and makes path and its parents where they are
// missing. The library would give a request up as soon as it has tried every server once,
// which on a machine that is still starting forty contestants says nothing.
func (c client) ensure(ctx context.Context, path string) error {
	select {
	case <-c.opened:
	case <-ctx.Done():
		return ctx.Err()
	}
	return onTime(ctx, func() error {
		if there, _, err := c.Exists(path); err != nil || there {
			return err
		}
		for end := range len(path) + 1 {
			if end == 0 || end < len(path) && path[end] != '/' {
				continue
			}
			_, err := c.Create(path[:end], nil, 0, zk.WorldACL(zk.PermAll))
			if err != nil && !errors.Is(err, zk.ErrNodeExists) {
				return fmt.Errorf("make %s: %w", path[:end], err)
			}
		}
		return nil
	})
}

// grant reads what there is to know of the node by which a lock is held.
func (c client) grant(ctx context.Context, node string) (contestant.Grant, error) {
	var g contestant.Grant // left alone from here on when the call is late
	err := onTime(ctx, func() error {
		there, stat, err := c.Exists(node)
		if err == nil && !there {
			return errLost
		}
		if err == nil {
			g = contestant.Grant{Node: node, Token: stat.Czxid, Session: stat.EphemeralOwner}
		}
		return err
	})
	if err != nil {
		return contestant.Grant{}, err
	}
	return g, nil
}

// maxTries is how often leave asks; while there is no connection a try takes about
// a second, and a node that could not be deleted ends with its session.
const maxTries = 60

// leave deletes node until that is certain, and returns when it is or ctx ends.
func (c client) leave(ctx context.Context, node string) error {
	return onTime(ctx, func() (err error) {
		for try := range maxTries {
			err = c.Delete(node, -1)
			if errors.Is(err, zk.ErrNoNode) && try == 0 {
				return errLost
			}
			if err == nil || errors.Is(err, zk.ErrNoNode) {
				return nil
			}
		}
		return err
	})
}
