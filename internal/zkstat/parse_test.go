package zkstat

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestParse_captured reads what real servers said of the queue of three sessions that
// newQueue makes, in both of its forms, and holds the two against each other.
func TestParse_captured(t *testing.T) {
	for mode, b := range saved(t, "srvr.txt") {
		s, err := ParseSrvr(b)
		must(t, err)
		if s.Mode != mode || !strings.HasPrefix(s.Version, "3.8.0") || s.Zxid == 0 || s.Nodes < 8 || s.Connections != 4 || s.Received == 0 {
			t.Errorf("%s: %+v", mode, s)
		}
	}
	jsons := saved(t, "monitor.json")
	for mode, b := range saved(t, "mntr.txt") {
		m, err := ParseMntr(b)
		must(t, err)
		j, err := parseMonitorJSON(jsons[mode])
		must(t, err)
		for from, m := range map[string]Monitor{"mntr": m, "monitor": j} {
			// 2 data watches and 1 child watch: only here is the third.
			if m.Watches != 3 || m.State != mode || m.Version == "" || m.PacketsSent == 0 || m.Ephemerals != 3 {
				t.Errorf("%s %s: %+v", mode, from, m)
			}
			if got := len(m.Counters()); got != 7 {
				t.Errorf("%s %s: counters %v", mode, from, m.Counters())
			}
		}
		for name := range m.Values {
			if _, ok := j.Values[name]; !ok && !strings.Contains(name, "{") {
				t.Errorf("%s: %s is in mntr and not in /monitor", mode, name)
			}
		}
	}
}

func TestParse_capturedSessions(t *testing.T) {
	conns, dumps, watches, sums := saved(t, "connections.json"), saved(t, "dump.json"), saved(t, "watches_by_path.json"), saved(t, "watch_summary.json")
	dumpText, wchp, wchs, confs, conf := saved(t, "dump.txt"), saved(t, "wchp.txt"), saved(t, "wchs.txt"), saved(t, "configuration.json"), saved(t, "conf.txt")
	for mode, b := range saved(t, "cons.txt") {
		text, err := ParseCons(b)
		must(t, err)
		fromJSON, err := parseConnectionsJSON(conns[mode])
		must(t, err)
		var ids []int64
		for _, c := range text.List {
			if c.Session == 0 { // who asked
				continue
			}
			ids = append(ids, c.Session)
			if c.Timeout != 4*time.Second || c.LastResponse == 0 || !strings.HasPrefix(c.Remote, "127.0.0.1:") || c.Established.Year() < 2020 || c.LastOp == "" || c.LastZxid == 0 {
				t.Errorf("%s: %+v", mode, c)
			}
		}
		if len(ids) != 3 {
			t.Fatalf("%s: sessions %x", mode, ids)
		}
		if !slices.EqualFunc(ids, fromJSON.List, func(id int64, c Connection) bool { return c.Session == id && c.Timeout == 4*time.Second }) {
			t.Errorf("%s: the JSON lists %+v", mode, fromJSON.List)
		}
		d, err := ParseDump(dumpText[mode])
		must(t, err)
		dj, err := parseDumpJSON(dumps[mode])
		must(t, err)
		checkDump(t, mode, ids, d, dj)

		for from, parse := range map[string]func() (DataWatches, error){
			"wchp":            func() (DataWatches, error) { return ParseWchp(wchp[mode]) },
			"watches_by_path": func() (DataWatches, error) { return parseWatchesJSON(watches[mode]) },
		} {
			w, err := parse()
			must(t, err)
			if len(w.ByPath) != 2 { // of 3 watches: the child watch is missing
				t.Errorf("%s %s: %v", mode, from, w.ByPath)
			}
			for _, who := range w.ByPath {
				if len(who) != 1 || !slices.Contains(ids, who[0]) {
					t.Errorf("%s %s: %v", mode, from, w.ByPath)
				}
			}
		}
		sum, err := ParseWchs(wchs[mode])
		must(t, err)
		sumJSON, err := parseSummaryJSON(sums[mode])
		must(t, err)
		if sum != (WatchSummary{Connections: 2, Paths: 2, DataWatches: 2}) || sum != sumJSON {
			t.Errorf("%s: %+v, %+v", mode, sum, sumJSON)
		}
		c, err := parseConf(conf[mode])
		must(t, err)
		cj, err := parseConfigJSON(confs[mode])
		must(t, err)
		if c.tick != 500*time.Millisecond || cj.tick != c.tick {
			t.Errorf("%s: ticks %v, %v", mode, c.tick, cj.tick)
		}
	}
}

