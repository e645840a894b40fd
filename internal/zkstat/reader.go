package zkstat

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Limits of one reading.
const (
	// MaxAnswer is the longest answer that is read. About 200 bytes a session or watch.
	MaxAnswer = 32 << 20
	// defaultTimeout bounds a reading whose context has no deadline.
	defaultTimeout = 5 * time.Second
)

// Reading says when and how something was read.
type Reading struct {
	At   time.Time     // when the answer was complete
	Took time.Duration // how long after asking that was
	From string        // the four-letter word, or the AdminServer's command with a slash before it
}

// Reader reads one server. Its methods may be called from several goroutines at a time.
type Reader struct {
	addr  string
	admin string
	now   func() time.Time
	dial  func(ctx context.Context, network, addr string) (net.Conn, error) // for words

	mu    sync.Mutex
	clock Clock         // zero until measured
	tick  time.Duration // zero until read
	words int           // asked so far,
	bytes int64         // and what went both ways for them
}

// NewReader is for the server with the client address addr and the AdminServer
// address admin, both "host:port"; without an AdminServer admin is empty. now is the
// clock of all readings; nil means time.Now.
func NewReader(addr, admin string, now func() time.Time) *Reader {
	if now == nil {
		now = time.Now
	}
	return &Reader{addr: addr, admin: admin, now: now, dial: new(net.Dialer).DialContext}
}

// SetTLS makes the reader ask four-letter words within TLS, as a server's secure
// port wants it: there a word in plain gets no answer. Call it before any reading.
func (r *Reader) SetTLS(c *tls.Config) { r.dial = (&tls.Dialer{Config: c}).DialContext }

// Addr is the server's client address.
func (r *Reader) Addr() string { return r.addr }

// Words is how many four-letter words were asked so far, and how many bytes they
// and their answers had.
func (r *Reader) Words() (asked int, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.words, r.bytes
}

func (r *Reader) count(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.words++
	r.bytes += int64(bytes)
}

// Srvr reads the word srvr, which every server allows.
func (r *Reader) Srvr(ctx context.Context) (Srvr, error) {
	var s Srvr
	var at Reading
	err := r.word(ctx, "srvr", &at, func(b []byte) (err error) { s, err = ParseSrvr(b); return err })
	s.Reading = at
	return s, err
}

// Monitor reads the server's counters: /monitor, or mntr.
func (r *Reader) Monitor(ctx context.Context) (Monitor, error) {
	return either(ctx, r, "monitor", parseMonitorJSON, "mntr", ParseMntr,
		func(m *Monitor) *Reading { return &m.Reading })
}

// Connections reads the server's client connections: /connections, or cons.
func (r *Reader) Connections(ctx context.Context) (Connections, error) {
	return either(ctx, r, "connections", parseConnectionsJSON, "cons", ParseCons,
		func(c *Connections) *Reading { return &c.Reading })
}

// Dump reads sessions and ephemeral nodes: /dump, or dump.
func (r *Reader) Dump(ctx context.Context) (Dump, error) {
	return either(ctx, r, "dump", parseDumpJSON, "dump", ParseDump,
		func(d *Dump) *Reading { return &d.Reading })
}

// DataWatches reads who watches which node's data: /watches_by_path, or wchp.
// Child watches are missing; see the package documentation.
func (r *Reader) DataWatches(ctx context.Context) (DataWatches, error) {
	return either(ctx, r, "watches_by_path", parseWatchesJSON, "wchp", ParseWchp,
		func(w *DataWatches) *Reading { return &w.Reading })
}

// WatchSummary reads how many data watches there are: /watch_summary, or wchs.
// Child watches are missing; see the package documentation.
func (r *Reader) WatchSummary(ctx context.Context) (WatchSummary, error) {
	return either(ctx, r, "watch_summary", parseSummaryJSON, "wchs", ParseWchs,
		func(w *WatchSummary) *Reading { return &w.Reading })
}

// Tick is the server's tick time, read once: /configuration, or conf.
func (r *Reader) Tick(ctx context.Context) (time.Duration, error) {
	r.mu.Lock()
	tick := r.tick
	r.mu.Unlock()
	if tick > 0 {
		return tick, nil
	}
	c, err := either(ctx, r, "configuration", parseConfigJSON, "conf", parseConf,
		func(c *config) *Reading { return &c.Reading })
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick = c.tick
	return c.tick, nil
}

// either asks the AdminServer when there is one, and otherwise, or when that fails,
// the four-letter word.
func either[T any](ctx context.Context, r *Reader, command string, fromJSON func([]byte) (T, error),
	word string, fromText func([]byte) (T, error), reading func(*T) *Reading) (T, error) {
	var v, none T
	var at Reading
	keep := func(parse func([]byte) (T, error)) func([]byte) error {
		return func(b []byte) (err error) { v, err = parse(b); return err }
	}
	var first error
	if r.admin != "" {
		if first = r.command(ctx, command, &at, keep(fromJSON)); first == nil {
			*reading(&v) = at
			return v, nil
		}
		if ctx.Err() != nil || errors.Is(first, ErrNotServing) {
			return none, first
		}
	}
	if err := r.word(ctx, word, &at, keep(fromText)); err != nil {
		if first != nil {
			return none, fmt.Errorf("%w; its AdminServer at %s: %w", err, r.admin, first)
		}
		return none, err
	}
	*reading(&v) = at
	return v, nil
}
