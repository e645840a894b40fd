package wiretap

import "encoding/binary"

// Limits of one connection, a direction.
const (
	// MaxDecode is the longest frame that is decoded whole, length included.
	// Of a longer one only the head is read. ZooKeeper's own limit for requests
	// is 1 MiB unless told otherwise.
	MaxDecode = 1<<20 + 4096
	// MaxFrame is the longest frame that is believed. A longer length means that
	// this is not ZooKeeper's protocol (four letters read as a length are above
	// it), and the direction is forwarded undecoded from there on.
	MaxFrame = 256 << 20
	// MaxRaw bounds Frame.Raw.
	MaxRaw = 256
	// keptSize is how much memory an idle direction keeps for frames that come in pieces.
	keptSize = 64 << 10
)

// assembly puts the frame under way together from the pieces that arrive.
type assembly struct {
	size   int    // of the whole frame with its length; 0: not known yet
	got    int    // bytes of it seen so far
	view   []byte // the whole frame, when it came in one piece
	kept   []byte // a copy of its first bytes, when it did not
	judged bool   // the faults let it pass
	drop   bool   // its reply must not reach the client
	held   int    // bytes of kept that were not forwarded yet
}

// add takes the bytes of b that belong to the frame and says how many they are.
// broken: the length is impossible.
func (a *assembly) add(b []byte) (n int, broken bool) {
	if a.size == 0 {
		length := b
		if a.got > 0 || len(b) < 4 {
			n = min(4-a.got, len(b))
			a.kept = append(a.kept, b[:n]...)
			a.got += n
			if a.got < 4 {
				return n, false
			}
			length = a.kept
		}
		size := int64(int32(binary.BigEndian.Uint32(length))) + 4
		if size < 4 || size > MaxFrame {
			return n, true
		}
		a.size = int(size)
	}
	m := min(len(b)-n, a.size-a.got)
	switch {
	case m == a.size: // all of it, and nothing before
		a.view = b[:m]
	case len(a.kept) < MaxDecode:
		a.kept = append(a.kept, b[n:n+min(m, MaxDecode-len(a.kept))]...)
	}
	a.got += m
	return n + m, false
}

func (a *assembly) complete() bool { return a.size > 0 && a.got == a.size }

// bytes gives what is known of the frame after its length.
func (a *assembly) body() []byte {
	b := a.view
	if b == nil {
		b = a.kept
	}
	return b[min(4, len(b)):]
}

// partial reports whether body is less than the frame.
func (a *assembly) partial() bool { return len(a.body())+4 < a.size }

// full reports whether no more of the frame will be known.
func (a *assembly) full() bool { return a.complete() || len(a.kept) >= MaxDecode }

func (a *assembly) reset() {
	kept := a.kept[:0]
	if cap(kept) > keptSize {
		kept = nil
	}
	*a = assembly{kept: kept}
}
