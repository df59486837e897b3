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

// relation is a change of a scene whose effect on the result is known without a
// search. change alters the scene and returns the expected rows, each in any order.
type relation struct {
	name    string
	lattice bool // arithmetic must be exact: for latticeScene only
	change  func(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit
}

func same(rows [][]hit) [][]hit { return rows }

// mapped changes each hit, or drops it.
func mapped(change func(row int, h hit) (hit, bool)) func([][]hit) [][]hit {
	return func(rows [][]hit) [][]hit {
		out := make([][]hit, len(rows))
		for row := range rows {
			for _, h := range rows[row] {
				if changed, keep := change(row, h); keep {
					out[row] = append(out[row], changed)
				}
			}
		}
		return out
	}
}

func eachCoordinate(s *paritytest.Scene, f func(axis int, v float32) float32) {
	for axis, columns := range [][2][]float32{{s.X, s.QueryX}, {s.Y, s.QueryY}, {s.Z, s.QueryZ}} {
		for _, column := range columns {
			for i, v := range column {
				column[i] = f(axis, v)
			}
		}
	}
}

var relations = []relation{
	{name: "same", change: func(*paritytest.Run, *paritytest.Scene) func([][]hit) [][]hit { return same }},
	{name: "mirrored", change: func(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		sides := r.IntN(8)
		eachCoordinate(s, func(axis int, v float32) float32 {
			if sides>>axis&1 != 0 {
				return -v
			}
			return v
		})
		return same
	}},
	{name: "x and y swapped", change: func(_ *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		s.X, s.Y, s.QueryX, s.QueryY = s.Y, s.X, s.QueryY, s.QueryX
		return same
	}},
	{name: "axes rotated", lattice: true, change: func(_ *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		s.X, s.Y, s.Z, s.QueryX, s.QueryY, s.QueryZ = s.Y, s.Z, s.X, s.QueryY, s.QueryZ, s.QueryX
		return same
	}},
	{name: "translated", lattice: true, change: func(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		var by [3]float32
		for axis := range by {
			by[axis] = float32(r.IntN(1<<17) - 1<<16)
		}
		eachCoordinate(s, func(axis int, v float32) float32 { return v + by[axis] })
		return same
	}},
	{name: "scaled", lattice: true, change: func(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		by := float32(math.Ldexp(1, r.IntN(81)-40))
		eachCoordinate(s, func(_ int, v float32) float32 { return v * by })
		s.Scale *= by
		for i := range s.Radius {
			s.Radius[i] *= by
		}
		return mapped(func(_ int, h hit) (hit, bool) { return hit{h.slot, h.dist2 * by * by}, true })
	}},
	{name: "slots permuted", change: permuteSlots},
	{name: "points removed", change: func(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		removed, keepOf := map[uint32]bool{}, 1+r.IntN(4)
		for _, slot := range s.Slots {
			removed[slot] = r.IntN(keepOf) != 0
		}
		keepPoints(s, func(slot uint32) bool { return !removed[slot] })
		return mapped(func(_ int, h hit) (hit, bool) { return h, !removed[h.slot] })
	}},
	{name: "points doubled", change: func(_ *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		limit := uint32(s.Limit())
		for i := range s.Slots {
			s.X, s.Y, s.Z, s.Slots = append(s.X, s.X[i]), append(s.Y, s.Y[i]), append(s.Z, s.Z[i]), append(s.Slots, s.Slots[i]+limit)
		}
		exclude := slices.Clone(s.Exclude)
		return func(rows [][]hit) [][]hit {
			out := make([][]hit, len(rows))
			for row := range rows {
				for _, h := range rows[row] {
					out[row] = append(out[row], h, hit{h.slot + limit, h.dist2})
				}
			}
			return addCopiesOfExcluded(s, out, exclude, limit)
		}
	}},
	{name: "far points added", lattice: true, change: func(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		next := uint32(s.Limit())
		for range 1 + r.IntN(20) {
			at := [3]float32{float32(r.IntN(9)), float32(r.IntN(9)), float32(r.IntN(9))}
			at[r.IntN(3)] = []float32{200, -200, 1e5, -1e5, 1e30, -1e30, math.MaxFloat32}[r.IntN(7)]
			s.X, s.Y, s.Z, s.Slots = append(s.X, at[0]), append(s.Y, at[1]), append(s.Z, at[2]), append(s.Slots, next)
			next += 1 + r.Uint32N(3)
		}
		return same
	}},
	{name: "queries shuffled", change: func(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		order := r.Perm(len(s.QueryX))
		s.QueryX, s.QueryY, s.QueryZ = picked(s.QueryX, order), picked(s.QueryY, order), picked(s.QueryZ, order)
		s.Radius, s.Exclude = picked(s.Radius, order), picked(s.Exclude, order)
		return func(rows [][]hit) [][]hit { return picked(rows, order) }
	}},
	{name: "radii smaller", change: func(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		for i := range s.Radius {
			s.Radius[i] *= r.Float32()
		}
		radius := s.Radius
		return mapped(func(row int, h hit) (hit, bool) { return h, h.dist2 <= float32(radius[row]*radius[row]) })
	}},
	{name: "slots excluded", change: func(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
		before := slices.Clone(s.Exclude)
		for i := range s.Exclude {
			if len(s.Slots) > 0 && before[i] == spatial.NoSlot {
				s.Exclude[i] = s.Slots[r.IntN(len(s.Slots))]
			}
		}
		exclude := s.Exclude
		return mapped(func(row int, h hit) (hit, bool) { return h, h.slot != exclude[row] })
	}},
}

func permuteSlots(r *paritytest.Run, s *paritytest.Scene) func([][]hit) [][]hit {
	slots := slices.Clone(s.Slots)
	r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	renamed := map[uint32]uint32{spatial.NoSlot: spatial.NoSlot}
	for i, slot := range s.Slots {
		renamed[slot] = slots[i]
	}
	for i := range s.Exclude {
		s.Exclude[i] = renamed[s.Exclude[i]]
	}
	order := make([]int, len(slots)) // by new slot
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(slots[i], slots[j]) })
	s.X, s.Y, s.Z = picked(s.X, order), picked(s.Y, order), picked(s.Z, order)
	return mapped(func(_ int, h hit) (hit, bool) { return hit{renamed[h.slot], h.dist2}, true })
}

