package wiretap

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
)

// raw is a client that says exactly what a test wants, for the operations that the Go
// client does not have.
type raw struct {
	t    testing.TB
	conn net.Conn
	xid  int32
}

// packet builds a frame's body.
type packet struct{ b []byte }

func (p *packet) int(v int32) *packet {
	p.b = binary.BigEndian.AppendUint32(p.b, uint32(v))
	return p
}
func (p *packet) long(v int64) *packet {
	p.b = binary.BigEndian.AppendUint64(p.b, uint64(v))
	return p
}
func (p *packet) bool(v bool) *packet {
	if v {
		p.b = append(p.b, 1)
	} else {
		p.b = append(p.b, 0)
	}
	return p
}
func (p *packet) string(s string) *packet {
	p.int(int32(len(s)))
	p.b = append(p.b, s...)
	return p
}
func (p *packet) strings(list ...string) *packet {
	p.int(int32(len(list)))
	for _, s := range list {
		p.string(s)
	}
	return p
}
func (p *packet) open() *packet { return p.int(1).int(31).string("world").string("anyone") }

func (p *packet) framed() []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(p.b))), p.b...)
}

func dialRaw(t testing.TB, addr string) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	must(t, conn.SetDeadline(time.Now().Add(2*patience)))
	t.Cleanup(func() { _ = conn.Close() })
	return &raw{t: t, conn: conn}
}

// hello opens a session.
func (r *raw) hello(timeout time.Duration) {
	r.t.Helper()
	p := new(packet).int(0).long(0).int(int32(timeout.Milliseconds())).long(0).string(string(make([]byte, 16))).bool(false)
	_, err := r.conn.Write(p.framed())
	must(r.t, err)
	r.frame()
}

func (r *raw) send(p *packet) {
	r.t.Helper()
	_, err := r.conn.Write(p.framed())
	must(r.t, err)
}

// call sends an operation and returns the reply's error.
func (r *raw) call(op Op, body *packet) int32 {
	r.t.Helper()
	r.xid++
	return r.callAs(r.xid, op, body)
}

func (r *raw) callAs(xid int32, op Op, body *packet) int32 {
	r.t.Helper()
	r.send(&packet{b: append(new(packet).int(xid).int(int32(op)).b, body.b...)})
	for {
		j := jute{b: r.frame()}
		got := j.int()
		j.long()
		code := j.int()
		must(r.t, j.err)
		if got == xid {
			return code
		}
	}
}

func (r *raw) frame() []byte {
	r.t.Helper()
	var length [4]byte
	_, err := io.ReadFull(r.conn, length[:])
	must(r.t, err)
	body := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err = io.ReadFull(r.conn, body)
	must(r.t, err)
	return body
}

func none() *packet { return new(packet) }

func path(p string) *packet { return new(packet).string(p) }

func create(p, data string, mode CreateMode) *packet {
	return path(p).string(data).open().int(int32(mode))
}

func part(op Op) *packet { return new(packet).int(int32(op)).bool(false).int(-1) }

// multi joins parts: header, body, header, body.
func multi(parts ...*packet) *packet {
	all := new(packet)
	for _, p := range parts {
		all.b = append(all.b, p.b...)
	}
	return all.int(-1).bool(true).int(-1)
}

// everything runs each operation once below root and returns the errors it got.
func (r *raw) everything(root string) map[Op]int32 {
	r.t.Helper()
	got := make(map[Op]int32)
	do := func(op Op, body *packet) { r.t.Helper(); got[op] = r.call(op, body) }
	r.hello(4 * time.Second)
	got[OpPing] = r.callAs(xidPing, OpPing, none())
	got[OpAuth] = r.callAs(xidAuth, OpAuth, new(packet).int(0).string("digest").string("u:p"))
	got[OpSetWatches] = r.callAs(xidSetWatches, OpSetWatches,
		new(packet).long(0).strings("/zookeeper").strings(root+"/none").strings())
	got[OpSetWatches2] = r.callAs(xidSetWatches, OpSetWatches2,
		new(packet).long(0).strings().strings().strings("/zookeeper").strings("/zookeeper").strings())
	do(OpCreate, create(root+"/a", "data", EphemeralSequential))
	do(OpCreate2, create(root+"/b", "data", Persistent))
	do(OpCreateContainer, create(root+"/c", "", Container))
	do(OpCreateTTL, create(root+"/t", "", PersistentWithTTL).long(60000))
	do(OpExists, path(root+"/none").bool(true))
	do(OpGetData, path(root+"/b").bool(true))
	do(OpSetData, path(root+"/b").string("changed").int(-1))
	do(OpGetACL, path(root+"/b"))
	do(OpSetACL, path(root+"/b").open().int(-1))
	do(OpGetChildren, path(root).bool(true))
	do(OpGetChildren2, path(root).bool(true))
	do(OpAddWatch, path(root).int(int32(WatchPersistentRecursive)))
	do(OpCheckWatches, path(root).int(3))
	do(OpRemoveWatches, path(root).int(3))
	do(OpSync, path(root))
	do(OpWhoAmI, none())
	do(OpGetEphemerals, path(root))
	do(OpGetAllChildrenNumber, path(root))
	mc, mk, md := part(OpCreate2), part(OpCheck), part(OpDelete)
	mc.b = append(mc.b, create(root+"/m", "", Persistent).b...)
	mk.string(root + "/b").int(-1)
	md.string(root + "/m").int(-1)
	do(OpMulti, multi(mc, mk, md))
	mk2 := part(OpCheck)
	mk2.string(root + "/b").int(99)
	if code := r.call(OpMulti, multi(mc, mk2)); code != ErrOK {
		r.t.Errorf("a failed multi has error %d in its header", code)
	}
	mg, ml := part(OpGetData), part(OpGetChildren)
	mg.string(root + "/b").bool(false)
	ml.string(root).bool(false)
	do(OpMultiRead, multi(mg, ml))
	do(OpDelete, path(root+"/b").int(-1))
	got[OpCloseSession] = r.call(OpCloseSession, none())
	return got
}
