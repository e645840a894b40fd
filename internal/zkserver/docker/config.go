package docker

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"zklab/internal/zkserver"
)

// Ports inside a container.
const (
	clientPort   = "2181/tcp"
	adminPort    = "8080/tcp"
	confFile     = "/conf/zoo.cfg"
	syncTicks    = 6
	maxPortRaces = 5
)

// zooCfg is the server's configuration. The image's entry point makes one of its
// own only where there is none.
func zooCfg(o zkserver.Options, peers *peerNetwork) string {
	shortest, longest := o.SessionBounds()
	set := map[string]string{
		"tickTime":               strconv.FormatInt(o.Tick.Milliseconds(), 10),
		"minSessionTimeout":      strconv.FormatInt(shortest.Milliseconds(), 10),
		"maxSessionTimeout":      strconv.FormatInt(longest.Milliseconds(), 10),
		"initLimit":              strconv.Itoa(o.InitLimit()),
		"syncLimit":              strconv.Itoa(syncTicks),
		"dataDir":                "/data",
		"dataLogDir":             "/datalog",
		"clientPort":             "2181",
		"maxClientCnxns":         "0",
		"4lw.commands.whitelist": "*",
		"admin.enableServer":     "true",
	}
	if peers != nil {
		// A peer that is cut off loses the address it had on the peers' network.
		set["quorumListenOnAllIPs"] = "true"
		for i := 1; i <= o.Size; i++ {
			set["server."+strconv.Itoa(i)] = fmt.Sprintf("%s:2888:3888", peers.addr(i))
		}
	}
	maps.Copy(set, o.Extra)
	return zkserver.Properties(set)
}

// environment is what the image's entry point and the virtual machine read.
func environment(o zkserver.Options, id int) map[string]string {
	flags := []string{"-Xms16m", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dzookeeper.forceSync=no"}
	return map[string]string{
		"ZOO_MY_ID": strconv.Itoa(id),
		"JVMFLAGS":  strings.Join(append(flags, o.JavaFlags...), " "),
	}
}
