//go:build docker

package main

// A build with -tags docker can run servers in containers by itself. The plain
// build leaves that out: it would be 33.9 MB instead of 28.5, over the 30 that it
// may have, and hold 74 modules instead of 33. It uses the servers of
// docker-compose.yml, which need none of that.
import _ "zklab/internal/zkserver/docker"
