package curatorlike

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// waiter is one contender's wait, from its list behind the create to its
// grant. It watches its own node, the nearest one that keeps it out and the
// one before that. When the farther one leaves, it asks for the list again
// while the nearer one still holds, so that when the nearer one leaves there
// is nothing left to ask.
type waiter struct {
	s     *session
	n     *node
	rule  rule
	epoch int

	list   *future[[]string]
	behind bool // the list on its way was asked for after the create was answered
	place  place
	known  bool // place comes from a list that held the own node
	gone   map[string]bool
	own    slot
	near   slot
	far    slot
	effort
}

func (w *waiter) cost() *effort {
	if w == nil {
		return nil
	}
	return &w.effort
}

// errAgain makes the waiter start over with a new list.
var errAgain = errors.New("look again")

// newWaiter takes over the list that was sent behind the create, if any.
func newWaiter(n *node, r rule, list *future[[]string]) *waiter {
	_, epoch, _ := n.s.ready()
	w := &waiter{s: n.s, n: n, rule: r, epoch: epoch, list: list, effort: effort{joined: -1}, gone: make(map[string]bool)}
	if list == nil {
		w.askList()
	} else {
		w.lists++
	}
	return w
}

func (w *waiter) askList() {
	w.list = launch(w.s, func(c *zk.Conn) ([]string, error) {
		names, _, err := c.Children(w.n.dir)
		return names, err
	})
	w.behind = true
	w.lists++
	clear(w.gone)
}

// wait returns nil when accept has taken the grant. accept is asked when the
// node is the one that holds, and declines while the session's life is not
// certain. once makes it return ErrBusy instead of waiting.
func (w *waiter) wait(ctx context.Context, once bool, accept func() bool) error {
	for {
		done, err := w.step(ctx, once)
		switch {
		case errors.Is(err, errAgain):
			if err := w.restart(ctx); err != nil {
				return err
			}
		case errors.Is(err, ErrNodeDeleted):
			return w.n.whyGone(ctx)
		case err != nil:
			return err
		case done && accept():
			return nil
		case done:
			if err := w.prove(ctx); err != nil {
				return err
			}
		}
	}
}

// step handles one event. done means that nobody keeps the node out any more.
func (w *waiter) step(ctx context.Context, once bool) (done bool, err error) {
	_, epoch, turn := w.s.ready()
	if epoch != w.epoch {
		return false, errAgain
	}
	var listed <-chan struct{}
	if w.list != nil {
		listed = w.list.done
	}
	select {
	case <-listed:
		err = w.takeList(once)
	case <-w.own.armed():
		err = w.takeArmed(&w.own)
	case <-w.near.armed():
		err = w.takeArmed(&w.near)
	case <-w.far.armed():
		err = w.takeArmed(&w.far)
	case e, ok := <-w.own.fires():
		err = w.takeEvent(&w.own, e, ok)
	case e, ok := <-w.near.fires():
		err = w.takeEvent(&w.near, e, ok)
	case e, ok := <-w.far.fires():
		err = w.takeEvent(&w.far, e, ok)
	case <-turn:
		err = errAgain
	case <-w.s.ended:
		err = w.s.overErr()
	case <-ctx.Done():
		err = ctxErr(ctx)
	}
	if err != nil {
		return false, err
	}
	return w.free()
}

// free says whether nobody is left ahead, by a list that held the own node or
// by the departure of everybody in it. The departure counts only while the
// own node is watched: an administrator may have deleted it meanwhile.
func (w *waiter) free() (bool, error) {
	if !w.known || w.place.count > 0 {
		return false, nil
	}
	if w.own.name == "" {
		return true, nil // straight from the list
	}
	if w.own.set == nil {
		return false, nil // the answer is on its way
	}
	if w.own.set.hasFired() {
		return false, w.takeEvent(&w.own, zk.Event{}, false)
	}
	return true, nil
}

