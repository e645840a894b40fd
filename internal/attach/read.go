package attach

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/recipe"
	"zklab/internal/zkstat"
)

const (
	atOnce   = 32              // getData requests under way at a time
	oneRead  = 5 * time.Second // a reading that takes longer is given up
	maxLocks = 200             // locks of a folder that are looked into

	// Four-letter words that take longer, of one server and of all, are done without.
	oneServer = time.Second
	allWords  = 3 * time.Second
)

// Read takes one reading. While the connection is down it waits for it, up to
// a bound; after an error a later Read may succeed.
func (w *Watcher) Read(ctx context.Context) (Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, oneRead)
	defer cancel()
	r, err := w.read(ctx)
	r.Cost = w.cost()
	return r, err
}

func (w *Watcher) read(ctx context.Context) (Reading, error) {
	w.readWords(ctx)
	own, children, err := w.list(ctx, w.path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		w.known = map[string]node{}
		return Reading{At: w.o.Now(), Path: w.path, Notes: []string{"There is no such node now: nobody holds and nobody waits. Recipes make it when the first contender comes."}}, nil
	case errors.Is(err, zk.ErrNoAuth):
		return Reading{}, fmt.Errorf("%w: %s: give credentials with --auth digest:user:password", ErrDenied, w.path)
	case err != nil:
		return Reading{}, fmt.Errorf("reading %s: %w", w.path, err)
	}
	return w.arrange(ctx, own, children)
}

// arrange finds out what kind of thing the path is, and reads what belongs to it.
func (w *Watcher) arrange(ctx context.Context, own node, children []string) (Reading, error) {
	if own.owner != 0 { // the path itself is the lock
		own.name = recipe.Itself
		return standings(w.o.Now(), w.path, recipe.Unfair, 1, []node{own}, w.words), nil
	}
	if slices.Contains(children, "leases") && slices.Contains(children, "locks") {
		below, err := w.below(ctx, "leases", "locks")
		if err != nil {
			return Reading{}, err
		}
		return w.lock(ctx, recipe.Semaphore, below)
	}
	if kind, ok := recipe.Detect(children); ok || len(children) == 0 {
		return w.lock(ctx, kind, children)
	}
	return w.folder(ctx, children)
}

// below lists the children of some children, each with its folder's name.
func (w *Watcher) below(ctx context.Context, folders ...string) ([]string, error) {
	var all []string
	for _, f := range folders {
		_, names, err := w.list(ctx, path.Join(w.path, f))
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, fmt.Errorf("reading %s/%s: %w", w.path, f, err)
		}
		for _, n := range names {
			all = append(all, f+"/"+n)
		}
	}
	return all, nil
}

// lock reads the contenders' nodes. Those known from before are not read again:
// a contender's owner, czxid and time of birth never change.
func (w *Watcher) lock(ctx context.Context, kind recipe.Kind, names []string) (Reading, error) {
	nodes := make([]node, len(names))
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	turn := make(chan struct{}, atOnce)
	for i, name := range names {
		full := path.Join(w.path, name)
		if n, ok := w.known[full]; ok {
			nodes[i] = n
			continue
		}
		turn <- struct{}{}
		if errs[i] = ctx.Err(); errs[i] != nil {
			<-turn
			continue // the next reading goes on from here
		}
		w.asked++
		wg.Go(func() {
			defer func() { <-turn }()
			nodes[i], errs[i] = w.node(ctx, name, full)
		})
	}
	wg.Wait()
	known := make(map[string]node, len(names))
	var there []node
	var failed error
	for i, n := range nodes {
		switch {
		case errors.Is(errs[i], zk.ErrNoNode): // gone since the list was made
		case errors.Is(errs[i], zk.ErrNoAuth): // listed, but its owner is not ours to know
			n = node{name: names[i], denied: true}
			known[path.Join(w.path, names[i])] = n
			there = append(there, n)
		case errs[i] != nil:
			failed = fmt.Errorf("reading %s: %w", path.Join(w.path, names[i]), errs[i])
		default:
			known[path.Join(w.path, names[i])] = n
			there = append(there, n)
		}
	}
	w.known = known // after a failure too: a long line far away is read in several goes
	if failed != nil {
		return Reading{}, failed
	}
	r := standings(w.o.Now(), w.path, kind, w.o.Permits, there, w.words)
	for _, p := range r.Holders() {
		delete(known, path.Join(w.path, p.Node)) // its data may change: revocation is asked for there
	}
	return r, nil
}

func (w *Watcher) node(ctx context.Context, name, full string) (node, error) {
	type got struct {
		data []byte
		stat *zk.Stat
	}
	g, err := call(ctx, func() (got, error) {
		data, stat, err := w.conn.Get(full)
		return got{data, stat}, err
	})
	if err != nil {
		return node{}, err
	}
	return node{name: name, owner: g.stat.EphemeralOwner, czxid: g.stat.Czxid, created: time.UnixMilli(g.stat.Ctime), data: clip(g.data)}, nil
}

