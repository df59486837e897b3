package spatial_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// onLine builds an index of points on the x axis. They are in one cell, so that order Grid is by slot.
func onLine(t *testing.T, level native.Level, x ...float32) *spatial.Index {
	t.Helper()
	return build(t, spatial.Config{CellSize: 1e6, Level: level}, lineScene(x...))
}

func lineScene(x ...float32) *paritytest.Scene {
	s := &paritytest.Scene{X: x, Y: make([]float32, len(x)), Z: make([]float32, len(x))}
	for i := range x {
		s.Slots = append(s.Slots, uint32(i))
	}
	return s
}

// sumAt returns the results of one centre at x = 0.
func sumAt(t *testing.T, ix *spatial.Index, radius float32, s *spatial.Sums) *spatial.Sums {
	t.Helper()
	zero := []float32{0}
	for i := range s.Terms {
		s.Terms[i].To = []float32{-99}
	}
	s.Counts, s.Nearest, s.NearestDist2 = []uint32{99}, []uint32{99}, []float32{-99}
	if err := ix.Sum(&spatial.Queries{X: zero, Y: zero, Z: zero, Radius: []float32{radius}}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// What the documentation says of each reduction, in numbers computed by hand.
func TestSumsReduceByHand(t *testing.T) {
	negZero := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name                   string
		of                     []float32
		sum, mean, least, most float32
	}{
		{"nothing", nil, 0, 0, 0, 0},
		{"ordinary", []float32{3, -1, 4, 2}, 8, 2, -1, 4},
		{"the order counts", []float32{1 << 24, 1, 1, -1 << 24}, 0, 0, -1 << 24, 1 << 24},
		{"the other order", []float32{-1 << 24, 1 << 24, 1, 1}, 2, 0.5, -1 << 24, 1 << 24},
		{"overflow and back", []float32{3e38, 3e38, -3e38}, inf, inf, -3e38, 3e38},
		{"infinite", []float32{inf, 1, 2}, inf, inf, 1, inf},
		{"infinities", []float32{inf, -inf, 2}, nan, nan, -inf, inf},
		{"all infinite", []float32{inf, inf}, inf, inf, inf, inf},
		{"NaN among others", []float32{nan, 5, nan, -7, nan}, nan, nan, -7, 5},
		{"only NaN", []float32{nan, nan}, nan, nan, inf, -inf},
		{"one third", []float32{1, 0, 0}, 1, float32(1.0) / 3, 0, 1},
		{"negative zeros", []float32{negZero, negZero}, 0, 0, negZero, negZero},
		{"zeros", []float32{0, negZero}, 0, 0, 0, 0},
		{"zeros, the other first", []float32{negZero, 0}, 0, 0, negZero, negZero},
		{"denormal", []float32{math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32}, 2 * math.SmallestNonzeroFloat32,
			math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32},
	} {
		for _, level := range native.Levels() {
			s := &spatial.Sums{}
			for reduce := spatial.Add; reduce <= spatial.Max; reduce++ {
				of := c.of
				if of == nil {
					of = []float32{}
				}
				s.Terms = append(s.Terms, spatial.Term{Of: of, Reduce: reduce})
			}
			sumAt(t, onLine(t, level, make([]float32, len(c.of))...), 1, s)
			var got []float32
			for i := range s.Terms {
				got = append(got, s.Terms[i].To[0])
			}
			if err := paritytest.Floats("sum, mean, least, most", got, []float32{c.sum, c.mean, c.least, c.most}); err != nil {
				t.Errorf("%s, level %s: %v", c.name, level, err)
			}
			if s.Counts[0] != uint32(len(c.of)) {
				t.Errorf("%s, level %s: %d neighbours", c.name, level, s.Counts[0])
			}
		}
	}
}

// What the documentation says of each weight, at distances for which it is exact, or where it is special.
func TestSumsWeightsByHand(t *testing.T) {
	const uniform, square, linear, poly6, spiky, spline = 0, 1, 2, 3, 4, 5
	for _, c := range []struct {
		at, radius, softening float32
		want                  [6]float32
	}{
		{0, 4, 0, [6]float32{1, 0, 1, 1, 0, 1}},
		{0, 4, 0.25, [6]float32{1, 4, 1, 1, 0, 1}},
		{1, 4, 0, [6]float32{1, 1, 0.75, 0.823974609375, 0.5625, 1 - 6*0.0625*0.75}},
		{2, 4, 0, [6]float32{1, 0.25, 0.5, 0.421875, 0.125, 0.25}}, // where both halves of the spline meet
		{-3, 4, 7, [6]float32{1, 0.0625, 0.25, 0.083740234375, 0.0625 / 3, 0.03125}},
		{4, 4, 0, [6]float32{1, 0.0625, 0, 0, 0, 0}},
		{0, 0, 1, [6]float32{1, 1, 0, 0, 0, 0}},                              // 0/0 is NaN, which counts as 0
		{1e-20, 1, 0, [6]float32{1, inf, 1, 1, 1e20, 1}},                     // a quotient that overflows
		{1e25, 3e38, 0, [6]float32{1, 0, 0, 0, 0, 0}},                        // the square overflows: as far as infinity
		{1e18, 1e19, 0, [6]float32{1, 1e-36, 0.9, 0.970299, 8.1e-19, 0.946}}, // large, but its square is finite
	} {
		for _, level := range native.Levels() {
			for reduce := spatial.Add; reduce <= spatial.Max; reduce++ { // of one neighbour, all are the same
				s := &spatial.Sums{Softening: c.softening}
				for weight := range c.want {
					s.Terms = append(s.Terms, spatial.Term{Weight: spatial.Weight(weight), Reduce: reduce})
				}
				sumAt(t, onLine(t, level, c.at), c.radius, s)
				for weight, want := range c.want {
					if got := s.Terms[weight].To[0]; got != want && !(math.Abs(float64(got-want)) <= 1e-5*math.Abs(float64(want))) {
						t.Errorf("level %s: weight %d at %g of %g, softening %g: %g, want %g", level, weight, c.at, c.radius, c.softening, got, want)
					}
				}
			}
		}
	}
	for weight, want := range map[spatial.Weight]int{spatial.Uniform: uniform, spatial.InverseSquare: square, spatial.Linear: linear,
		spatial.Poly6: poly6, spatial.SpikyGradient: spiky, spatial.CubicSpline: spline} {
		if int(weight) != want {
			t.Errorf("weight %d is not %d", weight, want)
		}
	}
}

// Of several points at the least distance, the nearest is that of the lowest slot, wherever the grid has it.
func TestSumsNearestByHand(t *testing.T) {
	for _, c := range []struct {
		name    string
		x       []float32
		radius  float32
		exclude uint32
		nearest uint32
		dist2   float32
	}{
		{"none", []float32{5, 6}, 4, spatial.NoSlot, spatial.NoSlot, inf},
		{"no points", nil, 4, spatial.NoSlot, spatial.NoSlot, inf},
		{"the only one excluded", []float32{1}, 4, 0, spatial.NoSlot, inf},
		{"the last", []float32{3, 2, -1}, 4, spatial.NoSlot, 2, 1},
		{"a tie, first in the grid has the higher slot", []float32{3, 2, -2}, 4, spatial.NoSlot, 1, 4},
		{"a tie without the first", []float32{2, -2, 2}, 4, 0, 1, 4},
		{"at the place of the centre", []float32{1, 0, 0}, 4, spatial.NoSlot, 1, 0},
		{"at the radius", []float32{9, 4}, 4, spatial.NoSlot, 1, 16},
		{"overflow", []float32{-3e38, 1e30, 1e25}, math.MaxFloat32, spatial.NoSlot, 0, inf},
		{"overflow but for one", []float32{-3e38, 1e30, 1e10}, math.MaxFloat32, spatial.NoSlot, 2, 1e20},
	} {
		for _, cell := range []float32{0, 1, 1e6} {
			for _, level := range native.Levels() {
				ix := build(t, spatial.Config{CellSize: cell, Level: level}, lineScene(c.x...))
				s := &spatial.Sums{Nearest: []uint32{99}, NearestDist2: []float32{-99}}
				zero := []float32{0}
				if err := ix.Sum(&spatial.Queries{X: zero, Y: zero, Z: zero, Radius: []float32{c.radius}, Exclude: []uint32{c.exclude}}, s); err != nil {
					t.Fatal(err)
				}
				if s.Nearest[0] != c.nearest || s.NearestDist2[0] != c.dist2 {
					t.Errorf("%s, level %s, cells of %g: slot %d at %g, want %d at %g", c.name, level, cell, s.Nearest[0], s.NearestDist2[0], c.nearest, c.dist2)
				}
			}
		}
	}
}

// The neighbours of each of several hundred points are summed in the order that rows of order Grid have: a sum in any
// other order would differ somewhere.
func TestSumsFollowOrderGrid(t *testing.T) {
	s := goldenScene()
	const radius = 20
	of := make([]float32, s.Limit())
	for i := range of {
		of[i] = float32(1+i*7919%1000) / 3
	}
	for _, level := range native.Levels() {
		ix := build(t, spatial.Config{CellSize: 8, Level: level}, s)
		sums := &spatial.Sums{Terms: []spatial.Term{{Of: of, To: make([]float32, s.Limit())}}}
		if err := ix.SumSelf(&spatial.Self{Radius: radius}, sums); err != nil {
			t.Fatal(err)
		}
		differ := map[string]int{}
		for _, order := range orders {
			var rows spatial.Result
			if err := ix.RadiusSelf(&spatial.Self{Radius: radius, Order: order}, &rows); err != nil {
				t.Fatal(err)
			}
			for i, slot := range rows.Of {
				forward, backward := float32(0), float32(0)
				row := rows.Row(i)
				for k := range row {
					forward += of[row[k]]
					backward += of[row[len(row)-1-k]]
				}
				if forward != sums.Terms[0].To[slot] {
					differ[orderName(order)]++
				}
				if backward != sums.Terms[0].To[slot] {
					differ[orderName(order)+", backwards"]++
				}
			}
		}
		if differ["grid"] != 0 || differ["slot"] < 100 || differ["distance"] < 100 || differ["grid, backwards"] < 100 {
			t.Errorf("level %s: sums that differ from those over rows: %v", level, differ)
		}
	}
}

// The kernels of smoothed particles, with the factors of the documentation, have the integrals that they are
// known for. The points are a lattice of 17 to a radius.
func TestSumsIntegrate(t *testing.T) {
	const n, r = 17, 2.0
	const h = r / n
	s := &paritytest.Scene{}
	for i := range (2*n + 1) * (2*n + 1) * (2*n + 1) {
		at := func(k int) float32 { return float32(float64(k%(2*n+1)-n) * h) }
		s.X, s.Y, s.Z = append(s.X, at(i)), append(s.Y, at(i/(2*n+1))), append(s.Z, at(i/(2*n+1)/(2*n+1)))
		s.Slots = append(s.Slots, uint32(i))
	}
	x2 := make([]float32, len(s.X))
	for i, x := range s.X {
		x2[i] = x * x
	}
	const softening = 0.25
	const volume = 4 * math.Pi * r * r * r / 3
	for _, c := range []struct {
		name         string
		term         spatial.Term
		factor, want float64
	}{
		{"volume", spatial.Term{}, 1, volume},
		{"poly6", spatial.Term{Weight: spatial.Poly6}, 315 / (64 * math.Pi * r * r * r), 1},
		{"cubic spline", spatial.Term{Weight: spatial.CubicSpline}, 8 / (math.Pi * r * r * r), 1},
		{"linear", spatial.Term{Weight: spatial.Linear}, 1, volume / 4},
		{"viscosity", spatial.Term{Weight: spatial.Linear}, 45 / (math.Pi * r * r * r * r * r), 15 / (r * r)},
		{"inverse square", spatial.Term{Weight: spatial.InverseSquare}, 1, 4 * math.Pi * (r - 0.5*math.Atan(r/0.5))},
		// The gradient of x in direction x is 1: of the sum of x times the gradient, which is a factor times the offset in x.
		{"spiky", spatial.Term{Of: x2, Weight: spatial.SpikyGradient}, 45 / (math.Pi * r * r * r * r), 1},
	} {
		sums := sumAt(t, build(t, spatial.Config{CellSize: r}, s), r, &spatial.Sums{Softening: softening, Terms: []spatial.Term{c.term}})
		if got := float64(sums.Terms[0].To[0]) * c.factor * h * h * h; math.Abs(got/c.want-1) > 0.01 {
			t.Errorf("%s: the integral is %g, want %g", c.name, got, c.want)
		}
	}
}

// Differences to the centre, and nothing else: with filters and without, of all points and of queries at them.
func TestSumsOfDifferencesAlone(t *testing.T) {
	run := paritytest.Start(t, "Sums, differences alone")
	s := goldenScene()
	for i := range s.Slots {
		s.Slots[i] = uint32(i) // so that queries have the columns of the points
	}
	s.Category = run.Categories(s.Limit())
	some := &spatial.Self{Radius: 20, Mask: run.Categories(s.Limit()), Live: run.Bitmap(s.Limit())}
	q := &spatial.Queries{X: s.X, Y: s.Y, Z: s.Z, Radius: slices.Repeat([]float32{20}, len(s.X))}
	for _, k := range []*sumQuery{{self: &spatial.Self{Radius: 20}}, {self: some}, {q: q}} {
		k.rows = s.Limit()
		want := &spatial.Sums{Terms: []spatial.Term{{Of: s.X, Own: s.X}, {Of: s.Y, Own: s.Y, Reduce: spatial.Mean}}}
		blank(want, k.rows)
		k.bruteForce(s, cellNumbers(s, spatial.GridOf(build(t, spatial.Config{CellSize: 8}, s))), want)
		for _, level := range native.Levels() {
			run.Case(level)
			got := cloneSums(want)
			blank(got, k.rows)
			run.Check(k.ask(build(t, spatial.Config{CellSize: 8, Level: level, Workers: 2}, s), got), sameSums("differences", got, want))
		}
	}
}

// Some queries of a batch have more neighbours than a worker has room for at first.
func TestSumsOfManyNeighbours(t *testing.T) {
	const crowd, alone = 40_000, 7
	x, y, of := make([]float32, crowd+alone), make([]float32, crowd+alone), make([]float32, crowd+alone)
	total := 0
	for i := range of {
		if of[i] = float32(i % 5); i < crowd {
			total += i % 5
		} else {
			x[i] = float32(i) // a metre apart
		}
	}
	q := &spatial.Queries{}
	for i := range 150 {
		q.X, q.Y, q.Radius = append(q.X, float32(crowd+i%alone)), append(q.Y, 0), append(q.Radius, 0.5)
		if i%40 == 13 {
			q.X[i] = 0.25
		}
	}
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2} {
			ix := indexOf(t, spatial.Config{Level: level, Workers: workers}, x, y, nil, nil)
			n := len(q.X)
			sums := &spatial.Sums{Counts: make([]uint32, n), Nearest: make([]uint32, n),
				Terms: []spatial.Term{{Of: of, To: make([]float32, n)}, {Weight: spatial.InverseSquare, Reduce: spatial.Max, To: make([]float32, n)}}}
			for range 2 { // the second time with the room of the first
				blank(sums, n)
				if err := ix.Sum(q, sums); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					got := [4]float32{float32(sums.Counts[i]), float32(sums.Nearest[i]), sums.Terms[0].To[i], sums.Terms[1].To[i]}
					slot := crowd + i%alone
					want := [4]float32{1, float32(slot), float32(slot % 5), 0}
					if i%40 == 13 {
						want = [4]float32{crowd, 0, float32(total), 16}
					}
					if got != want {
						t.Fatalf("level %s, %d workers, query %d: count, nearest, sum and largest weight are %g, want %g", level, workers, i, got, want)
					}
				}
			}
		}
	}
}

