package lab

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/recipe"
)

// The observer's rhythm.
const (
	pollQueue   = 100 * time.Millisecond // for what no frame tells: an expiry in a queue of silent ones
	gapQueue    = 3 * time.Millisecond   // between two readings, so that a burst is one
	settleCount = 15 * time.Millisecond  // after the last change until the counters are read
	maxUnread   = 150 * time.Millisecond // changes may put the reading off for that long
	pollCount   = 250 * time.Millisecond
)

// observer reads the queues and the counters, on one goroutine. It sets no watch,
// so that the server's counters tell of contestants alone.
type observer struct {
	lab  *Lab
	conn *zk.Conn
	bell chan struct{}

	woken chan struct{} // the calm has ended

	mu    sync.Mutex
	locks []*followed

	known map[string]journal.Node // nodes seen, by path; only those that are there

	totals *totals
	fired  map[string]float64 // last counters written
	passed []journal.Passed   // written with them
	unsure bool               // as they were
	ahead  time.Time          // since when the servers have counted more than the wire
}

// followed is a lock that the observer reads.
type followed struct {
	path   string
	recipe string
	kind   recipe.Kind
	read   bool           // there was a reading
	nodes  []journal.Node // of the last reading
	pzxid  int64          // of the last reading
}

func newObserver(l *Lab, conn *zk.Conn) *observer {
	return &observer{lab: l, conn: conn, bell: make(chan struct{}, 1), woken: make(chan struct{}, 1), known: map[string]journal.Node{}, totals: newTotals()}
}

// nudge says that a queue may have changed. It never blocks.
func (o *observer) nudge() {
	select {
	case o.bell <- struct{}{}:
	default:
	}
}

func (o *observer) follow(lock, recipeName string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.locks {
		if f.path == lock {
			// The lab follows its own lock before anybody joins it: the first
			// who comes decides by which rule it is read.
			if !f.read || len(f.nodes) == 0 {
				f.recipe, f.kind = recipeName, recipe.KindOf(recipeName)
			}
			return
		}
	}
	o.locks = append(o.locks, &followed{path: lock, recipe: recipeName, kind: recipe.KindOf(recipeName)})
}

func (o *observer) all() []*followed {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.locks)
}

// run reads until ctx ends.
func (o *observer) run(ctx context.Context) {
	poll := time.NewTimer(pollQueue)
	defer poll.Stop()
	count := time.NewTimer(0)
	defer count.Stop()
	var unread time.Time // since when there are changes that no counters tell of
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.bell:
			now := time.Now()
			if unread.IsZero() {
				unread = now
			}
			o.readQueues(ctx)
			count.Reset(max(min(settleCount, maxUnread-now.Sub(unread)), 0))
			if pause(ctx, gapQueue) != nil {
				return
			}
		case <-poll.C:
			if o.readQueues(ctx) {
				unread = time.Now()
				count.Reset(settleCount)
				o.lab.calm.stir()
			}
			poll.Reset(o.lab.rhythm(pollQueue, calmQueue))
		case <-o.woken:
			poll.Reset(pollQueue)
			if unread.IsZero() {
				count.Reset(pollCount)
			}
		case <-count.C:
			became, remain := o.readCounters(ctx, !unread.IsZero())
			switch {
			case !remain:
				unread = time.Time{}
			case unread.IsZero() || became == readUntold:
				unread = time.Now()
			}
			if became == readUnsettled {
				count.Reset(settleCount)
			} else {
				count.Reset(o.lab.rhythm(pollCount, calmCount))
			}
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readQueues reads every followed queue, writes those that changed, and reports
// whether any did, even if it is as before again.
func (o *observer) readQueues(ctx context.Context) (changed bool) {
	for _, f := range o.all() {
		rule, kind := o.rule(f)
		nodes, pzxid, err := o.list(ctx, f.path, kind)
		if err != nil {
			continue // no connection now: the next reading tells
		}
		o.mu.Lock()
		same := f.read && slices.Equal(nodes, f.nodes)
		gone := missing(f.nodes, nodes)
		changed = changed || !same || pzxid != f.pzxid
		f.read, f.nodes, f.pzxid = true, nodes, pzxid
		o.mu.Unlock()
		if same {
			continue
		}
		o.lab.j.Append(journal.Event{By: journal.Server, Type: journal.Queue, Lock: f.path, Recipe: rule, Nodes: nodes})
		if len(gone) > 0 { // the sessions of some may have
			o.lab.sessions.nudge()
		}
	}
	return changed
}

// rule is how a lock is to be read now.
func (o *observer) rule(f *followed) (string, recipe.Kind) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return f.recipe, f.kind
}

// missing are the nodes of before that are not there any more.
func missing(before, now []journal.Node) []journal.Node {
	var gone []journal.Node
	there := make(map[int64]bool, len(now))
	for _, n := range now {
		there[n.Czxid] = true
	}
	for _, n := range before {
		if !there[n.Czxid] {
			gone = append(gone, n)
		}
	}
	return gone
}

// list reads a lock's children with their owners, in the order of their names.
func (o *observer) list(ctx context.Context, lock string, kind recipe.Kind) ([]journal.Node, int64, error) {
	if len(o.lab.o.Ensemble.Servers()) > 1 {
		if _, err := o.conn.Sync(lock); err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, 0, err
		}
	}
	if kind != recipe.Semaphore {
		return o.children(ctx, lock, "")
	}
	var all []journal.Node
	newest := int64(0)
	for _, folder := range []string{"leases", "locks"} {
		nodes, pzxid, err := o.children(ctx, path.Join(lock, folder), folder)
		if err != nil {
			return nil, 0, err
		}
		all, newest = append(all, nodes...), max(newest, pzxid)
	}
	return all, newest, nil
}

// children lists one folder; a lock that is itself a node of a session is listed
// as recipe.Itself. A missing folder is an empty one.
func (o *observer) children(ctx context.Context, folder, prefix string) ([]journal.Node, int64, error) {
	names, stat, err := o.conn.Children(folder)
	if errors.Is(err, zk.ErrNoNode) {
		o.forget(folder, nil) // one that is made anew numbers its children from 0 again
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if stat.EphemeralOwner != 0 {
		return []journal.Node{{Name: recipe.Itself, Owner: journal.SessionID(stat.EphemeralOwner), Czxid: stat.Czxid}}, stat.Czxid, nil
	}
	slices.Sort(names)
	nodes := make([]journal.Node, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		full := path.Join(folder, name)
		n, known := o.known[full]
		if !known {
			_, s, err := o.conn.Exists(full)
			if err != nil {
				return nil, 0, err
			}
			if s == nil || s.Czxid == 0 {
				continue // gone since the list
			}
			n = journal.Node{Name: path.Join(prefix, name), Owner: journal.SessionID(s.EphemeralOwner), Czxid: s.Czxid}
			o.known[full] = n
		}
		seen[full] = true
		nodes = append(nodes, n)
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
	}
	o.forget(folder, seen)
	return nodes, stat.Pzxid, nil
}

// forget drops what is known of a folder's children but those seen.
func (o *observer) forget(folder string, seen map[string]bool) {
	for full := range o.known {
		if path.Dir(full) == folder && !seen[full] {
			delete(o.known, full)
		}
	}
}
