package contestant

import (
	"sync"
	"time"
)

// mailbox takes what the client library tells and never makes it wait. What was
// not fetched in time is put together: that the connection was gone and that the
// session was lost is never forgotten, only how often.
type mailbox struct {
	mu    sync.Mutex
	mail  mail
	bell  chan struct{}
	clock func() time.Time
}

// mail is what happened to a session, in this order.
type mail struct {
	disconnected, expired, connected time.Time // zero: did not happen
	session                          Session   // the latest
}

func newMailbox(clock func() time.Time) *mailbox {
	return &mailbox{bell: make(chan struct{}, 1), clock: clock}
}

func (b *mailbox) put(s Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock()
	switch s.State {
	case Disconnected:
		if b.mail.disconnected.IsZero() {
			b.mail.disconnected = now
		}
		b.mail.connected = time.Time{}
	case Expired:
		b.mail.expired, b.mail.connected = now, time.Time{}
	case Connected:
		b.mail.connected, b.mail.session = now, s
	}
	select {
	case b.bell <- struct{}{}:
	default: // it rings already
	}
}

func (b *mailbox) take() mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.mail
	b.mail = mail{session: m.session}
	return m
}