// Rows of slots that are not in the index are not written, and not read.
func TestSumsOfPartlyLiveSlots(t *testing.T) {
	x := []float32{nan, 1, nan, 2, 4, nan, nan}
	zero := make([]float32, len(x))
	for _, level := range native.Levels() {
		ix := indexOf(t, spatial.Config{Level: level}, x, zero, zero, []uint32{1, 3, 4})
		const untouched = 77
		to := slices.Repeat([]float32{untouched}, len(x)+2) // longer than the columns of Build
		counts := slices.Repeat([]uint32{untouched}, len(x))
		err := ix.SumSelf(&spatial.Self{Radius: 1.5}, &spatial.Sums{Terms: []spatial.Term{{Of: x, Own: x, To: to}}, Counts: counts})
		if err != nil || !slices.Equal(to, []float32{77, 1, 77, -1, 0, 77, 77, 77, 77}) || !slices.Equal(counts, []uint32{77, 1, 77, 1, 0, 77, 77}) {
			t.Errorf("level %s: sums %v, counts %v, %v", level, to, counts, err)
		}
	}
}

// An index without points, and a batch without queries.
func TestSumsOfNothing(t *testing.T) {
	for _, workers := range []int{1, 2} {
		ix, err := spatial.New(spatial.Config{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s := &spatial.Sums{Terms: everyTerm([]float32{}, []float32{8})[:64], Counts: []uint32{9}, Nearest: []uint32{9}, NearestDist2: []float32{9}}
			for i := range s.Terms {
				s.Terms[i].To = []float32{9}
			}
			one := []float32{1}
			if err := ix.Sum(&spatial.Queries{X: one, Y: one, Radius: one}, s); err != nil {
				t.Fatal(err)
			}
			for i := range s.Terms {
				if s.Terms[i].To[0] != 0 {
					t.Errorf("%+v over nothing", s.Terms[i])
				}
			}
			if s.Counts[0] != 0 || s.Nearest[0] != spatial.NoSlot || s.NearestDist2[0] != inf {
				t.Errorf("nothing: %d neighbours, the nearest is %d at %g", s.Counts[0], s.Nearest[0], s.NearestDist2[0])
			}
			for _, none := range []*spatial.Sums{{}, {Terms: []spatial.Term{{To: []float32{}}}, Counts: []uint32{}}, {Terms: make([]spatial.Term, 2)}} {
				q := &spatial.Queries{}
				for _, err := range []error{ix.Sum(q, none), ix.SumOracle(q, none), ix.SumSelf(&spatial.Self{}, none), ix.SumSelfOracle(&spatial.Self{}, none)} {
					if err != nil {
						t.Errorf("no centres: %v", err)
					}
				}
			}
			if err := ix.SumSelf(&spatial.Self{Radius: 1}, s); err != nil || s.Counts[0] != 0 {
				t.Errorf("no centres: %v", err)
			}
			if err := ix.Build(nil, nil, nil, nil); err != nil {
				t.Fatal(fmt.Sprint("Build of nothing: ", err))
			}
		}
	}
}
