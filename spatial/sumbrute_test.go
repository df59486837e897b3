package spatial_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// sumWeights are the formulas of the weights, of the squared distance, the distance, the radius and the softening.
var sumWeights = []func(d2, d, r, softening float32) float32{
	spatial.Uniform: nil,
	spatial.InverseSquare: func(d2, _, _, softening float32) float32 {
		if sum := d2 + softening; sum > 0 {
			return 1 / sum
		}
		return 0
	},
	spatial.Linear: func(_, d, r, _ float32) float32 { return positive(1 - float32(d/r)) },
	spatial.Poly6: func(d2, _, r, _ float32) float32 {
		t := positive(1 - float32(d2/float32(r*r)))
		return float32(float32(t*t) * t)
	},
	spatial.SpikyGradient: func(_, d, r, _ float32) float32 {
		if t := positive(1 - float32(d/r)); d > 0 {
			return float32(t*t) / d
		}
		return 0
	},
	spatial.CubicSpline: func(_, d, r, _ float32) float32 {
		q := d / r
		t := positive(1 - q)
		if q <= 0.5 {
			return 1 - float32(6*float32(float32(q*q)*t))
		}
		return float32(2 * float32(float32(t*t)*t))
	},
}

func positive(t float32) float32 {
	if t > 0 {
		return t
	}
	return 0
}

// everyTerm returns a term for each weight, each reduction, and each of: weights alone, values, differences.
func everyTerm(of, own []float32) []spatial.Term {
	var terms []spatial.Term
	for weight := range sumWeights {
		for reduce := spatial.Add; reduce <= spatial.Max; reduce++ {
			t := spatial.Term{Weight: spatial.Weight(weight), Reduce: reduce}
			terms = append(terms, t, spatial.Term{Of: of, Weight: t.Weight, Reduce: reduce}, spatial.Term{Of: of, Own: own, Weight: t.Weight, Reduce: reduce})
		}
	}
	return terms
}

// sumCentre is a centre, and the row of its own values and of its results.
type sumCentre struct {
	x, y, z, radius float32
	row             int
}

// sumNeighbours tests all points of a scene. It returns those within the radius of a centre that keep accepts, by the
// numbers of their cells, then by slot.
func sumNeighbours(s *paritytest.Scene, cells map[uint32]int64, c sumCentre, keep func(slot uint32) bool) []hit {
	var found []hit
	for i, slot := range s.Slots {
		dx, dy, dz := s.X[i]-c.x, s.Y[i]-c.y, s.Z[i]-c.z
		d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
		if d2 <= float32(c.radius*c.radius) && keep(slot) {
			found = append(found, hit{slot, d2})
		}
	}
	slices.SortFunc(found, func(a, b hit) int {
		return cmp.Or(cmp.Compare(cells[a.slot], cells[b.slot]), cmp.Compare(a.slot, b.slot))
	})
	return found
}

// bruteSums writes the results of one centre, each from a pass of its own over the neighbours.
func bruteSums(s *spatial.Sums, c sumCentre, found []hit) {
	if s.Counts != nil {
		s.Counts[c.row] = uint32(len(found))
	}
	nearest := hit{spatial.NoSlot, inf}
	if len(found) > 0 {
		nearest = slices.MinFunc(found, func(a, b hit) int { return cmp.Or(cmp.Compare(a.dist2, b.dist2), cmp.Compare(a.slot, b.slot)) })
	}
	if s.Nearest != nil {
		s.Nearest[c.row] = nearest.slot
	}
	if s.NearestDist2 != nil {
		s.NearestDist2[c.row] = nearest.dist2
	}
	for i := range s.Terms {
		t := &s.Terms[i]
		var values []float32
		for _, h := range found {
			v := float32(1)
			if t.Of != nil {
				v = t.Of[h.slot]
			}
			if t.Own != nil {
				v -= t.Own[c.row]
			}
			if weight := sumWeights[t.Weight]; weight != nil {
				v = float32(v * weight(h.dist2, float32(math.Sqrt(float64(h.dist2))), c.radius, s.Softening))
			}
			values = append(values, v)
		}
		t.To[c.row] = bruteReduce(t.Reduce, values)
	}
}

func bruteReduce(reduce spatial.Reduce, values []float32) float32 {
	sum, least, most := float32(0), inf, -inf
	for _, v := range values {
		sum += v
		if v < least {
			least = v
		}
		if v > most {
			most = v
		}
	}
	switch n := len(values); {
	case n == 0:
		return 0
	case reduce == spatial.Mean:
		return sum / float32(n)
	case reduce == spatial.Min:
		return least
	case reduce == spatial.Max:
		return most
	}
	return sum
}

