package curatorlike

import "github.com/go-zookeeper/zk"

// slot is one watch of a waiter: on its way, set, or neither.
type slot struct {
	name string
	arm  *future[*nodeWatch]
	set  *nodeWatch
}

func (k *slot) armed() <-chan struct{} {
	if k.arm == nil {
		return nil
	}
	return k.arm.done
}

func (k *slot) fires() <-chan zk.Event {
	if k.set == nil {
		return nil
	}
	return k.set.ch
}

// aim points the slot at a node; "" takes it away.
func (k *slot) aim(s *session, dir, name string) {
	if name == k.name && (k.arm != nil || k.set != nil || name == "") {
		return
	}
	*k = slot{name: name}
	if name != "" {
		k.arm = s.watch(dir + "/" + name)
	}
}
