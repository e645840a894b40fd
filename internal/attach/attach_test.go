package attach_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"zklab/internal/attach"
	"zklab/internal/recipe"
	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
	"zklab/internal/zkstat"
)

func TestMain(m *testing.M) { zktest.Main(m, zkserver.Options{}, nil) }

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// client is a plain session on the test's server.
func client(t *testing.T, e *zkserver.Ensemble) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(strings.Split(e.Connect(), ","), 10*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for ev := range events {
		if ev.State == zk.StateHasSession {
			break
		}
	}
	return conn
}

// folder makes a path of its own for the test, below the ensemble's chroot.
func folder(t *testing.T, c *zk.Conn, e *zkserver.Ensemble) string {
	t.Helper()
	p := e.Chroot()
	for _, part := range []string{"attach", strings.ReplaceAll(t.Name(), "/", "-")} {
		p = path.Join("/", p, part)
		if _, err := c.Create(p, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			t.Fatal(err)
		}
	}
	return p
}

func create(t *testing.T, c *zk.Conn, p string, flags int32) string {
	t.Helper()
	made, err := c.Create(p, []byte("host-"+path.Base(p)), flags, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatalf("create %s: %v", p, err)
	}
	return made
}

func read(t *testing.T, o attach.Options) attach.Reading {
	t.Helper()
	w, err := attach.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r, err := w.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const inLine = zk.FlagEphemeral | zk.FlagSequence

func TestRead_curatorMutex_saysWhoHoldsAndWhoIsWatched(t *testing.T) {
	e := zktest.Need(t)
	a, b := client(t, e), client(t, e)
	p := folder(t, a, e)
	first := create(t, a, p+"/_c_0b7fa3e5-62b6-4d3c-8c1a-6b7f7c4f9d11-lock-", inLine)
	second := create(t, b, p+"/_c_ffffffff-62b6-4d3c-8c1a-6b7f7c4f9d11-lock-", inLine)
	if _, _, _, err := b.GetW(first); err != nil {
		t.Fatal(err)
	}
	create(t, a, p+"/notes", 0)
	r := read(t, attach.Options{Servers: e.Connect(), Path: p})
	if len(r.Places) != 2 || !r.Places[0].Holds || r.Places[1].Holds || r.Kind != recipe.Mutex {
		t.Fatalf("places %+v of kind %s", r.Places, r.Kind)
	}
	if got := r.Places[0]; got.Session != a.SessionID() || got.Host == "" || got.Timeout != 10*time.Second || got.Family != recipe.Curator {
		t.Errorf("the holder is read as %+v", got)
	}
	_, stat, err := a.Exists(first)
	if err != nil || r.Places[0].Token != stat.Czxid {
		t.Errorf("token %d, the server's czxid is %d (%v)", r.Places[0].Token, stat.Czxid, err)
	}
	if got := r.Places[1]; !got.Observed || len(got.Watches) != 1 || got.Watches[0] != path.Base(first) || got.Node != path.Base(second) {
		t.Errorf("the waiter is read as %+v", got)
	}
	if len(r.Foreign) != 1 || r.Foreign[0] != "notes" {
		t.Errorf("foreign children %v", r.Foreign)
	}
	text := r.Text()
	for _, want := range []string{"HOLDS", "watches 0", "2 in line", "notes", fmt.Sprintf("0x%x", uint64(a.SessionID()))} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	var j map[string]any
	if err := json.Unmarshal(r.JSON(), &j); err != nil || j["v"] != 1.0 {
		t.Errorf("JSON %s: %v", r.JSON(), err)
	}
}

func TestRead_twoFamilies_warns(t *testing.T) {
	e := zktest.Need(t)
	c := client(t, e)
	p := folder(t, c, e)
	create(t, c, p+"/5e2bf9d0c3e94b0e8d7d3f7d4e1a9b00__lock__", inLine)
	create(t, c, p+"/_c_0b7fa3e5-62b6-4d3c-8c1a-6b7f7c4f9d11-lock-", inLine)
	r := read(t, attach.Options{Servers: e.Connect(), Path: p})
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "do not exclude each other") {
		t.Fatalf("warnings %q", r.Warnings)
	}
	if n := len(r.Holders()); n != 2 {
		t.Errorf("%d holders; each family has one of its own", n)
	}
}

