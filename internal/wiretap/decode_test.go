package wiretap

import (
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zklab/internal/zkserver/zktest"
)

var capture = flag.Bool("capture", false, "write what a real server says to testdata/captured")

// TestDecode_everyOperationOfARealServer runs each operation through a relay and
// holds what was reported against what was asked.
func TestDecode_everyOperationOfARealServer(t *testing.T) {
	root, _ := root(t)
	addr := target(t)
	if *capture {
		addr = recorder(t, addr)
	}
	r, p := relay(t, addr)
	got := dialRaw(t, r.Addr()).everything(root)
	p.wait(t, "the end", kind(Closed))

	frames := p.all()
	for _, f := range frames {
		if f.Kind == Undecoded {
			t.Errorf("undecoded %s %s: %s", f.Dir, f.Op, f.Text)
		}
	}
	one := func(k FrameKind, op Op) Frame {
		t.Helper()
		i := slices.IndexFunc(frames, func(f Frame) bool { return f.Kind == k && f.Op == op })
		if i < 0 {
			t.Fatalf("no %s of %s", k, op)
		}
		return frames[i]
	}
	for op, code := range got {
		req, rep := Request, Reply
		switch op {
		case OpPing:
			req, rep = Ping, Pong
		case OpCloseSession:
			req = CloseSession
		}
		q, a := one(req, op), one(rep, op)
		if q.Xid != a.Xid || a.Latency <= 0 || a.Path != q.Path && op != OpPing {
			t.Errorf("%s: request %+v, reply %+v", op, q, a)
		}
		if a.Err != code {
			t.Errorf("%s: error %d reported, %d received", op, a.Err, code)
		}
		if n := r.Counters().Requests[op]; n < 1 {
			t.Errorf("%s was counted %d times", op, n)
		}
	}
	checkFields(t, root, frames, one)
}

func checkFields(t *testing.T, root string, frames []Frame, one func(FrameKind, Op) Frame) {
	t.Helper()
	asked := one(SessionRequest, 0)
	given := one(SessionReply, 0)
	if asked.Timeout != 4*time.Second || given.Timeout != 4*time.Second || given.Session == 0 || given.PasswordLen != 16 {
		t.Errorf("session: asked %v, given %v, id %x, password of %d bytes", asked.Timeout, given.Timeout, given.Session, given.PasswordLen)
	}
	if c := one(Request, OpCreate); c.Mode != EphemeralSequential || c.DataLen != 4 || c.Session != given.Session {
		t.Errorf("create request: %+v", c)
	}
	created := one(Reply, OpCreate)
	if !strings.HasPrefix(created.Created, root+"/a00000") || created.Zxid == 0 {
		t.Errorf("create reply: %+v", created)
	}
	if c := one(Reply, OpCreate2); c.Stat == nil || c.Stat.Czxid != c.Zxid || c.Created != root+"/b" || c.Stat.EphemeralOwner != 0 {
		t.Errorf("create2 reply: %+v", c)
	}
	if e := one(Reply, OpExists); e.Err != ErrNoNode || !e.Watch {
		t.Errorf("exists on a missing node: err %d, watch %v", e.Err, e.Watch)
	}
	if g := one(Reply, OpGetData); g.DataLen != 4 || !g.Watch || g.Stat == nil {
		t.Errorf("getData reply: %+v", g)
	}
	if s := one(Reply, OpSetData); s.Stat == nil || s.Stat.Version != 1 {
		t.Errorf("setData reply: %+v", s)
	}
	for _, op := range []Op{OpGetChildren, OpGetChildren2} {
		l := one(Reply, op)
		if l.Count != 3 || len(l.Children) != 3 || !slices.Contains(l.Children, "b") {
			t.Errorf("%s reply: %d %v", op, l.Count, l.Children)
		}
		if (l.Stat != nil) != (op == OpGetChildren2) {
			t.Errorf("%s reply: stat %v", op, l.Stat)
		}
	}
	if w := one(Request, OpSetWatches).Watches; w == nil || !slices.Equal(w.Exists, []string{root + "/none"}) {
		t.Errorf("setWatches: %+v", w)
	}
	if w := one(Request, OpSetWatches2).Watches; w == nil || len(w.Persistent) != 1 {
		t.Errorf("setWatches2: %+v", w)
	}
	if w := one(Request, OpAddWatch); w.WatchMode != WatchPersistentRecursive || !w.Watch {
		t.Errorf("addWatch: %+v", w)
	}
	m := one(Reply, OpMulti)
	if len(m.Parts) != 3 || m.Parts[0].Op != OpCreate2 || m.Parts[0].Path != root+"/m" || m.Parts[2].Path != root+"/m" || m.Err != ErrOK {
		t.Errorf("multi reply: %+v", m)
	}
	if !slices.ContainsFunc(frames, func(f Frame) bool {
		return f.Kind == Reply && f.Op == OpMulti && f.Err == ErrBadVersion && f.Parts[1].Path == root+"/b"
	}) {
		t.Error("the failed multi is not reported with the error of its part")
	}
	if !slices.ContainsFunc(frames, func(f Frame) bool {
		return f.Kind == WatchEvent && f.Path == root+"/b" && f.Event.Type == EventNodeDataChanged && f.Event.State == 3
	}) {
		t.Error("the data watch's event is not reported")
	}
}

// recorder is a plain forwarder that keeps what passed, for testdata.
func recorder(t *testing.T, addr string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	dir := filepath.Join("testdata", "captured")
	must(t, os.MkdirAll(dir, 0o755))
	version := strings.SplitN(zktest.Need(t).Version(), "-", 2)[0]
	save := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, "zookeeper-"+version+"-"+name+".bin"))
		must(t, err)
		return f
	}
	up, down := save("to-server"), save("to-client")
	done := make(chan struct{}, 2)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(io.MultiWriter(s, up), c); _ = s.Close(); done <- struct{}{} }()
		_, _ = io.Copy(io.MultiWriter(c, down), s)
		_ = c.Close()
		done <- struct{}{}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done; <-done; must(t, up.Close()); must(t, down.Close()) })
	return l.Addr().String()
}
