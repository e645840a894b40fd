//go:build docker

package main

// A build with -tags docker can run servers in containers by itself. The plain
// build leaves that out: it would be 34.5 MB instead of 29.1, over the 30 that it
// may have, and hold 73 modules instead of 32. It uses the servers of
// docker-compose.yml, which need none of that.
import _ "zklab/internal/zkserver/docker"
