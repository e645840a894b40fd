package wiretap

import (
	"encoding/binary"
	"errors"
)

var (
	errShort  = errors.New("ends too early")
	errLength = errors.New("holds an impossible length")
)

// jute reads ZooKeeper's encoding. After a failure every read gives zero and
// err stays; no read ever goes past the end.
type jute struct {
	b   []byte
	err error
}

func (j *jute) take(n int) []byte {
	if j.err != nil {
		return nil
	}
	if n < 0 {
		j.err = errLength
		return nil
	}
	if n > len(j.b) {
		j.err = errShort
		return nil
	}
	p := j.b[:n]
	j.b = j.b[n:]
	return p
}

func (j *jute) int() int32 {
	if p := j.take(4); p != nil {
		return int32(binary.BigEndian.Uint32(p))
	}
	return 0
}

func (j *jute) long() int64 {
	if p := j.take(8); p != nil {
		return int64(binary.BigEndian.Uint64(p))
	}
	return 0
}

func (j *jute) bool() bool {
	p := j.take(1)
	return p != nil && p[0] != 0
}

// buffer reads a length and as many bytes. Length -1 is null.
func (j *jute) buffer() []byte {
	n := j.int()
	if n == -1 {
		return nil
	}
	return j.take(int(n))
}

func (j *jute) string() string { return string(j.buffer()) }

// count reads a vector's length and checks it against what is left, each
// element taking at least size bytes, so that a broken length allocates nothing.
func (j *jute) count(size int) int {
	n := j.int()
	switch {
	case j.err != nil || n == -1:
		return 0
	case n < 0:
		j.err = errLength
		return 0
	case int(n) > len(j.b)/size:
		j.err = errShort
		return 0
	}
	return int(n)
}

func (j *jute) strings() []string {
	n := j.count(4)
	if n == 0 {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, j.string())
	}
	if j.err != nil {
		return nil
	}
	return list
}

// skipACL reads over a list of access rights.
func (j *jute) skipACL() {
	for range j.count(12) {
		j.int()
		j.buffer()
		j.buffer()
	}
}

func (j *jute) stat() *Stat {
	s := &Stat{
		Czxid: j.long(), Mzxid: j.long(), Ctime: j.long(), Mtime: j.long(),
		Version: j.int(), Cversion: j.int(), Aversion: j.int(),
		EphemeralOwner: j.long(), DataLength: j.int(), NumChildren: j.int(),
		Pzxid: j.long(),
	}
	if j.err != nil {
		return nil
	}
	return s
}