func (w *waiter) takeList(once bool) error {
	list := w.list
	w.list = nil
	if errors.Is(list.err, zk.ErrNoNode) && w.behind {
		return ErrNodeDeleted
	}
	if list.err != nil && w.behind {
		return w.failed(list.err)
	}
	p := w.rule.standing(w.n.me, list.val, w.gone)
	switch {
	case list.err != nil || !p.own && !w.behind:
		w.askList() // it was answered before the create
		return nil
	case !p.own:
		return ErrNodeDeleted
	case p.twin:
		return fmt.Errorf("%w: %s has the number of another node", ErrSequenceExhausted, w.s.c.short(w.n.path))
	}
	w.place, w.known = p, true
	if w.joined < 0 {
		w.joined = p.count
	}
	if p.count > 0 && once {
		return ErrBusy
	}
	if p.count > 0 {
		w.own.aim(w.s, w.n.dir, w.n.me.name)
	}
	w.aim()
	return nil
}

func (w *waiter) aim() {
	w.near.aim(w.s, w.n.dir, w.place.near.name)
	w.far.aim(w.s, w.n.dir, w.place.far.name)
}

func (w *waiter) takeArmed(k *slot) error {
	f := k.arm
	k.arm = nil
	switch {
	case f.err == nil:
		k.set = f.val
		return nil
	case errors.Is(f.err, zk.ErrNoNode):
		return w.left(k)
	}
	return w.failed(f.err)
}

func (w *waiter) takeEvent(k *slot, e zk.Event, ok bool) error {
	w.wakeUps++
	kind := k.set.note(e, ok)
	k.set = nil
	switch kind {
	case zk.EventNodeDeleted:
		return w.left(k)
	case zk.EventNodeDataChanged:
		k.arm = w.s.watch(w.n.dir + "/" + k.name)
		return nil
	}
	return errAgain
}

// left acts on the departure of a watched node.
func (w *waiter) left(k *slot) error {
	if k == &w.own {
		return ErrNodeDeleted
	}
	p := &w.place
	heirs := false
	switch k.name {
	case p.near.name:
		heirs = w.rule.heirs(w.n.me, p.near)
		p.near, p.far = p.far, contender{}
	case p.far.name:
		heirs = w.rule.heirs(w.n.me, p.far)
		p.far = contender{}
	default:
		*k = slot{} // a list has come in between
		return nil
	}
	p.count--
	w.gone[k.name] = true
	w.near, w.far = w.swapped(k)
	w.aim()
	known := 0
	if p.near.name != "" {
		known++
	}
	if p.far.name != "" {
		known++
	}
	if heirs { // a list on its way may be older than the heir
		w.known, w.list = false, nil
	}
	if (known < p.count || heirs) && w.list == nil {
		w.askList()
	}
	return nil
}

// swapped returns the slots for the nearest and the one before it after k has
// left: the watch on the farther one becomes the watch on the nearest.
func (w *waiter) swapped(k *slot) (near, far slot) {
	if k == &w.near {
		return w.far, slot{}
	}
	return w.near, slot{}
}

// failed judges an error of a list or a watch.
func (w *waiter) failed(err error) error {
	if answered(err) || strange(err) {
		return fmt.Errorf("curatorlike: waiting for %s: %w", w.s.c.short(w.n.dir), err)
	}
	return errAgain
}

// restart waits for the connection and begins with a new list: whatever was
// known or watched before the interruption is not relied on.
func (w *waiter) restart(ctx context.Context) error {
	if !w.s.pause(2 * time.Millisecond) {
		return w.s.overErr()
	}
	epoch, err := w.s.awaitLink(ctx)
	if err != nil {
		return err
	}
	w.epoch, w.known = epoch, false
	w.own, w.near, w.far = slot{}, slot{}, slot{}
	w.askList()
	return nil
}

// prove makes a round trip to the leader and looks again.
func (w *waiter) prove(ctx context.Context) error {
	if _, err := w.s.awaitLink(ctx); err != nil {
		return err
	}
	_, err := call(ctx, w.s, func(c *zk.Conn) (string, error) { return c.Sync(w.n.dir) })
	if err != nil && interrupted(ctx, w.s) {
		return err
	}
	return w.restart(ctx)
}
