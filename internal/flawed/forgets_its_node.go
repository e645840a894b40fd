package flawed

import "context"

// ForgetsItsNode returns when its context ends, and leaves its node in line, where
// it is first one day. zk-ruby and aiozk were reported for it; the lock of
// go-zookeeper does it after any error.
type ForgetsItsNode struct{ line }

// Acquire waits until the client holds the lock.
func (f *ForgetsItsNode) Acquire(ctx context.Context) error {
	if err := f.join(); err != nil {
		return err
	}
	return f.wait(ctx)
}
