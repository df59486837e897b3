package spatial

import (
	"unsafe"

	"github.com/evertick/evertick/internal/neighbours"
)

// sumGroup is up to neighbours.RecordLen different values, and what terms do with them.
type sumGroup struct {
	of, own [neighbours.RecordLen][]float32
	values  int
	ones    bool // all values are 1
	// differences: each value is the neighbour's less the centre's, in one column.
	differences bool
	want        [neighbours.SumOps]uint8 // weights for each operation, a bit each
	records     []neighbours.Record
	// sums are the results of the centres, in the order of their rows, for each operation and weight.
	sums [neighbours.SumOps][neighbours.Weights][]neighbours.Record
	// Which values are wanted with each weight, a bit each.
	adds     [neighbours.Weights]uint8                    // their sum
	means    [neighbours.Weights]uint8                    // their sum, divided by the number of neighbours
	extremes [neighbours.SumOps][neighbours.Weights]uint8 // their smallest or largest
}

// wanted returns the values of which an operation with a weight is wanted, and those that are means.
func (g *sumGroup) wanted(op neighbours.SumOp, weight int) (values, means uint8) {
	if op == neighbours.SumAdd {
		return g.adds[weight] | g.means[weight], g.means[weight]
	}
	return g.extremes[op][weight], 0
}

// sumColumn is where the result of a term is.
type sumColumn struct{ group, value int }

// plan finds the different values of the terms.
func (t *sumTask) plan() {
	for i := range t.groups {
		t.groups[i] = sumGroup{records: t.groups[i].records, sums: t.groups[i].sums}
	}
	t.groups, t.columns, t.weights = t.groups[:0], resize(t.columns, len(t.s.Terms)), 0
	for _, weighted := range [...]bool{true, false} { // so that weighted values are next to each other
		for i := range t.s.Terms {
			if term := &t.s.Terms[i]; (term.Weight != Uniform) == weighted {
				t.columns[i] = t.addTerm(term)
			}
		}
	}
	t.byCentre = len(t.s.Counts) > 0 || len(t.s.Nearest) > 0 || len(t.s.NearestDist2) > 0
	for i := range t.groups {
		t.byCentre = t.byCentre || !t.groups[i].differences || !t.byPlace
	}
	t.withDist2 = t.weights != 0 || len(t.s.Nearest) > 0 || len(t.s.NearestDist2) > 0
}

// addTerm returns where the result of a term will be: at a value that serves it already, or at a new one.
func (t *sumTask) addTerm(term *Term) (at sumColumn) {
	found := false
	for at.group = 0; at.group < len(t.groups); at.group++ {
		if at.value, found = t.groups[at.group].find(term); found {
			break
		}
	}
	if !found {
		if n := len(t.groups); n == 0 || t.groups[n-1].values == neighbours.RecordLen {
			t.groups = growByOne(t.groups)
		}
		at.group = len(t.groups) - 1
		at.value = t.groups[at.group].add(term)
	}
	t.groups[at.group].use(at.value, term)
	if term.Weight != Uniform {
		t.weights |= 1 << term.Weight
	}
	return at
}

// growByOne appends an element, with the memory that it had before.
func growByOne(groups []sumGroup) []sumGroup {
	if n := len(groups); n < cap(groups) {
		return groups[:n+1]
	}
	return append(groups, sumGroup{})
}

// find returns which value of the group serves a term. A value with one weight is a sum or a mean, not both.
func (g *sumGroup) find(t *Term) (value int, found bool) {
	for i := range g.values {
		taken := t.Reduce == Add && g.means[t.Weight]>>i&1 != 0 || t.Reduce == Mean && g.adds[t.Weight]>>i&1 != 0
		if !taken && sameColumn(g.of[i], t.Of) && sameColumn(g.own[i], t.Own) {
			return i, true
		}
	}
	return 0, false
}

func sameColumn(a, b []float32) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }

// use notes what a term does with a value.
func (g *sumGroup) use(value int, t *Term) {
	g.want[t.op()] |= 1 << t.Weight
	switch t.Reduce {
	case Add:
		g.adds[t.Weight] |= 1 << value
	case Mean:
		g.means[t.Weight] |= 1 << value
	default:
		g.extremes[t.op()][t.Weight] |= 1 << value
	}
}

// add adds the value of a term to a group that has room, and returns its number.
func (g *sumGroup) add(t *Term) int {
	i := g.values
	g.of[i], g.own[i] = t.Of, t.Own
	g.ones = (i == 0 || g.ones) && t.Of == nil
	g.differences = (i == 0 || g.differences) && t.Own != nil && sameColumn(t.Of, t.Own)
	g.values++
	return i
}

// op is how a kernel computes the reduction.
func (t *Term) op() neighbours.SumOp {
	switch t.Reduce {
	case Min:
		return neighbours.SumMin
	case Max:
		return neighbours.SumMax
	}
	return neighbours.SumAdd
}