// addCopiesOfExcluded adds the copy of a point that a query leaves out: it has
// another slot. It is the one point whose membership no row shows.
func addCopiesOfExcluded(s *paritytest.Scene, rows [][]hit, exclude []uint32, limit uint32) [][]hit {
	for row, slot := range exclude {
		i, found := slices.BinarySearch(s.Slots, slot)
		if !found {
			continue
		}
		dx, dy, dz := s.X[i]-s.QueryX[row], s.Y[i]-s.QueryY[row], s.Z[i]-s.QueryZ[row]
		d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
		if d2 <= float32(s.Radius[row]*s.Radius[row]) {
			rows[row] = append(rows[row], hit{slot + limit, d2})
		}
	}
	return rows
}

func keepPoints(s *paritytest.Scene, keep func(slot uint32) bool) {
	var order []int
	for i, slot := range s.Slots {
		if keep(slot) {
			order = append(order, i)
		}
	}
	s.X, s.Y, s.Z, s.Slots = picked(s.X, order), picked(s.Y, order), picked(s.Z, order), picked(s.Slots, order)
}

func picked[T any](s []T, order []int) []T {
	out := make([]T, len(order))
	for i, from := range order {
		out[i] = s[from]
	}
	return out
}

// latticeScene is dense, with coordinates that are multiples of 1/64 below 16 in
// absolute value: no operation of the test of membership rounds, wherever the scene
// is moved to.
func latticeScene(r *paritytest.Run, points, queries int) *paritytest.Scene {
	s := &paritytest.Scene{Name: "fine lattice", Scale: float32(1+r.IntN(16)) / 4}
	size := 1 + r.IntN(2048)
	at := func() float32 { return float32(r.IntN(size)-size/2) / 64 }
	slot := uint32(0)
	for range points {
		slot += 1 + r.Uint32N(2)
		s.X, s.Y, s.Z, s.Slots = append(s.X, at()), append(s.Y, at()), append(s.Z, at()), append(s.Slots, slot)
	}
	for range queries {
		exclude := spatial.NoSlot
		if r.IntN(2) == 0 {
			exclude = s.Slots[r.IntN(points)]
		}
		s.QueryX, s.QueryY, s.QueryZ = append(s.QueryX, at()), append(s.QueryY, at()), append(s.QueryZ, at())
		s.Radius, s.Exclude = append(s.Radius, s.Scale*float32(1+r.IntN(4))/4), append(s.Exclude, exclude)
	}
	return s
}

