package lab

// Like says what the newest contestant at a lock is like, so that another can be
// started who is: everything but its name. lock is a full path, as Lock gives it.
// It is false where nobody was ever started.
func (l *Lab) Like(lock string) (Group, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.order) - 1; i >= 0; i-- {
		if m := l.members[l.order[i]]; m != nil && m.lock == lock {
			g := m.group
			g.Count, g.Names = 0, nil
			return g, true
		}
	}
	return Group{}, false
}
