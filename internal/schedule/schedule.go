// Package schedule orders systems by what they declare, and cuts the order into groups that may run side by side.
package schedule

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/evertick/evertick/internal/fault"
)

// System is what a system declares: see evertick.System.
type System struct {
	Name                         string
	Before, After, Reads, Writes []string
	Modes                        uint64

	reads, writes bitset
	exclusive     bool // never in a group with others
}

// Undeclared reports whether the system may touch everything.
func (s *System) Undeclared() bool { return len(s.Reads) == 0 && len(s.Writes) == 0 }

// WritesAllRows reports whether the system changes the set of entities, and so writes to every column.
func (s *System) WritesAllRows() bool { return s.writes.has(entities) }

// RunsIn reports whether the system runs in a mode.
func (s *System) RunsIn(mode uint8) bool { return InModes(s.Modes, mode) }

// InModes reports whether a mode is in a set of modes; the set 0 has all.
func InModes(set uint64, mode uint8) bool { return set == 0 || set>>mode&1 != 0 }

// sharesMode reports whether two systems can run in the same tick.
func (s *System) sharesMode(o *System) bool {
	return s.Modes == 0 || o.Modes == 0 || s.Modes&o.Modes != 0
}

// names reports whether a system reads or writes n.
func (s *System) names(n int) bool { return s.reads.has(n) || s.writes.has(n) }

// Pair is two systems, in the order in which they run, and what both name.
type Pair struct{ First, Then, Name string }

// Plan is the order of all systems.
type Plan struct {
	// Groups are the systems that run side by side, by their index among all systems.
	Groups [][]int
	// ByInsertion are the pairs that only the order of insertion orders.
	ByInsertion []Pair
}

// Make orders the systems of each stage; the stages follow each other. The errors are those of the declarations, and wrap
// fault.ErrRange.
func Make(stages [][]*System, names *Names) (plan Plan, errs []error) {
	all := slices.Concat(stages...)
	first := 0 // index of the first system of the stage
	for _, systems := range stages {
		o := ordering{systems: systems, all: all, first: first, before: make([]bitset, len(systems)), next: make([][]int, len(systems)), names: names.list}
		errs = append(errs, o.resolveAccess(names)...)
		errs = append(errs, o.addDeclaredEdges()...)
		errs = append(errs, o.orderRest()...)
		plan.ByInsertion = append(plan.ByInsertion, o.byInsertion...)
		plan.Groups = append(plan.Groups, o.groups()...)
		first += len(systems)
	}
	return plan, errs
}

// Alone is the plan of n systems in the order of insertion, each in a group of its own.
func Alone(n int) (plan Plan) {
	for i := range n {
		plan.Groups = append(plan.Groups, []int{i})
	}
	return plan
}

// ordering is a partial order of the systems of a stage. Edges are added until all pairs whose
// order matters are ordered. Systems are identified by their index in the order of insertion.
type ordering struct {
	systems []*System
	all     []*System // of all stages, in the order of the stages
	first   int       // index of systems[0] in all
	before  []bitset  // by system: all systems that come before it
	next    [][]int   // by system: the targets of its declared edges
	names   []string  // of the access table

	byInsertion []Pair
}

// resolveAccess looks up the names in Reads and Writes.
func (o *ordering) resolveAccess(n *Names) (errs []error) {
	for _, s := range o.systems {
		var errR, errW []error
		s.reads, errR = n.set(s.Name, "Reads", s.Reads)
		s.writes, errW = n.set(s.Name, "Writes", s.Writes)
		errs = append(append(errs, errR...), errW...)
		s.exclusive = s.Undeclared() || s.writes.has(entities) || s.writes.has(bodies) || s.writes.common(n.tags) >= 0
	}
	return errs
}

// addDeclaredEdges adds the edges of Before and After.
func (o *ordering) addDeclaredEdges() (errs []error) {
	for i, s := range o.systems {
		for _, name := range s.Before {
			errs = append(errs, o.addDeclaredEdge(i, "Before", name))
		}
		for _, name := range s.After {
			errs = append(errs, o.addDeclaredEdge(i, "After", name))
		}
	}
	return errs
}

func (o *ordering) addDeclaredEdge(i int, field, name string) error {
	s := o.systems[i]
	at := slices.IndexFunc(o.all, func(other *System) bool { return other.Name == name })
	if at < 0 {
		return fmt.Errorf("evertick: system %s: %s = %q, but no system has that name%s: %w",
			s.Name, field, name, suggest(name, namesOf(o.all)), fault.ErrRange)
	}
	j := at - o.first
	if j < 0 || j >= len(o.systems) {
		if (j >= 0) == (field == "Before") {
			return nil // the stages ensure it
		}
		return fmt.Errorf("evertick: system %s: %s = %s, which runs in another stage: %w", s.Name, field, name, fault.ErrRange)
	}
	if field == "After" {
		i, j = j, i
	}
	if cycle := o.addDeclared(i, j); cycle != nil {
		return fmt.Errorf("evertick: systems in a cycle: %s: %w", strings.Join(cycle, " → "), fault.ErrRange)
	}
	return nil
}

