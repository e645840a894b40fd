package locktest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Counters reads the server's own counters (mntr), by ZooKeeper's names. When the
// server does not tell them an exercise fails: it cannot be judged.
func (l *Lab) Counters() map[string]float64 {
	l.t.Helper()
	addr, _, _ := strings.Cut(l.server, ",")
	counters, err := mntr(addr)
	if err == nil {
		return counters
	}
	err = fmt.Errorf("the server at %s does not tell its counters: %w; allow them with 4lw.commands.whitelist=*", addr, err)
	if !mustJudge() {
		l.t.Skip(err)
	}
	cannotJudge(l.t, err)
	return nil
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
		return nil, errors.Join(errors.New("mntr answers nothing that counts"), lines.Err())
	}
	return counters, nil
}
