package zkstat

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
)

// Srvr is what the word srvr tells.
type Srvr struct {
	Reading
	Version        string
	Mode           string // standalone, leader, follower, observer
	Zxid           int64
	Received, Sent int64 // packets
	Connections    int64
	Outstanding    int64 // requests
	Nodes          int64
	LatencyMin     float64 // milliseconds
	LatencyAverage float64
	LatencyMax     float64
}

// ParseSrvr reads the answer to srvr. Lines it does not know are left out.
func ParseSrvr(b []byte) (s Srvr, err error) {
	err = eachLine(b, func(line string) error {
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil
		}
		var err error
		switch key {
		case "Zookeeper version":
			s.Version = value
		case "Mode":
			s.Mode = value
		case "Latency min/avg/max":
			err = parseLatency(value, &s)
		case "Zxid":
			s.Zxid, err = strconv.ParseInt(value, 0, 64)
		case "Received":
			s.Received, err = strconv.ParseInt(value, 10, 64)
		case "Sent":
			s.Sent, err = strconv.ParseInt(value, 10, 64)
		case "Connections":
			s.Connections, err = strconv.ParseInt(value, 10, 64)
		case "Outstanding":
			s.Outstanding, err = strconv.ParseInt(value, 10, 64)
		case "Node count":
			s.Nodes, err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return badLine("a number was expected", line)
		}
		return nil
	})
	if err == nil && s.Mode == "" {
		err = badLine("no mode in", string(b))
	}
	return s, err
}

func parseLatency(value string, s *Srvr) error {
	parts := strings.Split(value, "/")
	if len(parts) != 3 {
		return strconv.ErrSyntax
	}
	for i, to := range []*float64{&s.LatencyMin, &s.LatencyAverage, &s.LatencyMax} {
		v, err := strconv.ParseFloat(parts[i], 64)
		if err != nil {
			return err
		}
		*to = v
	}
	return nil
}

// eachLine calls do with every line, without its end.
func eachLine(b []byte, do func(string) error) error {
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(make([]byte, 0, 4096), MaxAnswer)
	for lines.Scan() {
		if err := do(strings.TrimSuffix(lines.Text(), "\r")); err != nil {
			return err
		}
	}
	return lines.Err()
}
