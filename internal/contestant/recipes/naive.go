package recipes

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"

	"github.com/go-zookeeper/zk"

	"zklab/internal/contestant"
)

// naive has everybody watch the parent: each arrival and each departure wakes
// everybody, and everybody lists the children again. It excludes as well as any
// lock, and is there to be counted.
func naive(m contestant.Member, tell func(contestant.Session)) (contestant.Lock, error) {
	c, err := connect(m, tell)
	if err != nil {
		return nil, err
	}
	return &naiveLock{client: c}, nil
}

type naiveLock struct {
	client
	node string
}

var contender = regexp.MustCompile(`^lock-[0-9]{10}$`)

// errNotInLine is returned when the own node has gone from the line.
var errNotInLine = errors.New("own node is not in line: its session ended, or somebody deleted it")

func (l *naiveLock) Acquire(ctx context.Context) (contestant.Grant, error) {
	if err := l.ensure(ctx, l.path); err != nil {
		return contestant.Grant{}, err
	}
	created := make(chan string, 1) // the node, once there is one, however late
	err := onTime(ctx, func() error {
		node, err := l.Create(l.path+"/lock-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		created <- node
		return err
	})
	if err != nil {
		go func() {
			if node := <-created; node != "" {
				_ = l.leave(context.WithoutCancel(ctx), node)
			}
		}()
		return contestant.Grant{}, err
	}
	l.node = <-created
	g, err := l.waitTurn(ctx)
	if err != nil {
		_ = l.leave(ctx, l.node) // goes on by itself when ctx has ended
	}
	return g, err
}

// waitTurn looks without a watch where it may well be first, so that a holder does
// not keep a watch that its own release would fire: the herd's numbers are then
// those of the ones who wait.
func (l *naiveLock) waitTurn(ctx context.Context) (contestant.Grant, error) {
	place := 1 // in the line, when last looked
	for watch := false; ; watch = place > 1 {
		for {
			line, changed, err := l.look(ctx, watch)
			if err != nil {
				return contestant.Grant{}, err
			}
			switch place = slices.Index(line, path.Base(l.node)); place {
			case -1:
				return contestant.Grant{}, errNotInLine
			case 0:
				return l.grant(ctx, l.node)
			}
			if watch {
				select {
				case <-changed:
				case <-ctx.Done():
					return contestant.Grant{}, ctx.Err()
				}
				break
			}
			watch = true
		}
	}
}

// look lists the line, and leaves a watch on the parent if asked to.
func (l *naiveLock) look(ctx context.Context, watch bool) (line []string, changed <-chan zk.Event, err error) {
	var children []string
	err = onTime(ctx, func() (err error) {
		if watch {
			children, _, changed, err = l.ChildrenW(l.path)
		} else {
			children, _, err = l.Children(l.path)
		}
		return err
	})
	line = slices.DeleteFunc(children, func(name string) bool { return !contender.MatchString(name) })
	slices.Sort(line)
	return line, changed, err
}

func (l *naiveLock) Release(ctx context.Context) error { return l.leave(ctx, l.node) }
