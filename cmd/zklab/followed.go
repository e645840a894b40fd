package main

import (
	"bytes"
	"os"
	"time"
)

// lookEvery is how often the learner's file is compared with what it was. A
// notification from the system would come sooner, but not from every file
// system and editor; the content tells always.
const lookEvery = 300 * time.Millisecond

// followed is a file, and what was in it when it was looked at last.
type followed struct {
	path string
	was  []byte
}

func follow(path string) *followed {
	f := &followed{path: path}
	f.changed()
	return f
}

// changed says whether something else is in the file than at the last look. One that
// cannot be read is empty.
func (f *followed) changed() bool {
	now, err := os.ReadFile(f.path)
	if err != nil {
		now = nil
	}
	defer func() { f.was = now }()
	return !bytes.Equal(now, f.was)
}
