package lock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/locktest"
	"zklab/internal/wiretap"
)

func TestMain(m *testing.M) { locktest.Main(m) }

// scene is a node that H has created, and W, which waits until it is gone.
type scene struct {
	*locktest.Lab
	t     *testing.T
	h, w  *locktest.Client
	node  string
	call  *locktest.Call
	start time.Time
}

func newScene(t *testing.T) *scene {
	lab := locktest.New(t)
	return &scene{Lab: lab, t: t, h: lab.Client("H"), w: lab.Client("W"), node: lab.Path() + "/door", start: time.Now()}
}

// must is for H, whose calls work.
func (s *scene) must(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) create() {
	s.must(s.h.Conn.Create(s.node, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)))
}
func (s *scene) change() { s.must(s.h.Conn.Set(s.node, []byte("painted"), -1)) }
func (s *scene) remove() { s.must(nil, s.h.Conn.Delete(s.node, -1)) }

func (s *scene) wait() {
	s.call = s.w.Do("WaitGone", func(context.Context) error { return WaitGone(s.w.Conn, s.node) })
}

// look gives the diagnoses that can be given at any time.
func (s *scene) look() {
	s.t.Helper()
	s.CallFailed(s.w, "WaitGone", s.call)
	if s.w.Polls() && s.toldGone() > 1 {
		all := s.Steps(s.start, locktest.By("W"))
		for i := range all {
			if strings.HasSuffix(all[i].Effect, "no such node") {
				all = append(all[:min(i+2, len(all)):min(i+2, len(all))], locktest.Step{Who: "W", Text: "and so on"})
				break
			}
		}
		s.Fail(locktest.Diagnosis{Code: "ASKS-ON",
			Says:  "The server has told W that there is no such node, which is what W waits for, and W asks again, without end. No node to begin with, or no node any more: either way WaitGone is done.",
			Steps: all})
	}
	if s.w.Polls() {
		s.Fail(locktest.Diagnosis{Code: "POLLING",
			Says:  "W asks again and again whether the node is still there. A watch costs one request, and the server speaks up by itself.",
			Steps: s.Steps(s.start, locktest.By("W"))})
	}
}

// toldGone counts how often the server has answered W that there is no such node.
func (s *scene) toldGone() int {
	n := 0
	for _, seen := range s.Since(s.start) {
		if seen.Who == "W" && seen.Type == journal.Reply && seen.Node == s.node && seen.Err == "NoNode" {
			n++
		}
	}
	return n
}

// mustGoOnWaiting requires that W, which has its watch, still waits: nothing has happened.
func (s *scene) mustGoOnWaiting() {
	s.t.Helper()
	err := s.call.Err()
	if !s.call.Ended() || err != nil && !locktest.OwnError(err) && !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	said := "no error, as if the node were gone"
	if err != nil {
		said = fmt.Sprintf("the error %q", err)
	}
	s.Fail(locktest.Diagnosis{Code: "OWN-DEADLINE",
		Says: fmt.Sprintf("W had its watch, nothing has happened to the node, and after a while WaitGone returned %s. Nobody has set W a limit: it waits until the node is gone, however long that takes.", said),
		Steps: append(s.Steps(s.start, locktest.By("W")),
			locktest.Step{Who: "W", Text: "WaitGone returned", Effect: "door still there"})})
}

// mustNotGiveUp requires that W, which was woken, has looked again before it returned.
func (s *scene) mustNotGiveUp() {
	s.t.Helper()
	err := s.call.Err()
	if !locktest.OwnError(err) || !s.w.Did(s.start, "woken") {
		return
	}
	s.Flush()
	var woken time.Time
	for _, seen := range s.Since(s.start) {
		if seen.Who == "W" && seen.Type == journal.WatchEvent {
			woken = seen.At
		}
	}
	if s.w.Requests(woken) > 0 {
		return
	}
	s.Fail(locktest.Diagnosis{Code: "ONE-SHOT",
		Says: fmt.Sprintf("W had one watch, and the first event, a change of data, used it up: its channel delivers that one event and is closed. W set no new watch, and gave up with %q, while the node is still there.", err),
		Steps: append(s.Steps(s.start, locktest.Any(locktest.By("W"), locktest.Doing("set"))),
			locktest.Step{Who: "W", Text: "WaitGone returned an error", Effect: "door still there"})})
}

// mustEnd requires that WaitGone returns; code and says are for when it does not.
func (s *scene) mustEnd(code, says string) {
	s.t.Helper()
	s.Until(func() bool { return s.call.Ended() || s.w.Polls() })
	s.look()
	if !s.call.Ended() {
		if code == "STUCK" && len(s.w.Armed()) == 0 {
			says = "W waits, and has no watch at the server: nothing will ever wake it."
		} else if code == "STUCK" && s.w.Armed()[0].Node != s.node && s.w.Requests(s.start, "getData", "exists") == 0 {
			says = "W waits for a change of something else, and has not looked whether the node is there. There is none, so WaitGone is done. Look first, then sleep."
		}
		s.Fail(locktest.Diagnosis{Code: code, Says: says, Steps: append(
			s.Steps(s.start, locktest.Any(locktest.By("W"), locktest.Doing("set", "delete"))),
			locktest.Step{Who: "W", Text: "still waiting"})})
	}
}

