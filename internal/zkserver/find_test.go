package zkserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// touch makes empty files below dir.
func touch(t *testing.T, dir string, mode os.FileMode, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
}

func rooted(root string, env map[string]string) finder {
	return finder{root: root, getenv: func(k string) string { return env[k] },
		cache: func() (string, error) { return filepath.Join(root, "cache"), nil }}
}

func jars(prefix string, groups ...[]string) []string {
	var names []string
	for _, name := range slices.Concat(groups...) {
		names = append(names, prefix+name+".jar")
	}
	return names
}

func TestFind_zookeeper(t *testing.T) {
	debian := jars("usr/share/java/", []string{"zookeeper"}, debianNames)
	brew := []string{"opt/homebrew/opt/zookeeper/libexec/lib/zookeeper-3.9.3.jar", "opt/homebrew/opt/zookeeper/libexec/lib/zookeeper-jute-3.9.3.jar"}
	for name, c := range map[string]struct {
		files []string
		home  string // ZOOKEEPER_HOME below the root
		from  string // below the root; "": nothing is found
		admin bool
	}{
		"nothing":           {nil, "", "", false},
		"debian_noAdmin":    {debian, "", "usr/share/java", false},
		"debian_admin":      {append(jars("usr/share/java/", debianAdmin), debian...), "", "usr/share/java", true},
		"debian_incomplete": {debian[:len(debian)-1], "", "", false},
		"homebrew":          {brew, "", "opt/homebrew/opt/zookeeper/libexec", false},
		"homebrew_admin":    {append(brew, "opt/homebrew/opt/zookeeper/libexec/lib/jetty-server-9.4.jar"), "", "opt/homebrew/opt/zookeeper/libexec", true},
		"homeWins":          {append([]string{"mine/lib/zookeeper-3.8.4.jar", "mine/lib/zookeeper-jute-3.8.4.jar"}, debian...), "mine", "mine", false},
		"homeIsNone":        {debian, "nowhere", "usr/share/java", false},
		"onlyJute":          {[]string{"opt/zookeeper/lib/zookeeper-jute-3.9.3.jar"}, "", "", false},
		"sourceTree":        {[]string{"opt/zookeeper/lib/zookeeper-contrib-1.jar", "opt/zookeeper/lib/zookeeper-jute-3.9.3.jar"}, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			root, env := t.TempDir(), map[string]string{}
			touch(t, root, 0o644, c.files...)
			if c.home != "" {
				env["ZOOKEEPER_HOME"] = filepath.Join(root, c.home)
			}
			in, looked := rooted(root, env).zookeeper()
			switch {
			case in == nil && (c.from != "" || len(looked) == 0):
				t.Errorf("nothing found in %v", looked)
			case in != nil && (in.from != filepath.Join(root, c.from) || in.admin != c.admin):
				t.Errorf("found %s, admin %v; want %s, %v", in.from, in.admin, c.from, c.admin)
			}
		})
	}
}

func TestFind_java_choosesTheFirstThatIsNewEnough(t *testing.T) {
	root := t.TempDir()
	for _, j := range []struct{ home, version string }{
		{"home", "1.7.0_80"}, {"path", "1.6.0"}, {"usr/lib/jvm/java-8", "1.8.0_412"}, {"usr/lib/jvm/java-21", "21.0.4"},
	} {
		touch(t, root, 0o755, j.home+"/bin/java")
		if err := os.WriteFile(filepath.Join(root, j.home, "release"), []byte("X=1\nJAVA_VERSION=\""+j.version+"\"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"JAVA_HOME": root + "/home", "PATH": "relative:" + root + "/path/bin:" + root + "/none"}
	rt, err := rooted(root, env).java(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rt.version < 8 || !strings.HasPrefix(rt.bin, root+"/usr/lib/jvm/") {
		t.Errorf("took %s, version %d", rt.bin, rt.version)
	}
	env["JAVA_HOME"] = root + "/usr/lib/jvm/java-8"
	if rt, err = rooted(root, env).java(t.Context()); err != nil || rt.version != 8 {
		t.Errorf("JAVA_HOME must win: %+v, %v", rt, err)
	}
}

func TestParseJavaVersion(t *testing.T) {
	for text, want := range map[string]int{
		"openjdk version \"17.0.15\" 2025-04-15":                                17,
		"java version \"1.8.0_412\"":                                            8,
		"java version \"1.7.0\"":                                                7,
		"openjdk version \"21\" 2023-09-19":                                     21,
		"openjdk version \"22-ea\"":                                             22,
		"The operation couldn't be completed. Unable to locate a Java Runtime.": 0,
		"": 0, "\"\"": 0, "\"99999999999999999999\"": 0,
	} {
		if got := parseJavaVersion(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// A person is not told that nothing was looked at.
func TestNotInstalled_namesWhereItLooked(t *testing.T) {
	for want, f := range map[string]finder{
		"looked at /none/cache": rooted("/none", map[string]string{ignoreEnv: "all"}),
		"not looked for: ZKLAB_IGNORE_INSTALLED is set, and there is no cache folder": {getenv: func(string) string { return "all" },
			cache: func() (string, error) { return "", os.ErrNotExist }},
	} {
		_, looked := f.zookeeper()
		if err := notInstalled(looked); !strings.Contains(err.Error(), "("+want+")") {
			t.Errorf("%v; want it to say %s", err, want)
		}
	}
}
