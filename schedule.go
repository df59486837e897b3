package evertick

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/statehash"
)

// Check reports every fault of the set-up at once. Step returns the same error before it begins,
// and leaves the Sim as it is.
//
// The first errors are those that Register, Add, AddSystem, AddState, AddTimer and Resource have
// returned before the first tick began, in the order of the calls. So a set-up may ignore them, and
// call Check at its end. A later call or a Restore does not remove them: a Sim without the thing that
// the call should have added must not run. To try another name after an error, build a new Sim, or
// look up the names in Plan first. After the first tick has begun these calls only return their
// errors.
//
// After them come the faults in the declarations of systems: names that do not exist, cycles, and
// systems that write the same data in no order. They are ErrRange. You can mend them: add what is
// missing, and Check no longer reports them.
func (s *Sim) Check() error {
	if s.planned {
		return nil
	}
	return s.makePlan()
}

// Plan is the order in which the phases of a tick run.
type Plan struct {
	// Groups are the phases in their order. Those of one group run side by side.
	Groups [][]string
	// ByInsertion are the pairs of systems of which one writes what the other reads, and which run
	// in the order in which they were added because nothing else orders them.
	ByInsertion []Pair
}

// Pair is two systems, in the order in which they run, and what both name.
type Pair struct {
	First, Then string
	Name        string
}

// Plan returns the order of the next step, or the error of Check.
func (s *Sim) Plan() (Plan, error) {
	if err := s.Check(); err != nil {
		return Plan{}, err
	}
	plan := Plan{ByInsertion: slices.Clone(s.byInsertion)}
	for _, g := range s.plan {
		plan.Groups = append(plan.Groups, namesOf(g.members))
	}
	return plan, nil
}

// Systems returns the systems as they were added, in the order of Plan, or the error of Check. Phases
// of the module itself, which Plan lists too, are missing.
func (s *Sim) Systems() ([]System, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var systems []System
	for _, g := range s.plan {
		for _, p := range g.members {
			if p.rank%2 == 0 {
				systems = append(systems, System{
					Name: p.name, Stage: Stage(p.rank / 2), Before: slices.Clone(p.before), After: slices.Clone(p.after),
					Reads: slices.Clone(p.reads), Writes: slices.Clone(p.writes), Modes: p.modes, Run: p.run,
				})
			}
		}
	}
	return systems, nil
}

func namesOf(phases []*phase) []string {
	names := make([]string, len(phases))
	for i, p := range phases {
		names[i] = p.name
	}
	return names
}

// makePlan makes the plan of the next step, in new slices, since a running Step iterates over the
// old ones. After an error the plan is the order of insertion, so that phases can be listed, and
// the next Check tries again.
func (s *Sim) makePlan() error {
	errs := slices.Clone(s.faults)
	s.access, s.plan, s.byInsertion = s.newAccessTable(), nil, nil
	for rank, phases := range s.ranks {
		if rank%2 == 1 {
			s.plan = append(s.plan, singletons(phases)...)
			continue
		}
		o := newOrdering(phases)
		errs = append(errs, o.resolveAccess(s.access)...)
		errs = append(errs, s.addDeclaredEdges(o)...)
		errs = append(errs, o.orderRest()...)
		s.byInsertion = append(s.byInsertion, o.byInsertion...)
		s.plan = append(s.plan, o.groups(s)...)
	}
	err := errors.Join(errs...)
	if err != nil {
		s.plan = singletons(slices.Concat(s.ranks[:]...))
	}
	s.planned = err == nil
	s.phases = s.phases[:0:0]
	for _, g := range s.plan {
		s.phases = append(s.phases, g.members...)
		g.active = make([]*phase, 0, len(g.members))
	}
	s.planMode = noMode
	s.timings = make([]Timing, len(s.phases))
	s.stats = make([]PhaseStats, len(s.phases))
	for _, p := range s.phases {
		if s.config.Labels && p.labels == nil { // here, so that a tick need not allocate them
			p.labels = pprof.WithLabels(context.Background(), pprof.Labels("system", p.name))
		}
	}
	return err
}

