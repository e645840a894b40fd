package wiretap

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// captured gives what passed between a client and a real server in one direction.
func captured(t testing.TB, name string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "captured", "*-"+name+".bin"))
	must(t, err)
	if len(files) == 0 {
		t.Fatal("nothing captured: run go test -run Decode -capture")
	}
	b, err := os.ReadFile(files[0])
	must(t, err)
	return b
}

// split cuts a stream into its frames' bodies.
func split(b []byte) (bodies [][]byte) {
	for len(b) >= 4 {
		n := 4 + int(binary.BigEndian.Uint32(b))
		bodies = append(bodies, b[4:n])
		b = b[n:]
	}
	return bodies
}

// bench is a connection without sockets: what is passed comes out in out.
type bench struct {
	c              *conn
	server, client bytes.Buffer
}

func newBench(now func() time.Time) *bench {
	b := &bench{}
	r := &Relay{now: now, conns: map[int]*conn{}}
	r.reports = newReports(func(Frame) {})
	b.c = newConn(r, 1, nil)
	b.c.toServer.out = &b.server
	b.c.toClient = newPump(b.c, ToClient, nil, nil)
	b.c.toClient.out = &b.client
	return b
}

// pass feeds a stream in pieces of random length.
func (b *bench) pass(p *pump, stream []byte, rnd *rand.Rand) error {
	for len(stream) > 0 {
		n := 1 + rnd.IntN(len(stream))
		if rnd.IntN(2) == 0 {
			n = min(n, 1+rnd.IntN(16))
		}
		if err := p.pass(stream[:n]); err != nil {
			return err
		}
		stream = stream[n:]
	}
	p.flush()
	return nil
}

func (b *bench) reported() []Frame {
	b.c.r.reports.mu.Lock()
	defer b.c.r.reports.mu.Unlock()
	return b.c.r.reports.frames
}

// FuzzStream passes any bytes in any pieces, with and without armed faults: what comes
// out is what went in, or, after a fault has cut, a beginning of it.
func FuzzStream(f *testing.F) {
	up, down := captured(f, "to-server"), captured(f, "to-client")
	for i := range uint64(4) {
		f.Add(up, down, i, int32(0), "")
		f.Add(up, down, i, int32(OpMulti), "/T")
		f.Add(up[:len(up)/2], down[:len(down)/2+3], i, int32(OpDelete), "")
	}
	f.Add([]byte("srvr"), []byte("Zookeeper version: 3.8.0"), uint64(1), int32(1), "")
	f.Add([]byte{0, 0, 0, 0, 0xff}, []byte{0xff, 0xff, 0xff, 0xff}, uint64(1), int32(1), "")
	f.Fuzz(func(t *testing.T, up, down []byte, seed uint64, op int32, prefix string) {
		for _, then := range []verdict{pass, failWrite, dropReply} {
			rnd := rand.New(rand.NewPCG(seed, 0))
			b := newBench(time.Now)
			if then != pass {
				b.c.r.faults.arm(Match{Op: Op(op), PathPrefix: prefix}, then)
			}
			check(t, then == failWrite, b.pass(b.c.toServer, up, rnd), up, b.server.Bytes())
			if then == failWrite {
				continue
			}
			check(t, then == dropReply, b.pass(b.c.toClient, down, rnd), down, b.client.Bytes())
			for _, p := range []*pump{b.c.toServer, b.c.toClient} {
				if len(p.frame.kept) > MaxDecode {
					t.Fatalf("%d bytes of a frame were kept", len(p.frame.kept))
				}
			}
			for _, fr := range b.reported() {
				if len(fr.Raw) > MaxRaw+4 || fr.Kind == Undecoded && fr.Text == "" {
					t.Fatalf("undecoded frame %+v", fr)
				}
			}
		}
	})
}

func check(t *testing.T, mayCut bool, err error, in, out []byte) {
	t.Helper()
	switch {
	case err == nil && !bytes.Equal(in, out):
		t.Fatalf("%d bytes went in, others came out:\n%x\n%x", len(in), in, out)
	case err != nil && !mayCut:
		t.Fatalf("cut without a fault: %v", err)
	case !bytes.HasPrefix(in, out):
		t.Fatal("what came out before the cut is not what went in")
	}
}

// FuzzDecode reads any body as every kind of frame. Nothing panics, and nothing that
// a length claims is allocated.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"to-server", "to-client"} {
		for _, body := range split(captured(f, name)) {
			f.Add(body)
			f.Add(body[:len(body)*2/3])
			mutated := bytes.Clone(body)
			if len(mutated) > 12 {
				mutated[12] ^= 0x7f
			}
			f.Add(mutated)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var fr Frame
		_ = decodeConnect(body, &fr)
		_, _ = decodeConnected(body, &fr)
		headIsEnough(body)
		for _, partial := range []bool{false, true} {
			req := Frame{}
			_ = decodeRequest(body, &req, partial)
			_ = decodeReply(&jute{b: body}, &req, &Frame{}, partial)
			for _, o := range ops {
				got := Frame{}
				_ = decodeReply(&jute{b: body}, &Frame{Op: o.op, Parts: req.Parts}, &got, partial)
				if len(got.Children) > len(body) || len(got.Parts) > len(body) {
					t.Fatalf("more elements than bytes: %d, %d", len(got.Children), len(got.Parts))
				}
			}
		}
		_ = decodeEvent(&jute{b: body}, &fr)
	})
}

// TestStream_capturedInAnyPieces: every frame of a real conversation is decoded the same
// however it arrives.
func TestStream_capturedInAnyPieces(t *testing.T) {
	up, down := captured(t, "to-server"), captured(t, "to-client")
	tick := time.Unix(1, 0)
	now := func() time.Time { return tick }
	want := ""
	for seed := range uint64(200) {
		b := newBench(now)
		rnd := rand.New(rand.NewPCG(seed, 1))
		must(t, b.pass(b.c.toServer, up, rnd))
		must(t, b.pass(b.c.toClient, down, rnd))
		var text strings.Builder
		for _, f := range b.reported() {
			if f.Kind == Undecoded {
				t.Fatalf("seed %d: undecoded: %s", seed, f.Text)
			}
			text.WriteString(f.Kind.String() + " " + f.Op.String() + " " + f.Path + " " + f.Created + " " + ErrName(f.Err) + "\n")
		}
		if want == "" {
			want = text.String()
		}
		if text.String() != want {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, text.String(), want)
		}
	}
	if n, all := strings.Count(want, "\n"), len(split(up))+len(split(down)); n != all || all < 50 {
		t.Errorf("%d of %d frames:\n%s", n, all, want)
	}
}
