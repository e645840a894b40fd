package attach

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"zklab/internal/recipe"
)

// Version of the JSON that JSON writes.
const Version = 1

// Text is the reading as a table for people, ending in a newline.
func (r Reading) Text() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s   %s   %s\n", r.Path, r.what(), r.At.Format("15:04:05.000"))
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "WARNING  %s\n", w)
	}
	if len(r.Places) > 0 {
		r.table(&b)
	}
	if len(r.Locks) > 0 {
		r.folder(&b)
	}
	if len(r.Foreign) > 0 {
		fmt.Fprintf(&b, "foreign children, not in line (%d): %s\n", len(r.Foreign), some(r.Foreign, 10))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	if r.Cost.Requests > 0 {
		fmt.Fprintf(&b, "cost so far: %s; no watch was set\n", r.Cost)
	}
	return b.String()
}

func (r Reading) what() string {
	switch {
	case !r.Exists:
		return "no such node"
	case len(r.Locks) > 0:
		return fmt.Sprintf("%d locks below it", len(r.Locks))
	case len(r.Places) == 0:
		return "nobody holds, nobody waits"
	}
	return fmt.Sprintf("%s   %d in line", r.Kind, len(r.Places))
}

func (r Reading) table(b *bytes.Buffer) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STATE\tSEQ\tWAITS FOR\tSINCE\tSESSION\tTIMEOUT\tHOST\tTOKEN\tLIBRARY\tDATA")
	for _, p := range r.Places {
		seq := "-"
		if p.Seq >= 0 {
			seq = fmt.Sprint(p.Seq)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.state(), seq, p.waits(), orDash(!p.Denied, age(r.At.Sub(p.Since))),
			orDash(!p.Denied, hex(p.Session)), orDash(p.Timeout > 0, p.Timeout.String()), orDash(p.Host != "", p.Host),
			orDash(!p.Denied, hex(p.Token)), p.Family, p.Data)
	}
	w.Flush()
}

func (p Place) state() string {
	state := "waits"
	if p.Holds {
		state = "HOLDS"
	}
	if p.Intent != recipe.Exclusive {
		state += " " + string(p.Intent)
	}
	return state
}

// waits says what the contender waits for: what it watches by the server, and
// otherwise what the recipe's rule says, marked as inferred.
func (p Place) waits() string {
	switch {
	case p.Observed && len(p.Watches) > 0:
		return "watches " + strings.Join(short(p.Watches), ", ")
	case p.Holds:
		return "-"
	case p.WaitsFor == "":
		return "a free lease"
	case p.Observed:
		return shortName(p.WaitsFor) + " (no data watch)"
	}
	return shortName(p.WaitsFor) + " (inferred)"
}

// short drops the GUID: the number and the intent tell contenders apart.
func short(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = shortName(n)
	}
	return out
}

func shortName(name string) string {
	if c, ok := recipe.Parse(name); ok {
		return strings.TrimSpace(fmt.Sprintf("%s %d", c.Intent, c.Seq))
	}
	return name
}

func (r Reading) folder(b *bytes.Buffer) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LOCK\tKIND\tIN LINE\tHOLDER")
	for _, l := range r.Locks {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", l.Name, l.Kind, l.Length, orDash(l.Holder != "", l.Holder))
	}
	w.Flush()
}

// Changes says what happened between two readings, one line each.
func Changes(before, after Reading) []string {
	var lines []string
	was := make(map[identity]Place, len(before.Places))
	for _, p := range before.Places {
		was[p.identity()] = p
	}
	for _, p := range after.Places {
		old, known := was[p.identity()]
		switch {
		case !known && p.Holds:
			lines = append(lines, fmt.Sprintf("%s joined and holds%s", p.label(), p.token()))
		case !known:
			lines = append(lines, fmt.Sprintf("%s joined; waits for %s", p.label(), p.waits()))
		case p.Holds && !old.Holds:
			lines = append(lines, fmt.Sprintf("%s holds%s", p.label(), p.token()))
		}
		delete(was, p.identity())
	}
	for _, p := range before.Places {
		if _, gone := was[p.identity()]; gone {
			lines = append(lines, fmt.Sprintf("%s is gone", p.label()))
		}
	}
	return lines
}

