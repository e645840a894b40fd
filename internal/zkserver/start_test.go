package zkserver

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// occupy listens on a free port until the test ends.
func occupy(t *testing.T) int {
	t.Helper()
	ports, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", loopback(ports[0]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return ports[0]
}

// TestStart_portTakenMeanwhile_triesOthers: somebody took a port after we had
// looked, whichever of the server's ports it is.
func TestStart_portTakenMeanwhile_triesOthers(t *testing.T) {
	needJava(t)
	for role, c := range map[string]struct {
		size   int
		occupy []int // of the ports, four of each server
	}{
		"client":   {1, []int{0}},
		"admin":    {1, []int{1}},
		"quorum":   {3, []int{2, 6, 10}}, // only the one that leads binds its own, and any may
		"election": {3, []int{11}},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			rounds := 0
			b := &javaBackend{finder: systemFinder(), ports: func(n int) ([]int, error) {
				ports, err := freePorts(n)
				if rounds++; rounds == 1 && err == nil {
					for _, i := range c.occupy {
						ports[i] = occupy(t)
					}
				}
				return ports, err
			}}
			o, err := Options{Size: c.size}.Normalize()
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			e, err := b.Start(t.Context(), o, false)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if rounds < 2 {
				t.Error("it did not notice")
			}
			t.Logf("ready at other ports after %v", time.Since(began).Round(time.Millisecond))
		})
	}
}

func TestStart_portTakenEachTime_givesUpAndSaysSo(t *testing.T) {
	needJava(t)
	taken, rounds := occupy(t), 0
	b := &javaBackend{finder: systemFinder(), ports: func(n int) ([]int, error) {
		rounds++
		ports, err := freePorts(n)
		if err == nil {
			ports[0] = taken
		}
		return ports, err
	}}
	o, err := Options{}.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	e, err := b.Start(t.Context(), o, false)
	if err == nil {
		e.Close()
	}
	if !errors.Is(err, ErrStart) || !strings.Contains(err.Error(), strconv.Itoa(taken)) || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("error is %v", err)
	}
	if rounds != portRaces {
		t.Errorf("%d rounds, want %d", rounds, portRaces)
	}
}

// TestStart_serverRefusesItsSettings shows the end of the log, and leaves nothing.
func TestStart_serverRefusesItsSettings(t *testing.T) {
	needJava(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	_, err := Start(t.Context(), Options{Backend: Java, Extra: map[string]string{"autopurge.snapRetainCount": "many"}})
	if !errors.Is(err, ErrStart) || !strings.Contains(err.Error(), "many") {
		t.Errorf("error is %v, want the server's complaint", err)
	}
	awaitNothing(t, tmp)
}

// TestStart_contextEnds: whoever interrupts a start is told that, and not that the
// server failed.
func TestStart_contextEnds_returnsInTimeAndLeavesNothing(t *testing.T) {
	needJava(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := Start(ctx, Options{Backend: Java, Size: 3})
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > afterDeath {
		t.Errorf("returned after %v: %v", took, err)
	}
	awaitNothing(t, tmp)
}

func TestRestart_portTakenMeanwhile_saysSoAndCanBeRepeated(t *testing.T) {
	e := start(t, Options{Backend: Java})
	s := e.Servers()[0]
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	err = s.Restart(t.Context())
	l.Close()
	if !errors.Is(err, ErrStart) || !strings.Contains(err.Error(), "Address already in use") {
		t.Errorf("error is %v", err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Errorf("with the port free again: %v", err)
	}
}

func TestStart_optionsThatMakeNoSense(t *testing.T) {
	for name, o := range map[string]Options{
		"backend":   {Backend: "podman"},
		"size":      {Size: 2},
		"sizeMinus": {Size: -1},
		"tickMinus": {Tick: -time.Second},
		"tickSmall": {Tick: time.Microsecond},
		"session":   {MinSession: -1},
		"bounds":    {MinSession: time.Minute, MaxSession: time.Second},
		"setting":   {Extra: map[string]string{"a b": "c"}},
		"injection": {Extra: map[string]string{"a": "b\nclientPort=1"}},
		"ownPort":   {Extra: map[string]string{"clientPort": "2181"}},
		"path":      {Servers: "localhost:2181/chroot"},
		"port":      {Servers: "localhost:0"},
		"noHost":    {Servers: "a:1,,b:2"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Start(t.Context(), o)
			if err == nil {
				e.Close()
			}
			if !errors.Is(err, ErrOptions) {
				t.Errorf("error is %v, want ErrOptions", err)
			}
		})
	}
}
