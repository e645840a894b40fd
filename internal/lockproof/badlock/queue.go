package badlock

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zklab/internal/lockproof"
)

var (
	errOwnNodeGone = errors.New("badlock: own node is gone")
	acl            = zk.WorldACL(zk.PermAll)
)

// queue is what the recipes are made of. It is itself without a flaw; the
// flaws are in the ways the recipes use it, or leave it unused.
type queue struct {
	conn *zk.Conn
	path string
}

// ticket is a place in the queue.
type ticket struct {
	name  string
	seq   int64
	token int64 // czxid
	owner int64 // session
}

func (q queue) at(name string) string { return q.path + "/" + name }

// join creates a node of the given kind ("-lock-", "-__READ__", …).
func (q queue) join(kind string) (ticket, error) {
	id := make([]byte, 8)
	rand.Read(id)
	return q.joinAs("_c_"+hex.EncodeToString(id)+kind, 0)
}

// joinAs creates a node whose name begins with prefix.
func (q queue) joinAs(prefix string, extra int32) (ticket, error) {
	full, err := q.conn.Create(q.at(prefix), nil, zk.FlagEphemeral|zk.FlagSequence|extra, acl)
	if err != nil {
		return ticket{}, fmt.Errorf("join: %w", err)
	}
	return q.look(full)
}

func (q queue) look(full string) (ticket, error) {
	_, stat, err := q.conn.Get(full)
	if err != nil {
		return ticket{}, fmt.Errorf("look at the own node: %w", err)
	}
	name := full[strings.LastIndexByte(full, '/')+1:]
	return ticket{name: name, seq: lockproof.Sequence(name), token: stat.Czxid, owner: stat.EphemeralOwner}, nil
}

// contenders lists the children that belong to the queue, in its order.
func (q queue) contenders() ([]string, error) {
	children, _, err := q.conn.Children(q.path)
	if err != nil {
		return nil, err
	}
	return inOrder(children), nil
}

// inOrder drops what carries no sequence number and sorts the rest by it.
func inOrder(children []string) []string {
	ours := slices.DeleteFunc(slices.Clone(children), func(c string) bool {
		return lockproof.Sequence(c) < 0 || !strings.Contains(c, "-")
	})
	slices.SortFunc(ours, func(a, b string) int {
		return int(lockproof.Sequence(a) - lockproof.Sequence(b))
	})
	return ours
}

// before is the contender right before t that blocks says it must wait for,
// or "" when it is t's turn.
func (q queue) before(t ticket, blocks func(name string) bool) (string, error) {
	all, err := q.contenders()
	if err != nil {
		return "", err
	}
	i := slices.Index(all, t.name)
	if i < 0 {
		return "", errOwnNodeGone
	}
	for _, c := range slices.Backward(all[:i]) {
		if blocks(c) {
			return c, nil
		}
	}
	return "", nil
}

// anybody is the rule of the mutex.
func anybody(string) bool { return true }

func writers(name string) bool { return strings.Contains(name, "-__WRIT__") }

// awaitTurn waits until nothing before t blocks it.
func (q queue) awaitTurn(ctx context.Context, t ticket, blocks func(string) bool) error {
	for {
		p, err := q.before(t, blocks)
		if err != nil || p == "" {
			return err
		}
		if err := q.awaitEnd(ctx, p); err != nil {
			return err
		}
	}
}

// awaitEnd waits until something happened to the node.
func (q queue) awaitEnd(ctx context.Context, name string) error {
	_, _, events, err := q.conn.GetW(q.at(name))
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	select {
	case <-events:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q queue) leave(t ticket) error {
	err := q.conn.Delete(q.at(t.name), -1)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// grant is the sound answer: the session's context ends with the session.
func (q queue) grant(s *Session, t ticket) *lockproof.Grant {
	return &lockproof.Grant{
		Node: t.name, Token: t.token, Session: t.owner, Certain: s.certain(t.owner),
		Release: func(context.Context) error { return q.leave(t) },
	}
}

// acquire is the sound recipe, on which the flawed ones are variations.
func (q queue) acquire(ctx context.Context, s *Session, kind string, blocks func(string) bool) (*lockproof.Grant, error) {
	t, err := q.join(kind)
	if err != nil {
		return nil, err
	}
	if err := q.awaitTurn(ctx, t, blocks); err != nil {
		return nil, q.giveUp(t, err)
	}
	return q.grant(s, t), nil
}

// giveUp is the end of an acquire that failed.
func (q queue) giveUp(t ticket, why error) error { return errors.Join(why, q.leave(t)) }

// share makes a reader's node with the writer's sequence number, so that
// nobody between the two can hold.
func (q queue) share(s *Session, writer *lockproof.Grant) (*lockproof.Grant, error) {
	name := strings.Replace(writer.Node, writeKind, readKind, 1)
	if _, err := q.conn.Create(q.at(name), nil, zk.FlagEphemeral, acl); err != nil {
		return nil, err
	}
	t := ticket{name: name, seq: lockproof.Sequence(name), token: writer.Token, owner: writer.Session}
	return q.grant(s, t), nil
}

// awaitPermit waits until t is among the first contenders.
func (q queue) awaitPermit(ctx context.Context, t ticket, permits int, contenders func([]string) []string) error {
	for {
		children, _, events, err := q.conn.ChildrenW(q.path)
		if err != nil {
			return err
		}
		i := slices.Index(contenders(children), t.name)
		if i < 0 {
			return errOwnNodeGone
		}
		if i < permits {
			return nil
		}
		select {
		case <-events:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
