package zkserver

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/wiretap"
)

// TestExternal shares one server among its parts; the last one kills it.
func TestExternal(t *testing.T) {
	private := start(t, Options{Backend: Java, Tick: 300 * time.Millisecond})
	t.Run("ownChrootEach_removedByClose", func(t *testing.T) { ownChrootEach(t, private) })
	t.Run("replyToCreateLost_pathIsRemoved", func(t *testing.T) { replyToCreateLost(t, private) })
	t.Run("notServingYet_waits", func(t *testing.T) { notServingYet(t, private) })
	t.Run("unreachableAtClose_saysWhatIsLeft", func(t *testing.T) { unreachableAtClose(t, private) })
}

func ownChrootEach(t *testing.T, private *Ensemble) {
	t.Setenv("ZKLAB_SERVERS", private.Connect())
	a, b := start(t, Options{}), start(t, Options{})
	if a.Backend() != External || a.Version() != private.Version() || a.Tick() != private.Tick() {
		t.Errorf("backend %q, version %q, tick %v", a.Backend(), a.Version(), a.Tick())
	}
	if a.Chroot() == b.Chroot() || !strings.HasPrefix(a.Chroot(), "/zklab-") {
		t.Errorf("chroots %q and %q", a.Chroot(), b.Chroot())
	}
	s := a.Servers()[0]
	if s.Control() || s.Pid() != 0 || s.LogTail(5) != "" {
		t.Error("an external server must not be ours to control")
	}
	for name, err := range map[string]error{"pause": s.Pause(), "continue": s.Continue(), "kill": s.Kill(), "restart": s.Restart(t.Context())} {
		if !errors.Is(err, ErrNoControl) {
			t.Errorf("%s: %v, want ErrNoControl", name, err)
		}
	}
	if l, err := a.Leader(t.Context()); err != nil || l != s {
		t.Errorf("leader %v, %v", l, err)
	}
	err := withConn(t.Context(), []string{private.Connect()}, func(c *zk.Conn) error {
		for _, path := range []string{"/a", "/a/b", "/a/b/c", "/a/d"} {
			if _, err := c.Create(a.Chroot()+path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				return err
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		children, _, err := c.Children("/")
		if got := strings.Join(children, " "); strings.Contains(got, a.Chroot()[1:]) || !strings.Contains(got, b.Chroot()[1:]) {
			t.Errorf("after Close the root holds %s", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestExternal_doesNotServe returns within its bound, and nothing else is
// started instead of what was asked for.
func TestExternal_doesNotServe(t *testing.T) {
	silent := occupy(t) // accepts and never answers
	gone, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	for name, servers := range map[string]string{"refused": loopback(gone[0]),
		"silentAndRefused": loopback(silent) + "," + loopback(gone[0])} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			_, err := Start(t.Context(), Options{Servers: servers})
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), servers) {
				t.Errorf("error is %v, want ErrUnavailable naming %s", err, servers)
			}
			if took := time.Since(began); took > externalLimit+2*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func notServingYet(t *testing.T, private *Ensemble) {
	s := private.Servers()[0]
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(500*time.Millisecond, func() { _ = s.Continue() })
	e := start(t, Options{Servers: private.Connect()})
	if e.Backend() != External {
		t.Errorf("backend %q", e.Backend())
	}
}

func unreachableAtClose(t *testing.T, private *Ensemble) {
	ctx, cancel := context.WithTimeout(t.Context(), StartLimit)
	defer cancel()
	e, err := Start(ctx, Options{Servers: private.Connect()})
	if err != nil {
		t.Fatal(err)
	}
	if err := private.Servers()[0].Kill(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err == nil || !strings.Contains(err.Error(), e.Chroot()) {
		t.Errorf("error is %v, want it to name %s", err, e.Chroot())
	}
}

// replyToCreateLost: the server made the path, and nothing stays on somebody's ensemble.
func replyToCreateLost(t *testing.T, private *Ensemble) {
	relay, err := wiretap.Start(t.Context(), private.Connect(), wiretap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	if !relay.DropReply(wiretap.Match{Op: wiretap.OpCreate}) {
		t.Fatal("the fault was not taken")
	}
	e, err := Start(t.Context(), Options{Servers: relay.Addr()})
	if err == nil {
		e.Close()
	}
	if !errors.Is(err, ErrUnavailable) {
		t.Fatalf("error is %v; was the reply lost?", err)
	}
	err = withConn(t.Context(), []string{private.Connect()}, func(c *zk.Conn) error {
		children, _, err := c.Children("/")
		if got := strings.Join(children, " "); strings.Contains(got, "zklab-") {
			t.Errorf("the root holds %s", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestForcedBackend_absent_isUnavailable(t *testing.T) {
	for backend, why := range map[string]string{External: "ZKLAB_SERVERS", Docker: "built without"} {
		t.Setenv("ZKLAB_BACKEND", backend)
		e, err := Start(t.Context(), Options{})
		if err == nil {
			e.Close()
		}
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: error is %v", backend, err)
		}
	}
}

func TestAsk_serverClosesWithoutAnswer(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}()
	// Whether the end comes as one or as a reset is the kernel's.
	if got, err := Ask(t.Context(), l.Addr().String(), "srvr"); got != "" || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %q, %v", got, err)
	}
}

// One server named twice would be asked twice, and what it counts would count double.
func TestSplitServers_namedTwice_isOne(t *testing.T) {
	got, err := splitServers("a:2181, b:1,a")
	if want := []string{"a:2181", "b:1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}
