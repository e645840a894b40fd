package locktest

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"zklab/internal/journal"
)

// stirred asks for a reading of the queue. It never blocks.
func (l *Lab) stirred() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return
	}
	select {
	case l.stir <- struct{}{}:
	default:
	}
}

// sample reads the queue from the server whenever it may have changed, so that
// the journal of a failed run can be replayed with the server's view in it.
func (l *Lab) sample() {
	known := map[string]journal.Node{}
	for range l.stir {
		names, _, err := l.observer.Children(l.path)
		if err != nil {
			continue
		}
		var nodes []journal.Node
		for _, name := range names {
			node, ok := known[name]
			if !ok {
				data, stat, err := l.observer.Get(path.Join(l.path, name))
				if err != nil {
					continue // gone meanwhile
				}
				node = journal.Node{Name: name, Owner: journal.SessionID(stat.EphemeralOwner), Czxid: stat.Czxid, Data: string(data)}
				known[name] = node
			}
			nodes = append(nodes, node)
		}
		l.add(Seen{Event: journal.Event{At: time.Now(), By: journal.Server, Type: journal.Queue, Lock: l.path, Nodes: nodes}})
	}
}

// leaveJournal writes the record to the state folder and reports whether there
// is something to replay now. Its last events are the steps that the message tells,
// in the same words, and the diagnosis.
func (l *Lab) leaveJournal(d Diagnosis) bool {
	dir := stateDir()
	if dir == "" || d.Code == CodeTODO {
		return false
	}
	for _, s := range d.Steps {
		l.note(journal.Event{Type: journal.Note, Text: s.line()})
	}
	l.note(journal.Event{Type: journal.Expect, Text: "[" + d.Code + "] " + d.Says})
	var out bytes.Buffer
	w := journal.NewWriter(&out)
	for i, s := range l.All() {
		e := s.Event
		e.Seq = int64(i + 1)
		if err := w.Write(e); err != nil {
			fmt.Fprintln(os.Stderr, "locktest: the journal is not kept:", err)
			return false
		}
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "locktest: the journal is not kept:", err)
		return false
	}
	if err := replaceFile(filepath.Join(dir, LastRun), out.Bytes()); err != nil {
		fmt.Fprintln(os.Stderr, "locktest: the journal is not kept:", err)
		return false
	}
	return true
}
