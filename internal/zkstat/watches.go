package zkstat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// DataWatches says which sessions watch a node's data or its existence. Child
// watches are missing: the server lists them nowhere.
type DataWatches struct {
	Reading
	ByPath map[string][]int64 // session ids in order
}

// WatchSummary counts data watches. Child watches are missing; Monitor.Watches has them.
type WatchSummary struct {
	Reading
	Connections int64 // that have a data watch
	Paths       int64 // that are watched
	DataWatches int64
}

// ParseWchp reads the answer to wchp: a path, then its sessions, each after a tab.
func ParseWchp(b []byte) (DataWatches, error) {
	w := DataWatches{ByPath: make(map[string][]int64)}
	path := ""
	err := eachLine(b, func(line string) error {
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "/"):
			path = line
		case strings.HasPrefix(line, "\t") && path != "":
			id, err := parseSession(line[1:])
			if err != nil {
				return err
			}
			w.ByPath[path] = append(w.ByPath[path], id)
		default:
			return badLine("neither a path nor a session", line)
		}
		return nil
	})
	w.sort()
	return w, err
}

func parseWatchesJSON(b []byte) (DataWatches, error) {
	var answer struct {
		Paths map[string][]int64 `json:"path_to_session_ids"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return DataWatches{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if answer.Paths == nil {
		return DataWatches{}, badLine("no path_to_session_ids in", string(b))
	}
	w := DataWatches{ByPath: answer.Paths}
	w.sort()
	return w, nil
}

func (w DataWatches) sort() {
	for _, ids := range w.ByPath {
		slices.Sort(ids)
	}
}

// ParseWchs reads the answer to wchs.
func ParseWchs(b []byte) (WatchSummary, error) {
	var w WatchSummary
	text := strings.TrimSpace(string(b))
	n, err := fmt.Sscanf(text, "%d connections watching %d paths\nTotal watches:%d", &w.Connections, &w.Paths, &w.DataWatches)
	if err != nil || n != 3 {
		return WatchSummary{}, badLine("not a watch summary", text)
	}
	return w, nil
}

func parseSummaryJSON(b []byte) (WatchSummary, error) {
	var answer struct {
		Connections *int64 `json:"num_connections"`
		Paths       *int64 `json:"num_paths"`
		Total       *int64 `json:"num_total_watches"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return WatchSummary{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if answer.Connections == nil || answer.Paths == nil || answer.Total == nil {
		return WatchSummary{}, badLine("not a watch summary", string(b))
	}
	return WatchSummary{Connections: *answer.Connections, Paths: *answer.Paths, DataWatches: *answer.Total}, nil
}

// parseSession reads a session id as the server prints it, 0x and sixteen digits at most.
func parseSession(text string) (int64, error) {
	hex, ok := strings.CutPrefix(strings.TrimSpace(text), "0x")
	id, err := strconv.ParseUint(hex, 16, 64)
	if !ok || err != nil {
		return 0, badLine("not a session id", text)
	}
	return int64(id), nil
}
