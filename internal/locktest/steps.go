package locktest

import (
	"fmt"
	"path"
	"sort"
	"strings"
	"time"

	"zklab/internal/journal"
)

// Pick chooses facts of the record that become steps of a diagnosis.
type Pick func(Seen) bool

// By picks what the named clients did.
func By(who ...string) Pick { return func(s Seen) bool { return contains(who, s.Who) } }

// Doing picks the named steps: the operations as Steps writes them (create, get,
// getW, exists, existsW, children, childrenW, delete, sync), "woken", "killed",
// "entered", "released", "cut".
func Doing(what ...string) Pick { return func(s Seen) bool { return contains(what, verb(s)) } }

// Both picks what two picks pick.
func Both(a, b Pick) Pick { return func(s Seen) bool { return a(s) && b(s) } }

// Any picks what one of several picks.
func Any(picks ...Pick) Pick {
	return func(s Seen) bool {
		for _, p := range picks {
			if p(s) {
				return true
			}
		}
		return false
	}
}

// Steps writes the picked facts since a moment as steps, at most 12: the first
// and the last ones. Wake-ups that one event caused come in order of names.
func (l *Lab) Steps(since time.Time, pick Pick) []Step {
	l.Flush()
	var picked []Seen
	for _, s := range joined(l.Since(since)) {
		if verb(s) != "" && pick(s) {
			picked = append(picked, s)
		}
	}
	for i := 0; i < len(picked); {
		j := i
		for j < len(picked) && picked[j].Type == journal.WatchEvent {
			j++
		}
		run := picked[i:j]
		sort.SliceStable(run, func(a, b int) bool { return run[a].Who < run[b].Who })
		i = j + 1
	}
	var steps []Step
	for _, s := range picked {
		steps = append(steps, l.step(s))
	}
	steps = shortened(steps)
	if len(steps) > maxSteps {
		left := fmt.Sprintf("… %d more like these", len(steps)-maxSteps+1)
		steps = append(append(steps[:maxSteps/2:maxSteps/2], Step{Text: left}), steps[len(steps)-maxSteps/2+1:]...)
	}
	return steps
}

const maxSteps = 12

// sameSteps is how often the same step is told in a row. How often it was done more than
// that is a matter of the machine.
const sameSteps = 3

func shortened(steps []Step) []Step {
	var out []Step
	for i := 0; i < len(steps); {
		n := 1
		for i+n < len(steps) && steps[i+n] == steps[i] {
			n++
		}
		out = append(out, steps[i:i+min(n, sameSteps)]...)
		if n > sameSteps {
			out = append(out, Step{Who: steps[i].Who, Text: "… and so on"})
		}
		i += n
	}
	return out
}

// joined puts the reply of a change where its request was: what the change
// caused passes before the reply does.
func joined(facts []Seen) []Seen {
	type key struct {
		who string
		xid int32
	}
	asked := map[key]int{}
	var out []Seen
	for _, s := range facts {
		k := key{s.Who, s.Xid}
		change := !reads(s.Op) && s.Op != "sync"
		at, ok := asked[k]
		switch {
		case s.Type == journal.Request && change:
			asked[k] = len(out)
			out = append(out, s)
		case s.Type == journal.Reply && change && ok:
			out[at] = s
			delete(asked, k)
		default:
			out = append(out, s)
		}
	}
	return out
}

// verb names what a fact is as a step; "" when it is none.
func verb(s Seen) string {
	switch s.Type {
	case journal.Reply:
		return opName(s)
	case journal.Request:
		if s.Text == "dropped" {
			return opName(s)
		}
	case journal.WatchEvent:
		return "woken"
	case journal.Signal:
		return "killed"
	case journal.Fault:
		return s.Op
	case journal.CloseSession:
		return "close"
	case journal.Belief:
		switch s.Belief {
		case journal.Holds:
			return "entered"
		case journal.Released:
			return "released"
		}
	}
	return ""
}

// opName is the operation as go-zookeeper calls it: a trailing W asks for a watch.
func opName(e Seen) string {
	name := map[string]string{
		"setWatches": "", "setWatches2": "", // the client library's own doing
		"getData": "get", "getChildren": "children", "getChildren2": "children", "setData": "set",
		"create2": "create", "createContainer": "create", "closeSession": "",
	}
	op, ok := name[e.Op]
	if !ok {
		op = e.Op
	}
	if e.Asked && op != "" {
		op += "W"
	}
	return op
}

// step writes one fact.
func (l *Lab) step(s Seen) Step {
	switch s.Type {
	case journal.WatchEvent:
		return Step{s.Who, fmt.Sprintf("%-9s %s", "woken", l.called(s.Who, s.Node)), happened[s.Op]}
	case journal.Signal:
		return Step{s.Who, "killed; its session ended", l.gone(s.Who)}
	case journal.Fault:
		return Step{s.Who, s.Op + " " + s.Text, ""}
	case journal.CloseSession:
		return Step{s.Who, "close", "session ends, its ephemeral nodes with it"}
	case journal.Belief:
		if s.Belief == journal.Holds {
			return Step{s.Who, "entered", ""}
		}
		return Step{s.Who, string(s.Belief), ""}
	}
	node := l.called(s.Who, s.Node)
	if strings.HasPrefix(opName(s), "create") {
		node = l.called("", s.Node)
	}
	return Step{s.Who, fmt.Sprintf("%-9s %s", opName(s), node), effect(s.Event)}
}

// happened says in words what a watch event tells.
var happened = map[string]string{
	"NodeDeleted": "it was deleted", "NodeCreated": "it was created",
	"NodeDataChanged": "its data changed", "NodeChildrenChanged": "its children changed",
}

// gone is the effect of a client's death.
func (l *Lab) gone(who string) string {
	for _, c := range l.clients {
		if node := c.Node(); c.Name == who && node != "" {
			return path.Base(node) + " deleted"
		}
	}
	return ""
}

func effect(e journal.Event) string {
	switch {
	case e.Type == journal.Request && e.Text == "dropped":
		return "connection cut before it was sent"
	case e.Text == "dropped":
		return "done, but the reply was lost"
	case e.Err == "NoNode":
		return "no such node"
	case e.Err != "":
		return e.Err
	case strings.HasPrefix(e.Op, "create"):
		return "created"
	case e.Op == "delete":
		return "deleted"
	case strings.HasPrefix(e.Op, "getChildren"):
		names := fmt.Sprintf("%d names", e.Children)
		if e.Children == 1 {
			names = "1 name"
		}
		if e.Watch != "" {
			names += ", watch set"
		}
		return names
	case e.Watch != "":
		return "watch set"
	case e.Op == "exists" || e.Op == "getData":
		return "it is there"
	}
	return "ok"
}

// called is a node as a person says it: its name, and whose it is.
func (l *Lab) called(who, node string) string {
	switch {
	case node == l.path:
		return "the lock path"
	case node == "" || !strings.HasPrefix(node, l.path+"/"):
		return node
	}
	name := path.Base(node)
	switch owner := l.Owner(node); {
	case owner == "" || who == "":
		return name
	case owner == who:
		return name + " (own)"
	default:
		return name + " (" + owner + ")"
	}
}
