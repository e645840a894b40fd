//go:build docker

package main

// A build with -tags docker can run servers in containers by itself. The plain
// build leaves that out: it would be 32.1 MB instead of 26.6 and hold 74 modules
// instead of 33, most of them for a container engine's API. It uses the servers of
// docker-compose.yml, which need none of that.
import _ "zklab/internal/zkserver/docker"