func TestRead_everyLayout_ofLocks(t *testing.T) {
	e := zktest.Need(t)
	c := client(t, e)
	p := folder(t, c, e)
	for _, d := range []string{"/rw", "/sem", "/sem/locks", "/sem/leases", "/folder"} {
		create(t, c, p+d, 0)
	}
	create(t, c, p+"/rw/_c_0b7fa3e5-62b6-4d3c-8c1a-6b7f7c4f9d11-__READ__", inLine)
	create(t, c, p+"/rw/_c_0b7fa3e5-62b6-4d3c-8c1a-6b7f7c4f9d12-__READ__", inLine)
	writer := create(t, c, p+"/rw/_c_0b7fa3e5-62b6-4d3c-8c1a-6b7f7c4f9d13-__WRIT__", inLine)
	create(t, c, p+"/sem/leases/_c_0b7fa3e5-62b6-4d3c-8c1a-6b7f7c4f9d11-lease-", inLine)
	create(t, c, p+"/sem/leases/_c_0b7fa3e5-62b6-4d3c-8c1a-6b7f7c4f9d12-lease-", inLine)
	create(t, c, p+"/sem/locks/_c_0b7fa3e5-62b6-4d3c-8c1a-6b7f7c4f9d13-lock-", inLine)
	create(t, c, p+"/alone", zk.FlagEphemeral)

	rw := read(t, attach.Options{Servers: e.Connect(), Path: p + "/rw"})
	if rw.Kind != recipe.ReadWrite || len(rw.Holders()) != 2 || rw.Places[2].Node != path.Base(writer) || rw.Places[2].Holds {
		t.Errorf("read/write lock: %+v", rw)
	}
	sem := read(t, attach.Options{Servers: e.Connect(), Path: p + "/sem", Permits: 2})
	if sem.Kind != recipe.Semaphore || len(sem.Holders()) != 2 || len(sem.Places) != 3 {
		t.Errorf("semaphore: %+v", sem)
	}
	alone := read(t, attach.Options{Servers: e.Connect(), Path: p + "/alone"})
	if alone.Kind != recipe.Unfair || len(alone.Holders()) != 1 || alone.Places[0].Session != c.SessionID() {
		t.Errorf("unfair lock: %+v", alone)
	}
	all := read(t, attach.Options{Servers: e.Connect(), Path: p})
	if len(all.Locks) != 3 || len(all.Foreign) != 1 {
		t.Errorf("folder: locks %+v, foreign %v", all.Locks, all.Foreign)
	}
	if none := read(t, attach.Options{Servers: e.Connect(), Path: p + "/nothing"}); none.Exists || len(none.Notes) == 0 {
		t.Errorf("a missing path reads as %+v", none)
	}
	below := read(t, attach.Options{Servers: e.Connect() + p, Path: "/rw"})
	if len(below.Places) != 3 {
		t.Errorf("with the chroot %s: %+v", p, below)
	}
}

func TestRead_onlySrvrAllowed_infersAndSaysSo(t *testing.T) {
	e := zktest.Start(t, zkserver.Options{Extra: map[string]string{"4lw.commands.whitelist": "srvr"}})
	if !e.Servers()[0].Control() {
		t.Skip("an external server's white list is not ours to set")
	}
	c := client(t, e)
	p := folder(t, c, e)
	create(t, c, p+"/lock-", inLine)
	create(t, c, p+"/lock-", inLine)
	r := read(t, attach.Options{Servers: e.Connect(), Path: p})
	if r.Places[1].Observed || r.Places[1].WaitsFor != r.Places[0].Node || !strings.Contains(r.Text(), "(inferred)") {
		t.Errorf("read as %+v\n%s", r.Places, r.Text())
	}
	if notes := strings.Join(r.Notes, " "); !strings.Contains(notes, "4lw.commands.whitelist") {
		t.Errorf("notes %q do not say what to set", notes)
	}
}

