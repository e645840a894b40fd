package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"zklab/internal/journal"
	"zklab/internal/lab"
	"zklab/internal/zkserver"
)

// closeWithin bounds how long ctrl-C takes: what is not gone by then is killed.
const closeWithin = 1500 * time.Millisecond

// house is what a demo runs in: a ZooKeeper, a journal, and a lab between them.
type house struct {
	ensemble *zkserver.Ensemble
	journal  *journal.Journal
	lab      *lab.Lab
	recorder *recorder
	stderr   io.Writer
}

// owned says whether the servers were started here.
func (h *house) owned() bool { return h.ensemble.Backend() != zkserver.External }

// opening says before a screen opens what it waits for: servers of an ensemble take
// seconds, and a screen without a word looks broken.
func (g *global) opening(servers int) {
	what := "ZooKeeper"
	if servers > 1 {
		what = fmt.Sprintf("an ensemble of %d", servers)
	}
	if g.servers != "" {
		what = "a session at " + g.servers
	}
	g.progress("zklab: waiting for %s", what)
}

// openHouse starts everything that a demo needs. The journal is written to the file
// record as it grows, unless that is empty. The caller must close the house.
func (g *global) openHouse(ctx context.Context, size int, record string) (_ *house, err error) {
	var file *os.File
	if record != "" { // first: whether it can be made is soon known
		if file, err = createNew(record); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil { // nothing is in it
				_ = file.Close()
				_ = os.Remove(record)
			}
		}()
	}
	o := g.serverOptions()
	o.Size = size
	g.orCompose(ctx, &o)
	e, err := zkserver.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	h := &house{ensemble: e, journal: journal.New(journal.Options{}), stderr: g.err}
	if file != nil {
		h.recorder = startRecorder(h.journal, file)
	}
	binary, err := os.Executable()
	if err != nil {
		_ = h.close()
		return nil, fmt.Errorf("finding zklab's own program for the contestants: %w", err)
	}
	h.lab, err = lab.New(ctx, lab.Options{Ensemble: e, Journal: h.journal, Throwaway: true, Binary: binary, Args: []string{contestantCommand}})
	if err != nil {
		_ = h.close()
		return nil, err
	}
	return h, nil
}

// closeAfter closes the house at the end of a command, and makes a recording
// that failed the command's own failure: a script must not take half for all.
func (h *house) closeAfter(err *error) {
	if e := h.close(); e != nil && *err == nil {
		*err = e
	}
}

// close takes everything away again, says what would not go, and returns why
// the recording is not whole.
func (h *house) close() (unrecorded error) {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	var errs []error
	if h.lab != nil {
		errs = append(errs, h.lab.Close(ctx))
	}
	if h.recorder != nil {
		unrecorded = h.recorder.close()
	}
	errs = append(errs, h.ensemble.Close())
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintf(h.stderr, "zklab: while closing: %s\n", withoutRoom(err))
	}
	return unrecorded
}

// createNew makes a file. One that exists is kept: it may be somebody's only
// copy of a failure.
func createNew(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil, usagef("%s exists: name a new file, nothing is overwritten", path)
	}
	if err != nil {
		return nil, usagef("the file cannot be made: %v", err)
	}
	return f, nil
}

// recorder copies a journal to a file until it is closed.
type recorder struct {
	file   *os.File
	sub    *journal.Subscription
	cancel context.CancelFunc
	done   sync.WaitGroup
	err    error
}

func startRecorder(j *journal.Journal, f *os.File) *recorder {
	ctx, cancel := context.WithCancel(context.Background())
	r := &recorder{file: f, sub: j.Subscribe(0), cancel: cancel}
	r.done.Go(func() { r.err = r.copy(ctx) })
	return r
}

// copy writes what comes, and what has come when ctx ends.
func (r *recorder) copy(ctx context.Context) error {
	w := journal.NewWriter(r.file)
	for {
		events, missed, err := r.sub.Next(ctx)
		if err != nil {
			events, missed = r.sub.Take()
		}
		if missed > 0 {
			return fmt.Errorf("%d events came too fast to be written", missed)
		}
		if e := w.Write(events...); e != nil {
			return e
		}
		if e := w.Flush(); e != nil {
			return e
		}
		if err != nil {
			return nil
		}
	}
}

func (r *recorder) close() error {
	r.cancel()
	r.done.Wait()
	r.sub.Close()
	if err := errors.Join(r.err, r.file.Close()); err != nil {
		return fmt.Errorf("recording to %s: %w", r.file.Name(), err)
	}
	return nil
}
