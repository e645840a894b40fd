package zkserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"time"
)

const maxAnswer = 1 << 20 // bytes of an answer that are read

// Ask sends a four-letter word and returns the whole answer (at most 1 MiB).
// It obeys the context, and takes at most 5 s without a shorter one.
func Ask(ctx context.Context, addr, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*askTimeout)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(c, word); err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(c, maxAnswer))
	if err != nil && len(b) == 0 {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", fmt.Errorf("%s to %s: %w", word, addr, err)
	}
	return string(b), nil
}

var versionNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

// versionOf is the bare version number in an answer to `srvr`.
func versionOf(srvr string) string {
	return versionNumber.FindString(field(srvr, "Zookeeper version: "))
}
