package compose

import (
	"context"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"zklab/internal/zkserver"
)

const (
	profileLabel = "zklab.profile"
	clientPort   = 2181 // inside each container
)

// Found is a profile of docker-compose.yml whose servers run.
type Found struct {
	Profile string   // "single" or "trio"
	Servers []string // their client addresses, in the order of their ports
}

// Connect is the connect string for --servers.
func (f Found) Connect() string { return strings.Join(f.Servers, ",") }

// Find lists the profiles that run and have a server that serves, "single" first.
// Without an engine on this machine, or when it does not answer in a second, there are
// none: that is no error, because nobody has asked for containers.
func Find(ctx context.Context) []Found {
	host, err := EngineHost(os.Getenv)
	if err != nil || !Local(host) {
		return nil
	}
	return find(ctx, host)
}

func find(ctx context.Context, host string) []Found {
	containers, err := running(ctx, host, profileLabel)
	if err != nil {
		return nil
	}
	ports := map[string][]int{}
	for _, c := range containers {
		for _, p := range c.Ports {
			ip := net.ParseIP(p.IP)
			if p.PrivatePort == clientPort && p.PublicPort != 0 && ip != nil && ip.IsLoopback() {
				profile := c.Labels[profileLabel]
				ports[profile] = append(ports[profile], p.PublicPort)
			}
		}
	}
	var all []Found
	for profile, list := range ports {
		slices.Sort(list)
		f := Found{Profile: profile}
		for _, p := range slices.Compact(list) {
			f.Servers = append(f.Servers, net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		}
		if f.serves(ctx) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b Found) int { return strings.Compare(a.Profile, b.Profile) })
	return all
}

// serves says whether one of the servers answers `srvr` with its mode.
func (f Found) serves(ctx context.Context) bool {
	return slices.ContainsFunc(f.Servers, func(addr string) bool {
		ctx, cancel := context.WithTimeout(ctx, askLimit)
		defer cancel()
		srvr, err := zkserver.Ask(ctx, addr, "srvr")
		return err == nil && strings.Contains(srvr, "\nMode: ")
	})
}
