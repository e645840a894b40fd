package attach

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"zklab/internal/recipe"
)

// Reading is a lock path at one moment.
type Reading struct {
	At   time.Time
	Path string
	Kind recipe.Kind
	// Exists is false when there is no such node: nobody holds and nobody waits.
	Exists bool
	Places []Place // in queue order
	// Foreign are children that belong to no lock recipe.
	Foreign []string
	// Locks are the locks below Path when Path itself is none.
	Locks []Summary
	// Warnings are in plain words; the first matters most.
	Warnings []string
	// Notes say what could not be read, and what to set.
	Notes []string
	// Cost is what looking has cost since Open, this reading included.
	Cost Cost
}

// Cost is what looking costs the servers.
type Cost struct {
	Requests int   // of the client's session, heartbeats aside, and four-letter words
	Bytes    int64 // both ways, of everything, before any TLS
}

// Since is what looking has cost since an earlier reading.
func (c Cost) Since(before Cost) Cost {
	return Cost{c.Requests - before.Requests, c.Bytes - before.Bytes}
}

// String is the cost as people say it.
func (c Cost) String() string {
	return fmt.Sprintf("%d requests, %s", c.Requests, bytesText(float64(c.Bytes)))
}

// Per is the cost of each second, as people say it, when it was had over d.
func (c Cost) Per(d time.Duration) string {
	s := d.Seconds()
	return fmt.Sprintf("%.1f requests/s, %s/s", float64(c.Requests)/s, bytesText(float64(c.Bytes)/s))
}

func bytesText(n float64) string {
	if n < 1e6 {
		return fmt.Sprintf("%.1f kB", n/1e3)
	}
	return fmt.Sprintf("%.1f MB", n/1e6)
}

// Place is one contender.
type Place struct {
	Node     string // the child's name
	Seq      int64  // -1 when the name has none
	Intent   recipe.Intent
	Family   recipe.Family
	Holds    bool
	WaitsFor string // the child whose end it must wait for, by the recipe's rule
	// Watches are the nodes below the path that its session watches, as the
	// server lists them; nil with Observed false when the server would not say.
	Watches  []string
	Observed bool
	// Denied says that the node may be listed and not read: Session, Token, Since
	// and what follows are not known then.
	Denied  bool
	Session int64
	Token   int64 // czxid: the fencing token
	Since   time.Time
	Host    string        // address of its connection; empty when not known
	Timeout time.Duration // negotiated; 0 when not known
	Data    string        // of the node, at most MaxData bytes
}

// Summary is one lock in a folder of locks.
type Summary struct {
	Name   string
	Kind   recipe.Kind
	Holder string // name of the first holding node; empty when nobody holds
	Length int    // contenders in line, holders included
}

// MaxData is how much of a node's data is kept.
const MaxData = 256

// node is a child with what its own getData told.
type node struct {
	name    string
	owner   int64
	czxid   int64
	created time.Time
	data    string
	denied  bool // by its ACL: only the name is known
}

// session is what the servers told about a session.
type session struct {
	host    string
	timeout time.Duration
}

// server is what the four-letter words told; ok says which of them were had.
type server struct {
	sessions  map[int64]session
	watches   map[int64][]string // by session: full paths
	watchesOK bool
	notes     []string
}

// standings turns what was read into a Reading. It is pure.
func standings(at time.Time, path string, kind recipe.Kind, permits int, nodes []node, sv server) Reading {
	r := Reading{At: at, Path: path, Kind: kind, Exists: true, Notes: sv.notes}
	byName := make(map[string]node, len(nodes))
	names := make([]string, 0, len(nodes))
	for _, n := range nodes {
		byName[n.name] = n
		names = append(names, n.name)
	}
	in, foreign := recipe.Standings(kind, permits, names)
	r.Foreign = foreign
	for _, s := range in {
		n := byName[s.Name]
		p := Place{Node: s.Name, Seq: s.Seq, Intent: s.Intent, Family: s.Family, Holds: s.Holds, WaitsFor: s.WaitsFor,
			Session: n.owner, Token: n.czxid, Since: n.created, Data: n.data, Denied: n.denied, Observed: sv.watchesOK && !n.denied,
			Host: sv.sessions[n.owner].host, Timeout: sv.sessions[n.owner].timeout}
		for _, w := range sv.watches[n.owner] {
			if rel, ok := strings.CutPrefix(w, path+"/"); ok {
				p.Watches = append(p.Watches, rel)
			}
		}
		slices.Sort(p.Watches)
		r.Places = append(r.Places, p)
	}
	r.Warnings = warnings(names, r)
	if n := denied(r.Places); n > 0 {
		r.Notes = append(slices.Clone(r.Notes), fmt.Sprintf("Not known: session, token, age and data of %d in line; the ACLs of their nodes do not let these credentials read them. Give others with --auth digest:user:password.", n))
	}
	return r
}

// denied is how many places are not ours to read.
func denied(places []Place) int {
	n := 0
	for _, p := range places {
		if p.Denied {
			n++
		}
	}
	return n
}

// warnings are what a person looking at a stuck lock should know first.
func warnings(names []string, r Reading) []string {
	var all []string
	if kazoo, others, strangers := recipe.Strangers(names); strangers {
		all = append(all, fmt.Sprintf("Two naming families share this path: names with __lock__ (%s) and names with lock- (%s). They do not exclude each other: each family has a holder of its own. Give kazoo's Lock the node name -lock-, or use two paths.",
			families(kazoo), families(others)))
	}
	for _, p := range r.Places {
		if p.Session == 0 && !p.Denied {
			all = append(all, fmt.Sprintf("%s is not ephemeral: no session owns it, so it will stand in line for ever. Find out who made it, then delete it by hand.", p.Node))
		}
		if p.Seq >= nearOverflow {
			all = append(all, fmt.Sprintf("%s is near the end of the sequence (2147483647), where two clients can get one number. Move the lock to a fresh parent.", p.Node))
			break
		}
	}
	return all
}

// nearOverflow is 2^31 less a million: soon enough to act, late enough not to
// disturb.
const nearOverflow = 1<<31 - 1 - 1_000_000

func families(fs []recipe.Family) string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// Holders are the places that hold.
func (r Reading) Holders() []Place {
	var hold []Place
	for _, p := range r.Places {
		if p.Holds {
			hold = append(hold, p)
		}
	}
	return hold
}
