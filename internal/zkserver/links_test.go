package zkserver

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// linked opens links between two peers, where the second one is l.
func linked(t *testing.T, l net.Listener) *links {
	t.Helper()
	port := l.Addr().(*net.TCPAddr).Port
	all, err := openLinks([]peer{{id: 1, quorum: 1, election: 1}, {id: 2, quorum: port, election: port}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.close)
	return all
}

func listenTCP(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// call opens a connection through the link and returns both ends.
func call(t *testing.T, all *links, l net.Listener, election bool) (near, far net.Conn) {
	t.Helper()
	near, err := net.Dial("tcp4", all.addr(1, 2, election))
	if err != nil {
		t.Fatal(err)
	}
	far, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	for _, c := range []net.Conn{near, far} {
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	}
	return near, far
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func wantHeard(t *testing.T, c net.Conn, text string) {
	t.Helper()
	b := make([]byte, len(text))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != text {
		t.Fatalf("heard %q, %v; want %q", b, err, text)
	}
}

// TestLinks_cut_holdsBackAndLosesNothing: what is sent while a server is cut off,
// the end of the connection included, arrives when it is back, in order.
func TestLinks_cut_holdsBackAndLosesNothing(t *testing.T) {
	l := listenTCP(t)
	all := linked(t, l)
	near, far := call(t, all, l, false)
	say(t, near, "before")
	wantHeard(t, far, "before")
	for _, id := range []int{1, 2} { // whichever end it is
		all.cut(id)
		say(t, near, "meanwhile")
		say(t, far, "answer")
		_ = far.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if n, err := far.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Fatalf("%d bytes passed to a server that is cut off", n)
		}
		_ = far.SetReadDeadline(time.Now().Add(10 * time.Second))
		all.join(id)
		wantHeard(t, far, "meanwhile")
		wantHeard(t, near, "answer")
	}
	all.cut(2)
	say(t, near, "last words")
	near.Close()
	all.join(2)
	wantHeard(t, far, "last words")
	if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("the end of the connection did not pass")
	}
}

// TestLinks_close_endsWhatIsHeldBack: nothing waits for ever.
func TestLinks_close_endsWhatIsHeldBack(t *testing.T) {
	l := listenTCP(t)
	all := linked(t, l)
	near, _ := call(t, all, l, false)
	all.cut(1)
	say(t, near, "held back")
	other, err := net.Dial("tcp4", all.addr(1, 2, false))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	done := make(chan struct{})
	go func() { all.close(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("close waits for what is held back")
	}
}

// TestLinks_hello_namesTheLinkToCallBack: otherwise peers would call each other
// past the links.
func TestLinks_hello_namesTheLinkToCallBack(t *testing.T) {
	l := listenTCP(t)
	all := linked(t, l)
	hello := func(version int64, addr string) string {
		b := binary.BigEndian.AppendUint64(nil, uint64(version))
		b = binary.BigEndian.AppendUint64(b, 1)
		b = binary.BigEndian.AppendUint32(b, uint32(len(addr)))
		return string(b) + addr
	}
	for name, c := range map[string]struct{ said, heard string }{
		"version1":  {hello(helloV1, "127.0.0.1:3888"), hello(helloV1, all.addr(2, 1, true))},
		"version2":  {hello(helloV2, "127.0.0.1:3888|10.0.0.1:3888"), hello(helloV2, all.addr(2, 1, true))},
		"before3.5": {string(binary.BigEndian.AppendUint64(nil, 1)), string(binary.BigEndian.AppendUint64(nil, 1))},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := call(t, all, l, true)
			say(t, near, c.said+"and more")
			wantHeard(t, far, c.heard+"and more")
		})
	}
}

func TestLinks_hello_nonsense(t *testing.T) {
	l := &links{ends: []*link{{from: 2, to: 1, election: true, listener: listenTCP(t)}}}
	long := binary.BigEndian.AppendUint64(nil, uint64(0xffffffffffff0000))
	long = append(long, make([]byte, 8)...)
	long = binary.BigEndian.AppendUint32(long, 1<<31)
	for name, text := range map[string]string{"nothing": "", "short": "abc", "addressTooLong": string(long) + strings.Repeat("x", 5000), "addressCutOff": string(long[:16]) + "\x00\x00\x00\x09ab"} {
		var out bytes.Buffer
		if err := l.hello(&link{from: 1, to: 2, election: true}, &out, strings.NewReader(text)); err == nil || out.Len() > 0 {
			t.Errorf("%s: passed %q, %v", name, out.String(), err)
		}
	}
}
