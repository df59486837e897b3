package evertick

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// What systems can name besides columns, tags, states and resources of their own. Position,
// rotation and scale have several columns each, which count as one.
const (
	positionAccess = iota
	rotationAccess
	scaleAccess
	entitiesAccess
	bodiesAccess
	indexAccess
	randAccess
	ownAccess // the first of the others
)

var accessNames = [ownAccess]string{"position", "rotation", "scale", "entities", "bodies", "index", "rand"}

// access is the table of names that Reads and Writes may have: those of one number
// are the same thing.
type access struct {
	names []string
	tags  bitset // which of them are tags
}

// accessNames lists what can be named now.
func (s *Sim) accessNames() *access {
	a := &access{names: slices.Clone(accessNames[:])}
	d := s.World.Describe()
	for _, c := range d.Columns {
		a.add(builtInColumn(c.Name))
	}
	for _, t := range d.Tags {
		i := a.add(t.Name)
		a.tags = a.tags.with(i)
	}
	for i := range s.states {
		a.add(s.states[i].column)
	}
	for _, name := range s.resources {
		a.add(name)
	}
	return a
}

// builtInColumn returns what a column is called here: position.x is a part of position.
func builtInColumn(name string) string {
	whole, part, ok := strings.Cut(name, ".")
	if ok && len(part) == 1 && strings.Contains("xyzw", part) && slices.Contains(accessNames[:entitiesAccess], whole) {
		return whole
	}
	return name
}

func (a *access) add(name string) int {
	if i := slices.Index(a.names, name); i >= 0 {
		return i
	}
	a.names = append(a.names, name)
	return len(a.names) - 1
}

// set resolves names; those that do not exist are errors.
func (a *access) set(system, field string, names []string) (set bitset, errs []error) {
	for _, name := range names {
		i := slices.Index(a.names, builtInColumn(name))
		if i < 0 {
			errs = append(errs, fmt.Errorf("evertick: system %s: %s = %q, which is no column, tag, state or resource%s: %w",
				system, field, name, near(name, a.names), ErrRange))
			continue
		}
		set = set.with(i)
	}
	return set, errs
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

// join returns the set with those of c in it, in the same memory if it has room.
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

// near says which names look like one that does not exist, up to three, nearest first.
func near(name string, names []string) string {
	type candidate struct {
		name string
		off  int
	}
	var best []candidate
	for _, n := range names {
		if off := editDistance(name, n); off <= max(1, len(name)/2) {
			best = append(best, candidate{n, off})
		}
	}
	slices.SortStableFunc(best, func(a, b candidate) int { return a.off - b.off })
	if len(best) == 0 {
		return ""
	}
	var said []string
	for _, c := range best[:min(len(best), 3)] {
		said = append(said, c.name)
	}
	return " (near: " + strings.Join(said, ", ") + ")"
}

// editDistance is the least number of bytes to insert, delete or replace that turns
// one string into the other.
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
