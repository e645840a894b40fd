package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/go-zookeeper/zk"

	"zklab/internal/contestant"
)

// unfair is one ephemeral node at the lock's path itself: whoever creates it holds
// the lock. All others watch it, all wake up when it goes, and one of them wins,
// whoever waited how long.
func unfair(m contestant.Member, tell func(contestant.Session)) (contestant.Lock, error) {
	c, err := connect(m, tell)
	if err != nil {
		return nil, err
	}
	return &unfairLock{client: c}, nil
}

type unfairLock struct {
	client
	held contestant.Grant
}

func (l *unfairLock) Acquire(ctx context.Context) (contestant.Grant, error) {
	if err := l.ensure(ctx, path.Dir(l.path)); err != nil {
		return contestant.Grant{}, err
	}
	for {
		won := make(chan bool, 1)
		err := onTime(ctx, func() error {
			_, err := l.Create(l.path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			won <- err == nil
			if errors.Is(err, zk.ErrNodeExists) {
				return nil
			}
			return err
		})
		if err != nil {
			go func() {
				if <-won { // too late for anybody to know of it
					_ = l.leaveOwn(context.WithoutCancel(ctx))
				}
			}()
			return contestant.Grant{}, err
		}
		if <-won {
			l.held, err = l.grant(ctx, l.path)
			if err != nil {
				_ = l.leaveOwn(context.WithoutCancel(ctx))
			}
			return l.held, err
		}
		if mine, err := l.waitGone(ctx); err != nil || mine {
			return l.held, err
		}
	}
}

// waitGone waits until the node has gone. It returns true when the node turns out
// to be this member's own: the reply to an earlier create was lost.
func (l *unfairLock) waitGone(ctx context.Context) (mine bool, err error) {
	var stat *zk.Stat
	var there bool
	var changed <-chan zk.Event
	err = onTime(ctx, func() (err error) {
		there, stat, changed, err = l.ExistsW(l.path)
		return err
	})
	if err != nil || !there {
		return false, err
	}
	if stat.EphemeralOwner == 0 {
		return false, fmt.Errorf("%s is an ordinary node, which nobody will ever release: give this recipe a path of its own", l.path)
	}
	if stat.EphemeralOwner == l.SessionID() {
		l.held = contestant.Grant{Node: l.path, Token: stat.Czxid, Session: stat.EphemeralOwner}
		return true, nil
	}
	select {
	case <-changed:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Release deletes the node if it is still this hold's own.
func (l *unfairLock) Release(ctx context.Context) error {
	now, err := l.grant(ctx, l.path)
	if err != nil {
		return err
	}
	if now.Token != l.held.Token {
		return errLost // somebody else holds it by now
	}
	return l.leave(ctx, l.path)
}

// leaveOwn deletes the node if it belongs to this session.
func (l *unfairLock) leaveOwn(ctx context.Context) error {
	now, err := l.grant(ctx, l.path)
	if err != nil || now.Session != l.SessionID() {
		return err
	}
	return l.leave(ctx, l.path)
}
