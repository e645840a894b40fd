package zkserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProperties_asJavaReadsThem(t *testing.T) {
	for value, want := range map[string]string{
		"/tmp/my tmp/a=b:c#d!": "/tmp/my tmp/a=b:c#d!",
		"/tmp/jürgen":          `/tmp/j\u00fcrgen`,
		"/tmp/日本/😀":            `/tmp/\u65e5\u672c/\ud83d\ude00`,
		`ends in \`:            `ends in \\`,
		"a\tb":                 `a\u0009b`,
	} {
		if got := properties(map[string]string{"k": value}); got != "k="+want+"\n" {
			t.Errorf("%q is written as %q, want %q", value, got, want)
		}
	}
}

// A folder whose name is not Latin, and a setting that ends in a backslash, reach the
// server as they are, in whatever locale we run.
func TestStart_temporaryFolderWithUmlauts(t *testing.T) {
	needJava(t)
	tmp := filepath.Join(t.TempDir(), "jürgen 日本")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	t.Setenv("LC_ALL", "C")
	e := start(t, Options{Backend: Java, Extra: map[string]string{"a.b": `c\`, "maxClientCnxns": "77"}})
	if conf, err := Ask(t.Context(), e.Connect(), "conf"); err != nil || !strings.Contains(conf, "maxClientCnxns=77\n") || !strings.Contains(conf, "jürgen 日本") {
		t.Errorf("the server says %s, %v", conf, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	awaitNothing(t, tmp)
}
