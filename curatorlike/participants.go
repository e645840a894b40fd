package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/go-zookeeper/zk"
)

// Participant is one node that takes part in a lock.
type Participant struct {
	Path      string // of its node
	Sequence  int64
	Write     bool // it wants, or has, the write side of an RWMutex
	Read      bool // the read side
	Holds     bool // by the rule of its kind; a lease counts as held
	Data      []byte
	SessionID int64
	Token     int64 // czxid
	Since     time.Time
}

// maxReads bounds the requests that Participants has on the way at a time.
const maxReads = 16

// Participants returns who takes part in the lock on a path, in order, of all
// kinds that Curator has; for a Semaphore, use its path with /leases behind.
// A missing path has none. It is a snapshot: who leaves while it is taken is left out.
func Participants(ctx context.Context, c *Client, path string) ([]Participant, error) {
	if ctx == nil || c == nil {
		return nil, errNil
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	s, err := c.session(ctx)
	if err != nil {
		return nil, err
	}
	dir := c.full(path)
	names, err := call(ctx, s, func(z *zk.Conn) ([]string, error) {
		names, _, err := z.Children(dir)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("participants of %s: %w", path, err)
	}
	var all []contender
	for _, name := range names {
		if c, ok := parseContender(name, readName, writeName, leaseName, lockName); ok {
			all = append(all, c)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return before(all[i], all[j]) })
	out, err := readParticipants(ctx, s, dir, all)
	if err != nil {
		return nil, fmt.Errorf("participants of %s: %w", path, err)
	}
	return out, nil
}

func readParticipants(ctx context.Context, s *session, dir string, all []contender) ([]Participant, error) {
	reads := make([]*future[Participant], len(all))
	var out []Participant
	for i := range len(all) + maxReads {
		if i < len(all) {
			reads[i] = readParticipant(s, dir, all[i])
		}
		if j := i - maxReads; j >= 0 && j < len(all) {
			p, err := reads[j].wait(ctx, s)
			if errors.Is(err, zk.ErrNoNode) {
				continue
			}
			if err != nil {
				return nil, err
			}
			p.Holds = holds(all, all[j])
			out = append(out, p)
		}
	}
	return out, nil
}

func readParticipant(s *session, dir string, k contender) *future[Participant] {
	return launch(s, func(z *zk.Conn) (Participant, error) {
		data, stat, err := z.Get(dir + "/" + k.name)
		if err != nil {
			return Participant{}, err
		}
		return Participant{
			Path: s.c.short(dir + "/" + k.name), Sequence: k.seq,
			Write: k.kind == writeName, Read: k.kind == readName,
			Data: data, SessionID: stat.EphemeralOwner, Token: stat.Czxid, Since: time.UnixMilli(stat.Ctime),
		}, nil
	})
}

func holds(all []contender, me contender) bool {
	if me.kind == leaseName {
		return true
	}
	for _, o := range all {
		if before(o, me) && (me.kind != readName || o.kind == writeName) {
			return false
		}
	}
	return true
}
