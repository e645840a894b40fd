package flawed

// Design is a way to build a lock.
type Design struct {
	Name string // of its type
	Flaw string // what is wrong with it, in one sentence; "" when nothing is
	Make func(*Client) Lock
}

// Good is the design without a flaw.
var Good = Design{"Sound", "", func(c *Client) Lock { return &Sound{line: line{c: c}} }}

// The designs with a flaw.
var (
	Outlives = Design{"OutlivesItsHolder", "its node stays when its holder dies.",
		func(c *Client) Lock { return &OutlivesItsHolder{line{c: c}} }}
	Woken = Design{"WokenIsOwner", "whoever is woken goes in, without a look at who is still in front.",
		func(c *Client) Lock { return &WokenIsOwner{line{c: c}} }}
	Herd = Design{"WakesEverybody", "all waiters watch the list, so each release wakes all of them.",
		func(c *Client) Lock { return &WakesEverybody{line{c: c}} }}
	Sorts = Design{"SortsWholeNames", "it puts a client's name before the number and sorts the whole names.",
		func(c *Client) Lock { return &SortsWholeNames{line{c: c}} }}
	Forgets = Design{"ForgetsItsNode", "an Acquire that gives up leaves its node in line.",
		func(c *Client) Lock { return &ForgetsItsNode{line{c: c}} }}
	Timeout = Design{"TimeoutIsSuccess", "an Acquire whose time is over returns as if it had the lock.",
		func(c *Client) Lock { return &TimeoutIsSuccess{line{c: c}} }}
	Missing = Design{"SleepsOnMissing", "it sets its watch on a node that is gone already, and sleeps.",
		func(c *Client) Lock { return &SleepsOnMissing{line{c: c}} }}
	Blind = Design{"RetriesBlindly", "when the reply to its create is lost it creates another node.",
		func(c *Client) Lock { return &RetriesBlindly{line{c: c}} }}
	Nodeless = Design{"EntersWithoutItsNode", "it finds nobody in front of it, and does not notice that its own node is gone.",
		func(c *Client) Lock { return &EntersWithoutItsNode{line{c: c}} }}
	Whoever = Design{"ReleasesWhoever", "its release deletes the lock's node, whose ever it is by now.",
		func(c *Client) Lock { return &ReleasesWhoever{c} }}
)