func namesOf(systems []*System) []string {
	names := make([]string, len(systems))
	for i, s := range systems {
		names[i] = s.Name
	}
	return names
}

// precedes reports whether i comes before j.
func (o *ordering) precedes(i, j int) bool { return o.before[j].has(i) }

// addEdge makes i, and all before i, come before j and all after j.
func (o *ordering) addEdge(i, j int) {
	for k := range o.systems {
		if k == j || o.precedes(j, k) {
			o.before[k] = o.before[k].with(i).join(o.before[i])
		}
	}
}

// addDeclared makes i come before j. If j comes before i it only returns the names on the cycle,
// which begin and end with the name of i.
func (o *ordering) addDeclared(i, j int) (cycle []string) {
	if i == j {
		return []string{o.systems[i].Name, o.systems[i].Name}
	}
	if o.precedes(j, i) {
		cycle = []string{o.systems[i].Name}
		for _, k := range o.shortestPath(j, i) {
			cycle = append(cycle, o.systems[k].Name)
		}
		return cycle
	}
	o.next[i] = append(o.next[i], j)
	if !o.precedes(i, j) {
		o.addEdge(i, j)
	}
	return nil
}

// shortestPath returns the shortest path of declared edges from i to j, both included.
func (o *ordering) shortestPath(i, j int) []int {
	from := slices.Repeat([]int{-1}, len(o.systems))
	from[i] = i
	for queue := []int{i}; from[j] < 0; queue = queue[1:] {
		for _, k := range o.next[queue[0]] {
			if from[k] < 0 {
				from[k] = queue[0]
				queue = append(queue, k)
			}
		}
	}
	path := []int{j}
	for ; j != i; j = from[j] {
		path = append(path, from[j])
	}
	slices.Reverse(path)
	return path
}

// orderRest orders by insertion the pairs that need an order and that the declared edges leave
// open. Before that it reports systems that write the same data in no order.
func (o *ordering) orderRest() (errs []error) {
	o.eachUnordered(func(i, j int) {
		if o.systems[i].Undeclared() || o.systems[j].Undeclared() {
			o.addEdge(i, j)
		}
	})
	o.eachUnordered(func(i, j int) {
		if n := o.systems[i].writes.common(o.systems[j].writes); n >= 0 && o.systems[i].sharesMode(o.systems[j]) {
			errs = append(errs, fmt.Errorf("evertick: systems %s and %s both write %s, and neither is Before or After the other: %w",
				o.systems[i].Name, o.systems[j].Name, o.names[n], fault.ErrRange))
		}
	})
	o.eachUnordered(func(i, j int) {
		if n := conflict(o.systems[i], o.systems[j]); n >= 0 {
			o.addEdge(i, j)
			o.byInsertion = append(o.byInsertion, Pair{o.systems[i].Name, o.systems[j].Name, o.names[n]})
		}
	})
	return errs
}

// eachUnordered calls f for each pair i < j that has no order yet, near pairs first: their edges
// order most of the far pairs.
func (o *ordering) eachUnordered(f func(i, j int)) {
	for j := range o.systems {
		for i := j - 1; i >= 0; i-- {
			if !o.precedes(i, j) && !o.precedes(j, i) {
				f(i, j)
			}
		}
	}
}

// conflict returns the first name that one of two systems writes and the other reads or writes, or
// -1 if there is none or they never run in the same tick. A system that changes the set of entities
// writes to every column.
func conflict(p, q *System) int {
	if !p.sharesMode(q) {
		return -1
	}
	if p.writes.has(entities) || q.writes.has(entities) {
		return entities
	}
	n := -1
	for _, m := range [...]int{p.writes.common(q.writes), p.writes.common(q.reads), p.reads.common(q.writes)} {
		if m >= 0 && (n < 0 || m < n) {
			n = m
		}
	}
	return n
}

// sorted returns the systems in their order: of the systems that wait for no other, the one that
// was added first is next.
func (o *ordering) sorted() []int {
	waits := make([]int, len(o.systems)) // the number of systems that each waits for
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
			if o.precedes(next, k) {
				waits[k]--
			}
		}
	}
	return order
}

// groups cuts the order into runs of systems that need not wait for each other.
func (o *ordering) groups() (groups [][]int) {
	var run []int
	for _, j := range o.sorted() {
		if len(run) == 0 || !o.canJoin(run, j) {
			groups = append(groups, nil)
			run = nil
		}
		run = append(run, j)
		g := &groups[len(groups)-1]
		*g = append(*g, o.first+j)
	}
	return groups
}

// canJoin reports whether j can run beside the systems of a run.
func (o *ordering) canJoin(run []int, j int) bool {
	q := o.systems[j]
	return !slices.ContainsFunc(run, func(i int) bool {
		p := o.systems[i]
		return p.exclusive || q.exclusive || o.precedes(i, j) || p.names(bodies) && q.names(bodies)
	})
}
