package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/curatorlike"
	"zklab/internal/zkdial"
	"zklab/minimutex"
)

// locker is one client of a lock, with a session of its own.
type locker interface {
	acquire(ctx context.Context) error
	release(ctx context.Context) error
	close()
}

// Locks names the locks of this project that can be measured.
func Locks() []string { return []string{"mini", "mutex"} }

// sessionTimeout is long: nobody is meant to lose a lock while being measured.
// The server may grant less.
const sessionTimeout = 30 * time.Second

// open connects a client of the named lock.
func open(ctx context.Context, name, servers, path string) (locker, error) {
	switch name {
	case "mutex":
		return openMutex(ctx, servers, path)
	case "mini":
		return openMini(ctx, servers, path)
	case goZookeeper:
		return openOwn(ctx, servers, path)
	case plain:
		return openPlain(ctx, servers, path)
	}
	return nil, fmt.Errorf("bench: no lock %q; take one of %v", name, Locks())
}

// mutexClient measures curatorlike.
type mutexClient struct {
	client *curatorlike.Client
	mutex  *curatorlike.Mutex
	hold   *curatorlike.Hold
}

func openMutex(ctx context.Context, servers, path string) (locker, error) {
	c, err := curatorlike.Connect(ctx, servers, curatorlike.WithSessionTimeout(sessionTimeout))
	if err != nil {
		return nil, err
	}
	m, err := curatorlike.NewMutex(c, path)
	opened := &mutexClient{client: c, mutex: m}
	if err != nil {
		opened.close()
		return nil, err
	}
	return opened, nil
}

func (c *mutexClient) acquire(ctx context.Context) (err error) {
	c.hold, err = c.mutex.Acquire(ctx)
	return err
}

func (c *mutexClient) release(ctx context.Context) error { return c.hold.Release(ctx) }

func (c *mutexClient) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.client.Close(ctx) // what it held ends with its session
}

// miniClient measures the mini-mutex.
type miniClient struct {
	conn  *zk.Conn
	mutex *minimutex.Mutex
}

func openMini(ctx context.Context, servers, path string) (locker, error) {
	conn, err := dial(ctx, servers)
	if err != nil {
		return nil, err
	}
	return &miniClient{conn: conn, mutex: minimutex.New(conn, path)}, nil
}

// dialLimit is how long a session may take to begin: the library itself would wait
// for a server for ever.
const dialLimit = 30 * time.Second

// dial opens a session of go-zookeeper on one of the servers of a connect string.
func dial(ctx context.Context, servers string) (*zk.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dialLimit, fmt.Errorf("none within %v", dialLimit))
	defer cancel()
	return zkdial.Session(ctx, servers, sessionTimeout, dialLimit)
}

func (c *miniClient) acquire(ctx context.Context) error { return c.mutex.Acquire(ctx) }
func (c *miniClient) release(ctx context.Context) error { return c.mutex.Release(ctx) }
func (c *miniClient) close()                            { c.conn.Close() }
