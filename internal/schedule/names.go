package schedule

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/evertick/evertick/internal/fault"
)

// Entities and Bodies name the set of live entities, and Sim.Physics.
const (
	Entities = "entities"
	Bodies   = "bodies"

	entities, bodies = 3, 4 // their numbers
)

// fixed are the names in Reads and Writes that every Sim has. The first three have several columns each, which count as one.
var fixed = [...]string{"position", "rotation", "scale", entities: Entities, bodies: Bodies, "index", "rand"}

// Names numbers the names that Reads and Writes may have. Equal names share a number.
type Names struct {
	list []string
	tags bitset // the numbers of tags
}

// NewNames lists the names that every Sim has.
func NewNames() *Names { return &Names{list: slices.Clone(fixed[:])} }

// Add adds a column, the column of a blob, a state or a resource.
func (n *Names) Add(name string) { n.number(columnGroup(name)) }

// AddTag adds a tag. A system that writes it runs by itself.
func (n *Names) AddTag(name string) { n.tags = n.tags.with(n.number(name)) }

func (n *Names) number(name string) int {
	if i := slices.Index(n.list, name); i >= 0 {
		return i
	}
	n.list = append(n.list, name)
	return len(n.list) - 1
}

// Known reports whether Reads and Writes may name a column.
func (n *Names) Known(column string) bool { return slices.Contains(n.list, columnGroup(column)) }

// Writes reports whether a system declares that it writes to a column.
func (n *Names) Writes(s *System, column string) bool {
	return s.writes.has(slices.Index(n.list, columnGroup(column)))
}

// columnGroup returns the name under which a column is read or written: position.x is a part of position.
func columnGroup(column string) string {
	whole, part, ok := strings.Cut(column, ".")
	if ok && len(part) == 1 && strings.Contains("xyzw", part) && slices.Contains(fixed[:entities], whole) {
		return whole
	}
	return column
}

// set resolves names; those that do not exist are errors.
func (n *Names) set(system, field string, names []string) (set bitset, errs []error) {
	for _, name := range names {
		i := slices.Index(n.list, columnGroup(name))
		if i < 0 {
			errs = append(errs, fmt.Errorf("evertick: system %s: %s = %q, which is no column, tag, blob, state or resource%s: %w",
				system, field, name, suggest(name, n.list), fault.ErrRange))
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
