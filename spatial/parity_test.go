package spatial_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

var orders = []spatial.Order{spatial.BySlot, spatial.ByDistance, spatial.Grid}

func orderName(o spatial.Order) string { return [...]string{"slot", "distance", "grid"}[o] }

// hit is a point that passed the membership test.
type hit struct {
	slot  uint32
	dist2 float32
}

// bruteForce is the oracle's oracle: it tests all points for each query. Rows
// ascend by slot.
func bruteForce(s *paritytest.Scene, q *spatial.Queries) [][]hit {
	rows := make([][]hit, len(q.X))
	for i := range q.X {
		r2 := float32(q.Radius[i] * q.Radius[i])
		for at, slot := range s.Slots {
			dx, dy, dz := s.X[at]-q.X[i], s.Y[at]-q.Y[i], s.Z[at]-q.Z[i]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			if d2 <= r2 && admits(s, q.Exclude, q.Mask, q.Live, i, slot) {
				rows[i] = append(rows[i], hit{slot, d2})
			}
		}
	}
	return rows
}

// admits reports whether a slot of the scene passes the filters of query i.
func admits(s *paritytest.Scene, exclude, mask []uint32, live []uint64, i int, slot uint32) bool {
	category := uint32(math.MaxUint32)
	if s.Category != nil {
		category = s.Category[slot]
	}
	return (exclude == nil || exclude[i] != slot) && (mask == nil || mask[i]&category != 0) &&
		(live == nil || live[slot/64]>>(slot%64)&1 != 0)
}

// cellNumbers returns the number of each point's cell.
func cellNumbers(s *paritytest.Scene, g neighbours.Grid) map[uint32]int64 {
	cells := make(map[uint32]int64, len(s.Slots))
	for at, slot := range s.Slots {
		k, j, i := g.Cell(2, s.Z[at]), g.Cell(1, s.Y[at]), g.Cell(0, s.X[at])
		cells[slot] = (int64(k)*int64(g.N[1])+int64(j))*int64(g.N[0]) + int64(i)
	}
	return cells
}

// expected sorts the rows of bruteForce and converts them to a Result.
func expected(rows [][]hit, order spatial.Order, cells map[uint32]int64) *spatial.Result {
	out := &spatial.Result{Offsets: []uint32{0}}
	for _, row := range rows {
		row = slices.Clone(row)
		slices.SortFunc(row, func(a, b hit) int {
			bySlot := cmp.Compare(a.slot, b.slot)
			switch order {
			case spatial.ByDistance:
				return cmp.Or(cmp.Compare(a.dist2, b.dist2), bySlot)
			case spatial.Grid:
				return cmp.Or(cmp.Compare(cells[a.slot], cells[b.slot]), bySlot)
			}
			return bySlot
		})
		for _, h := range row {
			out.Slots, out.Dist2 = append(out.Slots, h.slot), append(out.Dist2, h.dist2)
		}
		out.Offsets = append(out.Offsets, uint32(len(out.Slots)))
	}
	return out
}

func sameResult(what string, got, want *spatial.Result, skipDist2 bool) error {
	wantDist2 := want.Dist2
	if skipDist2 {
		wantDist2 = nil
	}
	return cmp.Or(paritytest.Bits(what+": Offsets", got.Offsets, want.Offsets),
		paritytest.Bits(what+": Slots", got.Slots, want.Slots),
		paritytest.Bits(what+": Dist2", got.Dist2, wantDist2))
}

func queriesOf(s *paritytest.Scene) *spatial.Queries {
	return &spatial.Queries{X: s.QueryX, Y: s.QueryY, Z: s.QueryZ, Radius: s.Radius, Exclude: s.Exclude}
}

func build(t testing.TB, cfg spatial.Config, s *paritytest.Scene) *spatial.Index {
	t.Helper()
	ix, err := spatial.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	spatial.AlwaysParallel(ix)
	x, y, z := s.Columns()
	if err := ix.Build(x, y, z, s.Slots); err != nil {
		t.Fatal(err)
	}
	if s.Category != nil {
		ix.SetCategories(s.Category)
	}
	return ix
}

// cellSizes are: chosen, small, the radius, huge.
func cellSizes(s *paritytest.Scene) []float32 {
	return []float32{0, s.Scale / 64, s.Scale, min(s.Scale*1e6, math.MaxFloat32)}
}

// boundsFor are: none, too small for the points, and far away from them.
func boundsFor(s *paritytest.Scene) []spatial.Bounds {
	w := s.Scale
	return []spatial.Bounds{
		{},
		{Min: [3]float32{-w, 0, -w}, Max: [3]float32{w, w, float32(w * 1.5)}},
		{Min: [3]float32{1e6, -1e6, 1e6}, Max: [3]float32{1e6 + 100, -1e6 + 100, 1e6}},
	}
}

// parity compares all ways to answer a batch.
type parity struct {
	t       *testing.T
	run     *paritytest.Run
	results map[string]*spatial.Result // reused over all cases, per level and workers
}

func TestParityIndex(t *testing.T) {
	p := &parity{t, paritytest.Start(t, "Index"), map[string]*spatial.Result{}}
	for range rounds(1, 12) {
		for i := range paritytest.Families {
			queries := []int{1, 63, 64, 65, 200}[p.run.IntN(5)]
			p.scene(paritytest.Families[i].Draw(p.run, 250, queries))
		}
	}
}

