package zkserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

const (
	startLimit = 30 * time.Second // an ensemble gets ready in 1 s to 3 s
	portRaces  = 5                // starts with other ports, when ours were taken meanwhile
)

// errPortTaken is returned when somebody took a port between our look and the
// server's bind.
var errPortTaken = errors.New("a port was taken meanwhile")

// javaBackend runs private servers as child processes.
type javaBackend struct{ finder finder }

func (*javaBackend) Name() string { return Java }

func (b *javaBackend) Start(ctx context.Context, o Options, fetch bool) (*Ensemble, error) {
	rt, in, err := b.prepare(ctx, o, fetch)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for try := 1; ; try++ {
		e, err := startPrivate(ctx, o, rt, in)
		if err == nil || !errors.Is(err, errPortTaken) || try == portRaces {
			return e, err
		}
	}
}

// prepare finds Java and ZooKeeper, and fetches what is missing if it may.
func (b *javaBackend) prepare(ctx context.Context, o Options, fetch bool) (*javaRuntime, *installation, error) {
	rt, err := b.finder.java(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	in, looked := b.finder.zookeeper()
	if in == nil {
		return nil, nil, fmt.Errorf("%w: ZooKeeper is not in %v", ErrUnavailable, looked)
	}
	return rt, in, nil
}

// startPrivate makes the folder and its guardian, starts the servers and waits
// until they serve. On failure nothing is left.
func startPrivate(ctx context.Context, o Options, rt *javaRuntime, in *installation) (_ *Ensemble, err error) {
	guard, err := startGuardian()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	h := &house{guard: guard}
	defer func() {
		if err != nil {
			_ = h.close()
		}
	}()
	if h.servers, err = layOut(guard.dir, o, rt, in); err != nil {
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
		if err := s.awaitReady(ctx); err != nil {
			return nil, err
		}
		servers[i] = NewServer(i+1, s.addr, s.adminAddr, s)
	}
	srvr, err := Ask(ctx, h.servers[0].addr, "srvr")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	return NewEnsemble(Parts{Backend: Java, Version: versionOf(srvr), Tick: o.Tick,
		Servers: servers, Release: h.close}), nil
}

// layOut writes each server's folder: configuration, id and logging set-up.
func layOut(dir string, o Options, rt *javaRuntime, in *installation) ([]*javaServer, error) {
	const each = 4 // client, admin, quorum, election
	ports, err := freePorts(each * o.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	var peers []peer
	for i := range o.Size {
		p := ports[each*i:]
		peers = append(peers, peer{id: i + 1, client: p[0], admin: p[1], quorum: p[2], election: p[3],
			dir: filepath.Join(dir, fmt.Sprintf("server-%d", i+1))})
	}
	var servers []*javaServer
	for _, p := range peers {
		if err := p.write(o, in, peers); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrStart, err)
		}
		s := &javaServer{dir: p.dir, addr: loopback(p.client), command: commandLine(p, o, rt, in), env: rt.env}
		if in.admin {
			s.adminAddr = loopback(p.admin)
		}
		servers = append(servers, s)
	}
	return servers, nil
}