func TestRead_5000children_ofOneDirectory(t *testing.T) {
	e := zktest.Need(t)
	c := client(t, e)
	p := folder(t, c, e)
	for batch := range 50 {
		ops := make([]any, 100)
		for i := range ops {
			ops[i] = &zk.CreateRequest{Path: fmt.Sprintf("%s/lock-%010d", p, batch*100+i), Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral}
		}
		if _, err := c.Multi(ops...); err != nil {
			t.Fatal(err)
		}
	}
	w, err := attach.Open(t.Context(), attach.Options{Servers: e.Connect(), Path: p})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	reader := zkstat.NewReader(e.Servers()[0].Addr(), "", nil)
	before, err := reader.Monitor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	r, err := w.Read(t.Context())
	first := time.Since(start)
	if err != nil || len(r.Places) != 5000 || !r.Places[0].Holds || r.Places[4999].WaitsFor != "lock-0000004998" {
		t.Fatalf("%d places, %v", len(r.Places), err)
	}
	start = time.Now()
	again, err := w.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := time.Since(start)
	after, err := reader.Monitor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cost := again.Cost.Since(r.Cost)
	t.Logf("first reading %v (%v), next %v (%v)", first, r.Cost, next, cost)
	// A list, the holder, and at most two words.
	if r.Cost.Requests < 5001 || cost.Requests < 2 || cost.Requests > 4 || cost.Bytes < 5000*15 || cost.Bytes > 5000*80 {
		t.Errorf("the first reading cost %v and the next %v", r.Cost, cost)
	}
	// The server counts what it was asked, our own mntr included.
	if got := after.Counters()["zk_packets_received"] - before.Counters()["zk_packets_received"]; got < 5000 || got > float64(again.Cost.Requests+20) {
		t.Errorf("the server got %v packets, the readings say %d requests", got, again.Cost.Requests)
	}
	if before.Watches != after.Watches {
		t.Errorf("watches went from %d to %d: attaching must set none", before.Watches, after.Watches)
	}
	tries := readInShortGoes(t, attach.Options{Servers: e.Connect(), Path: p}, first/6)
	last, err := reader.Monitor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := last.Counters()["zk_packets_received"] - after.Counters()["zk_packets_received"]
	t.Logf("read in %d goes of %v, with %v packets", tries, first/6, got)
	// Each go may leave the 32 behind that were under way, and asks for the list.
	if most := float64(5000 + tries*(32+10) + 20); got > most {
		t.Errorf("%d goes cost the server %v packets, want at most %v: what there was no time for was asked all the same", tries, got, most)
	}
}

