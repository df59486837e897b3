package paritytest

import (
	"math"
	"slices"
)

// NoSlot excludes nothing: the value of native.NoSlot.
const NoSlot = math.MaxUint32

// A Scene is a point set and a batch of queries that are hard on a neighbour
// search. All numbers are finite.
type Scene struct {
	Name    string
	X, Y, Z []float32 // the points, in the order of Slots
	Slots   []uint32  // ascending
	Scale   float32   // a typical radius

	Category []uint32 // by slot, or nil

	QueryX, QueryY, QueryZ, Radius []float32
	Exclude                        []uint32
}

// Limit returns the number of slots that columns for this scene have.
func (s *Scene) Limit() int {
	if len(s.Slots) == 0 {
		return 0
	}
	return int(s.Slots[len(s.Slots)-1]) + 1
}

// Columns returns the points by slot. What lies between the slots is NaN.
func (s *Scene) Columns() (x, y, z []float32) {
	spread := func(points []float32) []float32 {
		column := slices.Repeat([]float32{float32(math.NaN())}, s.Limit())
		for i, slot := range s.Slots {
			column[slot] = points[i]
		}
		return column
	}
	return spread(s.X), spread(s.Y), spread(s.Z)
}

// A Family draws scenes of one kind.
type Family struct {
	Name  string
	scale float32
	point func(r *Run, i int) [3]float32
}

// Draw returns a scene of the family with up to maxPoints points and the given
// number of queries. Slots have gaps, on average of a third.
func (f *Family) Draw(r *Run, maxPoints, queries int) *Scene {
	s := &Scene{Name: f.Name, Scale: f.scale}
	n := 0
	if f.point != nil {
		n = 1 + r.IntN(maxPoints)
	}
	slot := uint32(0)
	for i := range n {
		if r.IntN(3) == 0 {
			slot += 1 + r.Uint32N(3)
		}
		p := f.point(r, i)
		s.X, s.Y, s.Z = append(s.X, p[0]), append(s.Y, p[1]), append(s.Z, p[2])
		s.Slots = append(s.Slots, slot)
		slot++
	}
	for range queries {
		s.addQuery(r, f)
	}
	return s
}

// Spread moves the slots of a scene apart so that the last of them is last.
func (s *Scene) Spread(r *Run, last uint32) {
	if len(s.Slots) == 0 {
		return
	}
	step := last / uint32(len(s.Slots))
	for i := range s.Slots {
		s.Slots[i] = uint32(i)*step + r.Uint32N(step)
	}
	s.Slots[len(s.Slots)-1] = last
	for i := range s.Exclude {
		s.Exclude[i] = s.someSlot(r)
	}
}

func (s *Scene) addQuery(r *Run, f *Family) {
	c, radius := s.centre(r, f), s.radius(r)
	if len(s.X) > 0 && r.IntN(8) == 0 {
		c, radius = s.remote(r)
	}
	s.QueryX, s.QueryY, s.QueryZ = append(s.QueryX, c[0]), append(s.QueryY, c[1]), append(s.QueryZ, c[2])
	s.Radius = append(s.Radius, radius)
	s.Exclude = append(s.Exclude, s.someSlot(r))
}

func (s *Scene) someSlot(r *Run) uint32 {
	if len(s.Slots) == 0 || r.IntN(3) == 0 {
		return NoSlot
	}
	return s.Slots[r.IntN(len(s.Slots))]
}

// centre draws a query's centre: mostly on a point or where points could be,
// now and then far from all of them.
func (s *Scene) centre(r *Run, f *Family) [3]float32 {
	at := [3]float32{}
	if f.point != nil {
		at = f.point(r, r.IntN(1000))
	}
	if n := len(s.X); n > 0 && r.IntN(2) == 0 {
		i := r.IntN(n)
		at = [3]float32{s.X[i], s.Y[i], s.Z[i]}
	}
	switch r.IntN(16) {
	case 0:
		at[r.IntN(3)] = r.Float(Finite[r.IntN(len(Finite))])
	case 1:
		at[r.IntN(3)] += float32(s.Scale * 100)
	case 2, 3, 4:
		a := r.IntN(3)
		at[a] = finite(r.Near(at[a]))
	}
	return at
}

// remote draws a query whose sphere is large and far away, and ends near a point. The difference of the two is
// rounded by more than a cell, so it can accept points that the plain sum of centre and radius does not reach.
func (s *Scene) remote(r *Run) (centre [3]float32, radius float32) {
	i, a := r.IntN(len(s.X)), r.IntN(3)
	centre = [3]float32{s.X[i], s.Y[i], s.Z[i]}
	radius = finite(float32(s.Scale * float32(uint32(1)<<r.IntN(32))))
	centre[a] = finite(centre[a] + float32(radius*float32(1-2*r.IntN(2))))
	return centre, max(0, finite(r.Near(radius)))
}

// finite replaces an infinity by the largest number of its sign.
func finite(v float32) float32 { return max(-math.MaxFloat32, min(v, math.MaxFloat32)) }

// oddRadii have squares that underflow or overflow, or nearly do.
var oddRadii = []float32{
	0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, 0x1p-126, 1e-30, 0x1p-75, 1e-20,
	1e18, 1.8446742e19, 1.8446744e19, 1e20, 3e38, math.MaxFloat32,
}

func (s *Scene) radius(r *Run) float32 {
	switch k := r.IntN(16); {
	case k == 0:
		return oddRadii[r.IntN(len(oddRadii))]
	case k <= 4:
		return float32(s.Scale * r.Float32())
	case k <= 8:
		return max(0, r.Near(s.Scale))
	case k <= 10 && len(s.X) > 1:
		return s.exactRadius(r)
	case k <= 12:
		return float32(s.Scale * 4 * r.Float32())
	}
	return s.Scale
}