// singletons makes a group of each phase.
func singletons(phases []*phase) []*group {
	groups := make([]*group, len(phases))
	for i, p := range phases {
		groups[i] = &group{members: []*phase{p}}
	}
	return groups
}

// addDeclaredEdges adds the edges of Before and After.
func (s *Sim) addDeclaredEdges(o *ordering) (errs []error) {
	for i, p := range o.systems {
		for _, name := range p.before {
			errs = append(errs, s.addDeclaredEdge(o, i, "Before", name))
		}
		for _, name := range p.after {
			errs = append(errs, s.addDeclaredEdge(o, i, "After", name))
		}
	}
	return errs
}

func (s *Sim) addDeclaredEdge(o *ordering, i int, field, name string) error {
	p := o.systems[i]
	other := s.phaseNamed(name)
	if other == nil {
		return fmt.Errorf("evertick: system %s: %s = %q, but no system has that name%s: %w",
			p.name, field, name, suggest(name, namesOf(slices.Concat(s.ranks[:]...))), ErrRange)
	}
	if other.rank != p.rank {
		if (other.rank > p.rank) == (field == "Before") {
			return nil // the stages ensure it
		}
		return fmt.Errorf("evertick: system %s: %s = %s, which runs in another stage: %w", p.name, field, name, ErrRange)
	}
	j := slices.Index(o.systems, other)
	if field == "After" {
		i, j = j, i
	}
	if cycle := o.addDeclared(i, j); cycle != nil {
		return fmt.Errorf("evertick: systems in a cycle: %s: %w", strings.Join(cycle, " → "), ErrRange)
	}
	return nil
}

func (s *Sim) phaseNamed(name string) *phase {
	for _, p := range slices.Concat(s.ranks[:]...) {
		if p.name == name {
			return p
		}
	}
	return nil
}

// ordering is a partial order of the systems of a stage. Edges are added until all pairs whose
// order matters are ordered. Systems are identified by their index in the order of insertion.
type ordering struct {
	systems []*phase
	before  []bitset // by system: all systems that come before it
	next    [][]int  // by system: the targets of its declared edges
	names   []string // of the access table

	byInsertion []Pair
}

func newOrdering(systems []*phase) *ordering {
	return &ordering{systems: systems, before: make([]bitset, len(systems)), next: make([][]int, len(systems))}
}

