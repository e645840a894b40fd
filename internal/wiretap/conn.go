package wiretap

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
)

// maxPending bounds the requests of one connection whose replies are awaited.
const maxPending = 1 << 16

// conn is one client connection and its connection to a server.
type conn struct {
	r      *Relay
	id     int
	client *net.TCPConn
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // its pumps' goroutines

	toServer *pump
	toClient *pump
	drops    atomic.Int32 // pending requests whose reply must not pass

	// mu also makes the order of reports the order of passing.
	mu      sync.Mutex
	server  *net.TCPConn // nil until dialled
	addr    string       // of server
	session int64
	asked   int64   // the session the client wants to go on with; 0: a new one
	greeted [3]bool // the first frame of a direction has passed
	pending []pending
	told    bool    // Closed was reported
	ended   [3]bool // nothing more comes from the source of a direction
	streams int     // directions whose end was passed on
}

func newConn(r *Relay, id int, client *net.TCPConn) *conn {
	c := &conn{r: r, id: id, client: client}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.toServer = newPump(c, ToServer, client, nil)
	return c
}

// run carries the connection to its end.
func (c *conn) run() {
	defer c.cancel()
	c.start(c.toServer)
	c.wg.Wait()
	c.shut()
}

func (c *conn) start(p *pump) {
	c.wg.Add(2)
	go func() { defer c.wg.Done(); p.read(c.ctx) }()
	go func() { defer c.wg.Done(); p.drain(c.ctx) }()
}

// dial connects to a server and starts the direction back. Nil: the client was
// turned away.
func (c *conn) dial() *net.TCPConn {
	server, addr, err := c.r.dial(c.ctx)
	if err != nil {
		c.closedBy(Frame{Kind: Turned, Dir: ToServer, Text: err.Error()})
		abort(c.client)
		c.shut()
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil { // cut meanwhile
		abort(server)
		return nil
	}
	c.server, c.addr = server, addr
	c.report(&Frame{Kind: Opened, Dir: ToServer})
	c.toClient = newPump(c, ToClient, server, c.client)
	c.start(c.toClient)
	return server
}

// report completes a frame and hands it on. The caller holds mu.
func (c *conn) report(f *Frame) {
	f.At = c.r.now()
	f.Conn = c.id
	f.Server = c.addr
	if f.Kind != SessionRequest {
		f.Session = c.session
	}
	c.r.count.frame(f)
	c.r.reports.put(*f)
}

// closedBy reports the end of the connection, once.
func (c *conn) closedBy(f Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told {
		return
	}
	c.told = true
	c.report(&f)
}

func (c *conn) closed(by Party, text string) {
	c.closedBy(Frame{Kind: Closed, By: by, Text: text, Dir: by.dir()})
}

// from is who sends in direction d; dir the direction somebody sends in.
func (d Direction) from() Party {
	if d == ToServer {
		return Client
	}
	return Server
}

func (p Party) dir() Direction {
	switch p {
	case Client:
		return ToServer
	case Server:
		return ToClient
	}
	return Both
}

// sourceEnded is told when nothing more can be read in direction d. Behind a black
// hole the other side is not to know; once both sides have gone there is nobody
// left to hide it from.
func (c *conn) sourceEnded(d Direction, err error) {
	c.mu.Lock()
	c.ended[d] = true
	over := c.ended[ToServer] && c.ended[ToClient] || c.server == nil
	c.mu.Unlock()
	if c.ctx.Err() != nil || !c.r.holed() {
		return
	}
	if over || c.r.faults.hole[d].Load() {
		c.closed(d.from(), closeText(err))
	}
	if over {
		c.shut()
	}
}

// streamEnded is told when the end of a direction was passed on.
func (c *conn) streamEnded() {
	c.mu.Lock()
	c.streams++
	both := c.streams == 2
	c.mu.Unlock()
	if both {
		c.shut()
	}
}

// shut ends the connection in good order.
func (c *conn) shut() {
	c.cancel()
	c.mu.Lock()
	server := c.server
	c.mu.Unlock()
	_ = c.client.Close()
	if server != nil {
		_ = server.Close()
	}
}

// reset ends the connection at once, on both sides.
func (c *conn) reset(why string) {
	c.closed(Lab, why)
	c.cancel()
	c.mu.Lock()
	server := c.server
	c.mu.Unlock()
	abort(c.client)
	abort(server)
}

// cutByFault ends the connection after DropReply or FailWrite. The server's side
// is closed in good order, so that what was delivered stays delivered.
func (c *conn) cutByFault(d Direction) {
	why := "a reply was dropped"
	if d == ToServer {
		why = "a write was failed"
	}
	c.closed(Lab, why)
	abort(c.client)
	c.shut()
}

// mustWait reports whether more of the frame has to be seen before it can be
// judged. Nothing waits while no fault is armed.
func (c *conn) mustWait(d Direction, a *assembly) bool {
	if a.full() {
		return false
	}
	if d == ToClient {
		return c.drops.Load() > 0 && len(a.body()) < 4
	}
	return c.r.faults.count.Load() > 0 && c.hasGreeted(d) && !headIsEnough(a.body())
}

func (c *conn) hasGreeted(d Direction) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greeted[d]
}

// judge lets a fault stop the frame before any of it is forwarded.
func (c *conn) judge(d Direction, a *assembly) error {
	if d == ToClient && c.drops.Load() == 0 || d == ToServer && c.r.faults.count.Load() == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.greeted[d] {
		return nil
	}
	body := a.body()
	if d == ToClient {
		return c.judgeReply(body, a)
	}
	f := Frame{Dir: d, Size: a.size, Partial: !a.complete()}
	if decodeRequest(body, &f, true) != nil {
		return nil
	}
	switch c.r.faults.judge(&f) {
	case failWrite:
		f.Dropped = true
		c.report(&f)
		return errCut
	case dropReply:
		a.drop = true
	}
	return nil
}

func (c *conn) judgeReply(body []byte, a *assembly) error {
	if len(body) < 4 {
		return nil
	}
	i := c.find(int32(binary.BigEndian.Uint32(body)))
	if i < 0 || !c.pending[i].drop {
		return nil
	}
	c.decode(ToClient, a, true)
	return errCut
}
