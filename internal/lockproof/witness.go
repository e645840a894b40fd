package lockproof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"zklab/internal/zkserver"
)

// LiveSessions asks a server which sessions it keeps. It needs the server's
// four-letter word dump.
//
// It asks twice: a session whose deadline moves while the server writes its
// answer can be missing from it, and one that is only not listed would count as
// dead.
func LiveSessions(ctx context.Context, server string) ([]int64, error) {
	var ids []int64
	for range 2 {
		text, err := zkserver.Ask(ctx, server, "dump")
		if err != nil {
			return nil, err
		}
		more, err := parseDump(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// parseDump reads the ids in the answer to dump: first sets of sessions by the
// time at which they expire, then the sessions that own nodes.
func parseDump(text string) ([]int64, error) {
	if !strings.Contains(text, "ephemeral nodes dump") {
		return nil, fmt.Errorf("the answer to dump lists no sessions: %.80q", text)
	}
	var ids []int64
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSpace(line), ":")
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
