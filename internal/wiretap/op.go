package wiretap

import "fmt"

// Op is an operation code of ZooKeeper's protocol.
type Op int32

// The operations a client can ask for.
const (
	OpAny                  Op = 0 // in a Match: every operation but heartbeats
	OpCreate               Op = 1
	OpDelete               Op = 2
	OpExists               Op = 3
	OpGetData              Op = 4
	OpSetData              Op = 5
	OpGetACL               Op = 6
	OpSetACL               Op = 7
	OpGetChildren          Op = 8
	OpSync                 Op = 9
	OpPing                 Op = 11
	OpGetChildren2         Op = 12
	OpCheck                Op = 13
	OpMulti                Op = 14
	OpCreate2              Op = 15
	OpReconfig             Op = 16
	OpCheckWatches         Op = 17
	OpRemoveWatches        Op = 18
	OpCreateContainer      Op = 19
	OpDeleteContainer      Op = 20
	OpCreateTTL            Op = 21
	OpMultiRead            Op = 22
	OpAuth                 Op = 100
	OpSetWatches           Op = 101
	OpSASL                 Op = 102
	OpGetEphemerals        Op = 103
	OpGetAllChildrenNumber Op = 104
	OpSetWatches2          Op = 105
	OpAddWatch             Op = 106
	OpWhoAmI               Op = 107
	OpCloseSession         Op = -11
	opError                Op = -1 // the result of a failed part of a multi
)

// ops lists every operation the decoder knows; the index is used for counting.
var ops = [...]struct {
	op   Op
	name string
}{
	{OpCreate, "create"}, {OpDelete, "delete"}, {OpExists, "exists"},
	{OpGetData, "getData"}, {OpSetData, "setData"}, {OpGetACL, "getACL"},
	{OpSetACL, "setACL"}, {OpGetChildren, "getChildren"}, {OpSync, "sync"},
	{OpPing, "ping"}, {OpGetChildren2, "getChildren2"}, {OpCheck, "check"},
	{OpMulti, "multi"}, {OpCreate2, "create2"}, {OpReconfig, "reconfig"},
	{OpCheckWatches, "checkWatches"}, {OpRemoveWatches, "removeWatches"},
	{OpCreateContainer, "createContainer"}, {OpDeleteContainer, "deleteContainer"},
	{OpCreateTTL, "createTTL"}, {OpMultiRead, "multiRead"}, {OpAuth, "auth"},
	{OpSetWatches, "setWatches"}, {OpSASL, "sasl"},
	{OpGetEphemerals, "getEphemerals"}, {OpGetAllChildrenNumber, "getAllChildrenNumber"},
	{OpSetWatches2, "setWatches2"}, {OpAddWatch, "addWatch"}, {OpWhoAmI, "whoAmI"},
	{OpCloseSession, "closeSession"},
}

var opIndex = func() map[Op]int {
	index := make(map[Op]int, len(ops))
	for i, o := range ops {
		index[o.op] = i
	}
	return index
}()

// String gives the name that ZooKeeper's documentation uses.
func (o Op) String() string {
	if i, ok := opIndex[o]; ok {
		return ops[i].name
	}
	return fmt.Sprintf("op %d", int32(o))
}

// ParseOp finds an operation by the name that String gives.
func ParseOp(name string) (Op, error) {
	for _, o := range ops {
		if o.name == name {
			return o.op, nil
		}
	}
	return 0, fmt.Errorf("wiretap: no ZooKeeper operation is called %q", name)
}

// stands reports whether o, written in a Match, stands for the operation op.
// One API call has several codes on the wire; which one a client sends is a
// matter of its version, so the plain name stands for all of them.
func (o Op) stands(op Op) bool {
	switch o {
	case OpAny:
		return op != OpPing
	case OpCreate:
		return op == OpCreate || op == OpCreate2 || op == OpCreateContainer || op == OpCreateTTL
	case OpGetChildren:
		return op == OpGetChildren || op == OpGetChildren2
	case OpSetWatches:
		return op == OpSetWatches || op == OpSetWatches2
	}
	return o == op
}

// CreateMode is the flags field of a create request.
type CreateMode int32

// The create modes.
const (
	Persistent                  CreateMode = 0
	Ephemeral                   CreateMode = 1
	PersistentSequential        CreateMode = 2
	EphemeralSequential         CreateMode = 3
	Container                   CreateMode = 4
	PersistentWithTTL           CreateMode = 5
	PersistentSequentialWithTTL CreateMode = 6
)

func (m CreateMode) String() string {
	switch m {
	case Persistent:
		return "persistent"
	case Ephemeral:
		return "ephemeral"
	case PersistentSequential:
		return "persistent-sequential"
	case EphemeralSequential:
		return "ephemeral-sequential"
	case Container:
		return "container"
	case PersistentWithTTL:
		return "persistent-ttl"
	case PersistentSequentialWithTTL:
		return "persistent-sequential-ttl"
	}
	return fmt.Sprintf("mode %d", int32(m))
}
