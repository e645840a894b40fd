package compose

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	hostEnv   = "DOCKER_HOST"
	askLimit  = time.Second // a person waits for it at each start
	maxAnswer = 4 << 20
)

// EngineHost is the container engine to use: the one that DOCKER_HOST names, else
// the first of the usual sockets that is there. The error says that there is none.
func EngineHost(getenv func(string) string) (string, error) {
	if host := getenv(hostEnv); host != "" {
		return host, nil
	}
	sockets := []string{"/var/run/docker.sock"}
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		sockets = append(sockets, filepath.Join(dir, "docker.sock"))
	}
	if home := getenv("HOME"); home != "" {
		sockets = append(sockets, filepath.Join(home, ".docker/run/docker.sock"), filepath.Join(home, ".docker/desktop/docker.sock"))
	}
	for _, s := range sockets {
		if _, err := os.Stat(s); err == nil {
			return "unix://" + s, nil
		}
	}
	return "", fmt.Errorf("there is no engine (%s is not set, and there is no %s)", hostEnv, sockets[0])
}

// Local says whether an engine runs on this machine. The ports of one elsewhere are
// published on its own loopback: here, another server may listen at the same ones.
func Local(host string) bool {
	kind, addr, _ := strings.Cut(host, "://")
	switch kind {
	case "unix":
		return true
	case "tcp", "http":
		name, _, err := net.SplitHostPort(addr)
		if err != nil {
			name = addr
		}
		ip := net.ParseIP(name)
		return name == "localhost" || ip != nil && ip.IsLoopback()
	}
	return false
}

// container is what the engine says of one.
type container struct {
	Labels map[string]string
	Ports  []struct {
		IP                      string
		PrivatePort, PublicPort int
	}
}

// running lists the running containers with the label.
func running(ctx context.Context, host, label string) ([]container, error) {
	kind, addr, _ := strings.Cut(host, "://")
	network := map[string]string{"unix": "unix", "tcp": "tcp", "http": "tcp"}[kind]
	if network == "" {
		return nil, fmt.Errorf("an engine at %s cannot be asked here", host)
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	filters, err := json.Marshal(map[string][]string{"label": {label}, "status": {"running"}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://engine/containers/json?filters="+url.QueryEscape(string(filters)), nil)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the engine at %s says %s: %.200s", host, resp.Status, body)
	}
	var all []container
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("the engine at %s answers no list of containers: %w", host, err)
	}
	return all, nil
}
