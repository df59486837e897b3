package evertick

import (
	"fmt"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/statehash"
)

// watch remembers what the state is before a system runs, for trespass.
func (s *Sim) watch(p *phase) {
	if !p.undeclared() {
		s.watched = s.appendWatched(s.watched[:0])
	}
}

// trespass returns an error if a system, which has run since watch, has written what it
// has not declared. Resources, the index, and what physics engines keep to themselves
// cannot be watched.
func (s *Sim) trespass(p *phase) error {
	if p.undeclared() || p.writeSet.has(entitiesAccess) { // the latter writes to all rows
		return nil
	}
	for _, now := range s.appendWatched(nil) {
		// What was not there before, the system has added.
		i := slices.IndexFunc(s.watched, func(c ecs.ColumnHash) bool { return c.Name == now.Name })
		if i >= 0 && s.watched[i] != now && !s.mayWrite(p, now.Name) {
			return fmt.Errorf("wrote %s, which its Writes do not name: %w", now.Name, ErrRange)
		}
	}
	return nil
}

func (s *Sim) mayWrite(p *phase, name string) bool {
	return p.writeSet.has(slices.Index(s.named.names, builtInColumn(name)))
}

// appendWatched appends a hash of each thing that can be written.
func (s *Sim) appendWatched(dst []ecs.ColumnHash) []ecs.ColumnHash {
	w := s.World
	who := []uint64{w.Version(), w.Generation(), uint64(w.HighWater())}
	dst = append(dst, ecs.ColumnHash{Name: accessNames[entitiesAccess], Hash: statehash.Rows(who)})
	bodies := append(s.Physics.AppendColumnHashes(nil), ecs.ColumnHash{Name: "owner", Hash: s.ownerHash()})
	dst = append(dst, ecs.ColumnHash{Name: accessNames[bodiesAccess], Hash: ecs.Fold(bodies)})
	dst = append(dst, w.ColumnHashes()[1:]...) // without the identity, which is entities and tags
	for _, t := range w.Describe().Tags {
		if tag, err := w.Tag(t.Name); err == nil {
			dst = append(dst, ecs.ColumnHash{Name: t.Name, Hash: statehash.Rows(tag.Mask())})
		}
	}
	for i := range s.states {
		n := &s.states[i]
		dst = append(dst, ecs.ColumnHash{Name: n.column, Hash: statehash.Bytes(n.state.AppendState(nil), 1, false)})
	}
	return dst
}
