package docker

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	tcnetwork "github.com/testcontainers/testcontainers-go/network"
)

const subnetRaces = 5

// peerNetwork is what the servers of one ensemble reach each other on, at fixed
// addresses. Names would have to be resolved, and the engine asks the outside for
// the name of a server that is down: an election then takes many seconds.
type peerNetwork struct {
	id     string
	subnet netip.Prefix
}

// addr is the address of a server, from 1 on; the subnet's first is the gateway's.
func (p *peerNetwork) addr(id int) netip.Addr {
	a := p.subnet.Masked().Addr().Next()
	for range id {
		a = a.Next()
	}
	return a
}

// endpoint is a server's place in it.
func (p *peerNetwork) endpoint(id int) *network.EndpointSettings {
	return &network.EndpointSettings{IPAMConfig: &network.EndpointIPAMConfig{IPv4Address: p.addr(id)}}
}

// network makes it; a single server has none.
func (h *house) network(ctx context.Context, size int) (*peerNetwork, error) {
	if size == 1 {
		return nil, nil
	}
	for try := 1; ; try++ {
		n, err := h.tryNetwork(ctx)
		if err == nil || try == subnetRaces || !strings.Contains(strings.ToLower(err.Error()), "overlap") {
			return n, err
		}
	}
}

// tryNetwork asks the engine for a free subnet and takes it by name: only in a
// subnet that was named may addresses be chosen. Somebody may take it between.
func (h *house) tryNetwork(ctx context.Context) (*peerNetwork, error) {
	ours := []tcnetwork.NetworkCustomizer{tcnetwork.WithInternal(), tcnetwork.WithLabels(h.labels())}
	probe, err := tcnetwork.New(ctx, ours...)
	if err != nil {
		return nil, err
	}
	r, err := h.api.NetworkInspect(ctx, probe.ID, client.NetworkInspectOptions{})
	if err != nil {
		return nil, err
	}
	if _, err := h.api.NetworkRemove(ctx, probe.ID, client.NetworkRemoveOptions{}); err != nil {
		return nil, err
	}
	for _, c := range r.Network.IPAM.Config {
		if !c.Subnet.Addr().Is4() {
			continue
		}
		n, err := tcnetwork.New(ctx, append(ours, tcnetwork.WithIPAM(&network.IPAM{Driver: "default", Config: []network.IPAMConfig{{Subnet: c.Subnet}}}))...)
		if err != nil {
			return nil, err
		}
		return &peerNetwork{id: n.ID, subnet: c.Subnet}, nil
	}
	return nil, fmt.Errorf("it gives no IPv4 subnet")
}
