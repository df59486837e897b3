package evertick

import (
	"fmt"
	"math/bits"
	"slices"
)

// ordering is the order of the systems of a stage while it is made. Systems are known
// by their index in the order of insertion.
type ordering struct {
	systems []*phase
	before  []bitset // by system: all from which a path leads to it
	next    [][]int  // by system: those that a declared edge leads to
	names   []string // of what is read and written

	byInsertion []Pair
}

func newOrdering(systems []*phase) *ordering {
	return &ordering{systems: systems, before: make([]bitset, len(systems)), next: make([][]int, len(systems))}
}

// resolve finds what the systems name.
func (o *ordering) resolve(a *access) (errs []error) {
	o.names = a.names
	for _, p := range o.systems {
		var errR, errW []error
		p.readSet, errR = a.set(p.name, "Reads", p.reads)
		p.writeSet, errW = a.set(p.name, "Writes", p.writes)
		errs = append(append(errs, errR...), errW...)
		p.solo = p.undeclared() || p.writeSet.has(entitiesAccess) || p.writeSet.has(bodiesAccess) ||
			p.writeSet.common(a.tags) >= 0
	}
	return errs
}

// path reports whether i comes before j.
func (o *ordering) path(i, j int) bool { return o.before[j].has(i) }

// ordered reports whether it is settled which of two comes first.
func (o *ordering) ordered(i, j int) bool { return o.path(i, j) || o.path(j, i) }

// edge makes i come before j, and so all before i before all behind j.
func (o *ordering) edge(i, j int) {
	for k := range o.systems {
		if k != j && !o.path(j, k) {
			continue
		}
		o.before[k] = o.before[k].with(i)
		o.before[k] = o.before[k].join(o.before[i])
	}
}

// declare makes i come before j. If j comes before i it does nothing but to return
// the names on the way round, which begin and end with that of i.
func (o *ordering) declare(i, j int) (circle []string) {
	if i == j {
		return []string{o.systems[i].name, o.systems[i].name}
	}
	if o.path(j, i) {
		way := append([]int{i}, o.way(j, i)...)
		for _, k := range way {
			circle = append(circle, o.systems[k].name)
		}
		return circle
	}
	o.next[i] = append(o.next[i], j)
	if !o.path(i, j) {
		o.edge(i, j)
	}
	return nil
}

// way returns the shortest way by declared edges from i to j, both included.
func (o *ordering) way(i, j int) []int {
	from := make([]int, len(o.systems))
	for k := range from {
		from[k] = -1
	}
	from[i] = i
	for queue := []int{i}; from[j] < 0; queue = queue[1:] {
		for _, k := range o.next[queue[0]] {
			if from[k] < 0 {
				from[k] = queue[0]
				queue = append(queue, k)
			}
		}
	}
	way := []int{j}
	for ; j != i; j = from[j] {
		way = append(way, from[j])
	}
	slices.Reverse(way)
	return way
}

// complete settles by insertion what the declared edges leave open and has to be
// settled, after it has found the systems that write the same in no order. Pairs are
// taken from near to far, so that most are settled by those before.
func (o *ordering) complete() (errs []error) {
	o.eachOpen(func(i, j int) {
		if o.systems[i].undeclared() || o.systems[j].undeclared() {
			o.edge(i, j)
		}
	})
	o.eachOpen(func(i, j int) {
		if n := o.systems[i].writeSet.common(o.systems[j].writeSet); n >= 0 {
			errs = append(errs, fmt.Errorf("evertick: systems %s and %s both write %s, and neither is Before or After the other: %w",
				o.systems[i].name, o.systems[j].name, o.names[n], ErrRange))
		}
	})
	o.eachOpen(func(i, j int) {
		if n := conflict(o.systems[i], o.systems[j]); n >= 0 {
			o.edge(i, j)
			o.byInsertion = append(o.byInsertion, Pair{o.systems[i].name, o.systems[j].name, o.names[n]})
		}
	})
	return errs
}

// eachOpen calls f for each pair i < j of which it is not settled who comes first.
func (o *ordering) eachOpen(f func(i, j int)) {
	for j := range o.systems {
		for i := j - 1; i >= 0; i-- {
			if !o.ordered(i, j) {
				f(i, j)
			}
		}
	}
}

// undeclared reports whether a system may touch everything.
func (p *phase) undeclared() bool { return len(p.reads) == 0 && len(p.writes) == 0 }

// conflict returns the first of what one of two systems writes and the other reads or
// writes, or -1. Who changes the set of entities writes to every column.
func conflict(p, q *phase) int {
	if p.writeSet.has(entitiesAccess) || q.writeSet.has(entitiesAccess) {
		return entitiesAccess
	}
	n := -1
	for _, m := range [...]int{p.writeSet.common(q.writeSet), p.writeSet.common(q.readSet), p.readSet.common(q.writeSet)} {
		if m >= 0 && (n < 0 || m < n) {
			n = m
		}
	}
	return n
}

// sorted returns the systems in their order: next is always the first added of those
// that wait for nobody.
func (o *ordering) sorted() []int {
	waits := make([]int, len(o.systems)) // for how many
	for i, before := range o.before {
		for _, word := range before {
			waits[i] += bits.OnesCount64(word)
		}
	}
	order := make([]int, len(o.systems))
	for n := range order {
		next := slices.Index(waits, 0)
		order[n] = next
		waits[next] = -1
		for k := range waits {
			if o.path(next, k) {
				waits[k]--
			}
		}
	}
	return order
}

// groups cuts the order into runs of systems that need not wait for each other.
func (o *ordering) groups(s *Sim) (groups []*group) {
	var run []int
	flush := func() {
		if len(run) > 0 {
			groups = append(groups, o.group(s, run))
		}
		run = nil
	}
	for _, j := range o.sorted() {
		if !o.joins(run, j) {
			flush()
		}
		run = append(run, j)
	}
	flush()
	return groups
}

// joins reports whether j can run beside those of a run.
func (o *ordering) joins(run []int, j int) bool {
	q := o.systems[j]
	for _, i := range run {
		p := o.systems[i]
		if p.solo || q.solo || o.path(i, j) || p.touches(bodiesAccess) && q.touches(bodiesAccess) {
			return false
		}
	}
	return true
}

func (p *phase) touches(n int) bool { return p.readSet.has(n) || p.writeSet.has(n) }

// group makes a group of a run.
func (o *ordering) group(s *Sim, run []int) *group {
	g := &group{sim: s}
	for _, i := range run {
		g.members = append(g.members, o.systems[i])
	}
	if len(run) > 1 {
		for _, p := range g.members {
			if p.commands == nil {
				p.commands = s.World.NewCommands()
			}
		}
	}
	return g
}
