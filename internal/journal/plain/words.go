package plain

import (
	"fmt"
	"strings"

	"zklab/internal/journal"
)

// one says an event that stands for itself, or "" when there is nothing to say.
func (p *Printer) one(e *journal.Event, before journal.State) string {
	switch e.Type {
	case journal.Note:
		return e.Text
	case journal.Step:
		return "step: " + e.Text
	case journal.Expect:
		return expected(e)
	case journal.Joined:
		if e.Recipe == "" {
			return fmt.Sprintf("%s takes part at %s", e.Who, e.Lock)
		}
		return fmt.Sprintf("%s joins the queue of %s (recipe %s%s)", e.Who, e.Lock, e.Recipe, pid(e.PID))
	case journal.Asked:
		return fmt.Sprintf("%s is asked to %s", e.Who, e.Op)
	case journal.Signal:
		return signal(e)
	case journal.Fault:
		return strings.TrimSpace(fmt.Sprintf("network fault for %s: %s %s", e.Who, e.Op, e.Text))
	case journal.Healed:
		return "network of " + e.Who + " healed"
	case journal.Started:
		return "process started" + pid(e.PID)
	case journal.Exited:
		if e.Text == journal.QuitText {
			return "has left; its process goes on" + pid(e.PID)
		}
		return fmt.Sprintf("process gone%s: %s", pid(e.PID), e.Text)
	case journal.Belief:
		if was, known := before.Contestant(e.Who); known && was.Belief == e.Belief && was.Err == e.Err && was.Token == e.Token {
			return ""
		}
		return belief(e)
	case journal.Work:
		return fmt.Sprintf("has looked, and works on %s with token 0x%x", e.Text, e.Token)
	case journal.Write:
		return write(e)
	case journal.ServerUp:
		return fmt.Sprintf("%s is up (%s)", e.Text, e.Mode)
	case journal.ServerDown:
		if e.Err != "" {
			return e.Text + " died by itself: " + e.Err
		}
		return e.Text + " does not answer"
	case journal.SessionEnded:
		return p.sessionEnded(e)
	}
	return p.wire(e)
}

func pid(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", pid %d", n)
}

func expected(e *journal.Event) string {
	if e.OK {
		return "ok: " + e.Text
	}
	if e.Err == "" {
		return "NOT SO: " + e.Text
	}
	return "NOT SO: " + e.Text + "; found: " + e.Err
}

func signal(e *journal.Event) string {
	number := map[string]string{"SIGKILL": "kill -9", "SIGSTOP": "kill -STOP", "SIGCONT": "kill -CONT"}[e.Op]
	after := map[string]string{
		"SIGSTOP": ": process alive, heartbeats stop", "SIGCONT": ": it runs again, and believes what it believed",
	}[e.Op]
	if e.PID == 0 { // no process of its own: an exercise's client
		return fmt.Sprintf("%s to %s%s", e.Op, e.Who, after)
	}
	return fmt.Sprintf("%s to %s (%s %d)%s", e.Op, e.Who, number, e.PID, after)
}

func belief(e *journal.Event) string {
	switch e.Belief {
	case journal.Holds:
		return fmt.Sprintf("believes it HOLDS the lock: %s, token 0x%x", Node(e.Node), e.Token)
	case journal.Waiting:
		return "waits in line"
	case journal.Released:
		return "has released the lock"
	case journal.Suspended:
		return "suspended: no connection, not sure of anything"
	case journal.Lost:
		return "knows that its session is over"
	case journal.Failed:
		return "failed: " + e.Err
	}
	return ""
}

func write(e *journal.Event) string {
	if e.OK {
		return strings.TrimSpace(fmt.Sprintf("writes with token 0x%x: accepted %s", e.Token, e.Text))
	}
	return strings.TrimSpace(fmt.Sprintf("writes with token 0x%x: REFUSED %s", e.Token, e.Text))
}

func (p *Printer) sessionEnded(e *journal.Event) string {
	text := fmt.Sprintf("session %s %s", Session(e.Session), e.Op)
	if e.Who == "" {
		return text
	}
	text += " (" + e.Who
	if c, known := p.now.Contestant(e.Who); known && e.Op == "expired" && !c.Heard.IsZero() && c.Session == e.Session {
		text += fmt.Sprintf("; last heard %s before, timeout %s", seconds(e.At.Sub(c.Heard)), seconds(c.Timeout))
	}
	return text + ")"
}