func checkDump(t *testing.T, mode string, ids []int64, d, dj Dump) {
	t.Helper()
	for _, id := range ids {
		if len(d.Ephemerals[id]) != 1 || !slices.Equal(d.Ephemerals[id], dj.Ephemerals[id]) {
			t.Errorf("%s: nodes of %x: %v, %v", mode, id, d.Ephemerals[id], dj.Ephemerals[id])
		}
		if d.Connected[id] == "" {
			t.Errorf("%s: %x is not connected", mode, id)
		}
		if mode == "follower" {
			if d.Timeouts[id] != 4*time.Second || len(dj.Expiry) != 0 || len(d.ExpiryText) != 0 {
				t.Errorf("follower: %+v, %+v", d, dj)
			}
			continue
		}
		if dj.Expiry[id] == 0 || dj.Expiry[id]%500 != 0 || d.ExpiryText[id].Year() < 2020 {
			t.Errorf("%s: %x expires at %d, %v", mode, id, dj.Expiry[id], d.ExpiryText[id])
		}
	}
}

// TestParse_sessionIDsKeepEveryDigit: ids are above 2^53, and negative from server 128 on.
func TestParse_sessionIDsKeepEveryDigit(t *testing.T) {
	const big, negative int64 = 72057645831815171, -9151314442816847871
	d, err := parseDumpJSON([]byte(`{"expiry_time_to_session_ids":{"1610500":[72057645831815171,-9151314442816847871]},
		"session_id_to_ephemeral_paths":{"-9151314442816847871":["/q/x"]}}`))
	must(t, err)
	if d.Expiry[big] != 1610500 || d.Expiry[negative] != 1610500 || len(d.Ephemerals[negative]) != 1 {
		t.Errorf("%+v", d)
	}
	high := uint64(0x81000000c0f28001)
	w, err := ParseWchp([]byte("/q\n\t0x81000000c0f28001\n\t0x100000c0f280003\n"))
	must(t, err)
	if got := w.ByPath["/q"]; !slices.Equal(got, []int64{int64(high), big}) {
		t.Errorf("%d", got)
	}
}

func TestParse_oddConnections(t *testing.T) {
	for line, want := range map[string]Connection{
		" /[0:0:0:0:0:0:0:1]:5[1](queued=1,recved=2,sent=3)":                                   {Remote: "[0:0:0:0:0:0:0:1]:5", Queued: 1, Received: 2, Sent: 3},
		" /0:0:0:0:0:0:0:1%0:56[0](queued=0,recved=1,sent=0)":                                  {Remote: "0:0:0:0:0:0:0:1%0:56", Received: 1},
		" localhost/127.0.0.1:7[1](queued=0,recved=1,sent=0,sid=0xffffffffffffffff,new=field)": {Remote: "127.0.0.1:7", Received: 1, Session: -1},
	} {
		c, err := ParseCons([]byte(line + "\n\n"))
		if err != nil || len(c.List) != 1 || c.List[0] != want {
			t.Errorf("%s: %+v %v", line, c.List, err)
		}
	}
	if _, err := ParseCons([]byte("nonsense\n")); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v", err)
	}
}

func TestRoundUp_isTheServersArithmetic(t *testing.T) {
	for _, c := range []struct {
		heard ServerMillis
		want  ServerMillis
	}{{1606059, 1610500}, {1606000, 1610500}, {1606499, 1610500}, {1606500, 1611000}} {
		if got := roundUp(c.heard, 4*time.Second, 500*time.Millisecond); got != c.want {
			t.Errorf("heard at %d: %d, want %d", c.heard, got, c.want)
		}
	}
}

// FuzzParse reads any text as every answer: no panic, and an error that says so, or a value.
func FuzzParse(f *testing.F) {
	for _, name := range append(slices.Clone(words), commands...) {
		ext := ".txt"
		if slices.Contains(commands, name) && name != "dump" {
			ext = ".json"
		}
		for _, b := range saved(f, name+ext) {
			f.Add(b)
			f.Add(b[:len(b)/2])
			f.Add([]byte(strings.ReplaceAll(string(b), "0", "-")))
		}
	}
	for _, b := range saved(f, "dump.json") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, e1 := ParseSrvr(b)
		_, e2 := ParseMntr(b)
		conns, e3 := ParseCons(b)
		dump, e4 := ParseDump(b)
		_, e5 := ParseWchp(b)
		_, e6 := ParseWchs(b)
		_, e7 := parseConf(b)
		_, e8 := parseMonitorJSON(b)
		connsJSON, e9 := parseConnectionsJSON(b)
		dumpJSON, e10 := parseDumpJSON(b)
		_, e11 := parseWatchesJSON(b)
		_, e12 := parseSummaryJSON(b)
		_, e13 := parseConfigJSON(b)
		for _, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13} {
			if err != nil && !errors.Is(err, ErrFormat) {
				t.Fatalf("an error without ErrFormat: %v", err)
			}
		}
		for _, c := range []Connections{conns, connsJSON} {
			for _, d := range []Dump{dump, dumpJSON} {
				s := join(c, d, 500*time.Millisecond, Clock{zero: time.Unix(1, 0)})
				if !slices.IsSortedFunc(s.List, func(a, b Session) int {
					if a.ID < b.ID {
						return -1
					}
					return 1
				}) {
					t.Fatal("sessions out of order")
				}
			}
		}
		_ = refusal(b, "a", "mntr")
		_ = adminError(b)
	})
}
