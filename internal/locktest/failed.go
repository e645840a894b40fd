package locktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
)

// whyItFailed gives the diagnosis for the error of a call that should have worked, by
// what the client really asked and was told.
func (l *Lab) whyItFailed(c *Client, what string, call *Call) Diagnosis {
	said, err := oneLine(call.Err()), cause(call.Err())
	l.Flush()
	d := Diagnosis{CodeUnexpected,
		fmt.Sprintf("%s of %s returned an error although nothing was wrong: %q.", what, c.Name, said),
		l.Steps(time.Time{}, By(c.Name))}
	switch {
	case errors.Is(err, zk.ErrInvalidPath):
		d.Code = CodeWrongPath
		d.Says = fmt.Sprintf("%s of %s returned %q: the client library has refused a path, and has asked nobody. A path begins with a slash: it is the lock's path, a slash and a name.", what, c.Name, said)
	case errors.Is(err, zk.ErrBadVersion) && l.refused(c, call.began, "delete", "BadVersion") != "":
		d.Code = CodeWrongVersion
		d.Says = fmt.Sprintf("%s of %s asked to delete its node in one certain version, and the node has another: the server has refused with %q.", what, c.Name, said)
	case errors.Is(err, zk.ErrNotEmpty) && l.refused(c, call.began, "delete", "NotEmpty") == l.path:
		d.Code = CodeWrongNode
		d.Says = fmt.Sprintf("%s of %s asked to delete the lock's path itself, where everybody stands in line, instead of its own node: the server has refused with %q.", what, c.Name, said)
	case OwnError(err):
		d.Code = CodeOwnError
		d.Says = fmt.Sprintf("%s of %s returned %q. No server has said so: this error was made in lock.go.", what, c.Name, said)
	case l.broken(c):
		d.Says = fmt.Sprintf("%s of %s returned an error: %q. Its connection had been broken, and could be had again.", what, c.Name, said)
	}
	return d
}

// refused finds the node of the client's last request of one kind that was answered
// with an error; "" if there is none.
func (l *Lab) refused(c *Client, since time.Time, op, with string) string {
	node := ""
	for _, s := range l.Since(since) {
		if s.Who == c.Name && s.Type == journal.Reply && s.Op == op && s.Err == with {
			node = s.Node
		}
	}
	return node
}

// broken reports whether the lab has done something to the client's connection.
func (l *Lab) broken(c *Client) bool {
	for _, s := range l.All() {
		if s.Who == c.Name && s.Type == journal.Fault && s.Op != "delay" {
			return true
		}
	}
	return false
}

// cause is the first of joined errors: what came after it came of it.
func cause(err error) error {
	for {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || len(joined.Unwrap()) == 0 {
			return err
		}
		err = joined.Unwrap()[0]
	}
}

// oneLine is an error's text, which joined errors write in several lines.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// OwnError reports whether an error was made by the learner's code: it is neither an
// answer of the server, nor one of the connection, nor the end of a context. Of joined
// errors the first one counts.
func OwnError(err error) bool {
	err = cause(err)
	if err == nil || IsTODO(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var broken net.Error
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &broken) ||
		errors.Is(err, zk.ErrBadArguments) || errors.Is(err, zk.ErrReconfigDisabled) {
		return false
	}
	for _, words := range []string{"zk: ", "EOF", "tcp ", "context ", "panic: "} { // quoted in a text of its own
		if strings.Contains(err.Error(), words) {
			return false
		}
	}
	return true
}
