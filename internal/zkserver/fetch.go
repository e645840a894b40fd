package zkserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// fetchLimit bounds all downloads of a first run together.
const fetchLimit = 5 * time.Minute

// Debian's packages with the jars that a server loads (see debianNames).
var (
	debianPackages = []string{"libzookeeper-java", "libcommons-cli-java", "libcommons-io-java",
		"libdropwizard-metrics-java", "libnetty-java", "libslf4j-java", "libsnappy-java"}
	debianAdminPackages = []string{"libjackson2-annotations-java", "libjackson2-core-java",
		"libjackson2-databind-java", "libjetty9-java", "libservlet-api-java"}
	// Libraries of Debian's headless Java that a bare system may lack.
	javaLibraries = []string{"zlib1g", "libstdc++6", "libgcc-s1"}
)

// fetcher gets what the finder did not find.
type fetcher struct {
	finder  finder
	store   store
	say     func(format string, args ...any)
	sources []string // more apt sources, for tests
	noApt   bool     // for tests: as on a system without apt
}

// zookeeper fetches ZooKeeper: Debian's packages where apt is, else (or when
// that fails) the Apache release.
func (f fetcher) zookeeper(ctx context.Context) (*installation, error) {
	var tried []error
	for _, way := range []func(context.Context) error{f.debianZookeeper, f.apacheZookeeper} {
		err := way(ctx)
		if err == nil {
			if in := f.finder.cachedZookeeper(); in != nil {
				return in, nil
			}
			err = errors.New("what was fetched is not in the cache")
		}
		tried = append(tried, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, together(tried...)
}

func (f fetcher) debianZookeeper(ctx context.Context) error {
	err := f.withApt(ctx, entryDebian, "ZooKeeper", func(a *apt, dir string) error {
		want := debianPackages
		for _, p := range debianAdminPackages {
			if a.found[p] {
				want = append(slices.Clip(want), p)
			}
		}
		if !a.found[want[0]] {
			return fmt.Errorf("the system's package sources have no %s", want[0])
		}
		if err := a.unpack(ctx, dir, want...); err != nil {
			return err
		}
		for _, dead := range []string{"usr/share/doc", "usr/share/maven-repo", "usr/lib"} {
			if err := os.RemoveAll(filepath.Join(dir, dead)); err != nil {
				return err
			}
		}
		if debianJars(filepath.Join(dir, "usr/share/java")) == nil {
			return errors.New("the packages lack a jar that the server needs")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("from Debian's packages: %w", err)
	}
	return nil
}

// java fetches Debian's headless Java.
func (f fetcher) java(ctx context.Context) (*javaRuntime, error) {
	err := f.withApt(ctx, entryJava, "Java", func(a *apt, dir string) error {
		deps, err := a.depends(ctx, "default-jre-headless")
		if err != nil {
			return err
		}
		i := slices.IndexFunc(deps, regexp.MustCompile(`^openjdk-[0-9]+-jre-headless$`).MatchString)
		if i < 0 {
			return fmt.Errorf("the system's package sources have no headless Java (%v)", deps)
		}
		want := []string{deps[i]}
		for _, p := range javaLibraries {
			if a.found[p] {
				want = append(want, p)
			}
		}
		if err := a.unpack(ctx, dir, want...); err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(dir, "usr/share")); err != nil {
			return err
		}
		if err := relink(dir); err != nil {
			return err
		}
		return tryJava(ctx, dir)
	})
	if err != nil {
		return nil, fmt.Errorf("from Debian's packages: %w", err)
	}
	if rt := f.finder.cachedJava(ctx); rt != nil {
		return rt, nil
	}
	return nil, errors.New("the Java that was fetched does not run")
}

// withApt fills the entry by means of apt, whose own folder is removed again.
func (f fetcher) withApt(ctx context.Context, entry, what string, fill func(a *apt, dir string) error) error {
	if f.noApt {
		return errNoApt
	}
	return f.store.fill(ctx, entry, f.say, func(dir string) error {
		private := filepath.Join(dir, "apt")
		if err := os.Mkdir(private, 0o755); err != nil {
			return err
		}
		defer os.RemoveAll(private)
		a, err := newApt(ctx, private, f.say, f.sources)
		if err != nil {
			return err
		}
		f.say("fetching %s from this system's package sources into %s", what, f.store.dir)
		if err := a.update(ctx); err != nil {
			return err
		}
		if err := fill(a, dir); err != nil {
			return err
		}
		return os.RemoveAll(private)
	})
}

// relink turns absolute links to files that were unpacked with them (a Java's
// conf folder is one, to /etc) into relative ones.
func relink(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink == 0 {
			return err
		}
		target, err := os.Readlink(path)
		if err != nil || !filepath.IsAbs(target) {
			return err
		}
		if _, err := os.Lstat(filepath.Join(dir, target)); err != nil {
			return nil // not ours
		}
		rel, err := filepath.Rel(filepath.Dir(path), filepath.Join(dir, target))
		if err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Symlink(rel, path)
	})
}

// tryJava runs the unpacked Java, and has it write its archive of loaded
// classes, as the package's own set-up would: servers then start faster.
func tryJava(ctx context.Context, dir string) error {
	rt := unpackedJava(dir)
	if rt == nil {
		return errors.New("the package holds no Java")
	}
	for _, c := range []struct {
		arg  string
		must bool
	}{{"-version", true}, {"-Xshare:dump", false}} {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, rt.bin, c.arg)
		cmd.Env = append(os.Environ(), rt.env...)
		cmd.WaitDelay = time.Second
		if out, err := cmd.CombinedOutput(); err != nil && c.must {
			return fmt.Errorf("the unpacked Java does not run: %w: %s", err, firstLine(string(out)))
		}
	}
	return nil
}

// unpackedJava is the Java in a folder that Debian's packages were unpacked to.
func unpackedJava(dir string) *javaRuntime {
	bins, _ := filepath.Glob(filepath.Join(dir, "usr/lib/jvm/*/bin/java"))
	if len(bins) == 0 {
		return nil
	}
	rt := &javaRuntime{bin: bins[0]}
	var libs []string
	for _, pattern := range []string{"usr/lib/*-linux-*", "lib/*-linux-*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		libs = append(libs, found...)
	}
	if len(libs) > 0 && runtime.GOOS == "linux" {
		libs = append(libs, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
		rt.env = []string{"LD_LIBRARY_PATH=" + strings.Join(libs, ":")}
	}
	return rt
}
