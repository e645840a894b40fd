package wiretap

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// fake is a server that hands each connection to the test.
func fake(t testing.TB) (addr string, conns <-chan *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	accepted := make(chan *net.TCPConn, 16)
	var all []*net.TCPConn // kept to the end: one that is collected is closed
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(2 * patience))
			all = append(all, c.(*net.TCPConn))
			accepted <- c.(*net.TCPConn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		for _, c := range all {
			_ = c.Close()
		}
	})
	return l.Addr().String(), accepted
}

// frames makes a stream of n frames with random bodies, some longer than MaxDecode.
func frames(rnd *rand.Rand, n int) []byte {
	var b []byte
	for i := range n {
		size := rnd.IntN(2000)
		if i%40 == 39 {
			size = MaxDecode + rnd.IntN(MaxDecode)
		}
		b = binary.BigEndian.AppendUint32(b, uint32(size))
		for end := len(b) + size; len(b) < end; {
			b = binary.BigEndian.AppendUint64(b, rnd.Uint64())
			b = b[:min(len(b), end)]
		}
	}
	return b
}

func sendAll(c *net.TCPConn, b []byte) error {
	rnd := rand.New(rand.NewPCG(3, 4))
	for len(b) > 0 {
		n := min(len(b), 1+rnd.IntN(100000))
		if _, err := c.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return c.CloseWrite()
}

// TestRelay_randomFramesBothWays: bytes pass unchanged, whatever they are, and a
// half-close too.
func TestRelay_randomFramesBothWays(t *testing.T) {
	addr, conns := fake(t)
	r, p := relay(t, addr)
	rnd := rand.New(rand.NewPCG(1, 2))
	up, down := frames(rnd, 100), frames(rnd, 100)
	c := dialRaw(t, r.Addr()).conn.(*net.TCPConn)
	sent := make(chan error, 2)
	go func() { sent <- sendAll(c, up) }()
	s := <-conns
	go func() { sent <- sendAll(s, down) }()
	got := make(chan []byte, 1)
	go func() { b, _ := io.ReadAll(s); got <- b }()
	back, err := io.ReadAll(c)
	must(t, err)
	must(t, <-sent)
	must(t, <-sent)
	if b := <-got; sha256.Sum256(b) != sha256.Sum256(up) || sha256.Sum256(back) != sha256.Sum256(down) {
		t.Fatalf("%d of %d bytes up and %d of %d down, or not the same ones", len(b), len(up), len(back), len(down))
	}
	p.wait(t, "undecoded", kind(Undecoded))
	n := r.Counters()
	if n.BytesToServer != int64(len(up)) || n.BytesToClient != int64(len(down)) || n.FramesToServer != 100 || n.FramesToClient != 100 {
		t.Errorf("counters %+v", n)
	}
}

// TestRelay_halfFrameArrives: nothing is held back to see the rest of a frame first.
func TestRelay_halfFrameArrives(t *testing.T) {
	addr, conns := fake(t)
	r, p := relay(t, addr)
	c := dialRaw(t, r.Addr()).conn.(*net.TCPConn)
	half := []byte{0, 0, 0, 100, 1, 2, 3}
	_, err := c.Write(half)
	must(t, err)
	s := <-conns
	got := make([]byte, len(half))
	_, err = io.ReadFull(s, got)
	must(t, err)
	if !bytes.Equal(got, half) {
		t.Fatalf("got %x", got)
	}
	must(t, c.CloseWrite())
	f := p.wait(t, "undecoded", kind(Undecoded))
	if !bytes.Equal(f.Raw, half[4:]) || !strings.Contains(f.Text, "within a frame") {
		t.Errorf("reported %x %s", f.Raw, f.Text)
	}
}

func TestRelay_fourLetterWord(t *testing.T) {
	r, p := relay(t, target(t))
	c := dialRaw(t, r.Addr()).conn.(*net.TCPConn)
	_, err := c.Write([]byte("srvr"))
	must(t, err)
	answer, err := io.ReadAll(c)
	must(t, err)
	if !bytes.Contains(answer, []byte("Mode:")) {
		t.Fatalf("answer %q", answer)
	}
	if f := p.wait(t, "undecoded", kind(Undecoded)); string(f.Raw) != "srvr" {
		t.Errorf("reported %q", f.Raw)
	}
}

// TestRelay_frameLongerThanMaxDecode: the head of a long reply is still read.
func TestRelay_frameLongerThanMaxDecode(t *testing.T) {
	b := newBench(time.Now)
	req := new(packet).int(7).int(int32(OpGetChildren2)).string("/q").bool(true)
	rep := new(packet).int(7).long(99).int(0).int(400_000)
	for range 400_000 {
		rep.string("n-0000000001")
	}
	rep.b = append(rep.b, make([]byte, 68)...)
	b.c.greeted = [3]bool{true, true, true}
	must(t, b.c.toServer.pass(req.framed()))
	rnd := rand.New(rand.NewPCG(1, 1))
	must(t, b.pass(b.c.toClient, rep.framed(), rnd))
	got := b.reported()
	f := got[len(got)-1]
	if f.Kind != Reply || f.Path != "/q" || f.Zxid != 99 || f.Count != 400_000 || f.Children != nil || !f.Partial {
		t.Errorf("%s %s zxid %d count %d partial %v", f.Kind, f.Path, f.Zxid, f.Count, f.Partial)
	}
	if !bytes.Equal(b.client.Bytes(), rep.framed()) {
		t.Error("the long frame was changed")
	}
	if cap(b.c.toClient.frame.kept) > keptSize {
		t.Error("the memory for the long frame is still kept")
	}
}

// TestDelay_2MiBInPieces: a delay is no limit to throughput, and keeps the order.
func TestDelay_2MiBInPieces(t *testing.T) {
	addr, conns := fake(t)
	r, _ := relay(t, addr)
	const d = 100 * time.Millisecond
	r.Delay(d)
	c := dialRaw(t, r.Addr()).conn.(*net.TCPConn)
	data := frames(rand.New(rand.NewPCG(5, 6)), 39)
	for len(data) < 2<<20 {
		data = append(data, data...)
	}
	start := time.Now()
	sent := make(chan error, 1)
	go func() {
		for b := data; len(b) > 0; b = b[min(len(b), 2000):] {
			if _, err := c.Write(b[:min(len(b), 2000)]); err != nil {
				sent <- err
				return
			}
		}
		sent <- c.CloseWrite()
	}()
	got, err := io.ReadAll(<-conns)
	must(t, err)
	must(t, <-sent)
	took := time.Since(start)
	if !bytes.Equal(got, data) {
		t.Fatalf("%d of %d bytes, or not the same", len(got), len(data))
	}
	if took < d || took > 50*d { // one after the other would take 1000 d
		t.Errorf("took %v", took)
	}
}

// TestBlackHole_memoryIsBounded: 24 MiB sent into a hole wait mostly in the sender.
func TestBlackHole_memoryIsBounded(t *testing.T) {
	addr, conns := fake(t)
	r, _ := relay(t, addr)
	c := dialRaw(t, r.Addr()).conn.(*net.TCPConn)
	_, err := c.Write([]byte{0, 0, 0, 1, 1})
	must(t, err)
	s := <-conns
	r.BlackHole(ToClient, true)
	data := frames(rand.New(rand.NewPCG(7, 8)), 390)
	for len(data) < 24<<20 {
		data = append(data, data...)
	}
	sent := make(chan error, 1)
	go func() { sent <- sendAll(s, data) }()
	eventually(t, "the hole is full", func() bool { return r.Counters().Held >= MaxHeldBytes-64<<10 })
	if held := r.Counters().Held; held > MaxHeldBytes {
		t.Errorf("%d bytes held", held)
	}
	r.Heal()
	must(t, c.CloseWrite())
	got, err := io.ReadAll(c)
	must(t, err)
	must(t, <-sent)
	if !bytes.Equal(got, data) {
		t.Fatalf("%d of %d bytes, or not the same", len(got), len(data))
	}
}

// TestBlackHole_newConnection: it is accepted and silent, and forgotten when the client
// gives up.
func TestBlackHole_newConnection(t *testing.T) {
	addr, conns := fake(t)
	r, p := relay(t, addr)
	r.BlackHole(ToServer, true)
	c := dialRaw(t, r.Addr()).conn
	_, err := c.Write([]byte{0, 0, 0, 1, 1})
	must(t, err)
	must(t, c.Close())
	p.wait(t, "closed", kind(Closed))
	eventually(t, "the abandoned connection is forgotten", func() bool { return len(r.open()) == 0 })
	c = dialRaw(t, r.Addr()).conn
	_, err = c.Write([]byte{0, 0, 0, 1, 2})
	must(t, err)
	r.Heal()
	got := make([]byte, 5)
	_, err = io.ReadFull(<-conns, got)
	must(t, err)
	if got[4] != 2 {
		t.Errorf("the server was sent %x", got)
	}
	select {
	case <-conns:
		t.Error("the abandoned connection reached the server")
	default:
	}
}

// TestBlackHole_closeIsNotSeen: a server behind a hole does not hear that its client has
// gone, until the hole closes. The relay does, and says so at once.
func TestBlackHole_closeIsNotSeen(t *testing.T) {
	addr, conns := fake(t)
	r, p := relay(t, addr)
	c := dialRaw(t, r.Addr()).conn
	_, err := c.Write([]byte{0, 0, 0, 1, 1})
	must(t, err)
	s := <-conns
	got := make([]byte, 5)
	_, err = io.ReadFull(s, got)
	must(t, err)
	r.BlackHole(ToServer, true)
	must(t, c.Close())
	if f := p.wait(t, "closed", kind(Closed)); f.By != Client {
		t.Errorf("closed by %s", f.By)
	}
	must(t, s.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	if _, err := s.Read(got); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the server heard of the end through the hole: %v", err)
	}
	must(t, s.SetReadDeadline(time.Now().Add(patience)))
	r.Heal()
	if _, err := s.Read(got); err != io.EOF {
		t.Errorf("the server was not told after the hole closed: %v", err)
	}
}