// scene answers a scene's queries with every geometry.
func (p *parity) scene(s *paritytest.Scene) {
	q := queriesOf(s)
	if p.run.IntN(3) == 0 {
		q.Exclude = nil
	}
	if p.run.IntN(3) == 0 {
		s.Category = p.run.Categories(s.Limit())
	}
	if p.run.IntN(3) == 0 {
		q.Mask = p.run.Categories(len(q.X))
	}
	if p.run.IntN(3) == 0 {
		q.Live = p.run.Bitmap(s.Limit())
	}
	rows := bruteForce(s, q)
	for _, cell := range cellSizes(s) {
		for _, bounds := range some(p.run, boundsFor(s)...) {
			p.geometry(s, q, rows, spatial.Config{CellSize: cell, Bounds: bounds})
		}
	}
}

// geometry answers the queries in every order on every level. The oracle is
// compared with brute force, and Radius with the oracle.
func (p *parity) geometry(s *paritytest.Scene, q *spatial.Queries, rows [][]hit, cfg spatial.Config) {
	name := fmt.Sprintf("scene %s, %+v", s.Name, cfg)
	ix := build(p.t, cfg, s)
	cells := cellNumbers(s, spatial.GridOf(ix))
	var want [3]spatial.Result
	for _, order := range orders {
		q.Order, q.SkipDist2 = order, false
		if err := ix.RadiusOracle(q, &want[order]); err != nil {
			p.t.Fatalf("%s: oracle: %v", name, err)
		}
		what := fmt.Sprintf("%s: oracle against brute force, by %s", name, orderName(order))
		if err := sameResult(what, &want[order], expected(rows, order, cells), false); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, cfg.Level = range native.Levels() {
		for _, cfg.Workers = range []int{1, 2, 7} {
			p.level(build(p.t, cfg, s), q, &want, cfg, name)
		}
	}
}

func (p *parity) level(ix *spatial.Index, q *spatial.Queries, want *[3]spatial.Result, cfg spatial.Config, name string) {
	key := fmt.Sprint(cfg.Level, cfg.Workers)
	if p.results[key] == nil {
		p.results[key] = &spatial.Result{}
	}
	got := p.results[key]
	for _, q.Order = range orders {
		p.run.Case(cfg.Level)
		q.SkipDist2 = p.run.IntN(4) == 0
		what := fmt.Sprintf("%s, workers %d, by %s", name, cfg.Workers, orderName(q.Order))
		p.run.Check(ix.Radius(q, got), sameResult(what, got, &want[q.Order], q.SkipDist2))
	}
}

// Slots up to the last possible one. The columns are one and the same, so that
// 1<<24 slots do not take much memory: the points lie on a diagonal.
func TestParityIndexLastSlot(t *testing.T) {
	run := paritytest.Start(t, "Index, last slot")
	column := make([]float32, native.MaxSlots+1)
	s := paritytest.Families[1].Draw(run, 200, 70)
	s.Spread(run, native.MaxSlots-1)
	for i, slot := range s.Slots {
		column[slot] = s.X[i]
	}
	s.Y, s.Z = s.X, s.X
	q := queriesOf(s)
	rows := bruteForce(s, q)
	for _, level := range native.Levels() {
		ix, err := spatial.New(spatial.Config{CellSize: 15, Level: level, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		spatial.AlwaysParallel(ix)
		run.Check(ix.Build(column, column, column, s.Slots))
		var got spatial.Result
		for _, q.Order = range orders[:2] {
			run.Case(level)
			run.Check(ix.Radius(q, &got), sameResult("result", &got, expected(rows, q.Order, nil), false))
		}
	}
}

// A batch is the sum of its parts, and one Result serves any index.
func TestParityIndexSplitBatches(t *testing.T) {
	run := paritytest.Start(t, "Index, split batches")
	var whole, part spatial.Result
	for range paritytest.Rounds(40) {
		s := paritytest.Families[run.IntN(len(paritytest.Families))].Draw(run, 250, 1+run.IntN(300))
		for _, level := range native.Levels() {
			run.Case(level)
			ix := build(t, spatial.Config{CellSize: s.Scale, Level: level, Workers: 1 + run.IntN(3)}, s)
			q := queriesOf(s)
			q.Order = orders[run.IntN(3)]
			run.Check(ix.Radius(q, &whole))
			for at := 0; at < len(q.X); {
				end := min(len(q.X), at+1+run.IntN(100))
				run.Check(ix.Radius(&spatial.Queries{X: q.X[at:end], Y: q.Y[at:end], Z: q.Z[at:end],
					Radius: q.Radius[at:end], Exclude: q.Exclude[at:end], Order: q.Order}, &part))
				for i := range part.Len() {
					run.Check(paritytest.Bits("row", part.Row(i), whole.Row(at+i)),
						paritytest.Bits("distances", part.Dist2Row(i), whole.Dist2Row(at+i)))
				}
				at = end
			}
		}
	}
}

// A batch large enough for the workers of an ordinary index, and not a multiple
// of a chunk.
func TestParityIndexLargeBatch(t *testing.T) {
	run := paritytest.Start(t, "Index, large batch")
	s := paritytest.Families[0].Draw(run, 1500, 1500)
	x, y, z := s.Columns()
	var want, got spatial.Result
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			run.Case(level)
			ix, err := spatial.New(spatial.Config{CellSize: s.Scale, Level: level, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			q := queriesOf(s)
			run.Check(ix.Build(x, y, z, s.Slots), ix.RadiusOracle(q, &want), ix.Radius(q, &got), sameResult("result", &got, &want, false))
		}
	}
}
