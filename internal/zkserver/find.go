package zkserver

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// finder looks for an installed ZooKeeper and Java. Its fields are the edge to
// the system, so that tests can root it elsewhere.
type finder struct {
	getenv func(string) string
	root   string                 // what stands before the system's paths; "" is "/"
	cache  func() (string, error) // our folder in the user's cache
}

// ignoreEnv names what is not to be looked for on the system, so that it is
// fetched: "zookeeper", "java", or "all".
const ignoreEnv = "ZKLAB_IGNORE_INSTALLED"

func systemFinder() finder {
	return finder{getenv: os.Getenv, cache: cacheFolder}
}

func (f finder) ignores(what string) bool {
	v := f.getenv(ignoreEnv)
	return v == what || v == "all"
}

// cacheFolder is the only place where fetched software is put.
func cacheFolder() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "zklab"), nil
}

// installation is a ZooKeeper that can be run.
type installation struct {
	from      string // where it was found, for people
	classpath []string
	admin     bool // the AdminServer's jars are there
}

// zookeeper returns the first installation found, or nil and where it looked.
func (f finder) zookeeper() (*installation, []string) {
	var looked []string
	if !f.ignores("zookeeper") {
		var in *installation
		if in, looked = f.installedZookeeper(); in != nil {
			return in, nil
		}
	}
	if in := f.cachedZookeeper(); in != nil {
		return in, nil
	}
	if dir, err := f.cache(); err == nil {
		looked = append(looked, dir)
	}
	return nil, looked
}

func (f finder) installedZookeeper() (*installation, []string) {
	var looked []string
	if home := f.getenv("ZOOKEEPER_HOME"); home != "" {
		looked = append(looked, "ZOOKEEPER_HOME="+home)
		if in := release(home); in != nil {
			return in, nil
		}
	}
	debian := filepath.Join(f.root, "/usr/share/java")
	looked = append(looked, debian)
	if in := debianJars(debian); in != nil {
		return in, nil
	}
	looked = append(looked, "Homebrew's and the other usual places")
	for _, home := range f.zookeeperHomes() {
		if in := release(home); in != nil {
			return in, nil
		}
	}
	return nil, looked
}

// cachedZookeeper is what was fetched before; nil when there is none, or when
// it is damaged.
func (f finder) cachedZookeeper() *installation {
	dir, err := f.cache()
	if err != nil {
		return nil
	}
	s := store{dir: dir}
	if s.intact(entryDebian) {
		if in := debianJars(filepath.Join(s.path(entryDebian), "usr/share/java")); in != nil {
			return in
		}
	}
	if s.intact(entryApache) {
		return release(s.path(entryApache))
	}
	return nil
}

// zookeeperHomes are the usual places of an unpacked release: Homebrew's, and
// those of people who unpack it by hand.
func (f finder) zookeeperHomes() []string {
	var homes []string
	for _, p := range []string{
		"/opt/homebrew/opt/zookeeper/libexec", "/usr/local/opt/zookeeper/libexec",
		"/home/linuxbrew/.linuxbrew/opt/zookeeper/libexec",
		"/opt/zookeeper", "/usr/local/zookeeper", "/usr/share/zookeeper", "/usr/lib/zookeeper",
	} {
		homes = append(homes, filepath.Join(f.root, p))
	}
	return homes
}

// debianNames are the jars that Debian's server loads, besides zookeeper.jar.
// The first group must be there, the AdminServer's may be missing.
var (
	debianNames = []string{"zookeeper-jute", "commons-cli", "commons-io", "metrics-core",
		"netty-buffer", "netty-common", "netty-handler", "netty-transport", "slf4j-api", "snappy-java"}
	debianAdmin = []string{"jackson-annotations", "jackson-core", "jackson-databind",
		"jetty9-http", "jetty9-io", "jetty9-security", "jetty9-server", "jetty9-servlet", "jetty9-util", "servlet-api"}
	debianMore = []string{"slf4j-simple", "jetty9-util-ajax", "jline", "netty-codec", "netty-resolver",
		"netty-transport-native-epoll", "netty-transport-native-unix-common"}
)

// debianJars is Debian's installation in dir (/usr/share/java, or where its
// packages were unpacked); nil when a jar is missing that the server needs.
func debianJars(dir string) *installation {
	in := &installation{from: dir, admin: true}
	add := func(name string) bool {
		path := filepath.Join(dir, name+".jar")
		if !isFile(path) {
			return false
		}
		in.classpath = append(in.classpath, path)
		return true
	}
	if !add("zookeeper") {
		return nil
	}
	for _, name := range debianNames {
		if !add(name) {
			return nil
		}
	}
	for _, name := range debianAdmin {
		in.admin = add(name) && in.admin
	}
	for _, name := range debianMore {
		add(name)
	}
	return in
}

// releaseJar is the server's jar in an Apache release; zookeeper-jute-… is not.
var releaseJar = regexp.MustCompile(`^zookeeper-[0-9][^/]*\.jar$`)

// release is an unpacked Apache release in home: lib/*.jar since 3.5; nil when
// home holds none.
func release(home string) *installation {
	in := &installation{from: home}
	var server, jute bool
	for _, dir := range []string{filepath.Join(home, "lib"), home} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := e.Name()
			path := filepath.Join(dir, name)
			if !strings.HasSuffix(name, ".jar") || !isFile(path) {
				continue
			}
			server = server || releaseJar.MatchString(name)
			jute = jute || strings.HasPrefix(name, "zookeeper-jute")
			in.admin = in.admin || strings.HasPrefix(name, "jetty-server") || strings.HasPrefix(name, "jetty9-server")
			in.classpath = append(in.classpath, path)
		}
	}
	if !server || !jute {
		return nil
	}
	slices.Sort(in.classpath)
	return in
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
