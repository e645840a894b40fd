package curatorlike

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Owner is who holds a lock, as reentrancy sees it. Go has no thread identity,
// so the owner is passed on explicitly, in a context. Owners are comparable;
// two calls of NewOwner never return the same one.
type Owner struct {
	id   uint64
	name string
}

var lastOwner atomic.Uint64

// NewOwner returns a new owner. The name is for people only.
func NewOwner(name string) Owner { return Owner{id: lastOwner.Add(1), name: name} }

// String returns the name given to NewOwner; of an owner without one, its number.
func (o Owner) String() string {
	if o.name == "" {
		return fmt.Sprintf("owner %d", o.id)
	}
	return o.name
}

type ownerKey struct{}

// WithOwner returns a context in which o acquires and releases. An owner is one
// thread of control: when two goroutines acquire as the same owner at the same
// time, one of them may wait for the other like any stranger.
func WithOwner(ctx context.Context, o Owner) context.Context {
	return context.WithValue(ctx, ownerKey{}, o)
}

// OwnerFrom returns the owner that a context carries.
func OwnerFrom(ctx context.Context) (Owner, bool) {
	o, ok := ctx.Value(ownerKey{}).(Owner)
	return o, ok
}

// ownerOf returns the context's owner, or a new one, and a context with it.
func ownerOf(ctx context.Context) (context.Context, Owner) {
	if o, ok := OwnerFrom(ctx); ok {
		return ctx, o
	}
	o := NewOwner("")
	return WithOwner(ctx, o), o
}
