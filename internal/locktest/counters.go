package locktest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Counters reads the server's own counters (mntr), by ZooKeeper's names. The test
// is skipped when the server does not tell them.
func (l *Lab) Counters() map[string]float64 {
	l.t.Helper()
	addr, _, _ := strings.Cut(l.server, ",")
	counters, err := mntr(addr)
	if err != nil {
		l.t.Skipf("the server at %s does not tell its counters: %v; allow them with 4lw.commands.whitelist=*", addr, err)
	}
	return counters
}

func mntr(addr string) (map[string]float64, error) {
	c, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(3 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(c, "mntr"); err != nil {
		return nil, err
	}
	counters := map[string]float64{}
	lines := bufio.NewScanner(io.LimitReader(c, 1<<20))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), "\t")
		if v, err := strconv.ParseFloat(strings.TrimSpace(value), 64); ok && err == nil {
			counters[name] = v
		}
	}
	if len(counters) == 0 {
		return nil, fmt.Errorf("mntr answers nothing that counts: %w", lines.Err())
	}
	return counters, nil
}
