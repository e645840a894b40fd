package locktest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zklab/internal/journal"
	"zklab/internal/wiretap"
)

// Client is a ZooKeeper client behind a relay of its own. Where a lesson says
// "process" this is one: it has a session, it can be cut off, and it can die.
type Client struct {
	Name string
	Conn *zk.Conn

	lab     *Lab
	relay   *wiretap.Relay
	dead    bool // by Kill: it takes no part any more
	refused bool // by Refuse
	cancel  context.CancelFunc
	calls   []*Call
	hear    func(zk.Event) // set by OnSession; guarded by lab.mu
	once    sync.Once

	flushed time.Time      // when the last answer to Flush passed; guarded by lab.mu
	asked   map[int32]bool // by xid: requests that ask for a watch; of the relay's goroutine
}

// Client connects a client and waits until it has a session.
func (l *Lab) Client(name string) *Client { return l.ClientFor(name, l.session) }

// ClientFor is Client with a session timeout to ask for.
func (l *Lab) ClientFor(name string, session time.Duration) *Client {
	l.t.Helper()
	c := l.relayed(name)
	ready := make(chan struct{})
	var once sync.Once
	var err error
	c.Conn, _, err = zk.Connect([]string{c.relay.Addr()}, session,
		zk.WithLogger(silent{}), zk.WithLogInfo(false),
		zk.WithHostProvider(&oneServer{}),
		zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateHasSession {
				once.Do(func() { close(ready) })
			}
			c.tell(e)
		}))
	if err != nil {
		l.t.Fatalf("locktest: %s cannot connect: %v", name, err)
	}
	select {
	case <-ready:
	case <-time.After(10 * time.Second):
		l.t.Fatalf("locktest: %s got no session within 10 s", name)
	}
	return c
}

// relayed makes a client that has a relay and no connection yet.
func (l *Lab) relayed(name string) *Client {
	l.t.Helper()
	c := &Client{Name: name, lab: l, asked: map[int32]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	relay, err := wiretap.Start(ctx, l.server, wiretap.Options{Name: name, OnFrame: c.frame})
	if err != nil {
		cancel()
		l.t.Fatalf("locktest: no relay for %s: %v", name, err)
	}
	c.relay = relay
	l.clients = append(l.clients, c)
	l.note(journal.Event{Type: journal.Joined, Who: name, Lock: l.path})
	return c
}

// frame takes a frame from the relay into the record.
func (c *Client) frame(f wiretap.Frame) {
	if f.Path == flushPath {
		if f.Kind == wiretap.Reply {
			c.lab.mu.Lock()
			c.flushed = f.At
			c.lab.mu.Unlock()
		}
		return
	}
	if f.Kind == wiretap.Request && f.Watch {
		c.asked[f.Xid] = true
	}
	if e, ok := eventOf(c.Name, f); ok {
		c.lab.add(Seen{Event: e, Frame: &f, Asked: f.Watch || c.asked[f.Xid]})
	}
	if f.Kind == wiretap.Reply && (f.Created != "" || f.Op == wiretap.OpDelete || f.Op == wiretap.OpCloseSession) {
		c.lab.stirred()
	}
}

// Expire ends the client's session at the server, at once. The client learns of
// it as ever: its connection breaks, and the next one is told "expired".
func (c *Client) Expire() {
	c.lab.t.Helper()
	c.relay.Refuse(true) // or it comes back and takes its session over again
	c.relay.Cut()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := c.relay.ExpireSession(ctx)
	c.relay.Refuse(c.dead || c.refused)
	if err != nil && !errors.Is(err, wiretap.ErrSessionOver) {
		c.lab.t.Fatalf("locktest: cannot end %s's session: %v", c.Name, err)
	}
	c.lab.note(journal.Event{Type: journal.Note, Who: c.Name, Text: "session ended"})
	c.lab.stirred()
}

// Kill is kill -9 and the end of the session after it, without the wait between.
func (c *Client) Kill() {
	c.lab.t.Helper()
	c.dead = true
	c.lab.note(journal.Event{Type: journal.Signal, Who: c.Name, Op: "SIGKILL"})
	c.Expire()
}

// Unplug is kill -9 without the end of the session: the connection is gone and
// none comes back. The server ends the session when it has heard nothing for
// the session timeout.
func (c *Client) Unplug() {
	c.dead = true
	c.lab.note(journal.Event{Type: journal.Signal, Who: c.Name, Op: "SIGKILL"})
	c.relay.Refuse(true)
	c.relay.Cut()
}

// Cut breaks the connection. The client may come back at once.
func (c *Client) Cut() {
	c.lab.note(journal.Event{Type: journal.Fault, Who: c.Name, Op: "cut"})
	c.relay.Cut()
}

// Refuse turns new connections away while it is on.
func (c *Client) Refuse(on bool) {
	c.refused = on
	c.relay.Refuse(on)
}

// Delay holds everything up by d in each direction.
func (c *Client) Delay(d time.Duration) {
	c.lab.note(journal.Event{Type: journal.Fault, Who: c.Name, Op: "delay", Text: d.String()})
	c.relay.Delay(d)
}

// Hold keeps what is under way between a client with a Delay and the server where it
// is, until Heal: time enough for anything else to happen.
func (c *Client) Hold() { c.relay.Delay(time.Hour) }

// BlackHole swallows everything in both directions; the connection stays open.
func (c *Client) BlackHole() {
	c.lab.note(journal.Event{Type: journal.Fault, Who: c.Name, Op: "blackhole"})
	c.relay.BlackHole(wiretap.Both, true)
}

// DropReply lets the next matching request through and cuts the connection
// before its reply.
func (c *Client) DropReply(m wiretap.Match) {
	c.lab.note(journal.Event{Type: journal.Fault, Who: c.Name, Op: "drop-reply", Text: which(m)})
	c.relay.DropReply(m)
}

// FailWrite cuts the connection before the next matching request reaches the
// server.
func (c *Client) FailWrite(m wiretap.Match) {
	c.lab.note(journal.Event{Type: journal.Fault, Who: c.Name, Op: "fail-write", Text: which(m)})
	c.relay.FailWrite(m)
}

func which(m wiretap.Match) string {
	if m.Op == wiretap.OpAny {
		return "the next request"
	}
	return m.Op.String()
}

// Heal takes all faults away.
func (c *Client) Heal() {
	c.relay.Heal()
	c.lab.note(journal.Event{Type: journal.Healed, Who: c.Name})
}

// SessionID is the client's session now; 0 while it has none.
func (c *Client) SessionID() int64 { return c.Conn.SessionID() }

// graves are the connections of the dead that are being closed. Without a server that
// takes go-zookeeper a second, which the binary's end waits for and not the test's.
var graves sync.WaitGroup

func (c *Client) close() {
	c.once.Do(func() {
		for _, call := range c.calls {
			call.cancel()
		}
		c.relay.Heal()
		if c.dead {
			c.relay.Refuse(true)
		}
		switch {
		case c.Conn == nil:
		case c.dead:
			graves.Go(c.Conn.Close)
		default:
			c.Conn.Close()
		}
		c.cancel()
		if err := c.relay.Close(); err != nil {
			c.lab.t.Errorf("locktest: relay of %s: %v", c.Name, err)
		}
	})
}
