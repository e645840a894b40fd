package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"zklab/internal/zkserver"
)

const (
	pollInterval = 100 * time.Millisecond
	lookRounds   = 5 // every so many questions the engine is asked whether it still runs
	failureLines = 40
	maxLog       = 64 << 10
)

// server is one container with a ZooKeeper in it.
type server struct {
	api         *client.Client
	container   string
	id          int
	addr, admin string
	peers       *peerNetwork // nil for a single server
	closed      *atomic.Bool // shared by the ensemble
	handle      *zkserver.Server

	restarting sync.Mutex // one Restart at a time
}

// Pid is not known: the engine's ids are its own world's.
func (s *server) Pid() int { return 0 }

// call bounds a request that has no context of its own.
func call() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), callLimit)
}

func (s *server) state(ctx context.Context) (*container.State, error) {
	if s.closed.Load() {
		return nil, zkserver.ErrNotRunning
	}
	r, err := s.api.ContainerInspect(ctx, s.container, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) {
		return nil, zkserver.ErrNotRunning
	}
	if err != nil {
		return nil, err
	}
	return r.Container.State, nil
}

// Running is true while paused, too.
func (s *server) Running() bool {
	ctx, cancel := call()
	defer cancel()
	st, err := s.state(ctx)
	return err == nil && st.Running
}

// Pause freezes the container's processes.
func (s *server) Pause() error {
	return s.whileRunning(true, func(ctx context.Context) error {
		_, err := s.api.ContainerPause(ctx, s.container, client.ContainerPauseOptions{})
		return err
	})
}

// Continue thaws them.
func (s *server) Continue() error {
	return s.whileRunning(false, func(ctx context.Context) error {
		_, err := s.api.ContainerUnpause(ctx, s.container, client.ContainerUnpauseOptions{})
		return err
	})
}

func (s *server) whileRunning(pause bool, do func(context.Context) error) error {
	ctx, cancel := call()
	defer cancel()
	st, err := s.state(ctx)
	switch {
	case err != nil:
		return err
	case !st.Running:
		return zkserver.ErrNotRunning
	case st.Paused == pause:
		return nil
	}
	return do(ctx)
}

// Kill ends the container with SIGKILL.
func (s *server) Kill() error {
	ctx, cancel := call()
	defer cancel()
	return s.kill(ctx)
}

func (s *server) kill(ctx context.Context) error {
	st, err := s.state(ctx)
	if errors.Is(err, zkserver.ErrNotRunning) || err == nil && !st.Running {
		return nil
	}
	if err != nil {
		return err
	}
	ended := s.api.ContainerWait(ctx, s.container, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	_, err = s.api.ContainerKill(ctx, s.container, client.ContainerKillOptions{Signal: "KILL"})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) { // it ended meanwhile
		return err
	}
	select {
	case <-ended.Result:
		return nil
	case err := <-ended.Error:
		if errdefs.IsNotFound(err) {
			return nil
		}
		return err
	}
}

// Restart starts the same container again: same ports, same data.
func (s *server) Restart(ctx context.Context) error {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	if s.closed.Load() {
		return zkserver.ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, zkserver.StartLimit)
	defer cancel()
	if err := s.kill(ctx); err != nil {
		return fmt.Errorf("%w: %w", zkserver.ErrStart, err)
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	return s.awaitReady(ctx)
}

func (s *server) start(ctx context.Context) error {
	if _, err := s.api.ContainerStart(ctx, s.container, client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("%w at %s: %w", zkserver.ErrStart, s.addr, err)
	}
	return nil
}

// awaitReady waits until the server says its mode.
func (s *server) awaitReady(ctx context.Context) error {
	for round := 1; ; round++ {
		_, last := s.handle.Mode(ctx)
		if last == nil {
			return nil
		}
		if round%lookRounds == 0 {
			if st, err := s.state(ctx); err == nil && !st.Running {
				return s.failure(fmt.Errorf("its container ended by itself with status %d", st.ExitCode))
			}
		}
		select {
		case <-ctx.Done():
			return s.failure(fmt.Errorf("%w; %w", ctx.Err(), last))
		case <-time.After(pollInterval):
		}
	}
}

// failure is ErrStart with the end of the log, without the lines that our own
// questions have left there.
func (s *server) failure(why error) error {
	var lines []string
	for line := range strings.Lines(s.LogTail(10 * failureLines)) {
		if !strings.Contains(line, "Processing srvr command") {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	tail := strings.Join(lines[max(0, len(lines)-failureLines):], "\n")
	return fmt.Errorf("%w at %s: %w; the end of its log:\n%s", zkserver.ErrStart, s.addr, why, tail)
}

// LogTail is the end of the container's log: at most n lines and 64 KiB.
func (s *server) LogTail(n int) string {
	ctx, cancel := call()
	defer cancel()
	r, err := s.api.ContainerLogs(ctx, s.container, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: strconv.Itoa(n)})
	if err != nil {
		return ""
	}
	defer r.Close()
	var log bytes.Buffer
	_, _ = stdcopy.StdCopy(&log, &log, io.LimitReader(r, 16*maxLog)) // what could be read is shown
	text := bytes.TrimRight(log.Bytes(), "\n")
	text = text[max(0, len(text)-maxLog):]
	lines := strings.Split(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Isolate takes the server off its peers' network; clients still reach it.
func (s *server) Isolate(ctx context.Context) error {
	if s.peers == nil {
		return zkserver.ErrNoPeers
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	attached, err := s.attached(ctx)
	if err != nil || !attached {
		return err
	}
	_, err = s.api.NetworkDisconnect(ctx, s.peers.id, client.NetworkDisconnectOptions{Container: s.container, Force: true})
	return err
}

// Rejoin puts it back.
func (s *server) Rejoin(ctx context.Context) error {
	if s.peers == nil {
		return zkserver.ErrNoPeers
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	attached, err := s.attached(ctx)
	if err != nil || attached {
		return err
	}
	_, err = s.api.NetworkConnect(ctx, s.peers.id, client.NetworkConnectOptions{Container: s.container, EndpointConfig: s.peers.endpoint(s.id)})
	return err
}

// attached says whether the server is on its peers' network.
func (s *server) attached(ctx context.Context) (bool, error) {
	if s.closed.Load() {
		return false, zkserver.ErrClosed
	}
	r, err := s.api.ContainerInspect(ctx, s.container, client.ContainerInspectOptions{})
	if err != nil {
		return false, err
	}
	for _, n := range r.Container.NetworkSettings.Networks {
		if n.NetworkID == s.peers.id {
			return true, nil
		}
	}
	return false, nil
}
