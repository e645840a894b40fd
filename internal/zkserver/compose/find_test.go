package compose

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeEngine answers like an engine, on a socket of its own.
func fakeEngine(t *testing.T, h http.HandlerFunc) (host string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "engine.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return "unix://" + path
}

// srvr is a server that answers the one question that is asked of it.
func srvr(t *testing.T, answer string) (port string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4))
			_, _ = c.Write([]byte(answer))
			c.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

func TestFind(t *testing.T) {
	up := srvr(t, "Zookeeper version: 3.9.5\nMode: standalone\n")
	starting := srvr(t, "This ZooKeeper instance is not currently serving requests\n")
	entry := func(profile, ip, port string) string {
		return `{"Labels":{"zklab.profile":"` + profile + `"},"Ports":[{"IP":"` + ip + `","PrivatePort":2181,"PublicPort":` + port + `},{"IP":"` + ip + `","PrivatePort":8080,"PublicPort":1}]}`
	}
	for name, c := range map[string]struct{ answer, want string }{
		"single":       {"[" + entry("single", "127.0.0.1", up) + "]", "single 127.0.0.1:" + up},
		"oneOfThree":   {"[" + entry("trio", "127.0.0.1", up) + "," + entry("trio", "127.0.0.1", "1") + "]", "trio 127.0.0.1:1,127.0.0.1:" + up},
		"both":         {"[" + entry("trio", "127.0.0.1", up) + "," + entry("single", "127.0.0.1", up) + "]", "single 127.0.0.1:" + up + "; trio 127.0.0.1:" + up},
		"notServing":   {"[" + entry("single", "127.0.0.1", starting) + "]", ""},
		"openToOthers": {"[" + entry("single", "0.0.0.0", up) + "]", ""},
		"notPublished": {`[{"Labels":{"zklab.profile":"single"},"Ports":[{"PrivatePort":2181}]}]`, ""},
		"none":         {"[]", ""},
		"nonsense":     {"<html>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			host := fakeEngine(t, func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Query().Get("filters")
				_, _ = w.Write([]byte(c.answer))
			})
			var got []string
			for _, f := range find(t.Context(), host) {
				got = append(got, f.Profile+" "+f.Connect())
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
			if !strings.Contains(asked, `"zklab.profile"`) || !strings.Contains(asked, `"running"`) {
				t.Errorf("asked with filters %s", asked)
			}
		})
	}
}

// TestFind_engineDoesNotAnswer: a start must not wait for a dead engine.
func TestFind_engineDoesNotAnswer(t *testing.T) {
	done := make(chan struct{})
	silent := fakeEngine(t, func(http.ResponseWriter, *http.Request) { <-done })
	defer close(done)
	broken := fakeEngine(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) })
	for _, host := range []string{silent, broken, "unix:///no/such/socket", "tcp://127.0.0.1:1", "ssh://somewhere", ""} {
		began := time.Now()
		if got := find(t.Context(), host); got != nil {
			t.Errorf("%s: found %v", host, got)
		}
		if took := time.Since(began); took > askLimit+time.Second {
			t.Errorf("%s: it took %v", host, took)
		}
	}
}

// The engine is asked on all interfaces, as one on another machine would be: what it
// lists at 127.0.0.1 is not what listens at ours.
func TestFind_engineElsewhere_isNotAsked(t *testing.T) {
	up := srvr(t, "Zookeeper version: 3.9.5\nMode: standalone\n")
	asked := false
	engine := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		_, _ = w.Write([]byte(`[{"Labels":{"zklab.profile":"single"},"Ports":[{"IP":"127.0.0.1","PrivatePort":2181,"PublicPort":` + up + `}]}]`))
	}))
	engine.Start()
	t.Cleanup(engine.Close)
	_, port, _ := net.SplitHostPort(engine.Listener.Addr().String())
	t.Setenv("DOCKER_HOST", "tcp://0.0.0.0:"+port) // reaches it, and is no loopback address
	if got := Find(t.Context()); got != nil || asked {
		t.Errorf("asked: %v, found %v", asked, got)
	}
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:"+port)
	if got := Find(t.Context()); len(got) != 1 {
		t.Errorf("on this machine: found %v; this test sees nothing", got)
	}
}

func TestLocal(t *testing.T) {
	for host, want := range map[string]bool{"unix:///var/run/docker.sock": true, "tcp://127.0.0.1:2375": true, "tcp://[::1]:2375": true,
		"tcp://localhost:2375": true, "tcp://docker:2375": false, "tcp://10.0.0.7:2375": false, "ssh://me@elsewhere": false, "": false} {
		if got := Local(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
