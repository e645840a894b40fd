package zkserver

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// makeRelease packs this machine's jars as an Apache release is packed.
func makeRelease(t *testing.T) []byte {
	t.Helper()
	needJava(t)
	in, looked := systemFinder().zookeeper()
	if in == nil {
		t.Fatal("no jars to make a release of in ", looked)
	}
	var files []tarFile
	for _, jar := range in.classpath {
		b, err := os.ReadFile(jar)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(jar)
		if name == "zookeeper.jar" {
			name = "zookeeper-9.9.9.jar"
		}
		files = append(files, tarFile{"lib/" + name, b})
	}
	return pack(t, append(files, tarFile{"bin/zkServer.sh", []byte("not needed")}, tarFile{"LICENSE.txt", []byte("licence")}))
}

type tarFile struct {
	name string
	text []byte
}

func pack(t *testing.T, files []tarFile) []byte {
	t.Helper()
	var b bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	out := tar.NewWriter(zip)
	for _, f := range files {
		err := out.WriteHeader(&tar.Header{Name: "apache-zookeeper-9.9.9-bin/" + f.name, Mode: 0o644, Size: int64(len(f.text))})
		if _, err2 := out.Write(f.text); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
	}
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// site serves a release and its checksum, and counts the downloads.
type site struct {
	release []byte
	digest  string // "" : the right one
	broken  bool   // the connection breaks off in the middle
	hits    atomic.Int32
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/z.tar.gz.sha512":
		d := s.digest
		if d == "" {
			sum := sha512.Sum512(s.release)
			d = hex.EncodeToString(sum[:]) + "  z.tar.gz\n"
		}
		_, _ = io.WriteString(w, d)
	case "/z.tar.gz":
		s.hits.Add(1)
		w.Header().Set("Content-Length", strconv.Itoa(len(s.release)))
		b := s.release
		if s.broken {
			b = b[:len(b)/2]
		}
		_, _ = w.Write(b)
	default:
		http.NotFound(w, r)
	}
}

// apacheBackend fetches from the site, on a machine without apt.
func apacheBackend(t *testing.T, s *site) (*javaBackend, *lines) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	env := javaEnv(t)
	env[apacheURLEnv] = server.URL + "/z.tar.gz"
	b, said := bareBackend(t, env)
	b.fetcher.noApt = true
	return b, said
}

func TestFetch_apache_runsAndIsKept_damagedIsFetchedAgain(t *testing.T) {
	s := &site{release: makeRelease(t)}
	b, said := apacheBackend(t, s)
	for _, step := range []struct {
		name  string
		fetch bool
		hits  int32
	}{{"first run", true, 1}, {"second run", false, 1}, {"after damage", true, 2}} {
		if step.name == "after damage" {
			damage(t, b, entryApache)
		}
		e, err := b.Start(t.Context(), said.options(t), step.fetch)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if e.Servers()[0].AdminAddr() == "" {
			t.Errorf("%s: no AdminServer", step.name)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if n := s.hits.Load(); n != step.hits {
			t.Errorf("%s: %d downloads, want %d", step.name, n, step.hits)
		}
	}
	wantOnlyEntries(t, b, entryApache)
	if !strings.Contains(said.String(), "fetching ZooKeeper from http") {
		t.Errorf("progress said %q", said)
	}
}

// TestFetch_apache_bad: each bad download gives its reason, and nothing of it stays.
func TestFetch_apache_bad(t *testing.T) {
	other := strings.Repeat("0", 128)
	one := []tarFile{{"lib/zookeeper-9.9.9.jar", []byte("jar")}}
	for name, c := range map[string]struct {
		site *site
		want string
	}{
		"checksumWrong": {&site{release: pack(t, one), digest: other}, "checksum wrong"},
		"noChecksum":    {&site{release: pack(t, one), digest: "<html>"}, "holds no SHA-512"},
		"brokeOff":      {&site{release: pack(t, one), broken: true}, "broke off"},
		"noRelease":     {&site{release: pack(t, one)}, "no ZooKeeper release"},
		"noArchive":     {&site{release: []byte("<html>")}, "gzip"},
		"outside":       {&site{release: pack(t, []tarFile{{"lib/../../../evil.jar", nil}})}, "escapes"},
	} {
		t.Run(name, func(t *testing.T) {
			b, said := apacheBackend(t, c.site)
			_, err := b.Start(t.Context(), said.options(t), true)
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
			wantOnlyEntries(t, b)
		})
	}
}

func TestFetch_apache_noNetwork(t *testing.T) {
	b, said := apacheBackend(t, &site{})
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for url, want := range map[string]string{gone.URL + "/z.tar.gz": "refused", "http://host.invalid/z.tar.gz": "host.invalid"} {
		env := javaEnv(t)
		env[apacheURLEnv] = url
		b.finder.getenv = func(k string) string { return env[k] }
		_, err := b.Start(t.Context(), said.options(t), true)
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}

func TestParseDigest(t *testing.T) {
	d := strings.Repeat("0123456789abcdef", 8)
	grouped := "z.tar.gz: " + strings.ToUpper(strings.Join(strings.SplitAfter(d, "ef"), "\n   ")) + "\n"
	for text, want := range map[string]string{
		d: d, d + "  z.tar.gz\n": d, strings.ToUpper(d) + " *z": d, grouped: d,
		"": "", "z.tar.gz:": "", d[1:]: "", d + "0": "", "z: " + d[1:] + "g": "",
	} {
		got, err := parseDigest(text, "url")
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
