package wiretap

import "fmt"

// Event is a fired watch. Its path is in Frame.Path.
type Event struct {
	Type  EventType
	State int32 // KeeperState; 3 is SyncConnected
}

// EventType says why a watch fired.
type EventType int32

// The event types.
const (
	EventNone                   EventType = -1
	EventNodeCreated            EventType = 1
	EventNodeDeleted            EventType = 2
	EventNodeDataChanged        EventType = 3
	EventNodeChildrenChanged    EventType = 4
	EventDataWatchRemoved       EventType = 5
	EventChildWatchRemoved      EventType = 6
	EventPersistentWatchRemoved EventType = 7
)

// String gives ZooKeeper's own name of the type.
func (e EventType) String() string {
	switch e {
	case EventNone:
		return "None"
	case EventNodeCreated:
		return "NodeCreated"
	case EventNodeDeleted:
		return "NodeDeleted"
	case EventNodeDataChanged:
		return "NodeDataChanged"
	case EventNodeChildrenChanged:
		return "NodeChildrenChanged"
	case EventDataWatchRemoved:
		return "DataWatchRemoved"
	case EventChildWatchRemoved:
		return "ChildWatchRemoved"
	case EventPersistentWatchRemoved:
		return "PersistentWatchRemoved"
	}
	return fmt.Sprintf("event %d", int32(e))
}

// Error codes of replies that locks meet; ErrName knows the others too.
const (
	ErrOK                      int32 = 0
	ErrNoNode                  int32 = -101
	ErrNoAuth                  int32 = -102
	ErrBadVersion              int32 = -103
	ErrNoChildrenForEphemerals int32 = -108
	ErrNodeExists              int32 = -110
	ErrNotEmpty                int32 = -111
	ErrSessionExpired          int32 = -112
	ErrSessionMoved            int32 = -118

	errRuntimeInconsistency int32 = -2
)

var errNames = map[int32]string{
	-1: "SystemError", errRuntimeInconsistency: "RuntimeInconsistency", -3: "DataInconsistency",
	-4: "ConnectionLoss", -5: "MarshallingError", -6: "Unimplemented",
	-7: "OperationTimeout", -8: "BadArguments", -12: "UnknownSession",
	-13: "NewConfigNoQuorum", -14: "ReconfigInProgress", -100: "APIError",
	ErrNoNode: "NoNode", ErrNoAuth: "NoAuth", ErrBadVersion: "BadVersion",
	ErrNoChildrenForEphemerals: "NoChildrenForEphemerals", ErrNodeExists: "NodeExists",
	ErrNotEmpty: "NotEmpty", ErrSessionExpired: "SessionExpired",
	-113: "InvalidCallback", -114: "InvalidACL", -115: "AuthFailed", -116: "Closing",
	-117: "Nothing", ErrSessionMoved: "SessionMoved", -119: "NotReadOnly",
	-120: "EphemeralOnLocalSession", -121: "NoWatcher", -122: "RequestTimeout",
	-123: "ReconfigDisabled", -124: "SessionClosedRequireSaslAuth",
	-125: "QuotaExceeded", -127: "ThrottledOp",
}

// ErrName gives ZooKeeper's name of a reply's error code, "OK" for 0.
func ErrName(code int32) string {
	if code == ErrOK {
		return "OK"
	}
	if name, ok := errNames[code]; ok {
		return name
	}
	return fmt.Sprintf("error %d", code)
}
