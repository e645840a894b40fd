package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// output is where a command writes. It remembers the first failure and tells of it
// at once, so that nobody takes half for all, and nothing runs on for nobody.
type output struct {
	to     io.Writer
	failed func() // called once

	mu  sync.Mutex
	err error
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(b)
	if err != nil {
		o.err = err
		o.failed()
	}
	return n, err
}

func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// exitPipe is what a shell reports of a program that SIGPIPE has ended.
const exitPipe = 128 + int(syscall.SIGPIPE)

// closedPipe reports whether the reader has gone: it knows that, and needs no word.
func closedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) }

// survivePipes has writing to a closed pipe be an error, instead of the end of this
// process with everything that it would have to take away.
func survivePipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// file is the open file behind a writer, nil when there is none.
func file(w io.Writer) *os.File {
	if o, ok := w.(*output); ok {
		w = o.to
	}
	f, _ := w.(*os.File)
	return f
}