// identity tells one contender from all others: nodes of one transaction share a
// token, and a parent that was made again starts its numbers again.
type identity struct {
	node  string
	token int64
}

func (p Place) identity() identity { return identity{p.Node, p.Token} }

func (p Place) token() string {
	if p.Denied {
		return ""
	}
	return ", token " + hex(p.Token)
}

func (p Place) label() string {
	if p.Denied {
		return p.Node + " (not readable)"
	}
	label := fmt.Sprintf("%s (session %s", p.Node, hex(p.Session))
	if p.Host != "" {
		label += ", " + p.Host
	}
	return label + ")"
}

func hex(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }

// jsonReading is the reading for programs. Session ids are hexadecimal text,
// because they are above 2^53.
type jsonReading struct {
	V        int         `json:"v"`
	At       time.Time   `json:"at"`
	Path     string      `json:"path"`
	Exists   bool        `json:"exists"`
	Kind     string      `json:"kind,omitempty"`
	Places   []jsonPlace `json:"places"`
	Foreign  []string    `json:"foreign,omitempty"`
	Locks    []jsonLock  `json:"locks,omitempty"`
	Warnings []string    `json:"warnings,omitempty"`
	Notes    []string    `json:"notes,omitempty"`
	Requests int         `json:"requests_so_far"`
	Bytes    int64       `json:"bytes_so_far"`
}

type jsonPlace struct {
	Node     string    `json:"node"`
	Seq      int64     `json:"seq"`
	Intent   string    `json:"intent,omitempty"`
	Library  string    `json:"library"`
	Holds    bool      `json:"holds"`
	WaitsFor string    `json:"waits_for,omitempty"`
	Watches  []string  `json:"watches,omitempty"`
	Observed bool      `json:"watches_observed"`
	Denied   bool      `json:"denied,omitempty"` // then there is none of the following
	Session  string    `json:"session,omitempty"`
	Token    int64     `json:"token,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Host     string    `json:"host,omitempty"`
	Timeout  int64     `json:"timeout_ms,omitempty"`
	Data     string    `json:"data,omitempty"`
}

type jsonLock struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Length int    `json:"in_line"`
	Holder string `json:"holder,omitempty"`
}

// JSON is the reading as one line, without the newline.
func (r Reading) JSON() []byte {
	j := jsonReading{V: Version, At: r.At, Path: r.Path, Exists: r.Exists, Kind: string(r.Kind), Places: []jsonPlace{},
		Foreign: r.Foreign, Warnings: r.Warnings, Notes: r.Notes,
		Requests: r.Cost.Requests, Bytes: r.Cost.Bytes}
	for _, p := range r.Places {
		one := jsonPlace{Node: p.Node, Seq: p.Seq, Intent: string(p.Intent), Library: string(p.Family), Holds: p.Holds,
			WaitsFor: p.WaitsFor, Watches: p.Watches, Observed: p.Observed, Denied: p.Denied,
			Token: p.Token, Since: p.Since, Host: p.Host, Timeout: p.Timeout.Milliseconds(), Data: p.Data}
		if !p.Denied {
			one.Session = hex(p.Session)
		}
		j.Places = append(j.Places, one)
	}
	for _, l := range r.Locks {
		j.Locks = append(j.Locks, jsonLock{Name: l.Name, Kind: string(l.Kind), Length: l.Length, Holder: l.Holder})
	}
	line, err := json.Marshal(j)
	if err != nil { // no field can fail: all are text, numbers and times
		panic(err)
	}
	return line
}

func orDash(ok bool, text string) string {
	if ok {
		return text
	}
	return "-"
}

// some lists the first few names.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", …"
}

// age is how long ago something was, as a person says it.
func age(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Minute).String()
}
