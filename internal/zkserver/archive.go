package zkserver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// archive is Java's archive of the classes that a ZooKeeper loads. A server that starts
// from it needs half of the processor time, and serves in 0.45 s instead of 0.75 s. The first
// single server of a Java and a ZooKeeper makes it when it is closed in good order. It
// is a saving and no more: without one a server starts as it would otherwise, and one
// with which a server does not start is removed.
type archive struct {
	file string // in the cache folder; empty: there can be none
	made bool
}

const (
	archiveJava = 13            // the first Java that writes one at its end
	archiveName = "classes.jsa" // in the server's folder, while it is being made

	archivePrefix = "classes-" // in the cache folder
	maxArchives   = 3          // there, of 10 MB each; the oldest goes
)

// archiveLimit is for writing one: it takes 0.6 s where nothing else runs. Tests wait longer.
var archiveLimit = 1500 * time.Millisecond

// archiveOf names the archive after all that it depends on. Java itself refuses one of
// other jars or another Java.
func archiveOf(cache string, rt *javaRuntime, in *installation) archive {
	if rt.version < archiveJava || os.MkdirAll(cache, 0o755) != nil {
		return archive{}
	}
	sum := sha256.New()
	for _, path := range append([]string{rt.bin}, in.classpath...) {
		st, err := os.Stat(path)
		if err != nil {
			return archive{}
		}
		fmt.Fprintln(sum, path, st.Size(), st.ModTime().UnixNano())
	}
	a := archive{file: filepath.Join(cache, archivePrefix+hex.EncodeToString(sum.Sum(nil)[:8])+".jsa")}
	a.made = !a.missing()
	return a
}

// missing says whether there is still none: somebody else may have made it meanwhile.
func (a archive) missing() bool {
	if a.file == "" {
		return false
	}
	_, err := os.Stat(a.file)
	return err != nil
}

// remove reports whether there was one.
func (a archive) remove() bool { return a.made && os.Remove(a.file) == nil }

// flags are Java's, for a server in the folder. -Xrs makes signals end it at once, which
// only the one that makes an archive must not have: it writes when it is told to end.
func (a archive) flags(dir string, single bool) (flags []string, makes bool) {
	switch {
	case a.made:
		return []string{"-Xrs", "-XX:SharedArchiveFile=" + a.file}, false
	case a.file != "" && single:
		return []string{"-XX:ArchiveClassesAtExit=" + filepath.Join(dir, archiveName)}, true
	}
	return []string{"-Xrs"}, false
}

// keep ends the process so that it writes its archive, and puts that into the cache.
func (a archive) keep(p *process, dir string) error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(archiveLimit):
		return fmt.Errorf("no archive of classes within %v", archiveLimit)
	}
	if err := copyWhole(filepath.Join(dir, archiveName), a.file); err != nil {
		return err
	}
	return a.forget()
}

// forget removes the archives of a Java or a ZooKeeper that nobody may have any more.
func (a archive) forget() error {
	all, err := filepath.Glob(filepath.Join(filepath.Dir(a.file), archivePrefix+"*"))
	if err != nil || len(all) <= maxArchives {
		return err
	}
	made := map[string]time.Time{}
	for _, path := range all {
		if st, err := os.Stat(path); err == nil {
			made[path] = st.ModTime()
		}
	}
	slices.SortFunc(all, func(x, y string) int { return made[y].Compare(made[x]) })
	for _, path := range all[maxArchives:] {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// copyWhole copies a file so that nobody ever sees a part of it under its new name.
func copyWhole(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.CreateTemp(filepath.Dir(to), tempPrefix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(dst.Name())
		}
	}()
	if _, err := io.Copy(dst, src); err != nil {
		_ = dst.Close()
		return err
	}
	if err := dst.Close(); err != nil {
		return err
	}
	return os.Rename(dst.Name(), to)
}
