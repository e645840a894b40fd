package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/compose"
)

func init() { zkserver.Register(backend{ports: zkserver.FreePorts}) }

// backend runs private servers in containers.
type backend struct {
	ports func(n int) ([]int, error)
}

func (backend) Name() string { return zkserver.Docker }

// Start implements zkserver.Backend.
func (b backend) Start(ctx context.Context, o zkserver.Options, fetch bool) (*zkserver.Ensemble, error) {
	host, err := compose.EngineHost(os.Getenv)
	if err != nil {
		return nil, unavailable(err)
	}
	api, err := openEngine(ctx, host)
	if err != nil {
		return nil, unavailable(err)
	}
	image, err := chooseImage(ctx, api, o, fetch)
	if err != nil {
		api.Close()
		return nil, unavailable(err)
	}
	setUpTestcontainers(ctx, api)
	for try := 1; ; try++ {
		h := &house{api: api, id: newID()}
		e, err := h.open(ctx, b.ports, host, image, o)
		if err == nil {
			return e, nil
		}
		_ = h.clear()
		if !portTaken(err) || try == maxPortRaces || ctx.Err() != nil {
			api.Close()
			return nil, err
		}
	}
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", zkserver.ErrUnavailable, err) }

func newID() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// portTaken says whether somebody took a port between our look and the engine's.
func portTaken(err error) bool {
	return strings.Contains(err.Error(), "port is already allocated") || strings.Contains(err.Error(), "address already in use")
}

// house is what the servers of one ensemble share.
type house struct {
	api    *client.Client
	id     string
	guard  *guardian
	closed atomic.Bool
}

// open starts everything. On failure the caller must clear.
func (h *house) open(ctx context.Context, ports func(int) ([]int, error), host, image string, o zkserver.Options) (*zkserver.Ensemble, error) {
	const each = 2 // client, admin
	free, err := ports(each * o.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", zkserver.ErrStart, err)
	}
	if h.guard, err = startGuardian(h.id, host); err != nil {
		return nil, fmt.Errorf("%w: %w", zkserver.ErrStart, err)
	}
	ctx, cancel := context.WithTimeout(ctx, makeLimit+zkserver.StartLimit)
	defer cancel()
	peers, err := h.network(ctx, o.Size)
	if err != nil {
		return nil, unavailable(fmt.Errorf("the engine makes no network: %s", oneLine(err)))
	}
	servers := make([]*server, o.Size)
	for i := range servers {
		s := &server{api: h.api, id: i + 1, closed: &h.closed, peers: peers,
			addr: fmt.Sprintf("127.0.0.1:%d", free[each*i]), admin: fmt.Sprintf("127.0.0.1:%d", free[each*i+1])}
		servers[i] = s
		s.handle = zkserver.NewServer(s.id, s.addr, s.admin, s)
		if err = h.create(ctx, image, o, s); err != nil {
			return nil, unavailable(fmt.Errorf("the engine makes no container of %s: %s", image, oneLine(err)))
		}
	}
	serve, cancel := context.WithTimeout(ctx, zkserver.StartLimit)
	defer cancel()
	if err := together(servers, func(s *server) error { return s.start(serve) }); err != nil {
		return nil, err
	}
	if err := together(servers, func(s *server) error { return s.awaitReady(serve) }); err != nil {
		return nil, err
	}
	return h.ensemble(ctx, servers, o)
}

func (h *house) ensemble(ctx context.Context, servers []*server, o zkserver.Options) (*zkserver.Ensemble, error) {
	srvr, err := zkserver.Ask(ctx, servers[0].addr, "srvr")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", zkserver.ErrStart, err)
	}
	handles := make([]*zkserver.Server, len(servers))
	for i, s := range servers {
		if handles[i] = s.handle; !adminAnswers(ctx, s.admin) {
			handles[i] = zkserver.NewServer(s.id, s.addr, "", s)
		}
	}
	return zkserver.NewEnsemble(zkserver.Parts{Backend: zkserver.Docker, Version: zkserver.VersionOf(srvr), Tick: o.Tick,
		Servers: handles, Release: h.close}), nil
}

func (h *house) labels() map[string]string { return map[string]string{ensembleLabel: h.id} }

// create makes one server's container, and does not start it. Its ports are
// published by way of the default network, so that clients reach a server that is
// cut off from its peers.
func (h *house) create(ctx context.Context, image string, o zkserver.Options, s *server) error {
	c, err := testcontainers.Run(ctx, fullName(image),
		testcontainers.WithNoStart(),
		testcontainers.WithLabels(h.labels()),
		testcontainers.WithEnv(environment(o, s.id)),
		testcontainers.WithExposedPorts(clientPort, adminPort),
		testcontainers.WithHostConfigModifier(func(hc *container.HostConfig) {
			hc.PortBindings = network.PortMap{
				network.MustParsePort(clientPort): {binding(s.addr)},
				network.MustParsePort(adminPort):  {binding(s.admin)},
			}
		}),
		testcontainers.WithFiles(testcontainers.ContainerFile{Reader: strings.NewReader(zooCfg(o, s.peers)), ContainerFilePath: confFile, FileMode: 0o644}))
	if err != nil {
		return err
	}
	s.container = c.GetContainerID()
	if s.peers == nil {
		return nil
	}
	return s.Rejoin(ctx)
}

// binding is a loopback address that a port inside is published at.
func binding(addr string) network.PortBinding {
	at := netip.MustParseAddrPort(addr)
	return network.PortBinding{HostIP: at.Addr(), HostPort: strconv.Itoa(int(at.Port()))}
}

// together does something to all servers at the same time.
func together(servers []*server, do func(*server) error) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { errs[i] = do(s) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// adminAnswers says whether the AdminServer is there; not every image has one.
func adminAnswers(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	api := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/commands/ruok", nil)
		if err != nil {
			return false
		}
		if resp, err := api.Do(req); err == nil {
			resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pollInterval):
		}
	}
}

// close removes the containers and the network, and lets the guardian go.
func (h *house) close() error {
	err := h.clear()
	h.api.Close()
	return err
}

func (h *house) clear() error { return h.clearWithin(clearLimit) }

func (h *house) clearWithin(limit time.Duration) error {
	h.closed.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := sweep(ctx, h.api, h.id)
	if h.guard != nil {
		h.guard.dismiss(err == nil)
	}
	if err != nil {
		return fmt.Errorf("zkserver: remove the containers with the label %s=%s: %w; a process is left that goes on trying for a while", ensembleLabel, h.id, err)
	}
	return nil
}
