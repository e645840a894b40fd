package locktest

import (
	"net"
	"strings"
	"sync"
	"time"
)

const (
	againAfter = 20 * time.Millisecond
	failAfter  = 50 // tries
)

// oneServer hands the relay's address out again at once after a broken connection;
// go-zookeeper's own waits a second with a single server. When the relay turns the
// client away it is asked again after a pause, and after a second of that the
// client's requests fail, as ever.
type oneServer struct {
	mu    sync.Mutex
	addr  string
	tries int
}

func (p *oneServer) Init(servers []string) error {
	if len(servers) != 1 {
		return &net.AddrError{Err: "one relay expected", Addr: strings.Join(servers, ",")}
	}
	p.addr = servers[0]
	return nil
}

func (p *oneServer) Len() int { return 1 }

func (p *oneServer) Next() (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries++
	if p.tries > 2 {
		time.Sleep(againAfter)
	}
	return p.addr, p.tries > failAfter
}

func (p *oneServer) Connected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries = 0
}
