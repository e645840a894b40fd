package lockproof

import (
	"context"
	"fmt"
	"strings"

	"zklab/internal/zkserver"
)

// LiveSessions asks a server which sessions it keeps. It needs the server's
// four-letter word dump.
func LiveSessions(ctx context.Context, server string) ([]int64, error) {
	text, err := zkserver.Ask(ctx, server, "dump")
	if err != nil {
		return nil, err
	}
	return parseDump(text)
}

// parseDump reads the first part of the answer to dump: sets of sessions by
// the time at which they expire, one id a line.
func parseDump(text string) ([]int64, error) {
	sets, _, found := strings.Cut(text, "ephemeral nodes dump")
	if !found {
		return nil, fmt.Errorf("the answer to dump lists no sessions: %.80q", text)
	}
	var ids []int64
	for line := range strings.Lines(sets) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "0x") {
			continue
		}
		id, err := parseSession(line)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// DataWatches counts the data watches that the server keeps on nodes below
// path, missing ones included. It needs the four-letter word wchp; child
// watches are not in its answer.
func DataWatches(ctx context.Context, server, path string) (int, error) {
	text, err := zkserver.Ask(ctx, server, "wchp")
	if err != nil {
		return 0, err
	}
	n, below := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "/"):
			below = strings.HasPrefix(line, path+"/")
		case below && strings.Contains(line, "0x"):
			n++
		}
	}
	return n, nil
}
