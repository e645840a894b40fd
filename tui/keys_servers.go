package tui

import (
	"context"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"zklab/internal/journal"
	"zklab/tui/view"
)

// serverLimit bounds one act on a server: a restart waits until it serves.
const serverLimit = 30 * time.Second

func drawEnsemble(m *model, f view.Frame) string {
	at := -1
	if m.ownsServers() {
		at = m.serverAt(len(f.State.Servers))
	}
	return view.Ensemble(f, at, m.w, m.h, m.theme)
}

// ownsServers says whether the keys can act on the servers.
func (m *model) ownsServers() bool {
	c, ok := m.o.Control.(Servers)
	return ok && c.ServersOwned()
}

// serverAt is the chosen server of n.
func (m *model) serverAt(n int) int { return min(max(m.server, 0), n-1) }

// ensemble are the keys of the ensemble page: those of its servers where they can
// be acted on.
func ensemble() []deed {
	move := func(n int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd {
			m.server = m.serverAt(len(m.live.Servers)) + n
			m.server = m.serverAt(len(m.live.Servers))
			return nil
		}
	}
	const killed, paused, isolated = "kill", "pause", "isolate"
	has := func(fault string) func(journal.ServerState) bool {
		return func(s journal.ServerState) bool { return slices.Contains(s.Faults, fault) }
	}
	awake := func(s journal.ServerState) bool { return !has(killed)(s) && !has(paused)(s) }
	all := []deed{
		onServer("k", "kill -9", killed, "Kills the chosen server's process with SIGKILL.",
			func(m *model, s journal.ServerState) bool { return !has(killed)(s) }),
		onServer("z", "stop", paused, "Stops the chosen server's process with SIGSTOP.",
			func(m *model, s journal.ServerState) bool { return awake(s) }),
		onServer("c", "cont", "continue", "Lets a stopped server go on with SIGCONT.",
			func(m *model, s journal.ServerState) bool { return has(paused)(s) }),
		onServer("s", "restart", "restart", "Starts a killed server again, with its data and on its port.",
			func(m *model, s journal.ServerState) bool { return has(killed)(s) }),
		onServer("i", "isolate", isolated, "Cuts the chosen server off from the other servers; its clients still reach it.",
			func(m *model, s journal.ServerState) bool {
				return awake(s) && !has(isolated)(s) && len(m.live.Servers) > 1
			}),
		onServer("o", "rejoin", "rejoin", "Lets a server that was cut off reach the others again.",
			func(m *model, s journal.ServerState) bool { return has(isolated)(s) }),
		{key: bind("K", "kill leader", "K"), help: "Kills whichever server leads with SIGKILL.",
			now: func(m *model) (bool, string) {
				return m.ownsServers() && !m.still && slices.ContainsFunc(m.live.Servers, func(s journal.ServerState) bool { return s.Mode == "leader" && awake(s) }), ""
			},
			do: func(m *model) tea.Cmd { return m.actOnServer("kill", "leader") }},
		{key: bind("↑↓", "choose", "down", "tab"), help: "Chooses the next server.", now: severalServers, do: move(1)},
		{key: bind("", "", "up", "shift+tab"), help: "Chooses the server before.", now: severalServers, do: move(-1)},
	}
	return append(append(all, joining()...), release) // the other keys mean the server here
}

func severalServers(m *model) (bool, string) {
	return m.ownsServers() && len(m.live.Servers) > 1, ""
}

// onServer makes a key that does something to the chosen server.
func onServer(k, label, do, help string, fit func(*model, journal.ServerState) bool) deed {
	return deed{key: bind(k, label, k), help: help,
		now: func(m *model) (bool, string) {
			at := m.serverAt(len(m.live.Servers))
			if !m.ownsServers() || m.still || at < 0 || !fit(m, m.live.Servers[at]) {
				return false, ""
			}
			return true, label + " " + strconv.Itoa(at+1)
		},
		do: func(m *model) tea.Cmd { return m.actOnServer(do, strconv.Itoa(m.serverAt(len(m.live.Servers))+1)) },
	}
}

func (m *model) actOnServer(do, which string) tea.Cmd {
	control := m.o.Control.(Servers)
	return m.act(do+" server "+which, serverLimit, func(ctx context.Context) error { return control.Server(ctx, do, which) })
}
