package wiretap

import (
	"fmt"
	"time"
)

// decodeConnect reads the client's first frame.
func decodeConnect(body []byte, f *Frame) error {
	j := jute{b: body}
	version := j.int()
	f.LastZxid = j.long()
	f.Timeout = milliseconds(j.int())
	f.Session = j.long()
	f.PasswordLen = len(j.buffer())
	if j.err == nil && version != 0 {
		return fmt.Errorf("protocol version %d is not known", version)
	}
	return wrap("the connect request", j.err)
}

// decodeConnected reads the server's first frame; password points into body.
func decodeConnected(body []byte, f *Frame) (password []byte, err error) {
	j := jute{b: body}
	version := j.int()
	f.Timeout = milliseconds(j.int())
	f.Session = j.long()
	password = j.buffer()
	f.PasswordLen = len(password)
	if j.err == nil && version != 0 {
		return nil, fmt.Errorf("protocol version %d is not known", version)
	}
	return password, wrap("the connect response", j.err)
}

func milliseconds(ms int32) time.Duration { return time.Duration(ms) * time.Millisecond }