func cloneScene(s *paritytest.Scene) *paritytest.Scene {
	c := *s
	for _, column := range []*[]float32{&c.X, &c.Y, &c.Z, &c.QueryX, &c.QueryY, &c.QueryZ, &c.Radius} {
		*column = slices.Clone(*column)
	}
	c.Slots, c.Exclude = slices.Clone(c.Slots), slices.Clone(c.Exclude)
	return &c
}

// someConfig draws a geometry for a scene.
func someConfig(r *paritytest.Run, s *paritytest.Scene, level native.Level) spatial.Config {
	cells, bounds := cellSizes(s), boundsFor(s)
	return spatial.Config{
		CellSize: cells[r.IntN(len(cells))], Bounds: bounds[r.IntN(len(bounds))],
		Level: level, Workers: 1 + r.IntN(3),
	}
}

func rowsOf(out *spatial.Result) [][]hit {
	rows := make([][]hit, out.Len())
	for row := range rows {
		d2 := out.Dist2Row(row)
		for i, slot := range out.Row(row) {
			rows[row] = append(rows[row], hit{slot, d2[i]})
		}
	}
	return rows
}

// Sets much larger than those of the brute-force tests are queried
// twice: unchanged, and changed in a way whose effect is known. The second index
// has another geometry and may have had the first set before; its result has had other
// rows.
func TestParityMetamorphic(t *testing.T) {
	run := paritytest.Start(t, "Index, metamorphic")
	var first, second spatial.Result
	for range rounds(3, 8) {
		for _, relation := range relations {
			before := latticeScene(run, 1+run.IntN(4000), 1+run.IntN(300))
			if family := run.IntN(2 * len(paritytest.Families)); !relation.lattice && family < len(paritytest.Families) {
				before = paritytest.Families[family].Draw(run, 2500, 1+run.IntN(150))
			}
			after := cloneScene(before)
			effect := relation.change(run, after)
			for _, level := range native.Levels() {
				run.Case(level)
				ix := build(t, someConfig(run, before, level), before)
				run.Check(ix.Radius(queriesOf(before), &first))
				if cfg := someConfig(run, after, level); run.IntN(2) == 0 {
					ix = build(t, cfg, after)
				} else {
					x, y, z := after.Columns()
					run.Check(ix.Build(x, y, z, after.Slots))
				}
				q := queriesOf(after)
				q.Order = []spatial.Order{spatial.BySlot, spatial.ByDistance}[run.IntN(2)]
				run.Check(ix.Radius(q, &second))
				what := fmt.Sprintf("scene %s, %d points, %d queries, %s, by %s", before.Name, len(before.Slots), len(before.QueryX), relation.name, orderName(q.Order))
				run.Check(sameResult(what, &second, expected(effect(rowsOf(&first)), q.Order, nil), false))
			}
		}
	}
}

// Neighbours are mutual: where all queries are points and have one radius, each finds
// those that find it, at the same distance.
func TestParityMutualNeighbours(t *testing.T) {
	run := paritytest.Start(t, "Index, mutual neighbours")
	points := 1500
	if !long || paritytest.Instrumented {
		points = 600
	}
	var out spatial.Result
	for range rounds(1, 2) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, points, 0)
			q := &spatial.Queries{X: s.X, Y: s.Y, Z: s.Z, Radius: slices.Repeat([]float32{s.Scale * run.Float32()}, len(s.X))}
			for _, level := range native.Levels() {
				run.Case(level)
				run.Check(build(t, someConfig(run, s, level), s).Radius(q, &out))
				run.Check(mutual(s, &out))
			}
		}
	}
}

func mutual(s *paritytest.Scene, out *spatial.Result) error {
	for row, slot := range s.Slots {
		d2 := out.Dist2Row(row)
		self := false
		for i, other := range out.Row(row) {
			self = self || other == slot
			at, _ := slices.BinarySearch(s.Slots, other)
			back, found := slices.BinarySearch(out.Row(at), slot)
			if !found || math.Float32bits(out.Dist2Row(at)[back]) != math.Float32bits(d2[i]) {
				return fmt.Errorf("scene %s: slot %d finds %d at %g, but not the other way round", s.Name, slot, other, d2[i])
			}
		}
		if !self {
			return fmt.Errorf("scene %s: slot %d does not find itself", s.Name, slot)
		}
	}
	return nil
}
