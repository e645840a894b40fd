package zkserver

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Limits and defaults.
const (
	// DefaultTick is the tick of private servers: sessions from 1 s on.
	DefaultTick = 500 * time.Millisecond

	minTick = 10 * time.Millisecond
	maxTick = time.Minute

	initLimit      = 5 * time.Second // see InitLimit
	syncLimitTicks = 6               // a follower that lags more is dropped by the leader
)

// Names of the backends, as Options.Backend and ZKLAB_BACKEND know them.
const (
	External = "external"
	Java     = "java"
	Docker   = "docker"
)

// ownSettings decide where a server is found; nobody else may set them.
var ownSettings = []string{"dataDir", "clientPort", "clientPortAddress", "secureClientPort",
	"admin.serverPort", "admin.serverAddress", "admin.enableServer"}

// Options say which ensemble to start. The zero value is one private server
// with a tick of 500 ms, from wherever ZooKeeper can be had.
type Options struct {
	// Servers is an external connect string "host:port,host:port". When empty,
	// ZKLAB_SERVERS is used.
	Servers string
	// Backend forces "external", "java" or "docker". When empty, ZKLAB_BACKEND
	// is used; when that is empty too, the first that works is taken.
	Backend string
	// Size is the number of servers, 1 or 3; 0 means 1. An external ensemble
	// has the size it has.
	Size int
	// Tick is ZooKeeper's tickTime; 0 means DefaultTick.
	Tick time.Duration
	// MinSession and MaxSession bound the negotiated session timeout; 0 means
	// ZooKeeper's 2 and 20 ticks.
	MinSession, MaxSession time.Duration
	// Extra holds more zoo.cfg settings; they win over the ones made here.
	Extra map[string]string
	// JavaFlags are appended to the virtual machine's flags.
	JavaFlags []string
	// Progress is told, line by line, what a first run fetches; nil: silent.
	// It is called from one goroutine at a time.
	Progress func(format string, args ...any)
}

// Normalize fills in the environment and the defaults and checks the values.
// Backends get normalized options.
func (o Options) Normalize() (Options, error) {
	if o.Servers != "" && o.Backend == "" {
		o.Backend = External // whoever names servers means these, whatever the environment says
	}
	if o.Servers == "" {
		o.Servers = strings.TrimSpace(os.Getenv("ZKLAB_SERVERS"))
	}
	if o.Backend == "" {
		o.Backend = strings.TrimSpace(os.Getenv("ZKLAB_BACKEND"))
	}
	if o.Size == 0 {
		o.Size = 1
	}
	if o.Tick == 0 {
		o.Tick = DefaultTick
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return o, o.check()
}

func (o Options) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
	}
	switch o.Backend {
	case "", External, Java, Docker:
	default:
		return bad("backend %q; known are external, java and docker", o.Backend)
	}
	if v := os.Getenv(ignoreEnv); !slices.Contains([]string{"", "zookeeper", "java", "all"}, v) {
		return bad("%s=%q; possible are zookeeper, java and all", ignoreEnv, v)
	}
	if v := os.Getenv(apacheURLEnv); v != "" && !strings.HasPrefix(v, "https://") && !strings.HasPrefix(v, "http://") {
		return bad("%s=%q is no address of a release; one begins with https://", apacheURLEnv, v)
	}
	if o.Size != 1 && o.Size != 3 {
		return bad("%d servers; possible are 1 and 3", o.Size)
	}
	if o.Tick < minTick || o.Tick > maxTick || o.Tick%time.Millisecond != 0 {
		return bad("tick %v; possible are whole milliseconds from %v to %v", o.Tick, minTick, maxTick)
	}
	for name, d := range map[string]time.Duration{"minimum": o.MinSession, "maximum": o.MaxSession} {
		if d < 0 || d%time.Millisecond != 0 {
			return bad("%s session timeout %v; it must be whole milliseconds", name, d)
		}
	}
	lo, hi := o.SessionBounds()
	if lo > hi {
		return bad("minimum session timeout %v is above the maximum %v", lo, hi)
	}
	for _, k := range slices.Sorted(maps.Keys(o.Extra)) {
		if k == "" || strings.ContainsAny(k, "=\r\n \t") || strings.ContainsAny(o.Extra[k], "\r\n") {
			return bad("setting %q=%q does not fit on one line of zoo.cfg", k, o.Extra[k])
		}
		if slices.Contains(ownSettings, k) || strings.HasPrefix(k, "server.") {
			return bad("setting %q belongs to the ensemble", k)
		}
	}
	return nil
}

// SessionBounds are the shortest and the longest session timeout that a
// private server with these options negotiates.
func (o Options) SessionBounds() (shortest, longest time.Duration) {
	tick := o.Tick
	if tick == 0 {
		tick = DefaultTick
	}
	shortest, longest = o.MinSession, o.MaxSession
	if shortest == 0 {
		shortest = 2 * tick
	}
	if longest == 0 {
		longest = 20 * tick
	}
	return shortest, longest
}

// InitLimit is ZooKeeper's initLimit in ticks: how long a follower may take to
// connect and load, and a leader waits for followers. On a busy machine a follower
// may give up just before its leader listens; the leader then waits for all of this
// time before the next election, so it is short.
func (o Options) InitLimit() int {
	return max(5, int((initLimit+o.Tick-1)/o.Tick))
}
