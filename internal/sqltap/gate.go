package sqltap

import "sync"

// Gate stops somebody's code before one of its statements, where others can write. Its
// zero value lets everything pass.
type Gate struct {
	mu    sync.Mutex
	place int // stop before so many-th of these statements; 0: never
	seen  int
	at    chan Statement
	goOn  chan struct{}
	open  bool
}

// Stop makes the gate stop the code once, before its so many-th statement at which
// others can write. What it is stopped before comes from the channel.
func (g *Gate) Stop(place int) <-chan Statement {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.place, g.at, g.goOn = place, make(chan Statement, 1), make(chan struct{})
	return g.at
}

// Pass is for the function that Open calls before each statement: it returns when the
// statement may go on.
func (g *Gate) Pass(s Statement) {
	g.mu.Lock()
	if s.Alone {
		g.seen++
	}
	stop := s.Alone && g.seen == g.place && !g.open
	at, goOn := g.at, g.goOn
	g.mu.Unlock()
	if stop {
		at <- s
		<-goOn
	}
}

// Open lets the code go on, and stops it no more.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open && g.goOn != nil {
		close(g.goOn)
	}
	g.open = true
}

// Seen is how many statements have come at which others can write.
func (g *Gate) Seen() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen
}
