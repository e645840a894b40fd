package zkserver

import "time"

// What backends in packages of their own need as well.

// StartLimit bounds one try to have started servers serve. An idle machine takes
// 1 s to 3 s for it, a busy one 10 s.
const StartLimit = 30 * time.Second

// FreePorts returns n different loopback ports that nobody listens on just now,
// outside the range that outgoing connections get theirs from. Somebody may still
// take one before a server does; who uses them must notice.
func FreePorts(n int) ([]int, error) { return freePorts(n) }

// VersionOf is the bare version number in an answer to `srvr`, "" without one.
func VersionOf(srvr string) string { return versionOf(srvr) }

// Properties is a file of settings, such as zoo.cfg, as Java reads it.
func Properties(set map[string]string) string { return properties(set) }
