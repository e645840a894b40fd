package curatorlike

// rule says who must leave before a contender holds. It is pure.
type rule struct {
	kinds []string
	// blocks says whether other, who stands before me, keeps me out.
	blocks func(me, other contender) bool
	// heirs says whether somebody may take over the place of one who leaves: a
	// writer that turns into a reader. Then his leaving alone proves nothing.
	heirs func(me, other contender) bool
}

// mutexRule: everybody before me.
var mutexRule = rule{
	kinds:  []string{lockName},
	blocks: func(me, other contender) bool { return true },
	heirs:  func(me, other contender) bool { return false },
}

// place is what a contender knows of those who keep it out: the nearest, the
// one before that, and whether there are more.
type place struct {
	own   bool // the list held the contender itself
	twin  bool // somebody else has the same number
	near  contender
	far   contender
	count int
}

// standing works out a contender's place. The order of the list is of no
// concern, only numbers count, and a child of another make is not there at all.
// Names in gone are known to have left since the list was asked for.
func (r rule) standing(me contender, children []string, gone map[string]bool) place {
	var p place
	for _, name := range children {
		if name == me.name {
			p.own = true
			continue
		}
		c, ok := parseContender(name, r.kinds...)
		if !ok || gone[name] {
			continue
		}
		if c.seq == me.seq && c.kind == me.kind {
			p.twin = true
		}
		if !before(c, me) || !r.blocks(me, c) {
			continue
		}
		p.count++
		switch {
		case p.count == 1 || before(p.near, c):
			p.near, p.far = c, p.near
		case p.count == 2 || before(p.far, c):
			p.far = c
		}
	}
	return p
}

// before orders by number. A reader that keeps the place of its writer shares
// the number and the owner with it: neither is before the other.
func before(a, b contender) bool { return a.seq < b.seq }
