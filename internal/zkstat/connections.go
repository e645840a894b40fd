package zkstat

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ServerMillis is a moment on the server's own clock, which counts milliseconds
// from anywhere. Clock translates it.
type ServerMillis int64

// Connections are the client connections of a server.
type Connections struct {
	Reading
	List []Connection // by session id; those without a session first
}

// Connection is one client connection of a server. One that asks a four-letter word,
// or has no session yet, has Session 0 and little else.
type Connection struct {
	Remote         string // "address:port" of the client
	Session        int64
	Timeout        time.Duration // negotiated
	Queued         int64         // requests not answered
	Received, Sent int64         // packets
	LastOp         string        // short names such as PING, GETD, CREA
	Established    time.Time     // by the server's time of day
	// LastResponse is when the server last answered the client; heartbeats are
	// answered too. 0: never.
	LastResponse ServerMillis
	LastZxid     int64
}

// ParseCons reads the answer to cons.
func ParseCons(b []byte) (Connections, error) {
	var c Connections
	err := eachLine(b, func(line string) error {
		if strings.TrimSpace(line) == "" {
			return nil
		}
		one, err := parseConnection(line)
		c.List = append(c.List, one)
		return err
	})
	c.sort()
	return c, err
}

// consLine is " /127.0.0.1:56792[1](queued=0,…)": what is before the slash is the
// client's name, if the server has looked it up.
var consLine = regexp.MustCompile(`^\s*[^/]*/(.*)\[\d+\]\((.*)\)\s*$`)

func parseConnection(line string) (Connection, error) {
	m := consLine.FindStringSubmatch(line)
	if m == nil {
		return Connection{}, badLine("not a connection", line)
	}
	c := Connection{Remote: m[1]}
	for _, field := range strings.Split(m[2], ",") {
		key, value, _ := strings.Cut(field, "=")
		if err := c.set(key, value); err != nil {
			return c, badLine("a number was expected in "+strconv.Quote(field), line)
		}
	}
	return c, nil
}

func (c *Connection) set(key, value string) (err error) {
	var n int64
	switch key {
	case "queued":
		c.Queued, err = strconv.ParseInt(value, 10, 64)
	case "recved":
		c.Received, err = strconv.ParseInt(value, 10, 64)
	case "sent":
		c.Sent, err = strconv.ParseInt(value, 10, 64)
	case "sid":
		c.Session, err = parseSession(value)
	case "lop":
		c.LastOp = value
	case "est":
		n, err = strconv.ParseInt(value, 10, 64)
		c.Established = time.UnixMilli(n)
	case "to":
		n, err = strconv.ParseInt(value, 10, 32)
		c.Timeout = time.Duration(n) * time.Millisecond
	case "lzxid":
		var u uint64
		u, err = strconv.ParseUint(value, 0, 64)
		c.LastZxid = int64(u)
	case "lresp":
		n, err = strconv.ParseInt(value, 10, 64)
		c.LastResponse = ServerMillis(n)
	}
	return err
}

func (c Connections) sort() {
	slices.SortStableFunc(c.List, func(a, b Connection) int {
		switch {
		case a.Session < b.Session:
			return -1
		case a.Session > b.Session:
			return 1
		}
		return strings.Compare(a.Remote, b.Remote)
	})
}

type connectionJSON struct {
	Remote       string `json:"remote_socket_address"`
	Queued       int64  `json:"outstanding_requests"`
	Received     int64  `json:"packets_received"`
	Sent         int64  `json:"packets_sent"`
	Session      int64  `json:"session_id"`
	LastOp       string `json:"last_operation"`
	Established  int64  `json:"established"`
	Timeout      int32  `json:"session_timeout"`
	LastZxid     int64  `json:"last_zxid"`
	LastResponse int64  `json:"last_response_time"`
}

func parseConnectionsJSON(b []byte) (Connections, error) {
	var answer struct {
		Plain  *[]connectionJSON `json:"connections"`
		Secure []connectionJSON  `json:"secure_connections"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return Connections{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if answer.Plain == nil {
		return Connections{}, badLine("no connections in", string(b))
	}
	var c Connections
	for _, j := range append(*answer.Plain, answer.Secure...) {
		one := Connection{
			Remote: j.Remote, Session: j.Session, Timeout: time.Duration(j.Timeout) * time.Millisecond,
			Queued: j.Queued, Received: j.Received, Sent: j.Sent, LastOp: j.LastOp,
			LastResponse: ServerMillis(j.LastResponse), LastZxid: j.LastZxid,
		}
		if j.Established > 0 {
			one.Established = time.UnixMilli(j.Established)
		}
		c.List = append(c.List, one)
	}
	c.sort()
	return c, nil
}
