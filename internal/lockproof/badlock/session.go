package badlock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Session is one connection to ZooKeeper, for the locks of this package.
type Session struct {
	Conn *zk.Conn

	mu   sync.Mutex
	ends map[int64]context.CancelFunc // by session: told when the connection goes
	ctxs map[int64]context.Context
}

// Dial opens a session and waits until it is there.
func Dial(ctx context.Context, servers []string, timeout time.Duration) (*Session, error) {
	s := &Session{ends: map[int64]context.CancelFunc{}, ctxs: map[int64]context.Context{}}
	up := make(chan struct{})
	var once sync.Once
	conn, _, err := zk.Connect(servers, timeout, zk.WithLogger(silent{}), zk.WithEventCallback(func(e zk.Event) {
		if e.State == zk.StateHasSession {
			once.Do(func() { close(up) })
		}
		if e.State == zk.StateDisconnected || e.State == zk.StateExpired {
			s.doubt()
		}
	}))
	if err != nil {
		return nil, err
	}
	s.Conn = conn
	select {
	case <-up:
		return s, nil
	case <-ctx.Done():
		conn.Close()
		return nil, fmt.Errorf("connect to %v: %w", servers, ctx.Err())
	}
}

// certain is a context that ends when the connection is gone, which is before
// the session can be: the client notices silence at two thirds of the timeout.
func (s *Session) certain(id int64) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx, ok := s.ctxs[id]; ok {
		return ctx
	}
	s.ctxs[id], s.ends[id] = context.WithCancel(context.Background())
	return s.ctxs[id]
}

func (s *Session) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, end := range s.ends {
		end()
	}
	clear(s.ends)
	clear(s.ctxs)
}

// Close ends the session.
func (s *Session) Close() {
	s.doubt()
	s.Conn.Close()
}

type silent struct{}

func (silent) Printf(string, ...any) {}