// resolveAccess looks up the names in Reads and Writes.
func (o *ordering) resolveAccess(a *accessTable) (errs []error) {
	o.names = a.names
	for _, p := range o.systems {
		var errR, errW []error
		p.readSet, errR = a.set(p.name, "Reads", p.reads)
		p.writeSet, errW = a.set(p.name, "Writes", p.writes)
		errs = append(append(errs, errR...), errW...)
		p.exclusive = p.undeclared() || p.writeSet.has(entitiesAccess) || p.writeSet.has(bodiesAccess) ||
			p.writeSet.common(a.tags) >= 0
	}
	return errs
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
// which begin and end with that of i.
func (o *ordering) addDeclared(i, j int) (cycle []string) {
	if i == j {
		return []string{o.systems[i].name, o.systems[i].name}
	}
	if o.precedes(j, i) {
		cycle = []string{o.systems[i].name}
		for _, k := range o.shortestPath(j, i) {
			cycle = append(cycle, o.systems[k].name)
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
		if o.systems[i].undeclared() || o.systems[j].undeclared() {
			o.addEdge(i, j)
		}
	})
	o.eachUnordered(func(i, j int) {
		if n := o.systems[i].writeSet.common(o.systems[j].writeSet); n >= 0 && o.systems[i].sharesMode(o.systems[j]) {
			errs = append(errs, fmt.Errorf("evertick: systems %s and %s both write %s, and neither is Before or After the other: %w",
				o.systems[i].name, o.systems[j].name, o.names[n], ErrRange))
		}
	})
	o.eachUnordered(func(i, j int) {
		if n := conflict(o.systems[i], o.systems[j]); n >= 0 {
			o.addEdge(i, j)
			o.byInsertion = append(o.byInsertion, Pair{o.systems[i].name, o.systems[j].name, o.names[n]})
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

// undeclared reports whether a system may touch everything.
func (p *phase) undeclared() bool { return len(p.reads) == 0 && len(p.writes) == 0 }

// conflict returns the first name that one of two systems writes and the other reads or writes, or
// -1 if there is none or they never run in the same tick. A system that changes the set of entities
// writes to every column.
func conflict(p, q *phase) int {
	if !p.sharesMode(q) {
		return -1
	}
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
func (o *ordering) groups(s *Sim) (groups []*group) {
	var run []int
	for _, j := range o.sorted() {
		if len(run) == 0 || !o.canJoin(run, j) {
			groups = append(groups, &group{sim: s})
			run = nil
		}
		run = append(run, j)
		g := groups[len(groups)-1]
		g.members = append(g.members, o.systems[j])
	}
	for _, g := range groups {
		for _, p := range g.members {
			if len(g.members) > 1 && p.commands == nil {
				p.commands = s.World.NewCommands()
			}
		}
	}
	return groups
}

// canJoin reports whether j can run beside the systems of a run.
func (o *ordering) canJoin(run []int, j int) bool {
	q := o.systems[j]
	return !slices.ContainsFunc(run, func(i int) bool {
		p := o.systems[i]
		return p.exclusive || q.exclusive || o.precedes(i, j) || p.names(bodiesAccess) && q.names(bodiesAccess)
	})
}

// names reports whether a system reads or writes n.
func (p *phase) names(n int) bool { return p.readSet.has(n) || p.writeSet.has(n) }

// accessNames are the fixed names in Reads and Writes, besides columns, tags, blobs, states and
// resources.
// The first three have several columns each, which count as one.
var accessNames = [...]string{"position", "rotation", "scale", entitiesAccess: "entities", bodiesAccess: "bodies", "index", "rand"}

const entitiesAccess, bodiesAccess = 3, 4

// accessTable numbers the names that Reads and Writes may have. Equal names share a number.
type accessTable struct {
	names []string
	tags  bitset // the numbers of tags
}

// newAccessTable lists the names that exist now.
func (s *Sim) newAccessTable() *accessTable {
	a := &accessTable{names: slices.Clone(accessNames[:])}
	d := s.World.Describe()
	for _, c := range d.Columns {
		a.add(accessName(c.Name))
	}
	for _, t := range d.Tags {
		a.tags = a.tags.with(a.add(t.Name))
	}
	for _, b := range d.Blobs {
		a.add(b.Column)
	}
	for i := range s.states {
		a.add(s.states[i].column)
	}
	for _, name := range s.resources {
		a.add(name)
	}
	return a
}

// accessName returns the name under which a column is read or written: position.x is a part of
// position.
func accessName(column string) string {
	whole, part, ok := strings.Cut(column, ".")
	if ok && len(part) == 1 && strings.Contains("xyzw", part) && slices.Contains(accessNames[:3], whole) {
		return whole
	}
	return column
}

func (a *accessTable) add(name string) int {
	if i := slices.Index(a.names, name); i >= 0 {
		return i
	}
	a.names = append(a.names, name)
	return len(a.names) - 1
}

// set resolves names; those that do not exist are errors.
func (a *accessTable) set(system, field string, names []string) (set bitset, errs []error) {
	for _, name := range names {
		i := slices.Index(a.names, accessName(name))
		if i < 0 {
			errs = append(errs, fmt.Errorf("evertick: system %s: %s = %q, which is no column, tag, blob, state or resource%s: %w",
				system, field, name, suggest(name, a.names), ErrRange))
			continue
		}
		set = set.with(i)
	}
	return set, errs
}

// hashBefore hashes the state before a system runs, for checkWrites.
func (s *Sim) hashBefore(p *phase) {
	if !p.undeclared() {
		s.watched = s.appendAccessHashes(s.watched[:0])
	}
}

// checkWrites returns an error if a system, which has run since hashBefore, has written something
// that it does not declare. Resources, the index, and the private state of physics engines cannot
// be checked.
func (s *Sim) checkWrites(p *phase) error {
	if p.undeclared() || p.writeSet.has(entitiesAccess) { // the latter writes to all rows
		return nil
	}
	for name, added := range statehash.Changes(s.watched, s.appendAccessHashes(nil)) {
		i := slices.Index(s.access.names, s.writtenName(name))
		// A name that no table has, and that had no hash before, was added by the system itself.
		if !p.writeSet.has(i) && (i >= 0 || !added) {
			return fmt.Errorf("wrote %s, which its Writes do not name: %w", name, ErrRange)
		}
	}
	return nil
}

// writtenName returns the name under which Writes must list the column of the hash of that name.
func (s *Sim) writtenName(name string) string {
	if _, isColumn := s.World.ColumnNamed(name); !isColumn && strings.HasPrefix(name, bodyPrefix) {
		return accessNames[bodiesAccess]
	}
	return accessName(name)
}

// appendAccessHashes appends a hash of everything that Writes can name and that can be hashed.
func (s *Sim) appendAccessHashes(dst []ecs.ColumnHash) []ecs.ColumnHash {
	w := s.World
	entities := []uint64{w.Version(), w.Generation(), uint64(w.HighWater())}
	dst = append(dst, ecs.ColumnHash{Name: accessNames[entitiesAccess], Hash: statehash.Rows(entities)})
	dst = append(dst, w.ColumnHashes()[1:]...) // without the identity, which is entities and tags
	for _, t := range w.Describe().Tags {
		if tag, err := w.Tag(t.Name); err == nil && t.Count > 0 {
			dst = append(dst, ecs.ColumnHash{Name: t.Name, Hash: statehash.Rows(tag.Mask())})
		}
	}
	return s.appendNonWorldHashes(dst)
}

// bitset is a set of small numbers.
type bitset []uint64

// with returns the set with i in it, in the same memory if it has room.
func (b bitset) with(i int) bitset {
	for len(b) <= i>>6 {
		b = append(b, 0)
	}
	b[i>>6] |= 1 << (i & 63)
	return b
}

func (b bitset) has(i int) bool { return i >= 0 && i>>6 < len(b) && b[i>>6]>>(i&63)&1 != 0 }

// join returns the union of both sets, in the same memory if it has room.
func (b bitset) join(c bitset) bitset {
	for i, word := range c {
		if i == len(b) {
			b = append(b, 0)
		}
		b[i] |= word
	}
	return b
}

// common returns the least number that is in both sets, or -1.
func (b bitset) common(c bitset) int {
	for i := range min(len(b), len(c)) {
		if both := b[i] & c[i]; both != 0 {
			return i<<6 + bits.TrailingZeros64(both)
		}
	}
	return -1
}

// suggest returns up to three names that look like one that does not exist, nearest first, as the
// end of an error message.
func suggest(name string, names []string) string {
	type candidate struct {
		name     string
		distance int
	}
	var best []candidate
	for _, n := range names {
		if d := editDistance(name, n); d <= max(1, len(name)/2) {
			best = append(best, candidate{n, d})
		}
	}
	if len(best) == 0 {
		return ""
	}
	slices.SortStableFunc(best, func(a, b candidate) int { return a.distance - b.distance })
	var list []string
	for _, c := range best[:min(len(best), 3)] {
		list = append(list, c.name)
	}
	return " (near: " + strings.Join(list, ", ") + ")"
}

// editDistance is the least number of bytes to insert, delete or replace that turns one string into
// the other.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
