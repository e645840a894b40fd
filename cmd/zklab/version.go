package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"zklab/internal/zkserver"
)

// build says which zklab this is, from what the go command wrote into it.
type build struct {
	V      int    `json:"v"`
	Zklab  string `json:"zklab"`
	Go     string `json:"go"`
	OS     string `json:"os"`
	Client string `json:"go_zookeeper"`
}

func readBuild() build {
	b := build{V: 1, Zklab: "development", Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		b.Zklab = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && b.Zklab == "development" {
			b.Zklab = "development " + s.Value[:12]
		}
	}
	for _, d := range info.Deps {
		if d.Path == "github.com/go-zookeeper/zk" {
			b.Client = d.Version
		}
	}
	return b
}

func (g *global) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which zklab, Go and ZooKeeper client this is, and which ZooKeeper it finds",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := readBuild()
			found := g.findServer(cmd.Context())
			if asJSON {
				return json.NewEncoder(g.out).Encode(struct {
					build
					ZooKeeper string `json:"zookeeper"`
				}{b, found})
			}
			fmt.Fprintf(g.out, "zklab         %s\nGo            %s %s\ngo-zookeeper  %s\nZooKeeper     %s\n", b.Zklab, b.Go, b.OS, b.Client, found)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return cmd
}

// findServer says which ZooKeeper a command would use.
func (g *global) findServer(ctx context.Context) string {
	found := zkserver.Look(ctx)
	switch {
	case g.servers != "":
		return "running, " + g.servers
	case found.External != "":
		return "running, " + found.External
	case found.ZooKeeper != "" && found.Java != "":
		return fmt.Sprintf("installed, %s, on Java %d", found.ZooKeeper, found.Major)
	case found.ZooKeeper != "":
		return found.ZooKeeper + ", but " + found.JavaWhy
	}
	return "none installed: it is fetched when it is needed"
}
