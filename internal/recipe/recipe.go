package recipe

// Kind is a family of locks with one rule for who holds.
type Kind string

// The kinds. A contestant's recipe name maps to one of them with KindOf.
const (
	Mutex     Kind = "mutex"     // lowest sequence number holds: mini, naive, mutex
	Unfair    Kind = "unfair"    // the only child holds; nobody stands in line
	ReadWrite Kind = "readwrite" // writers exclude everybody, readers only writers
	Semaphore Kind = "semaphore" // the lowest N leases hold
)

// Intent is what a contender wants to do with the lock.
type Intent string

// The intents.
const (
	Exclusive Intent = ""
	Read      Intent = "read"
	Write     Intent = "write"
	Lease     Intent = "lease"
)

// Family is the library that made a name.
type Family string

// The families.
const (
	Curator     Family = "curator"      // _c_<uuid>-lock-<seq>, and this project's curatorlike
	Kazoo       Family = "kazoo"        // <hex>__lock__<seq>
	GoZookeeper Family = "go-zookeeper" // _c_<hex>-lock-<seq>
	Plain       Family = "plain"        // lock-<seq>: minimutex and the lessons
)

// Contender is one child that takes part in a lock.
type Contender struct {
	Name   string
	Seq    int64 // -1 when the name carries none (Unfair)
	Intent Intent
	Family Family
}

// Standing is a contender's place by the rule of its kind.
type Standing struct {
	Contender
	Holds    bool
	WaitsFor string // the child whose end it must wait for; empty when it holds, or waits for any of several
}
