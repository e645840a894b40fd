package badlock

import (
	"context"
	"strings"

	"zklab/internal/lockproof"
)

// AdoptsAnyOwner looks for a node with its own name before it creates one, and
// takes it for its own without asking which session owns it. After an outage
// that node belongs to the old session and goes with it.
func AdoptsAnyOwner(id string) func(s *Session, path string) lockproof.Lock {
	return func(s *Session, path string) lockproof.Lock {
		q := queue{s.Conn, path}
		return lockproof.LockFunc(func(ctx context.Context) (*lockproof.Grant, error) {
			t, err := q.findOrJoin("_c_" + id + lockKind)
			if err != nil {
				return nil, err
			}
			if err := q.awaitTurn(ctx, t, anybody); err != nil {
				return nil, q.giveUp(t, err)
			}
			t.owner = s.Conn.SessionID()
			return q.grant(s, t), nil
		})
	}
}

func (q queue) findOrJoin(prefix string) (ticket, error) {
	all, err := q.contenders()
	if err != nil {
		return ticket{}, err
	}
	for _, c := range all {
		if strings.HasPrefix(c, prefix) {
			return q.look(q.at(c))
		}
	}
	return q.joinAs(prefix, 0)
}
