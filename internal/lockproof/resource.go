package lockproof

import (
	"errors"
	"net"
	"net/rpc"
	"sync"
)

// Refused is the text of a Wrote event whose order the resource refused.
const Refused = "refused"

// ErrRefused is returned when the resource has already taken an order with a
// larger token.
var ErrRefused = errors.New("lockproof: refused: a larger token was here before")

// Counting is a counter behind a fence: it refuses every token smaller than
// one it has seen. Reading counts as seeing, because a new holder has to shut
// out the old one before it relies on what it reads.
type Counting struct {
	mu      sync.Mutex
	highest int64
	value   int64
}

// Read returns the value, and shuts out smaller tokens from now on.
func (c *Counting) Read(token int64) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token < c.highest {
		return 0, ErrRefused
	}
	c.highest = token
	return c.value, nil
}

// Write sets the value.
func (c *Counting) Write(token, value int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token < c.highest {
		return ErrRefused
	}
	c.highest = token
	c.value = value
	return nil
}

// Value is the value as it is.
func (c *Counting) Value() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value
}

// Resource serves a Counting to other processes on a loopback port.
type Resource struct {
	Counting
	listener net.Listener
	owned    sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
}

// Request is one order to the resource.
type Request struct{ Token, Value int64 }

// handler is what net/rpc may call.
type handler struct{ c *Counting }

func (h handler) Read(o Request, value *int64) (err error) {
	*value, err = h.c.Read(o.Token)
	return err
}

func (h handler) Write(o Request, _ *int64) error { return h.c.Write(o.Token, o.Value) }

// StartResource serves a counter at zero.
func StartResource() (*Resource, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Resource{listener: l, conns: map[net.Conn]struct{}{}}
	s := rpc.NewServer()
	if err := s.RegisterName("Counter", handler{&r.Counting}); err != nil {
		l.Close()
		return nil, err
	}
	r.owned.Go(func() { r.accept(s) })
	return r, nil
}

func (r *Resource) accept(s *rpc.Server) {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		if !r.keep(c) {
			c.Close()
			return
		}
		r.owned.Go(func() {
			s.ServeConn(c)
			r.mu.Lock()
			delete(r.conns, c)
			r.mu.Unlock()
		})
	}
}

// keep remembers a connection, so that Close can end it.
func (r *Resource) keep(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conns == nil {
		return false
	}
	r.conns[c] = struct{}{}
	return true
}

// Addr is where it listens.
func (r *Resource) Addr() string { return r.listener.Addr().String() }

// Close ends every connection and waits for the goroutines.
func (r *Resource) Close() {
	r.listener.Close()
	r.mu.Lock()
	for c := range r.conns {
		c.Close()
	}
	r.conns = nil
	r.mu.Unlock()
	r.owned.Wait()
}

// Customer is a connection to a Resource.
type Customer struct{ c *rpc.Client }

// DialResource connects to the resource at addr.
func DialResource(addr string) (*Customer, error) {
	c, err := rpc.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Customer{c: c}, nil
}

// Increment reads the value, calls between, and writes one more. Between is
// where an overlap would do its harm. It returns ErrRefused when the fence
// refused either order.
func (c *Customer) Increment(token int64, between func()) (int64, error) {
	var value int64
	if err := c.call("Read", Request{Token: token}, &value); err != nil {
		return 0, err
	}
	between()
	value++
	return value, c.call("Write", Request{Token: token, Value: value}, new(int64))
}

func (c *Customer) call(method string, o Request, reply *int64) error {
	err := c.c.Call("Counter."+method, o, reply)
	if err != nil && err.Error() == ErrRefused.Error() {
		return ErrRefused
	}
	return err
}

// Close ends the connection.
func (c *Customer) Close() error { return c.c.Close() }
