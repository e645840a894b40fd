package main

import (
	"context"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/compose"
)

// orCompose has a server of docker-compose.yml used when one runs and nothing
// else was asked for, and says so. What needs three servers wants to kill them, and
// those are not ours to kill.
func (g *global) orCompose(ctx context.Context, o *zkserver.Options) {
	if o.Servers != "" || o.Backend != "" || o.Size > 1 {
		return
	}
	if found := compose.Find(ctx); len(found) > 0 {
		o.Servers = found[0].Connect()
		g.progress("using the ZooKeeper of docker-compose.yml (profile %s) at %s; --backend java starts a private one instead", found[0].Profile, o.Servers)
	}
}
