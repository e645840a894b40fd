package workbook

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// followEvery is how often a followed file is read.
const followEvery = 150 * time.Millisecond

// Follow reads a file again and again and calls changed with its content: at
// once, and whenever it has become another one and stayed so for one reading, so
// that a file that is being written is not taken for done. It compares contents,
// not times, because editors save in many ways. exists is false while there is no
// file. Follow returns when ctx ends, or with the error of reading.
func Follow(ctx context.Context, file string, changed func(content string, exists bool)) error {
	type reading struct {
		content string
		exists  bool
	}
	read := func() (reading, error) {
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return reading{}, nil
		}
		return reading{string(b), true}, err
	}
	told, err := read()
	if err != nil {
		return err
	}
	changed(told.content, told.exists)
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for last := told; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		now, err := read()
		if err != nil {
			return err
		}
		if now == last && now != told {
			told = now
			changed(told.content, told.exists)
		}
		last = now
	}
}
