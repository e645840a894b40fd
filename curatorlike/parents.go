package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// makeParents creates the path and what is missing above it, below the
// chroot as containers, which the server deletes when they are empty, and as
// plain nodes where it does not know containers.
func (s *session) makeParents(ctx context.Context, path string, container bool) error {
	parts := strings.Split(path[1:], "/")
	at := len(s.c.opts.chroot)
	var todo []string
	p := ""
	for _, part := range parts {
		p += "/" + part
		if !container || len(p) > at {
			todo = append(todo, p)
		}
	}
	// The deepest first: mostly only that one is missing.
	for i := len(todo) - 1; i >= 0; i-- {
		err := s.makeParent(ctx, todo[i], container)
		if err == nil {
			for _, p := range todo[i+1:] {
				if err := s.makeParent(ctx, p, container); err != nil && !errors.Is(err, zk.ErrNoNode) {
					return s.parentErr(p, err)
				}
			}
			return nil
		}
		if !errors.Is(err, zk.ErrNoNode) {
			return s.parentErr(todo[i], err)
		}
	}
	return s.parentErr(path, zk.ErrNoNode)
}

func (s *session) parentErr(path string, err error) error {
	return fmt.Errorf("curatorlike: creating the parent node %s: %w", path, err)
}

func (s *session) makeParent(ctx context.Context, path string, container bool) error {
	for {
		if err := s.awaitAnyLink(ctx); err != nil {
			return err
		}
		_, err := call(ctx, s, func(c *zk.Conn) (string, error) { return makeOne(c, path, container, s.c.opts.acl) })
		if err == nil || errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		if answered(err) || strange(err) || interrupted(ctx, s) {
			return err
		}
		s.pauseWithin(ctx, shortly)
	}
}

func makeOne(c *zk.Conn, path string, container bool, acl []zk.ACL) (string, error) {
	if container {
		p, err := c.CreateContainer(path, nil, zk.FlagContainer, acl)
		if !unsupported(err) {
			return p, err
		}
	}
	return c.Create(path, nil, 0, acl)
}

// unsupported recognizes a server older than 3.5.1, without containers.
// go-zookeeper has no name for the code -6 (unimplemented).
func unsupported(err error) bool {
	return strange(err) && slices.Contains(strings.Fields(err.Error()), "-6")
}
