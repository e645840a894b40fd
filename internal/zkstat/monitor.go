package zkstat

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The counters of mntr that tell what a lock costs.
const (
	ChildWatchesFired  = "zk_sum_node_children_watch_count" // child watches fired, by a join too
	DeleteWatchesFired = "zk_sum_node_deleted_watch_count"  // watches fired by a node's deletion
	DataWatchesFired   = "zk_sum_node_changed_watch_count"
	CreateWatchesFired = "zk_sum_node_created_watch_count"
	PacketsReceived    = "zk_packets_received"
	PacketsSent        = "zk_packets_sent"
	WatchCount         = "zk_watch_count"
)

// Monitor is what mntr tells.
type Monitor struct {
	Reading
	Version string
	State   string // standalone, leader, follower, observer

	// Watches is all watches at the server: the only number of the server's
	// that includes child watches.
	Watches                 int64
	ChildFired, DeleteFired float64 // watches fired since the server started
	PacketsReceived         int64
	PacketsSent             int64
	Connections             int64
	Ephemerals              int64
	Nodes                   int64

	Values map[string]float64 // every number, by its name in mntr
	Text   map[string]string  // every other value
}

// Counters are the numbers to difference over a release or a join, by their names in
// mntr. Watch events that a release caused are the growth of ChildWatchesFired and
// DeleteWatchesFired together. A server that has fired no watch of a kind yet says 0.
func (m Monitor) Counters() map[string]float64 {
	c := make(map[string]float64)
	for _, name := range []string{ChildWatchesFired, DeleteWatchesFired, DataWatchesFired,
		CreateWatchesFired, PacketsReceived, PacketsSent, WatchCount} {
		if v, ok := m.Values[name]; ok {
			c[name] = v
		}
	}
	return c
}

// ParseMntr reads the answer to mntr.
func ParseMntr(b []byte) (Monitor, error) {
	m := newMonitor()
	err := eachLine(b, func(line string) error {
		if name, value, ok := strings.Cut(line, "\t"); ok {
			m.set(name, strings.TrimSpace(value))
		}
		return nil
	})
	return m.finish(b, err)
}

func parseMonitorJSON(b []byte) (Monitor, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(b, &values); err != nil {
		return Monitor{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	m := newMonitor()
	for name, raw := range values {
		if name == "command" || name == "error" {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		m.set("zk_"+name, text)
	}
	return m.finish(b, nil)
}

func newMonitor() Monitor {
	return Monitor{Values: make(map[string]float64), Text: make(map[string]string)}
}

func (m *Monitor) set(name, value string) {
	if v, err := strconv.ParseFloat(value, 64); err == nil {
		m.Values[name] = v
		return
	}
	m.Text[name] = value
}

func (m Monitor) finish(b []byte, err error) (Monitor, error) {
	m.Version, m.State = m.Text["zk_version"], m.Text["zk_server_state"]
	if err == nil && m.State == "" {
		err = badLine("no zk_server_state in", string(b))
	}
	m.Watches = int64(m.Values[WatchCount])
	m.ChildFired = m.Values[ChildWatchesFired]
	m.DeleteFired = m.Values[DeleteWatchesFired]
	m.PacketsReceived = int64(m.Values[PacketsReceived])
	m.PacketsSent = int64(m.Values[PacketsSent])
	m.Connections = int64(m.Values["zk_num_alive_connections"])
	m.Ephemerals = int64(m.Values["zk_ephemerals_count"])
	m.Nodes = int64(m.Values["zk_znode_count"])
	return m, err
}