// TestRead_childrenNotReadable: their names are known and nothing else, and that is
// what is shown. They are not asked for again.
func TestRead_childrenNotReadable(t *testing.T) {
	e := zktest.Need(t)
	c := client(t, e)
	p := folder(t, c, e)
	if err := c.AddAuth("digest", []byte("ann:pw")); err != nil {
		t.Fatal(err)
	}
	secret := func() string {
		made, err := c.Create(p+"/lock-", []byte("secret"), inLine, zk.AuthACL(zk.PermAll))
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	create(t, c, p+"/lock-", inLine)
	second := secret()
	for range 50 {
		secret()
	}
	w, err := attach.Open(t.Context(), attach.Options{Servers: e.Connect(), Path: p, Words: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	first := mustRead(t, w)
	if got := first.Places[1]; !got.Denied || got.Observed || got.WaitsFor != first.Places[0].Node || len(first.Warnings) > 0 {
		t.Errorf("read as %+v, warnings %q", got, first.Warnings)
	}
	again := mustRead(t, w)
	if cost := again.Cost.Since(first.Cost); cost.Requests > 2 { // the list and the holder
		t.Errorf("the next reading cost %v", cost)
	}
	if lines := attach.Changes(first, again); len(lines) > 0 {
		t.Errorf("changes of what did not change: %q", lines)
	}
	if err := c.Delete(second, -1); err != nil {
		t.Fatal(err)
	}
	third := mustRead(t, w)
	if lines := attach.Changes(again, third); len(lines) != 1 || lines[0] != path.Base(second)+" (not readable) is gone" {
		t.Errorf("changes %q, want the one that is gone", lines)
	}
	for _, text := range []string{third.Text(), string(third.JSON())} {
		for _, nonsense := range []string{"0xffffffffffffffff", "0x0", "2562047h", "0001-01-01"} {
			if strings.Contains(text, nonsense) {
				t.Errorf("%s in %s", nonsense, text)
			}
		}
		if !strings.Contains(text, "--auth") {
			t.Errorf("it does not say what helps: %s", text)
		}
	}
	with := read(t, attach.Options{Servers: e.Connect(), Path: p, Auth: []attach.Auth{{Scheme: "digest", Credential: "ann:pw"}}})
	if got := with.Places[1]; got.Denied || got.Session != c.SessionID() || got.Data != "secret" {
		t.Errorf("with credentials it is read as %+v", got)
	}
}

func mustRead(t *testing.T, w *attach.Watcher) attach.Reading {
	t.Helper()
	r, err := w.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readInShortGoes reads with too little time for all of it, and returns after how
// many goes it was whole: what was read is kept.
func readInShortGoes(t *testing.T, o attach.Options, each time.Duration) int {
	t.Helper()
	w, err := attach.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for try := 1; ; try++ {
		ctx, cancel := context.WithTimeout(t.Context(), each)
		r, err := w.Read(ctx)
		cancel()
		if err == nil {
			if len(r.Places) != 5000 {
				t.Errorf("%d places", len(r.Places))
			}
			return try
		}
		if try == 60 {
			t.Fatalf("not whole after %d goes of %v: %v", try, each, err)
		}
	}
}

func TestRead_serverRestarts_readsAgain(t *testing.T) {
	e := zktest.Start(t, zkserver.Options{})
	s := e.Servers()[0]
	if !s.Control() {
		t.Skip("an external server is not ours to kill")
	}
	c := client(t, e)
	p := folder(t, c, e)
	create(t, c, p+"/lock-", inLine)
	w, err := attach.Open(t.Context(), attach.Options{Servers: e.Connect(), Path: p})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	if _, err := w.Read(ctx); err == nil {
		t.Error("a reading from a dead server gave no error")
	}
	cancel()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for try := 0; ; try++ {
		if r, err := w.Read(t.Context()); err == nil && r.Exists {
			return
		} else if try == 20 {
			t.Fatalf("still no reading: %v", err)
		}
	}
}

func TestOpen_badUse_saysWhatToDo(t *testing.T) {
	e := zktest.Need(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, c := range []struct {
		o    attach.Options
		want error
		says string
	}{
		{attach.Options{Path: "/a"}, attach.ErrUnreachable, "--servers"},
		{attach.Options{Servers: e.Connect(), Path: "a"}, attach.ErrBadPath, "absolute"},
		{attach.Options{Servers: e.Connect(), Path: "/a/"}, attach.ErrBadPath, "slash"},
		{attach.Options{Servers: "127.0.0.1:1", Path: "/a", Connect: 200 * time.Millisecond}, attach.ErrUnreachable, "is it running"},
		{attach.Options{Servers: e.Connect(), Path: "/a", Auth: []attach.Auth{{Scheme: "nonsense", Credential: "x"}}, Connect: 2 * time.Second}, attach.ErrDenied, "nonsense"},
	} {
		w, err := attach.Open(t.Context(), c.o)
		if err == nil {
			w.Close()
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

func TestRead_aclDenies_saysHowToGiveCredentials(t *testing.T) {
	e := zktest.Need(t)
	c := client(t, e)
	p := folder(t, c, e) + "/secret"
	if err := c.AddAuth("digest", []byte("ann:pw")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(p, nil, 0, zk.AuthACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	w, err := attach.Open(t.Context(), attach.Options{Servers: e.Connect(), Path: p})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Read(t.Context()); !errors.Is(err, attach.ErrDenied) || !strings.Contains(err.Error(), "--auth") {
		t.Errorf("without credentials: %v", err)
	}
	with := read(t, attach.Options{Servers: e.Connect(), Path: p, Auth: []attach.Auth{{Scheme: "digest", Credential: "ann:pw"}}})
	if !with.Exists {
		t.Error("with credentials the path is not seen")
	}
}
