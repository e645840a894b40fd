package zkserver

import (
	"context"
	"os"
)

// Found says what a private server would be made of. Nothing was started or
// fetched to know it.
type Found struct {
	ZooKeeper string // where the installation is; empty: there is none yet
	Java      string // the program; empty: there is none that can be used
	JavaWhy   string // why there is none
	Major     int    // Java's version
	Cache     string // where fetched software is put; empty: the system names no cache folder
	External  string // what ZKLAB_SERVERS names
}

// Look looks for an installed ZooKeeper and Java. ctx bounds asking Java for
// its version.
func Look(ctx context.Context) Found {
	f := systemFinder()
	found := Found{External: os.Getenv("ZKLAB_SERVERS")}
	if in, _ := f.zookeeper(); in != nil {
		found.ZooKeeper = in.from
	}
	if j, err := f.java(ctx); err != nil {
		found.JavaWhy = err.Error()
	} else {
		found.Java, found.Major = j.bin, j.version
	}
	found.Cache, _ = f.cache()
	return found
}