// bruteSum and bruteSumSelf are Sum and SumSelf by brute force; points are the indexes of the centres.
func bruteSum(s *paritytest.Scene, cells map[uint32]int64, q *spatial.Queries, to *spatial.Sums) {
	for i, r := range q.Radius {
		c := sumCentre{q.X[i], q.Y[i], q.Z[i], r, i}
		bruteSums(to, c, sumNeighbours(s, cells, c, func(slot uint32) bool { return admits(s, q.Exclude, q.Mask, q.Live, i, slot) }))
	}
}

func bruteSumSelf(s *paritytest.Scene, cells map[uint32]int64, q *spatial.Self, points []int, to *spatial.Sums) {
	for _, i := range points {
		own := s.Slots[i]
		c := sumCentre{s.X[i], s.Y[i], s.Z[i], q.Radius, int(own)}
		bruteSums(to, c, sumNeighbours(s, cells, c, func(slot uint32) bool {
			return (q.IncludeSelf || slot != own) && admits(s, nil, q.Mask, q.Live, int(own), slot)
		}))
	}
}

// A sumQuery is a batch of sums: of queries, or of all points.
type sumQuery struct {
	q    *spatial.Queries // nil: self
	self *spatial.Self
	rows int
}

func (k *sumQuery) ask(ix *spatial.Index, s *spatial.Sums) error {
	if k.q != nil {
		return ix.Sum(k.q, s)
	}
	return ix.SumSelf(k.self, s)
}

func (k *sumQuery) askOracle(ix *spatial.Index, s *spatial.Sums) error {
	if k.q != nil {
		return ix.SumOracle(k.q, s)
	}
	return ix.SumSelfOracle(k.self, s)
}

func (k *sumQuery) bruteForce(s *paritytest.Scene, cells map[uint32]int64, to *spatial.Sums) {
	if k.q != nil {
		bruteSum(s, cells, k.q, to)
	} else {
		bruteSumSelf(s, cells, k.self, numbered(len(s.X)), to)
	}
}

// queriesOfSums draws the queries of a scene as a batch, and a self query, with filters.
func queriesOfSums(run *paritytest.Run, s *paritytest.Scene) (batch, self *sumQuery) {
	q := queriesOf(s)
	q.Exclude, q.Mask, q.Live = someFilters(run, s, len(q.X))
	all := &spatial.Self{Radius: []float32{s.Scale, s.Radius[0]}[run.IntN(2)], IncludeSelf: run.IntN(2) == 0}
	if run.IntN(3) == 0 {
		all.Mask = run.Categories(s.Limit())
	}
	if run.IntN(3) == 0 {
		all.Live = run.Bitmap(s.Limit())
	}
	return &sumQuery{q: q, rows: len(q.X)}, &sumQuery{self: all, rows: s.Limit()}
}

// newSums returns some of all terms in any order, and some of the other results, over columns of ordinary or of any values.
func newSums(run *paritytest.Run, s *paritytest.Scene, k *sumQuery) *spatial.Sums {
	of, own := make([]float32, s.Limit()), make([]float32, k.rows)
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}[run.IntN(3)]
	run.Fill(of, classes...)
	run.Fill(own, classes...)
	if run.IntN(3) == 0 { // offsets
		of, _, _ = s.Columns()
		if own = of; k.q != nil {
			own = k.q.X
		}
	}
	terms := everyTerm(of, own)
	run.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
	sums := &spatial.Sums{Terms: terms[:[]int{0, 1, 2, 7, 64}[run.IntN(5)]], Softening: []float32{0, 0.5, 1e30, math.SmallestNonzeroFloat32}[run.IntN(4)]}
	if run.IntN(3) > 0 {
		sums.Counts = make([]uint32, k.rows)
	}
	if run.IntN(3) > 0 {
		sums.Nearest = make([]uint32, k.rows)
	}
	if run.IntN(3) > 0 {
		sums.NearestDist2 = make([]float32, k.rows)
	}
	return sums
}

// Every weight, reduction, form and filter, from scenes of every family in every geometry: the oracle and every level
// give the bits of a loop over all points, and leave other rows as they were.
func TestParitySumsBruteForce(t *testing.T) {
	run := paritytest.Start(t, "Sums, brute force")
	for range rounds(1, 3) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, 250, []int{1, 7, 64, 65, 130}[run.IntN(5)])
			if run.IntN(2) == 0 {
				s.Category = run.Categories(s.Limit())
			}
			batch, self := queriesOfSums(run, s)
			for _, cfg := range some(run, anywhere(s)...) {
				sumsBruteForce(t, run, s, cfg, batch)
				sumsBruteForce(t, run, s, cfg, self)
			}
		}
	}
}

