package zkserver

import (
	"testing"
)

func TestJava_oneServer_isReadyAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	e := start(t, Options{Backend: Java})
	if e.Tick() != DefaultTick || e.Version() == "" || e.Chroot() != "" {
		t.Errorf("tick %v, version %q, chroot %q", e.Tick(), e.Version(), e.Chroot())
	}
	mode, err := e.Servers()[0].Mode(t.Context())
	if err != nil || mode != "standalone" {
		t.Errorf("mode %q, %v", mode, err)
	}
}

func TestJava_threeServers_haveALeader(t *testing.T) {
	e := start(t, Options{Backend: Java, Size: 3})
	l, err := e.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("leader is %d", l.ID())
}
