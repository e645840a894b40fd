package docker_test

import (
	"errors"
	"testing"
	"time"

	"zklab/internal/zkserver"
)

func TestIsolate_oneServer_hasNoPeers(t *testing.T) {
	s := start(t, zkserver.Options{}).Servers()[0]
	if err := s.Isolate(t.Context()); !errors.Is(err, zkserver.ErrNoPeers) {
		t.Errorf("isolate: %v", err)
	}
	if err := s.Rejoin(t.Context()); !errors.Is(err, zkserver.ErrNoPeers) {
		t.Errorf("rejoin: %v", err)
	}
}

// TestImage_namedOneMissing_othersAreNotTaken: who names an image wants that one.
func TestImage_namedOneMissing_oneLine(t *testing.T) {
	needDocker(t)
	t.Setenv("ZKLAB_ZOOKEEPER_IMAGE", "127.0.0.1:1/no/such:image")
	began := time.Now()
	_, err := zkserver.Start(t.Context(), zkserver.Options{Backend: zkserver.Docker})
	wantUnavailable(t, err, "127.0.0.1:1/no/such:image", "cannot be pulled", "ZKLAB_ZOOKEEPER_IMAGE")
	t.Logf("after %v: %v", time.Since(began).Round(time.Millisecond), err)
}
