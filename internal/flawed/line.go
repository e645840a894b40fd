package flawed

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

const ephemeralSequential = zk.FlagEphemeral | zk.FlagSequence

var errNotInLine = errors.New("the own node is gone from the line")

// line is what most of the locks are made of. It has no flaw itself; the flaws are
// in what a lock does with it, or without it.
type line struct {
	c    *Client
	node string // the own one, a full path; "" when out of line
}

// number is the number at the end of a name that ends in lock- and ten digits; -1
// for another one, which does not stand in line.
func number(name string) int64 {
	i := len(name) - 10
	if i < 0 || !strings.HasSuffix(name[:i], "lock-") {
		return -1
	}
	n, err := strconv.ParseInt(name[i:], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// front finds the one directly in front of a node of ours; "" when there is none.
func front(mine string, children []string) (name string, inLine bool) {
	for _, child := range children {
		n := number(child)
		inLine = inLine || child == mine
		if n >= 0 && n < number(mine) && (name == "" || n > number(name)) {
			name = child
		}
	}
	return name, inLine
}

// join takes a number.
func (l *line) join() (err error) {
	l.node, err = l.c.Create(l.c.Path+"/lock-", ephemeralSequential)
	return err
}

// wait waits until nobody is in front.
func (l *line) wait(ctx context.Context) error {
	for {
		children, err := l.c.Children()
		if err != nil {
			return err
		}
		before, inLine := front(path.Base(l.node), children)
		if !inLine {
			return errNotInLine
		}
		if before == "" {
			return nil
		}
		gone, err := l.c.GetW(l.c.Path + "/" + before)
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err == nil {
			err = l.c.Wait(ctx, gone)
		}
		if err != nil {
			return err
		}
	}
}

// tries is how often a request is tried again whose outcome is not known, and pause how
// long it waits before.
const (
	tries = 100
	pause = 20 * time.Millisecond
)

// leave deletes the own node, until it is gone for sure.
func (l *line) leave() error {
	if l.node == "" {
		return nil
	}
	var err error
	for range tries {
		if err = l.c.Delete(l.node); err == nil || errors.Is(err, zk.ErrNoNode) {
			l.node = ""
			return nil
		}
		if !unknown(err) {
			return err
		}
		time.Sleep(pause)
	}
	return err
}

// Release gives the lock back.
func (l *line) Release(context.Context) error { return l.leave() }

// unknown reports whether an error leaves open if the request was carried out.
func unknown(err error) bool {
	var broken net.Error
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) ||
		errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &broken)
}

// joinSurely takes a number, and finds its node again when the reply is lost.
func (l *line) joinSurely(ctx context.Context) error {
	guid := rand.Text()
	for ctx.Err() == nil {
		node, err := l.c.Create(l.c.Path+"/"+guid+"-lock-", ephemeralSequential)
		if unknown(err) {
			node, err = l.find(ctx, guid)
		}
		if node != "" || err != nil {
			l.node = node
			return err
		}
	}
	return ctx.Err()
}

// find looks for the node with a GUID; "" when it is not there.
func (l *line) find(ctx context.Context, guid string) (string, error) {
	for ctx.Err() == nil {
		err := l.c.Sync()
		var children []string
		if err == nil {
			children, err = l.c.Children()
		}
		if err == nil {
			i := slices.IndexFunc(children, func(name string) bool { return strings.HasPrefix(name, guid) })
			if i < 0 {
				return "", nil
			}
			node := l.c.Path + "/" + children[i]
			var owner int64
			owner, err = l.c.Stat(node)
			switch {
			case err == nil && owner == l.c.Session():
				return node, nil
			case err == nil, errors.Is(err, zk.ErrNoNode):
				return "", nil
			}
		}
		if !unknown(err) {
			return "", err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return "", ctx.Err()
}