// wire says a frame.
func (p *Printer) wire(e *journal.Event) string {
	switch e.Type {
	case journal.ConnOpened:
		if p.detail == Frames {
			return "connection opened"
		}
	case journal.ConnClosed:
		return p.connClosed(e)
	case journal.SessionOpen:
		if !e.OK {
			return fmt.Sprintf("server says: session %s expired", Session(e.Session))
		}
		return p.sessionOpen(e)
	case journal.WatchEvent:
		return p.watchEvent(e)
	case journal.Reply:
		return p.reply(e)
	case journal.Request:
		if p.detail == Frames {
			return fmt.Sprintf("-> %s%s %s%s", e.Op, mode(e), e.Node, watchFlag(e))
		}
	case journal.CloseSession:
		return "closes its session"
	case journal.Undecoded:
		return "sent bytes that are not understood: " + e.Text
	case journal.Ping:
		if p.detail == Frames {
			return "-> heartbeat"
		}
	case journal.Pong:
		if p.detail == Frames {
			return "<- heartbeat answered"
		}
	}
	return ""
}

func (p *Printer) connClosed(e *journal.Event) string {
	text := "connection gone, closed by the " + e.Op
	if e.Op == "" {
		text = "connection gone"
	}
	if c, known := p.now.Contestant(e.Who); known && !c.Heard.IsZero() {
		text += fmt.Sprintf("; last packet to the server %s before", seconds(e.At.Sub(c.Heard)))
		if c.Phase == journal.Killed {
			text += ": heartbeats stop"
		}
	}
	return text
}

func (p *Printer) sessionOpen(e *journal.Event) string {
	text := fmt.Sprintf("session %s, timeout %s", Session(e.Session), seconds(e.Timeout))
	c, known := p.now.Contestant(e.Who)
	if known && c.Asked > 0 && c.Asked != e.Timeout {
		text += fmt.Sprintf(" negotiated (asked for %s)", seconds(c.Asked))
	}
	return text
}

// maxTold is how many watch events of one node are told one by one; the sum of a
// herd is told with the release.
const maxTold = 3

func (p *Printer) watchEvent(e *journal.Event) string {
	if p.detail == Story {
		if e.Op != "NodeDeleted" {
			return ""
		}
		if len(p.told) > 4096 {
			clear(p.told)
		}
		if p.told[e.Node]++; p.told[e.Node] > maxTold {
			return ""
		}
	}
	return fmt.Sprintf("watch fired: %s %s -> %s", e.Op, Node(e.Node), e.Who)
}

func (p *Printer) reply(e *journal.Event) string {
	if p.detail == Frames {
		return fmt.Sprintf("<- %s %s %s in %s", e.Op, e.Node, result(e), seconds(e.Latency))
	}
	switch e.Op {
	case "create", "create2", "createContainer":
		if e.Err == "" && strings.Contains(e.Mode, "ephemeral") {
			return fmt.Sprintf("create%s -> %s", mode(e), Node(e.Node))
		}
		if e.Err != "" && e.Err != "NodeExists" {
			return fmt.Sprintf("create %s: %s", e.Node, e.Err)
		}
	case "delete":
		return fmt.Sprintf("delete %s%s", Node(e.Node), errText(e))
	case "getData", "exists":
		if e.Watch != "" && e.Err == "" {
			return fmt.Sprintf("watches %s (%s -w)", Node(e.Node), e.Op)
		}
		if e.Watch != "" {
			return fmt.Sprintf("%s -w %s%s", e.Op, Node(e.Node), errText(e))
		}
	}
	return ""
}

func result(e *journal.Event) string {
	switch {
	case e.Err != "":
		return e.Err
	case e.Op == "getChildren" || e.Op == "getChildren2":
		return plural(e.Children, "child", "children")
	}
	return "ok"
}

func errText(e *journal.Event) string {
	if e.Err == "" {
		return ""
	}
	return ": " + e.Err
}

func mode(e *journal.Event) string {
	flags := ""
	if strings.Contains(e.Mode, "ephemeral") {
		flags += " -e"
	}
	if strings.Contains(e.Mode, "sequential") {
		flags += " -s"
	}
	return flags
}

func watchFlag(e *journal.Event) string {
	if e.Watch == "" {
		return ""
	}
	return " -w"
}
