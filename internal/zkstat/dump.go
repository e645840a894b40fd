package zkstat

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Dump is what a server tells of sessions and their nodes.
type Dump struct {
	Reading
	// Expiry is when each session ends, on the server's clock. Only the
	// AdminServer of a leader or standalone server tells.
	Expiry map[int64]ServerMillis
	// ExpiryText is the same from the four-letter word: the server's time of day in
	// whole seconds, cut off. Its zone is the server's; a zone name that this
	// machine does not know counts as UTC.
	ExpiryText map[int64]time.Time
	// Timeouts are the negotiated timeouts where the answer has them: from a follower.
	Timeouts map[int64]time.Duration
	// Ephemerals are the paths of each session's nodes.
	Ephemerals map[int64][]string
	// Connected are the sessions with a connection to this server; four-letter word only.
	Connected map[int64]string
}

func newDump() Dump {
	return Dump{
		Expiry: make(map[int64]ServerMillis), ExpiryText: make(map[int64]time.Time),
		Timeouts: make(map[int64]time.Duration), Ephemerals: make(map[int64][]string),
		Connected: make(map[int64]string),
	}
}

func parseDumpJSON(b []byte) (Dump, error) {
	var answer struct {
		Expiry     *map[string][]int64 `json:"expiry_time_to_session_ids"`
		Ephemerals map[string][]string `json:"session_id_to_ephemeral_paths"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return Dump{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if answer.Expiry == nil {
		return Dump{}, badLine("no expiry_time_to_session_ids in", string(b))
	}
	d := newDump()
	for at, ids := range *answer.Expiry {
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return d, badLine("not an expiry time", at)
		}
		for _, id := range ids {
			d.Expiry[id] = ServerMillis(ms)
		}
	}
	for text, paths := range answer.Ephemerals {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return d, badLine("not a session id", text)
		}
		d.Ephemerals[id] = paths
	}
	return d, nil
}

// dumpText reads the word's answer line by line; its sections differ in how they
// are to be read.
type dumpText struct {
	d       *Dump
	section func(line string) error
	expiry  time.Time // of the sessions in the lines that follow
	session int64     // whose nodes are in the lines that follow
}

// ParseDump reads the answer to dump, from a standalone server, leader or follower.
func ParseDump(b []byte) (Dump, error) {
	d := newDump()
	t := dumpText{d: &d}
	known := false
	err := eachLine(b, func(line string) error {
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "SessionTracker dump"), strings.HasPrefix(line, "Session Sets ("),
			strings.HasPrefix(line, "Global Session Sets ("), strings.HasPrefix(line, "Local Session Sets ("):
			t.section, known = t.bucket, true
		case strings.HasPrefix(line, "Global Sessions("), strings.HasPrefix(line, "Local Sessions("),
			strings.HasPrefix(line, "Global Sessions ("), strings.HasPrefix(line, "Local Sessions ("):
			t.section, known = t.timeout, true
		case strings.HasPrefix(line, "ephemeral nodes dump"), strings.HasPrefix(line, "Sessions with Ephemerals ("):
			t.section, known = t.ephemeral, true
		case strings.HasPrefix(line, "Connections dump"), strings.HasPrefix(line, "Connections Sets ("):
			t.section = t.connection
		case t.section != nil:
			return t.section(line)
		}
		return nil
	})
	if err == nil && !known {
		err = badLine("not a dump", string(b))
	}
	return d, err
}

// bucket reads "3 expire at DATE:" and the sessions under it.
func (t *dumpText) bucket(line string) error {
	if _, date, ok := strings.Cut(line, " expire at "); ok {
		at, err := time.Parse(time.UnixDate, strings.TrimSuffix(date, ":"))
		if err != nil {
			return badLine("not an expiry time", line)
		}
		t.expiry = at
		return nil
	}
	id, err := parseSession(line)
	if err != nil {
		return err
	}
	t.d.ExpiryText[id] = t.expiry
	return nil
}

// timeout reads "0x100000c0f280001 4000ms".
func (t *dumpText) timeout(line string) error {
	id, ms, ok := strings.Cut(strings.TrimSpace(line), "\t")
	session, err := parseSession(id)
	if err != nil {
		return err
	}
	timeout, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(ms), "ms"), 10, 32)
	if !ok || err != nil {
		return badLine("not a timeout", line)
	}
	t.d.Timeouts[session] = time.Duration(timeout) * time.Millisecond
	return nil
}

// ephemeral reads "0x100000c0f280001:" and the paths under it.
func (t *dumpText) ephemeral(line string) error {
	if path, ok := strings.CutPrefix(line, "\t"); ok {
		if t.session != 0 {
			t.d.Ephemerals[t.session] = append(t.d.Ephemerals[t.session], path)
		}
		return nil
	}
	id, err := parseSession(strings.TrimSuffix(line, ":"))
	t.session = id
	return err
}

// connection reads "ip: /127.0.0.1:56792 sessionId: 0x100000c0f280001". What else the
// section says is not about sessions.
func (t *dumpText) connection(line string) error {
	ip, text, ok := strings.Cut(line, " sessionId: ")
	if !ok {
		return nil
	}
	id, err := parseSession(text)
	if err != nil {
		return err
	}
	if _, remote, ok := strings.Cut(ip, "/"); ok && id != 0 {
		t.d.Connected[id] = remote
	}
	return nil
}
