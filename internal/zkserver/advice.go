package zkserver

// advice is the command that would help on this system.
func advice() string {
	return "Install Java and ZooKeeper, or name a running server with ZKLAB_SERVERS=host:port."
}
