package wiretap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sort"
	"strings"
	"sync"
	"time"
)

// MaxConns bounds the connections open at one relay; more are turned away.
const MaxConns = 4096

// dialTimeout bounds the way to one server.
const dialTimeout = 5 * time.Second

// Options of a relay. The zero value works.
type Options struct {
	// Name is for error texts: whose network this is.
	Name string
	// OnFrame is told everything that passes; see the package documentation.
	OnFrame func(Frame)
	// Now is the clock of Frame.At and Frame.Latency; nil means time.Now. It is
	// called from several goroutines.
	Now func() time.Time
}

// Relay is one client's network: a loopback port that leads to a server. Its
// methods may be called from several goroutines at a time.
type Relay struct {
	name     string
	targets  []string
	now      func() time.Time
	listener *net.TCPListener
	faults   faults
	count    count
	reports  *reports
	sessions sessions
	wg       sync.WaitGroup // the accepting goroutine and every connection's

	mu     sync.Mutex
	conns  map[int]*conn
	lastID int
	next   int    // index of the target for the next connection
	pinned string // or this one
	closed bool
}

// Start opens a relay to target, a server's "host:port" or several with commas.
// With several, connections go to them in turn, and to the next when one cannot be
// reached, unless Pin says otherwise. ctx is for starting only; Close ends the
// relay.
func Start(ctx context.Context, target string, o Options) (*Relay, error) {
	targets, err := parseTargets(target)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("wiretap: cannot open a port for the relay %s: %w", o.Name, err)
	}
	r := &Relay{
		name: o.Name, targets: targets, now: o.Now, listener: l.(*net.TCPListener),
		reports: newReports(o.OnFrame), conns: make(map[int]*conn),
	}
	if r.now == nil {
		r.now = time.Now
	}
	if o.OnFrame != nil {
		go r.reports.run() // Close waits for it in reports.end
	}
	r.wg.Add(1)
	go r.accept()
	return r, nil
}

func parseTargets(list string) ([]string, error) {
	var targets []string
	for _, t := range strings.Split(list, ",") {
		t = strings.TrimSpace(t)
		if host, port, err := net.SplitHostPort(t); err != nil || host == "" || port == "" || strings.Contains(port, "/") {
			return nil, fmt.Errorf("wiretap: %q is no server address: give host:port, several with commas, without a chroot path", list)
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// Addr is the relay's own "127.0.0.1:port": what the client is to connect to.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Close closes the port and every connection with a reset, and returns when all goroutines of
// the relay have ended and OnFrame was told everything. Not to be called from OnFrame.
func (r *Relay) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	err := r.listener.Close()
	for _, c := range r.open() {
		c.reset("the relay was closed")
	}
	r.wg.Wait()
	r.reports.end()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Pin sends new connections to one server, which need not be among the targets.
// With "" they go to the targets in turn again.
func (r *Relay) Pin(addr string) error {
	if addr != "" {
		if list, err := parseTargets(addr); err != nil || len(list) != 1 {
			return fmt.Errorf("wiretap: %q is not one server's host:port", addr)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pinned = addr
	return nil
}

func (r *Relay) accept() {
	defer r.wg.Done()
	for {
		s, err := r.listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of file descriptors, or gone before it was accepted
			time.Sleep(10 * time.Millisecond)
			continue
		}
		r.serve(s)
	}
}

// serve runs one new connection, or turns it away.
func (r *Relay) serve(s *net.TCPConn) {
	_ = s.SetNoDelay(true)
	r.count.conns.Add(1)
	r.mu.Lock()
	r.lastID++
	c := newConn(r, r.lastID, s)
	why := ""
	switch {
	case r.closed:
		why = "the relay was closed"
	case r.faults.refuse.Load():
		why = "refused by the lab"
	case len(r.conns) >= MaxConns:
		why = fmt.Sprintf("%d connections are open already", MaxConns)
	default:
		r.conns[c.id] = c
		r.wg.Add(1)
	}
	r.mu.Unlock()
	if why != "" {
		c.closedBy(Frame{Kind: Turned, Dir: ToServer, Text: why})
		c.cancel()
		abort(s)
		return
	}
	go func() {
		defer r.wg.Done()
		c.run()
		r.mu.Lock()
		delete(r.conns, c.id)
		r.mu.Unlock()
	}()
}

// open gives the open connections, oldest first.
func (r *Relay) open() []*conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*conn, 0, len(r.conns))
	for _, c := range r.conns {
		list = append(list, c)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].id < list[j].id })
	return list
}

func (r *Relay) holed() bool {
	return r.faults.hole[ToServer].Load() || r.faults.hole[ToClient].Load()
}

// dial connects to the next server that can be reached.
func (r *Relay) dial(ctx context.Context) (*net.TCPConn, string, error) {
	r.mu.Lock()
	list := append(append([]string(nil), r.targets[r.next:]...), r.targets[:r.next]...)
	if r.pinned != "" {
		list = []string{r.pinned}
	} else {
		r.next = (r.next + 1) % len(r.targets)
	}
	r.mu.Unlock()
	var failed error
	for _, addr := range list {
		s, err := dialServer(ctx, addr)
		if err == nil {
			return s, addr, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, "", fmt.Errorf("no server can be reached: %w", failed)
}

func dialServer(ctx context.Context, addr string) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	s, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	tcp := s.(*net.TCPConn)
	_ = tcp.SetNoDelay(true)
	return tcp, nil
}
