package locktest

import (
	"fmt"
	"path"
	"strings"

	"zklab/internal/journal"
)

// Codes that tests of locks yield.
const (
	CodeTwoHolders  = "TWO-HOLDERS"
	CodeNotInLine   = "NOT-IN-LINE"
	CodeForever     = "FOREVER"
	CodeNoNumber    = "NO-NUMBER"
	CodeWrongName   = "WRONG-NAME"
	CodeWrongPath   = "WRONG-PATH"
	CodeRequeues    = "REQUEUES"
	CodePolling     = "POLLING"
	CodeWatchesSelf = "WATCHES-SELF"
	CodeHerd        = "HERD"
	CodeStuck       = "STUCK"
	CodeNotReleased = "NOT-RELEASED"
	CodeOvertaken   = "OVERTAKEN"
	CodeLeftover    = "LEFTOVER"
	CodeOldList     = "OLD-LIST"
	CodeWrongNode   = "WRONG-NODE"

	CodeHoldsNothing     = "HOLDS-NOTHING"
	CodeWrongVersion     = "WRONG-VERSION"
	CodeClosesConnection = "CLOSES-CONNECTION"
)

// CheckNodes looks at the nodes that a member has created and asked for.
func (q *Queue) CheckNodes(name string) {
	q.t.Helper()
	q.checkNodes(q.members[name])
}

// checkNodes looks at the nodes that a member has created and asked for since its
// Acquire was called.
func (q *Queue) checkNodes(m *Member) {
	q.t.Helper()
	if m.Ended() && IsTODO(m.Err()) {
		return
	}
	var have []string
	for _, made := range m.Creates() {
		if made.At.Before(m.joined) || path.Dir(made.Asked) != q.path {
			continue
		}
		q.checkCreate(m, made)
		if made.Node != "" {
			have = append(have, path.Base(made.Node))
		}
	}
	if len(have) > 1 {
		q.Fail(Diagnosis{CodeRequeues,
			fmt.Sprintf("%s took more than one number: %s. The first one is its place in line, and the others stand in line as well.", m.Name, list(have)),
			q.Steps(m.joined, By(m.Name))})
	}
	for _, s := range q.Since(m.joined) {
		if s.Who == m.Name && s.Type == journal.Request && s.Node != "" && s.Node != q.path && !strings.HasPrefix(s.Node, q.path+"/") {
			q.Fail(Diagnosis{CodeWrongPath,
				fmt.Sprintf("%s asked for %s, which is not below the lock's path, %s.", m.Name, s.Node, q.path),
				q.Steps(m.joined, By(m.Name))})
		}
	}
	if m.Ended() && m.Err() != nil && len(m.Creates()) == 0 {
		q.Fail(Diagnosis{CodeNotInLine,
			fmt.Sprintf("%s has created no node below the lock's path, and its Acquire returned %q.", m.Name, m.Err()),
			q.Steps(m.joined, By(m.Name))})
	}
}

func (q *Queue) checkCreate(m *Member, made Created) {
	q.t.Helper()
	steps := func() []Step { return q.Steps(m.joined, Both(By(m.Name), Doing("create"))) }
	if !strings.HasPrefix(made.Mode, "ephemeral") {
		q.Fail(Diagnosis{CodeForever,
			fmt.Sprintf("%s created a node that stays when its session ends (%s): if %s dies, everybody behind it waits for ever.", m.Name, made.Mode, m.Name), steps()})
	}
	if !strings.HasSuffix(made.Mode, "sequential") {
		q.Fail(Diagnosis{CodeNoNumber,
			fmt.Sprintf("%s created a node without a number (%s), so nobody can tell who came first.", m.Name, made.Mode), steps()})
	}
	if !strings.HasSuffix(made.Asked, "lock-") && q.share == nil {
		q.Fail(Diagnosis{CodeWrongName,
			fmt.Sprintf("%s's node does not have lock- before its number, so the others pass over it: to them %s is not in line.", m.Name, m.Name), steps()})
	}
}
