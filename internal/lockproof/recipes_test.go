package lockproof_test

import (
	"context"
	"path"

	"zklab/curatorlike"
	"zklab/internal/lockproof"
)

// recipe is one recipe of curatorlike, as the fault matrix plays it.
type recipe struct {
	name    string
	make    recipeOf
	open    func(ctx context.Context, addr, id string) (session, error) // nil: curatorlike's
	permits int
	dirs    []string // of its nodes, below the lock's path; nil: the path itself
	// nodes are the prefixes of its nodes' paths, below the lock's path: of
	// these a request is lost.
	nodes []string
	lists bool // it lists a queue
	// victim is the mode of the contestant that has the fault; companions hold
	// beside it, rivals wait for it.
	victim, companion, rival lockproof.Mode
	companions               int
}

var recipes = []recipe{
	{name: "mutex", make: ourMutex, permits: 1, nodes: []string{"/_c_"}, lists: true,
		victim: lockproof.Exclusive, rival: lockproof.Exclusive},
	{name: "read", make: ourReadWrite, permits: 1, nodes: []string{"/_c_"}, lists: true,
		victim: lockproof.Shared, companion: lockproof.Shared, companions: 1, rival: lockproof.Exclusive},
	{name: "write", make: ourReadWrite, permits: 1, nodes: []string{"/_c_"}, lists: true,
		victim: lockproof.Exclusive, rival: lockproof.Shared},
	{name: "semaphore", make: ourSemaphore(2), permits: 2, dirs: semaphoreDirs, nodes: []string{"/locks/_c_", "/leases/_c_"}, lists: true,
		victim: lockproof.Lease, companion: lockproof.Lease, companions: 1, rival: lockproof.Lease},
	{name: "semaphore-mutex", make: ourSemaphoreMutex, permits: 1, dirs: semaphoreDirs, nodes: []string{"/leases/_c_", "/locks/_c_"}, lists: true,
		victim: lockproof.Exclusive, rival: lockproof.Exclusive},
	{name: "multi", make: ourMulti, permits: 1, dirs: []string{"a", "b"}, nodes: []string{"/b/_c_", "/a/_c_"}, lists: true,
		victim: lockproof.Exclusive, rival: lockproof.Exclusive},
	{name: "unfair", make: ourUnfair, permits: 1, nodes: []string{"/holder"},
		victim: lockproof.Exclusive, rival: lockproof.Exclusive},
}

func recipeNamed(name string) *recipe {
	for i := range recipes {
		if recipes[i].name == name {
			return &recipes[i]
		}
	}
	for _, f := range flawed {
		if f.recipe.name == name {
			return f.recipe
		}
	}
	return nil
}

func (r *recipe) suite(opts ...curatorlike.Option) suite {
	s := oursOf(r.name, r.permits, r.make, opts...)
	s.dirs = r.dirs
	if r.open != nil {
		s.open = r.open
	}
	return s
}

// ourMulti is a lock of two mutexes. Its grants are told apart by the first.
func ourMulti(c *curatorlike.Client, _ lockproof.Mode, p string) (lockproof.Lock, error) {
	a, err := curatorlike.NewMutex(c, path.Join(p, "a"))
	if err != nil {
		return nil, err
	}
	b, err := curatorlike.NewMutex(c, path.Join(p, "b"))
	if err != nil {
		return nil, err
	}
	m, err := curatorlike.NewMultiLock(b, a)
	if err != nil {
		return nil, err
	}
	return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
		h, err := m.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		g, err := grantOf(h.Holds()[0], nil)
		g.Certain, g.Release = h.Context(), h.Release
		return g, err
	}), nil
}

func ourUnfair(c *curatorlike.Client, _ lockproof.Mode, p string) (lockproof.Lock, error) {
	return asLock(curatorlike.NewUnfairLock(c, path.Join(p, "holder")))
}
