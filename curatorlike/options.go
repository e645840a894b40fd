package curatorlike

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"time"

	"github.com/go-zookeeper/zk"
)

// Option configures a Client.
type Option func(*options) error

// Dialer opens a TCP connection to one server. It must return when ctx ends: the
// client waits for it, also in Close.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// RetryPolicy says how long to wait before the given attempt, counted from 1,
// to reach a server or to delete a node again. It must not return less than a
// millisecond for long, and is called from several goroutines.
type RetryPolicy func(attempt int) time.Duration

type auth struct {
	scheme string
	cred   []byte
}

type options struct {
	timeout time.Duration
	tick    time.Duration
	chroot  string
	acl     []zk.ACL
	auth    []auth
	tls     *tls.Config
	logger  *slog.Logger
	hook    func(Event)
	metrics func(Measurement)
	retry   RetryPolicy
	dial    Dialer
	clock   Clock
}

func defaults() options {
	var d net.Dialer
	return options{
		timeout: 10 * time.Second,
		acl:     zk.WorldACL(zk.PermAll),
		logger:  slog.New(slog.DiscardHandler),
		retry:   backoff,
		dial:    d.DialContext,
		clock:   realClock{},
	}
}

// backoff doubles from 20 ms to 1 s, and varies by a half so that many clients
// do not come back in step.
func backoff(attempt int) time.Duration {
	d := min(20*time.Millisecond<<min(max(attempt-1, 0), 10), time.Second)
	return d/2 + rand.N(d/2+1)
}

// WithSessionTimeout sets the session timeout to ask for; the servers clamp it
// into 2 to 20 of their ticks. The default is 10 s.
func WithSessionTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d < time.Millisecond || d > math.MaxInt32*time.Millisecond { // as the protocol has it
			return fmt.Errorf("%w: session timeout %v; it is a number of milliseconds from 1 to 2^31-1", ErrBadArgument, d)
		}
		o.timeout = d
		return nil
	}
}

// WithTick tells the servers' tickTime. A hold that lasts until Lost (see
// HoldUntilLost) may last longer then: it ends half a tick and 7/40 T before the
// session's deadline, if that is later than the 7/10 T that are right for every server.
func WithTick(d time.Duration) Option {
	return func(o *options) error {
		if d < 0 {
			return fmt.Errorf("%w: tick %v is negative", ErrBadArgument, d)
		}
		o.tick = d
		return nil
	}
}

// WithChroot puts everything the client does below a path, which is created
// when it is missing. A chroot in the connect string is the same.
func WithChroot(path string) Option {
	return func(o *options) error {
		o.chroot = path
		return nil
	}
}

// WithACL sets the access list of every node that the client creates. The
// default is open to everybody.
func WithACL(acl []zk.ACL) Option {
	return func(o *options) error {
		if len(acl) == 0 {
			return fmt.Errorf("%w: empty access list", ErrBadArgument)
		}
		o.acl = acl
		return nil
	}
}

// WithAuth adds credentials, for example WithAuth("digest", []byte("user:pw")).
// They are sent again on every reconnect and in every new session.
func WithAuth(scheme string, cred []byte) Option {
	return func(o *options) error {
		o.auth = append(o.auth, auth{scheme, append([]byte(nil), cred...)})
		return nil
	}
}

// WithTLS encrypts the connection. ServerName is taken from the address where
// the configuration names none.
func WithTLS(c *tls.Config) Option {
	return func(o *options) error {
		if c == nil {
			return fmt.Errorf("%w: WithTLS without a configuration would send everything in clear", ErrBadArgument)
		}
		o.tls = c
		return nil
	}
}

// WithLogger sets where the client logs to; the default is nowhere.
func WithLogger(l *slog.Logger) Option {
	return func(o *options) error {
		if l != nil {
			o.logger = l
		}
		return nil
	}
}

// WithEventHook calls f for every change of state, in order, from one
// goroutine of its own. A slow hook loses the oldest events and is told how
// many; it delays nothing else, except Close, which waits for the call in progress.
func WithEventHook(f func(Event)) Option {
	return func(o *options) error {
		o.hook = f
		return nil
	}
}

// WithMetrics calls f for every measurement, from the goroutine that made it:
// f must return quickly and may be called concurrently.
func WithMetrics(f func(Measurement)) Option {
	return func(o *options) error {
		o.metrics = f
		return nil
	}
}

// WithRetryPolicy sets the pause before a server is tried again and before a
// failed deletion is repeated. The default doubles from 20 ms to 1 s.
func WithRetryPolicy(p RetryPolicy) Option {
	return func(o *options) error {
		if p != nil {
			o.retry = p
		}
		return nil
	}
}

// WithDialer sets how TCP connections are opened.
func WithDialer(d Dialer) Option {
	return func(o *options) error {
		if d != nil {
			o.dial = d
		}
		return nil
	}
}

// WithClock sets the clock, for tests.
func WithClock(c Clock) Option {
	return func(o *options) error {
		if c != nil {
			o.clock = c
		}
		return nil
	}
}

// LockOption configures a lock. One that means nothing for the recipe is refused with
// ErrBadArgument.
type LockOption func(*lockOptions)

type lockOptions struct {
	data      []byte
	untilLost bool
	handoffs  int
	shared    string // node with a semaphore's maximum
	quiet     bool   // not measured: part of another lock
}

// suits says which options that are not for every recipe one takes.
type suits struct{ handoffs, shared bool }

func lockOptionsOf(opts []LockOption, takes suits) (lockOptions, error) {
	var o lockOptions
	for _, f := range opts {
		if f == nil {
			return o, fmt.Errorf("%w: nil option", ErrBadArgument)
		}
		f(&o)
	}
	if o.handoffs > 0 && !takes.handoffs {
		return o, fmt.Errorf("%w: WithLocalHandoffs is for a Mutex only", ErrBadArgument)
	}
	if o.shared != "" && !takes.shared {
		return o, fmt.Errorf("%w: SharedMax is for a Semaphore only", ErrBadArgument)
	}
	return o, checkSize(len(o.data))
}

// maxData is what one request may carry: a server closes the connection of one
// that is larger than its jute.maxbuffer, 1 MiB, and every hold of the client is
// suspended. The rest is for paths and access lists.
const maxData = 1<<20 - 4<<10

func checkSize(n int) error {
	if n > maxData {
		return fmt.Errorf("%w: %d bytes of data; a server takes %d", ErrBadArgument, n, maxData)
	}
	return nil
}

// WithData sets the data of the lock's nodes, for people and tools to see. By
// default it is empty. More than a server takes, 1 MiB less a little, is refused.
func WithData(data []byte) LockOption {
	return func(o *lockOptions) { o.data = append([]byte(nil), data...) }
}

// HoldUntilLost keeps a hold's context alive while the connection is
// suspended: it ends only when somebody else might hold soon, 7/10 T after the
// leader was last heard (see WithTick). By default it ends when the connection is
// suspended.
func HoldUntilLost() LockOption {
	return func(o *lockOptions) { o.untilLost = true }
}

// WithLocalHandoffs lets up to n consecutive grants of a Mutex pass from one
// goroutine to the next of the same client on one node, with no round trip to
// the server, before the node is given up and the other processes have their turn.
//
// Grants on one node share its fencing token: a resource behind a fence
// cannot tell them apart. The default is 0, a node and a token per grant.
func WithLocalHandoffs(n int) LockOption {
	return func(o *lockOptions) { o.handoffs = max(n, 0) }
}
