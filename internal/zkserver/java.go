package zkserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"zklab/internal/guardian"
)

const portRaces = 5 // starts, with other ports when ours were taken meanwhile

// errPortTaken is returned when somebody took a port between our look and the
// server's bind.
var errPortTaken = errors.New("a port was taken meanwhile")

// javaBackend runs private servers as child processes.
type javaBackend struct {
	finder  finder
	fetcher fetcher // its test settings; the rest is filled in by prepare
	ports   func(n int) ([]int, error)
}

func (*javaBackend) Name() string { return Java }

func (b *javaBackend) Start(ctx context.Context, o Options, fetch bool) (*Ensemble, error) {
	rt, in, err := b.prepare(ctx, o, fetch)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		e, err := b.startPrivate(ctx, o, rt, in)
		if err == nil || try == portRaces || ctx.Err() != nil {
			return e, err
		}
		// Java goes on without an archive that it refuses, but dies of one whose end is missing.
		died := errors.Is(err, errEndedByItself)
		if !errors.Is(err, errPortTaken) && !(died && b.archive(rt, in).remove()) {
			return nil, err
		}
	}
}

// prepare finds Java and ZooKeeper, and fetches what is missing if it may.
func (b *javaBackend) prepare(ctx context.Context, o Options, fetch bool) (*javaRuntime, *installation, error) {
	rt, noJava := b.finder.java(ctx)
	in, looked := b.finder.zookeeper()
	var missing error
	if in == nil {
		missing = notInstalled(looked)
	}
	if noJava == nil && missing == nil {
		return rt, in, nil
	}
	absent := together(noJava, missing)
	if !fetch {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnavailable, absent)
	}
	cache, err := b.finder.cache()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w; nothing can be fetched without a cache folder: %w", ErrUnavailable, absent, err)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	f := b.fetcher
	f.finder, f.store, f.say = b.finder, store{dir: cache}, o.Progress
	if noJava != nil {
		if rt, err = f.java(ctx); err != nil {
			return nil, nil, fmt.Errorf("%w: %w; fetching Java failed: %w", ErrUnavailable, absent, err)
		}
	}
	if missing != nil {
		if in, err = f.zookeeper(ctx); err != nil {
			return nil, nil, fmt.Errorf("%w: %w; fetching it failed: %w", ErrUnavailable, absent, err)
		}
	}
	return rt, in, nil
}

// notInstalled says where ZooKeeper was looked for; that may be nowhere.
func notInstalled(looked []string) error {
	if len(looked) == 0 {
		return fmt.Errorf("ZooKeeper is not installed (not looked for: %s is set, and there is no cache folder)", ignoreEnv)
	}
	return fmt.Errorf("ZooKeeper is not installed (looked at %s)", strings.Join(looked, ", "))
}

// together is several errors in one line; nil ones are left out.
func together(errs ...error) error {
	var all error
	for _, err := range errs {
		switch {
		case err == nil:
		case all == nil:
			all = err
		default:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

const folderPrefix = "zklab-zk-" // of the servers' folder below os.TempDir

// startPrivate makes the folder and its guardian, starts the servers and waits
// until they serve. On failure nothing is left.
func (b *javaBackend) startPrivate(ctx context.Context, o Options, rt *javaRuntime, in *installation) (_ *Ensemble, err error) {
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	guard, err := guardian.Start(folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	h := &house{guard: guard}
	defer func() {
		if err != nil {
			_ = h.close()
		}
	}()
	if h.servers, h.links, err = b.layOut(guard.Dir(), o, rt, in); err != nil {
		return nil, err
	}
	for _, s := range h.servers {
		s.house = h
		if err := s.launch(); err != nil {
			return nil, err
		}
	}
	servers := make([]*Server, len(h.servers))
	for i, s := range h.servers {
		if err := s.awaitReady(ctx, h.servers...); err != nil {
			return nil, err
		}
		servers[i] = NewServer(i+1, s.addr, s.adminAddr, s)
	}
	h.serving = true
	srvr, err := Ask(ctx, h.servers[0].addr, "srvr")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	return NewEnsemble(Parts{Backend: Java, Version: versionOf(srvr), Tick: o.Tick,
		Servers: servers, Release: h.close}), nil
}

// archive is that of the user's cache folder.
func (b *javaBackend) archive(rt *javaRuntime, in *installation) archive {
	cache, err := b.finder.cache()
	if err != nil {
		return archive{}
	}
	return archiveOf(cache, rt, in)
}

// layOut writes each server's folder: configuration, id and logging set-up.
func (b *javaBackend) layOut(dir string, o Options, rt *javaRuntime, in *installation) ([]*javaServer, *links, error) {
	const each = 4 // client, admin, quorum, election
	ports, err := b.ports(each * o.Size)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	var peers []peer
	for i := range o.Size {
		p := ports[each*i:]
		peers = append(peers, peer{id: i + 1, client: p[0], admin: p[1], quorum: p[2], election: p[3],
			dir: filepath.Join(dir, fmt.Sprintf("server-%d", i+1))})
	}
	var between *links
	if o.Size > 1 {
		if between, err = openLinks(peers); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrStart, err)
		}
	}
	classes := b.archive(rt, in)
	var servers []*javaServer
	for _, p := range peers {
		if err := p.write(o, in, peers, between); err != nil {
			between.close()
			return nil, nil, fmt.Errorf("%w: %w", ErrStart, err)
		}
		flags, makes := classes.flags(p.dir, o.Size == 1)
		s := &javaServer{id: p.id, dir: p.dir, addr: loopback(p.client), command: commandLine(p, o, rt, in, flags), env: rt.env, javaVersion: rt.version}
		if makes {
			s.classes = classes
		}
		if in.admin {
			s.adminAddr = loopback(p.admin)
		}
		servers = append(servers, s)
	}
	return servers, between, nil
}
