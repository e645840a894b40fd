package attach

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/zkdial"
	"zklab/internal/zkstat"
)

// Watcher looks at one path. Its methods are for one goroutine.
type Watcher struct {
	o       Options
	path    string // chroot included
	conn    *zk.Conn
	dials   *dials
	events  sync.WaitGroup
	known   map[string]node // children seen before, by full path
	readers []*zkstat.Reader
	words   server
	wordsAt time.Time
	asked   int // reads of nodes and of lists of children so far; four-letter words aside
}

// cost is what looking has cost so far.
func (w *Watcher) cost() Cost {
	c := Cost{Requests: w.asked, Bytes: w.dials.bytes.Load()}
	for _, r := range w.readers {
		words, bytes := r.Words()
		c.Requests += words
		c.Bytes += bytes
	}
	return c
}

// Open connects. It returns ErrUnreachable when no server gave a session in
// time, and ErrDenied when a credential was refused. Close ends the session.
func Open(ctx context.Context, o Options) (*Watcher, error) {
	o, path, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	addresses := strings.Split(o.Servers, ",")
	session := make(chan struct{}, 1)
	d := newDials(o.TLS)
	conn, events, err := zk.Connect(addresses, o.Session, zk.WithLogger(zkdial.Silent{}), zk.WithDialer(d.dial),
		zk.WithEventCallback(func(e zk.Event) {
			if e.Type == zk.EventSession && e.State == zk.StateHasSession {
				select {
				case session <- struct{}{}:
				default:
				}
			}
		}))
	if err != nil {
		d.end()
		return nil, fmt.Errorf("%w: %s: %w", ErrUnreachable, o.Servers, err)
	}
	w := &Watcher{o: o, path: path, conn: conn, dials: d, known: map[string]node{}}
	w.events.Go(func() {
		for range events { // closed by conn.Close
		}
	})
	for _, a := range addresses {
		r := zkstat.NewReader(a, "", o.Now)
		if o.TLS != nil {
			r.SetTLS(o.TLS)
		}
		w.readers = append(w.readers, r)
	}
	if err := w.begin(ctx, session); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// begin waits for the first session and hands over the credentials.
func (w *Watcher) begin(asked context.Context, session <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(asked, w.o.Connect)
	defer cancel()
	select {
	case <-session:
	case <-ctx.Done():
		return w.late(asked, "")
	}
	for _, a := range w.o.Auth {
		if _, err := call(ctx, func() (struct{}, error) {
			return struct{}{}, w.conn.AddAuth(a.Scheme, []byte(a.Credential))
		}); errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			return w.late(asked, "the "+a.Scheme+" credential")
		} else if err != nil {
			return fmt.Errorf("%w: the server refused the %s credential: %w", ErrDenied, a.Scheme, err)
		}
	}
	return nil
}

// late is the error when something of begin was not answered in time.
func (w *Watcher) late(asked context.Context, what string) error {
	if asked.Err() != nil {
		return asked.Err()
	}
	if what != "" {
		what = " " + what
	}
	return fmt.Errorf("%w: %s did not answer%s within %v: is it running, and is the address right?", ErrUnreachable, w.o.Servers, what, w.o.Connect)
}

// Close ends the session, within about a second whatever the server does.
// Nothing was written, so nothing has to be removed.
func (w *Watcher) Close() {
	w.conn.Close()
	w.dials.end()
	w.events.Wait()
}

// call runs a request of go-zookeeper, which knows no contexts, and returns on
// time. A request that is left behind ends with the connection; once ctx has ended
// none is made.
func call[T any](ctx context.Context, request func() (T, error)) (T, error) {
	if err := ctx.Err(); err != nil {
		var none T
		return none, err
	}
	type answer struct {
		v   T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := request()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
