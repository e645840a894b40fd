package locktest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// secret remembers a session's id and password, which the server's answer to the
// handshake carries. With both, anybody may end the session.
type secret struct {
	mu       sync.Mutex
	id       int64
	password []byte
}

// dial connects like net.DialTimeout and reads along the handshake's answer.
func (s *secret) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return &sniffed{Conn: c, secret: s}, nil
}

// sniffed is a connection whose first frame from the server is read along.
// Only the client's receiving goroutine reads, so head needs no lock.
type sniffed struct {
	net.Conn
	secret *secret
	head   []byte
	done   bool
}

// handshakeHead is length, protocol version, timeout, session id, password
// length and password.
const handshakeHead = 4 + 4 + 4 + 8 + 4 + 16

func (c *sniffed) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.done {
		return n, err
	}
	c.head = append(c.head, b[:n]...)
	if len(c.head) >= handshakeHead {
		c.done = true
		c.secret.mu.Lock()
		c.secret.id = int64(binary.BigEndian.Uint64(c.head[12:]))
		c.secret.password = append([]byte(nil), c.head[24:handshakeHead]...)
		c.secret.mu.Unlock()
		c.head = nil
	}
	return n, err
}

// end ends the session at the server at once: it goes on with it on another
// connection and closes it there. Its ephemeral nodes are gone when end returns.
func (s *secret) end(server string) error {
	s.mu.Lock()
	id, password := s.id, s.password
	s.mu.Unlock()
	if id == 0 {
		return errors.New("there is no session to end")
	}
	var err error
	for range 20 { // the client may come back and take its session over again
		if err = endSession(server, id, password); !errors.Is(err, io.EOF) {
			return err
		}
	}
	return err
}

func endSession(server string, id int64, password []byte) error {
	c, err := net.DialTimeout("tcp", server, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	hello := make([]byte, 0, 48)
	hello = binary.BigEndian.AppendUint32(hello, 44)                    // length
	hello = binary.BigEndian.AppendUint32(hello, 0)                     // protocol version
	hello = binary.BigEndian.AppendUint64(hello, 0)                     // last zxid seen
	hello = binary.BigEndian.AppendUint32(hello, 4000)                  // timeout, ms
	hello = binary.BigEndian.AppendUint64(hello, uint64(id))            // session
	hello = binary.BigEndian.AppendUint32(hello, uint32(len(password))) // password
	hello = append(hello, password...)
	if _, err := c.Write(hello); err != nil {
		return err
	}
	answer := make([]byte, handshakeHead)
	if _, err := io.ReadFull(c, answer[:4]); err != nil {
		return fmt.Errorf("the server did not take the session over: %w", err)
	}
	rest := make([]byte, min(binary.BigEndian.Uint32(answer), 1024))
	if _, err := io.ReadFull(c, rest); err != nil || len(rest) < 16 {
		return fmt.Errorf("the server did not take the session over: %w", err)
	}
	if binary.BigEndian.Uint64(rest[8:]) == 0 {
		return nil // it was over already
	}
	bye := []byte{0, 0, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5} // length, xid 1, closeSession
	if _, err := c.Write(bye); err != nil {
		return err
	}
	reply := make([]byte, 4)
	_, err = io.ReadFull(c, reply) // the answer comes when the session's nodes are gone
	return err
}