// list reads a node and its children in one request.
func (w *Watcher) list(ctx context.Context, full string) (node, []string, error) {
	type got struct {
		names []string
		stat  *zk.Stat
	}
	w.asked++
	g, err := call(ctx, func() (got, error) {
		names, stat, err := w.conn.Children(full)
		return got{names, stat}, err
	})
	if err != nil {
		return node{}, nil, err
	}
	return node{owner: g.stat.EphemeralOwner, czxid: g.stat.Czxid, created: time.UnixMilli(g.stat.Ctime)}, g.names, nil
}

// folder looks one level deeper for locks.
func (w *Watcher) folder(ctx context.Context, children []string) (Reading, error) {
	r := Reading{At: w.o.Now(), Path: w.path, Exists: true, Notes: w.words.notes}
	slices.Sort(children)
	if len(children) > maxLocks {
		r.Notes = append(slices.Clone(r.Notes), fmt.Sprintf("Only the first %d of %d children were looked into.", maxLocks, len(children)))
		children = children[:maxLocks]
	}
	for _, c := range children {
		own, names, err := w.list(ctx, path.Join(w.path, c))
		if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth) {
			continue
		}
		if err != nil {
			return Reading{}, fmt.Errorf("reading %s: %w", path.Join(w.path, c), err)
		}
		if s, ok := w.summary(ctx, c, own, names); ok {
			r.Locks = append(r.Locks, s)
		} else {
			r.Foreign = append(r.Foreign, c)
		}
	}
	return r, nil
}

func (w *Watcher) summary(ctx context.Context, name string, own node, names []string) (Summary, bool) {
	if own.owner != 0 {
		return Summary{Name: name, Kind: recipe.Unfair, Holder: recipe.Itself, Length: 1}, true
	}
	kind, ok := recipe.Detect(names)
	if slices.Contains(names, "leases") && slices.Contains(names, "locks") {
		kind, ok = recipe.Semaphore, true
		names, _ = w.below(ctx, name+"/leases", name+"/locks")
		for i := range names {
			names[i] = strings.TrimPrefix(names[i], name+"/")
		}
	}
	if !ok {
		return Summary{}, false
	}
	s := Summary{Name: name, Kind: kind}
	in, _ := recipe.Standings(kind, w.o.Permits, names)
	s.Length = len(in)
	for _, c := range in {
		if c.Holds {
			s.Holder = c.Name
			break
		}
	}
	return s, true
}

// readWords asks all servers at once for its sessions and watches, when the last
// answer is old enough. What a server does not allow becomes a note.
func (w *Watcher) readWords(ctx context.Context) {
	if !w.wordsAt.IsZero() && w.o.Now().Sub(w.wordsAt) < w.o.Words {
		return
	}
	w.wordsAt = w.o.Now()
	ctx, cancel := context.WithTimeout(ctx, allWords)
	defer cancel()
	told := make([]server, len(w.readers))
	var all sync.WaitGroup
	for i, r := range w.readers {
		all.Go(func() { told[i] = ask(ctx, r) })
	}
	all.Wait()
	w.words = together(told)
}

// ask returns what one server tells.
func ask(ctx context.Context, r *zkstat.Reader) server {
	ctx, cancel := context.WithTimeout(ctx, oneServer)
	defer cancel()
	sv := server{sessions: map[int64]session{}, watches: map[int64][]string{}, watchesOK: true}
	if c, err := r.Connections(ctx); err == nil {
		for _, one := range c.List {
			if one.Session != 0 {
				sv.sessions[one.Session] = session{host: one.Remote, timeout: one.Timeout}
			}
		}
	} else {
		sv.notes = append(sv.notes, missing("hosts and session timeouts", r.Addr(), err))
	}
	d, err := r.DataWatches(ctx)
	if err != nil {
		sv.watchesOK = false
		sv.notes = append(sv.notes, missing("who watches whom; it is inferred from the names", r.Addr(), err))
		return sv
	}
	for p, ids := range d.ByPath {
		for _, id := range ids {
			sv.watches[id] = append(sv.watches[id], p)
		}
	}
	return sv
}

// together is what all servers tell. A session's watches are at the server it is
// connected to.
func together(told []server) server {
	all := server{sessions: map[int64]session{}, watches: map[int64][]string{}, watchesOK: true}
	for _, sv := range told {
		maps.Copy(all.sessions, sv.sessions)
		for id, paths := range sv.watches {
			all.watches[id] = append(all.watches[id], paths...)
		}
		all.watchesOK = all.watchesOK && sv.watchesOK
		for _, n := range sv.notes {
			if !slices.Contains(all.notes, n) {
				all.notes = append(all.notes, n)
			}
		}
	}
	return all
}

func missing(what, addr string, err error) string {
	if na := (*zkstat.NotAllowedError)(nil); errors.As(err, &na) {
		return fmt.Sprintf("Not known: %s. %s does not allow %q; its 4lw.commands.whitelist decides.", what, addr, na.Word)
	}
	return fmt.Sprintf("Not known: %s. %s: %v", what, addr, err)
}

// clip keeps a node's data short and printable.
func clip(data []byte) string {
	if len(data) > MaxData {
		data = data[:MaxData]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(string(data), "·"))
}
