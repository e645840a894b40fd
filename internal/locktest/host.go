package locktest

import (
	"net"
	"strings"
	"sync"
)

// oneServer hands the relay's address out again at once after a broken
// connection; go-zookeeper's own waits a second with a single server. When the
// relay turns the client away, it does wait.
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
	return p.addr, p.tries > 2
}

func (p *oneServer) Connected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries = 0
}
