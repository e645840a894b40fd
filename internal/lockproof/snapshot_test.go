package lockproof_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zklab/internal/zkserver"
)

// setCounter sets a node's child-create counter, which 2^31 creates would take
// weeks to bring there: the server is stopped and its snapshot changed. The
// server has to run with -Dzookeeper.digest.enabled=false.
func setCounter(t *testing.T, e *zkserver.Ensemble, path string, counter int32) {
	t.Helper()
	server := e.Servers()[0]
	dir := dataDir(t, server)
	// A restart writes a snapshot that has everything.
	for range 2 {
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if newest := newestSnapshot(t, dir); newest != "" && patchFile(t, newest, path, counter) {
			break
		}
		if err := server.Restart(within(t, startLimit)); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Restart(within(t, startLimit)); err != nil {
		t.Fatal(err)
	}
}

const startLimit = 6 * patience

func dataDir(t *testing.T, s *zkserver.Server) string {
	t.Helper()
	conf, err := zkserver.Ask(within(t, patience), s.Addr(), "conf")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(conf) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "dataDir="); ok {
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
				t.Skipf("the server's data are not on this machine (%s)", dir)
			}
			return dir
		}
	}
	t.Fatalf("conf names no dataDir:\n%s", conf)
	return ""
}

func newestSnapshot(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "snapshot.*"))
	if err != nil {
		t.Fatal(err)
	}
	newest := ""
	for _, f := range files { // the zxid in the name is hexadecimal, without leading zeros
		if len(f) > len(newest) || len(f) == len(newest) && f > newest {
			newest = f
		}
	}
	return newest
}

// patchFile sets the counter in a snapshot; false: the node is not in it.
func patchFile(t *testing.T, file, path string, counter int32) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seals := findSeals(b)
	if len(seals) == 0 {
		t.Fatalf("%s has no seal that fits", file)
	}
	if !patchCounter(b, path, counter) {
		return false
	}
	for _, at := range seals { // each covers the ones before
		binary.BigEndian.PutUint64(b[at:], uint64(adler32.Checksum(b[:at])))
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return true
}

// findSeals finds the checksums: each is the Adler-32 of all bytes before it,
// as eight bytes, and the path "/" follows.
func findSeals(b []byte) []int {
	var seals []int
	mark := []byte{0, 0, 0, 1, '/'}
	for at := 0; at+13 <= len(b); at++ {
		if bytes.Equal(b[at+8:at+13], mark) && binary.BigEndian.Uint64(b[at:]) == uint64(adler32.Checksum(b[:at])) {
			seals = append(seals, at)
		}
	}
	return seals
}

// patchCounter finds the node's record: its path, its data, the number of its
// access list, then its stat, in which the counter follows four longs and the
// version.
func patchCounter(b []byte, path string, counter int32) bool {
	name := binary.BigEndian.AppendUint32(nil, uint32(len(path)))
	at := bytes.Index(b, append(name, path...))
	if at < 0 {
		return false
	}
	at += len(name) + len(path)
	data := int32(binary.BigEndian.Uint32(b[at:]))
	at += 4 + int(max(0, data)) // a node without data has length -1
	at += 8 + 4*8 + 4
	binary.BigEndian.PutUint32(b[at:], uint32(counter))
	return true
}