// There is no node to begin with.
func TestGoneAlready(t *testing.T) {
	s := newScene(t)
	s.wait()
	s.mustEnd("STUCK", "There was no node when W came, so it should have returned at once. It left a watch on a node that nobody will create, and waits for ever.")
}

// The node changes, and later it goes. Only then is it gone.
func TestItChangesBeforeItGoes(t *testing.T) {
	s := newScene(t)
	s.create()
	s.wait()
	armed := func() bool { return len(s.w.Armed()) > 0 || s.call.Ended() || s.w.Polls() }
	s.Until(armed)
	s.w.Calm(s.call.Ended)
	s.look()
	if s.w.Did(s.start, "delete") {
		s.Fail(locktest.Diagnosis{Code: "DELETES-IT",
			Says:  "W has deleted the node itself. It is H's, and while it is there H is at work, so now everybody takes H for gone. Whoever waits looks, and changes nothing.",
			Steps: s.Steps(s.start, locktest.Both(locktest.By("W"), locktest.Doing("get", "getW", "exists", "existsW", "delete")))})
	}
	if s.call.Ended() {
		s.Fail(locktest.Diagnosis{Code: "WRONG-EVENT",
			Says:  "WaitGone has returned although the node is there and nothing has happened to it.",
			Steps: append(s.Steps(s.start, locktest.By("W")), locktest.Step{Who: "W", Text: "WaitGone returned", Effect: "door still there"})})
	}
	since := time.Now()
	silent := s.Silent(s.w)
	s.mustGoOnWaiting()
	if !silent {
		s.w.Calm(s.call.Ended)
		s.Fail(locktest.Diagnosis{Code: "POLLING",
			Says:  "W has its watch, nothing has happened, and yet it asks again after a while. Slow polling is polling: a watch costs one request, and the server speaks up by itself.",
			Steps: append([]locktest.Step{{Who: "W", Text: "waits", Effect: "watch set"}}, s.Steps(since, locktest.By("W"))...)})
	}
	s.change()
	s.Until(func() bool { return s.w.Did(s.start, "woken") })
	s.Patient(700 * time.Millisecond) // one that sets no new watch never will
	s.Until(armed)
	s.Patient(locktest.Quiet)
	s.mustNotGiveUp()
	s.look()
	if s.call.Ended() {
		s.Fail(locktest.Diagnosis{Code: "WRONG-EVENT",
			Says: "W was woken because the node's data changed, and took it for gone. An event says that something happened; what, its type says, and only a new look tells how things are.",
			Steps: append(s.Steps(s.start, locktest.Any(locktest.By("W"), locktest.Doing("set"))),
				locktest.Step{Who: "W", Text: "WaitGone returned", Effect: "door still there"})})
	}
	s.remove()
	s.mustEnd("ONE-SHOT", "W had one watch, and the first event, a change of data, used it up. It set no new one, so when the node went nobody told it.")
}

// W cannot ask the server. That says nothing about the node.
func TestTheServerCannotBeAsked(t *testing.T) {
	s := newScene(t)
	s.create()
	s.w.FailWrite(wiretap.Match{PathPrefix: s.node})
	s.wait()
	s.Until(func() bool { return s.call.Ended() || len(s.w.Armed()) > 0 || s.w.Polls() })
	if s.call.Ended() && s.call.Err() == nil {
		s.Fail(locktest.Diagnosis{Code: "ERROR-IS-GONE",
			Says: "W's connection broke before its question reached the server, and W took the error for an answer: the node is gone. It is there. Only one error says that it is gone.",
			Steps: append(s.Steps(s.start, locktest.Both(locktest.By("W"), locktest.Not(locktest.Doing("fail-write")))),
				locktest.Step{Who: "W", Text: "WaitGone returned nil", Effect: "door still there"})})
	}
	if s.call.Ended() {
		return
	}
	s.remove() // it has asked again by itself, which is as good
	s.mustEnd("STUCK", "W's connection broke before its question reached the server. W has come back, and now waits for ever.")
}

// The node goes between two requests of W, if W makes two.
func TestItGoesWhileYouLook(t *testing.T) {
	s := newScene(t)
	s.create()
	s.w.Delay(60 * time.Millisecond)
	s.wait()
	s.Until(func() bool {
		return s.call.Ended() || s.w.Did(s.start, "get", "getW", "exists", "existsW", "children", "childrenW")
	})
	s.w.Hold() // until the node has gone
	s.remove()
	s.w.Heal()
	s.mustEnd("STUCK", "The node went after W had seen it and before W had set its watch. The watch came too late for the event, and no other will come. Look and watch must be one request.")
}
