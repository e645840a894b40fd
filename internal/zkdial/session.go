// Package zkdial opens sessions of go-zookeeper for zklab's own use: for observers,
// contestants and measurements. The locks that are taught and tested do without it.
package zkdial

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Silent is a logger that keeps go-zookeeper's lines off a full-screen terminal.
type Silent struct{}

// Printf drops the line.
func (Silent) Printf(string, ...any) {}

// Session opens a session with one of the servers of a connect string, and returns
// when it is there. Each handshake ends within the limit given for it. When ctx ends
// before, it leaves no connection behind and returns an error that wraps ctx's cause.
func Session(ctx context.Context, servers string, timeout, handshake time.Duration) (*zk.Conn, error) {
	ready := make(chan struct{})
	once := sync.OnceFunc(func() { close(ready) })
	c, _, err := zk.Connect(strings.Split(servers, ","), timeout,
		zk.WithLogger(Silent{}), zk.WithLogInfo(false), zk.WithDialer(Dialer(handshake)),
		zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateHasSession {
				once()
			}
		}))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", servers, err)
	}
	select {
	case <-ready:
		return c, nil
	case <-ctx.Done():
		c.Close()
		return nil, fmt.Errorf("no session with %s: %w", servers, context.Cause(ctx))
	}
}
