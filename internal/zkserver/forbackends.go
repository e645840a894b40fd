package zkserver

// What backends in packages of their own need as well.

// FreePorts returns n different loopback ports that nobody listens on just now,
// outside the range that outgoing connections get theirs from. Somebody may still
// take one before a server does; who uses them must notice.
func FreePorts(n int) ([]int, error) { return freePorts(n) }

// VersionOf is the bare version number in an answer to `srvr`, "" without one.
func VersionOf(srvr string) string { return versionOf(srvr) }
