package zkserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"
)

const (
	firstPatience = 60 * time.Millisecond
	lookInterval  = 200 * time.Millisecond // a log is read for taken ports
)

// awaitReady waits until this very process serves, and none of the processes in
// with has found a port taken. That may be another server's quorum or election
// port, which does not end its process and comes to light only later.
func (s *javaServer) awaitReady(ctx context.Context, with ...*javaServer) error {
	p := s.current()
	// A question that comes in the moment of start-up is sometimes accepted and
	// never answered, so the first ones are given up soon.
	patience, looked := firstPatience, time.Now()
	for {
		last := s.ready(ctx, patience)
		if last == nil || time.Since(looked) >= lookInterval {
			looked = time.Now()
			for _, other := range with {
				if err := other.broken(); err != nil {
					return err
				}
			}
		}
		switch {
		case last == nil:
			return nil
		case errors.Is(last, errPortTaken):
			return s.failure(last)
		case p.ended():
			return s.failure(errEndedByItself)
		case errors.Is(last, context.DeadlineExceeded):
			patience = min(2*patience, askTimeout)
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return s.failure(fmt.Errorf("%w; %w", err, last))
		}
	}
}

// broken says what no waiting mends: a port that somebody else has, or an end.
func (s *javaServer) broken() error {
	switch {
	case saysPortTaken(s.logSinceLaunch(maxTail)):
		return s.failure(errPortTaken)
	case s.current().ended():
		return s.failure(errEndedByItself)
	}
	return nil
}

// ready is nil when our server answers `srvr` with a mode. Whoever answers must
// also name our folder: another process may sit on our port. An answer that names
// none is no proof of that: a server that stops serving between two questions, and
// an elected leader until its AdminServer knows of it, answer so.
func (s *javaServer) ready(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	srvr, err := Ask(ctx, s.addr, "srvr")
	if err != nil {
		return err
	}
	if field(srvr, "Mode: ") == "" {
		return fmt.Errorf("not serving: %s", firstLine(srvr))
	}
	conf, err := Ask(ctx, s.addr, "conf")
	if err != nil {
		return err
	}
	// A caller may want a server that allows only srvr; then the AdminServer
	// tells whose it is.
	if !strings.Contains(conf, "not in the whitelist") {
		if err := s.owns(field(conf, "dataDir="), conf); err != nil {
			return err
		}
	}
	return s.adminReady(ctx)
}

// adminReady is nil when our AdminServer answers, or there is none.
func (s *javaServer) adminReady(ctx context.Context) error {
	if s.adminAddr == "" {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.adminAddr+"/commands/configuration", nil)
	if err != nil {
		return err
	}
	req.Close = true
	client := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	var conf struct {
		DataDir string `json:"data_dir"`
	}
	_ = json.Unmarshal(body, &conf) // who answers something else names no folder
	return s.owns(conf.DataDir, string(body))
}

// owns is nil when the folder that was named in an answer is ours.
func (s *javaServer) owns(folder, answer string) error {
	switch {
	case strings.HasPrefix(folder, s.dir+string(filepath.Separator)):
		return nil
	case folder == "":
		return fmt.Errorf("not serving: %s", firstLine(answer))
	}
	return fmt.Errorf("%w: its data is in %s", errPortTaken, firstLine(folder))
}

var errEndedByItself = errors.New("it ended by itself")

// failure is ErrStart with the end of the log; a lost race for a port is marked.
func (s *javaServer) failure(why error) error {
	tail := s.logSinceLaunch(logTailLines)
	err := fmt.Errorf("%w at %s: %w; the end of its log:\n%s", ErrStart, s.addr, why, tail)
	if errors.Is(why, errPortTaken) || saysPortTaken(tail) {
		return fmt.Errorf("%w: %w", errPortTaken, err)
	}
	if strings.Contains(tail, "UnsupportedClassVersionError") {
		return fmt.Errorf("%w: Java %d is too old for this ZooKeeper: %w", ErrUnavailable, s.javaVersion, err)
	}
	return err
}

func saysPortTaken(log string) bool {
	return strings.Contains(log, "BindException") || strings.Contains(log, "Address already in use")
}
