package zkstat

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"zklab/internal/zkserver"
	"zklab/internal/zkserver/zktest"
)

func TestMain(m *testing.M) { zktest.Main(m, zkserver.Options{}, nil) }

var capture = flag.Bool("capture", false, "write what real servers answer to testdata")

const patience = 20 * time.Second

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func noLeak(t testing.TB) {
	leak := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, leak) })
}

func client(t testing.TB, addr string, timeout time.Duration) *zk.Conn {
	t.Helper()
	up := make(chan struct{}, 100)
	c, _, err := zk.Connect([]string{addr}, timeout, zk.WithLogger(log.New(io.Discard, "", 0)),
		zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateHasSession {
				up <- struct{}{}
			}
		}))
	must(t, err)
	t.Cleanup(c.Close)
	select {
	case <-up:
	case <-time.After(patience):
		t.Fatal("no session")
	}
	return c
}

var acl = zk.WorldACL(zk.PermAll)

// queue is a lock's queue of three sessions, each watching the one before; the last
// watches the parent's children too.
type queue struct {
	path  string
	conns []*zk.Conn
	nodes []string
}

func newQueue(t testing.TB, addr, chroot string) queue {
	t.Helper()
	q := queue{path: chroot + "/" + strings.ReplaceAll(t.Name(), "/", "-")}
	for i := range 3 {
		c := client(t, addr, 4*time.Second)
		if i == 0 {
			_, err := c.Create(q.path, nil, 0, acl)
			must(t, err)
		}
		node, err := c.Create(q.path+"/lock-", nil, zk.FlagEphemeralSequential, acl)
		must(t, err)
		if i > 0 {
			_, _, _, err = c.GetW(q.nodes[i-1])
			must(t, err)
		}
		q.conns, q.nodes = append(q.conns, c), append(q.nodes, node)
	}
	_, _, _, err := q.conns[2].ChildrenW(q.path)
	must(t, err)
	t.Cleanup(func() {
		c := q.conns[0]
		for _, n := range q.nodes {
			if err := c.Delete(n, -1); err != nil && err != zk.ErrNoNode {
				t.Error(err)
			}
		}
		if err := c.Delete(q.path, -1); err != nil {
			t.Error(err)
		}
	})
	return q
}

var words = []string{"srvr", "mntr", "cons", "dump", "wchp", "wchs", "conf"}

var commands = []string{"monitor", "connections", "dump", "watches_by_path", "watch_summary", "configuration"}

// TestCapture writes what a standalone server, a leader and a follower of a queue say.
func TestCapture(t *testing.T) {
	if !*capture {
		t.Skip("only with -capture")
	}
	single := zktest.Need(t)
	three := zktest.Start(t, zkserver.Options{Size: 3})
	for _, e := range []*zkserver.Ensemble{single, three} {
		for _, s := range e.Servers() {
			mode, err := s.Mode(within(t))
			must(t, err)
			t.Run(mode, func(t *testing.T) {
				newQueue(t, s.Addr(), e.Chroot())
				save := func(name string, b []byte, err error) {
					must(t, err)
					dir := filepath.Join("testdata", strings.SplitN(e.Version(), "-", 2)[0], mode)
					must(t, os.MkdirAll(dir, 0o755))
					must(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
				}
				for _, w := range words {
					b, err := askWord(within(t), new(net.Dialer).DialContext, s.Addr(), w)
					save(w+".txt", b, err)
				}
				for _, c := range commands {
					b, err := askAdmin(within(t), s.AdminAddr(), c)
					save(c+".json", b, err)
				}
			})
		}
	}
}

// saved gives captured answers by the mode of the server.
func saved(t testing.TB, name string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*", name))
	must(t, err)
	if len(files) < 3 {
		t.Fatalf("%d captured answers of %s: run go test -capture", len(files), name)
	}
	got := make(map[string][]byte)
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(t, err)
		got[fmt.Sprint(filepath.Base(filepath.Dir(f)))] = b
	}
	return got
}