// exactRadius is the distance of two points, or a neighbouring float: a tie if the square root is exact, and
// otherwise the closest number to one.
func (s *Scene) exactRadius(r *Run) float32 {
	i, j := r.IntN(len(s.X)), r.IntN(len(s.X))
	d := func(v []float32) float64 { return float64(v[i]) - float64(v[j]) }
	d2 := float64(d(s.X)*d(s.X)) + float64(d(s.Y)*d(s.Y)) + float64(d(s.Z)*d(s.Z))
	dist := float32(min(math.Sqrt(d2), math.MaxFloat32))
	return max(0, finite(r.Near(dist)))
}

// Families lists the kinds of scenes.
var Families = []Family{
	{"empty", 1, nil},
	{"uniform", 15, uniformIn(200, 200, 200)},
	{"flat", 15, uniformIn(200, 0, 200)},
	{"line", 4, uniformIn(0, 0, 300)},
	{"thin", 10, uniformIn(1e4, 1e-3, 1)},
	{"point", 1, func(*Run, int) [3]float32 { return [3]float32{3, -4, 5} }},
	{"duplicates", 3, duplicate},
	{"lattice", 5, lattice},
	{"borders", 8, borders},
	{"far", 15, func(r *Run, i int) [3]float32 { return shift(uniformIn(100, 100, 100)(r, i), 1e5) }},
	{"huge", 2e29, func(r *Run, i int) [3]float32 { return uniformIn(2e30, 2e30, 2e30)(r, i) }},
	{"widest", 1e18, func(r *Run, _ int) [3]float32 { return [3]float32{r.Float(Huge), r.Float(Huge), r.Float(Huge)} }},
	{"denormal", 1e-39, func(r *Run, _ int) [3]float32 {
		return [3]float32{r.Float(Denormal), r.Float(Denormal), r.Float(Zero)}
	}},
	{"tiny", 1e-22, uniformIn(1e-21, 1e-21, 1e-21)},
	{"outliers", 15, outliers},
	{"clusters", 2, clusters},
	{"strays", 15, strays},
	{"tails", 3, tails},
}

func uniformIn(w, h, d float32) func(*Run, int) [3]float32 {
	return func(r *Run, _ int) [3]float32 {
		return [3]float32{float32((r.Float32() - 0.5) * w), float32((r.Float32() - 0.5) * h), float32((r.Float32() - 0.5) * d)}
	}
}

func shift(p [3]float32, by float32) [3]float32 {
	return [3]float32{p[0] + by, p[1] - by, p[2] + by}
}

func duplicate(r *Run, _ int) [3]float32 {
	return [3]float32{float32(r.IntN(3)), float32(r.IntN(2)), float32(r.IntN(3))}
}

// lattice puts points at whole coordinates: 3-4-5 and 1-2-2 triangles give
// distances of exactly a whole radius.
func lattice(r *Run, _ int) [3]float32 {
	return [3]float32{float32(r.IntN(12) - 6), float32(r.IntN(12) - 6), float32(r.IntN(4))}
}

// borders puts points on and next to the borders of cells of 8 metres.
func borders(r *Run, _ int) [3]float32 {
	at := func() float32 { return r.Near(float32(8 * (r.IntN(9) - 4))) }
	return [3]float32{at(), at(), at()}
}

func outliers(r *Run, i int) [3]float32 {
	p := uniformIn(100, 100, 100)(r, i)
	if i%16 == 3 {
		p[r.IntN(3)] = []float32{1e30, -1e30, 1e9}[r.IntN(3)]
	}
	return p
}

// strays puts a few points as far away as possible.
func strays(r *Run, i int) [3]float32 {
	p := uniformIn(100, 100, 100)(r, i)
	if i%97 == 5 {
		p[r.IntN(3)] = []float32{-1e4, -1e6, 1e6, 3e38, -3e38}[r.IntN(5)]
		p[r.IntN(3)] = []float32{-1e6, 3e38, -3e38, 0}[r.IntN(4)]
	}
	return p
}

// tails are dense in the middle and reach far: each coordinate doubles again and again, each time with a chance of
// one half.
func tails(r *Run, _ int) [3]float32 {
	var p [3]float32
	for a := range p {
		p[a] = float32((r.Float32() - 0.5) * 10)
		for r.IntN(2) == 0 && p[a] < 1e30 && p[a] > -1e30 {
			p[a] *= 2
		}
	}
	return p
}

// clusters puts points into 64 dense groups with much space between them.
func clusters(r *Run, _ int) [3]float32 {
	heap := r.IntN(64)
	p := uniformIn(3, 3, 3)(r, heap)
	return [3]float32{p[0] + float32(1000*(heap%4)), p[1] + float32(1000*(heap/4%4)), p[2] + float32(1000*(heap/16))}
}

// Categories returns n sets of categories: one or a few of 32, seldom none.
func (r *Run) Categories(n int) []uint32 {
	sets := make([]uint32, n)
	for i := range sets {
		if r.IntN(8) > 0 {
			sets[i] = 1<<r.IntN(32) | 1<<r.IntN(4)
		}
	}
	return sets
}

// Bitmap returns a bitmap of n random bits: many, few, all or none of them set.
func (r *Run) Bitmap(n int) []uint64 {
	words := make([]uint64, (n+63)/64)
	kind := r.IntN(6)
	for i := range words {
		switch kind {
		case 0:
			words[i] = r.Uint64() & r.Uint64() & r.Uint64()
		case 1:
			words[i] = ^uint64(0)
		case 2:
		default:
			words[i] = r.Uint64()
		}
	}
	return words
}