func sumsBruteForce(t *testing.T, run *paritytest.Run, s *paritytest.Scene, cfg spatial.Config, k *sumQuery) {
	t.Helper()
	ix := build(t, cfg, s)
	want := newSums(run, s, k)
	blank(want, k.rows)
	k.bruteForce(s, cellNumbers(s, spatial.GridOf(ix)), want)
	what := fmt.Sprintf("scene %s, %d points, %+v, self %t", s.Name, len(s.X), cfg, k.q == nil)
	got := cloneSums(want)
	blank(got, k.rows)
	run.Check(k.askOracle(ix, got), sameSums(what+": oracle against brute force", got, want))
	for _, cfg.Level = range native.Levels() {
		cfg.Workers = 1 + run.IntN(3)
		run.Case(cfg.Level)
		got := cloneSums(want)
		blank(got, k.rows)
		run.Check(k.ask(build(t, cfg, s), got), sameSums(what, got, want))
	}
}

// Sets for several chunks of work, and cells so crowded that the candidates of a centre are more than are gathered at
// once. Brute force has a sample of the centres.
func TestParitySumsCrowded(t *testing.T) {
	run := paritytest.Start(t, "Sums, crowded")
	type crowd struct {
		family string
		points int
		cell   float32 // times the radius
	}
	for _, c := range some(run, crowd{"uniform", 1300, 1}, crowd{"point", 4500, 1}, crowd{"duplicates", 4200, 1}, crowd{"clusters", 2000, 100},
		crowd{"line", 5000, 1000}, crowd{"uniform", 4400, 40}) {
		s := drawExactly(run, c.family, c.points)
		for range 40 {
			i := run.IntN(len(s.X))
			s.QueryX, s.QueryY, s.QueryZ = append(s.QueryX, s.X[i]), append(s.QueryY, s.Y[i]), append(s.QueryZ, run.Near(s.Z[i]))
			s.Radius, s.Exclude = append(s.Radius, s.Scale), append(s.Exclude, s.Slots[i])
		}
		batch, self := queriesOfSums(run, s)
		self.self.Radius = s.Scale
		for _, k := range []*sumQuery{batch, self} {
			want := newSums(run, s, k)
			want.Terms = want.Terms[:min(len(want.Terms), 7)]
			sumsCrowded(t, run, s, spatial.Config{CellSize: s.Scale * c.cell}, k, want)
		}
	}
}

func sumsCrowded(t *testing.T, run *paritytest.Run, s *paritytest.Scene, cfg spatial.Config, k *sumQuery, want *spatial.Sums) {
	t.Helper()
	cells, rows := cellNumbers(s, spatial.GridOf(build(t, cfg, s))), numbered(k.rows)
	blank(want, k.rows)
	if k.q != nil {
		bruteSum(s, cells, k.q, want)
	} else {
		var points []int
		rows = nil
		for i := run.IntN(50); i < len(s.X); i += 1 + run.IntN(100) {
			points, rows = append(points, i), append(rows, int(s.Slots[i]))
		}
		bruteSumSelf(s, cells, k.self, points, want)
	}
	for _, cfg.Level = range native.Levels() {
		for _, cfg.Workers = range some(run, 1, 2, 7) {
			run.Case(cfg.Level)
			got := cloneSums(want)
			blank(got, k.rows)
			run.Check(k.ask(build(t, cfg, s), got),
				sameSums(fmt.Sprintf("scene %s, %+v, self %t", s.Name, cfg, k.q == nil), rowsOfSums(got, rows), rowsOfSums(want, rows)))
		}
	}
}

func numbered(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// rowsOfSums returns some rows of the results.
func rowsOfSums(s *spatial.Sums, rows []int) *spatial.Sums {
	some := cloneSums(s)
	for i := range some.Terms {
		some.Terms[i].To = picked(some.Terms[i].To, rows)
	}
	if s.Counts != nil {
		some.Counts = picked(s.Counts, rows)
	}
	if s.Nearest != nil {
		some.Nearest = picked(s.Nearest, rows)
	}
	if s.NearestDist2 != nil {
		some.NearestDist2 = picked(s.NearestDist2, rows)
	}
	return some
}
