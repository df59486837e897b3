package physics_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// random returns the numbers of test object i.
func random(i int) loop.Rand { return loop.NewRand(7, 0, uint64(i), 0) }

// Mirrored discs move as mirror images, bit for bit: their contacts have one point,
// so a mirror reverses no order.
func TestMirroredDiscs(t *testing.T) {
	build := func(mirror float32) fixture {
		r := newFixture(t, -10)
		ground := r.body(physics.StaticBody, 0, 0)
		for _, x := range []float32{-1, 1} {
			r.circle(r.body(physics.StaticBody, 8*x*mirror, 0), plain, 5)
		}
		_, err := r.w.CreateCircle(ground, plain, physics.Circle{Center: [2]float32{0, -20}, Radius: 20})
		r.no(err)
		for i := range 80 {
			n := random(i)
			b := r.dynamic(mirror*n.Range(-4, 4), 1+float32(i)*0.4, moving(mirror*n.Range(-2, 2), 0, mirror*n.Range(-5, 5)),
				turned(float64(mirror*n.Range(-3, 3))))
			d := material(n.Range(0, 1), n.Range(-1, 1))
			d.Restitution = max(0, d.Restitution)
			d.RollingResistance = n.Range(0, 0.1)
			r.circle(b, d, n.Range(0.2, 0.5))
		}
		return r
	}
	one, other := build(1), build(-1)
	for step := range 400 {
		one.steps(1)
		other.steps(1)
		a, b := one.w.Columns(), other.w.Columns()
		for i := range one.w.Rows() {
			if a.X[i] != -b.X[i] || a.Y[i] != b.Y[i] || a.VX[i] != -b.VX[i] || a.VY[i] != b.VY[i] ||
				a.W[i] != -b.W[i] || a.Angle[i] != -b.Angle[i] {
				t.Fatalf("step %d, body %d: at (%v, %v), %v with %v, %v, %v; in the mirror at (%v, %v), %v with %v, %v, %v", step, i,
					a.X[i], a.Y[i], a.Angle[i], a.VX[i], a.VY[i], a.W[i], b.X[i], b.Y[i], b.Angle[i], b.VX[i], b.VY[i], b.W[i])
			}
		}
	}
}

// For polygons a mirror reverses the order of the points of a contact, and which of them are clipped. Bodies that slide
// or rest on both move almost the same.
func TestMirroredBoxes(t *testing.T) {
	build := func(mirror float32) fixture {
		r := newFixture(t, -10)
		sin, cos := math.Sincos(0.4)
		r.box(r.body(physics.StaticBody, 0, 0, turned(0.4*float64(mirror))), plain, 20, 1)
		b := r.dynamic(-mirror*float32(1.3*sin), float32(1.3*cos), turned(0.4*float64(mirror)))
		r.box(b, material(0.2, 0), 0.5, 0.3)
		c := r.dynamic(mirror*float32(3*cos-1.3*sin), float32(3*sin+1.3*cos), turned(0.4*float64(mirror)))
		r.capsule(c, material(0.3, 0), -0.4*mirror, 0, 0.4*mirror, 0, 0.3)
		return r
	}
	one, other := build(1), build(-1)
	one.seconds(1.5)
	other.seconds(1.5)
	a, b := one.w.Columns(), other.w.Columns()
	for i := range one.w.Rows() {
		one.near(fmt.Sprintf("x of body %d", i), float64(a.X[i]), -float64(b.X[i]), 0.01)
		one.near(fmt.Sprintf("y of body %d", i), float64(a.Y[i]), float64(b.Y[i]), 0.01)
		one.near(fmt.Sprintf("angle of body %d", i), float64(a.Angle[i]), -float64(b.Angle[i]), 2e-3)
	}
}

// Translated by a power of two, with all coordinates still exact, colliding
// bodies get the same velocities bit for bit: a contact depends only on the relative
// positions of two bodies.
func TestTranslatedStep(t *testing.T) {
	build := func(dx, dy float32) *physics.World {
		r := newFixture(t, -10)
		for i := range 200 {
			n := random(i)
			kind := physics.DynamicBody
			if i%10 == 0 {
				kind = physics.StaticBody
			}
			v := moving(n.Range(-3, 3), n.Range(-3, 3), n.Range(-3, 3))
			if kind == physics.StaticBody {
				v = moving(0, 0, 0)
			}
			at := func() float32 { return float32(n.Uint32n(12<<8)) / (1 << 8) }
			x, y := at(), at()
			b := r.body(kind, x+dx, y+dy, v, turned(float64(n.Range(-3, 3))))
			d := material(n.Range(0, 1), n.Range(0, 1))
			switch i % 4 {
			case 0:
				r.circle(b, d, n.Range(0.1, 0.6))
			case 1:
				r.box(b, d, n.Range(0.1, 0.6), n.Range(0.1, 0.6))
			case 2:
				r.capsule(b, d, -0.3, 0, 0.3, 0, n.Range(0.1, 0.3))
			case 3:
				r.polygon(b, d, rounded(n.Range(0.1, 0.6), n.Range(0.1, 0.6), 0.1))
			}
		}
		r.steps(1)
		return r.w
	}
	want := build(0, 0)
	for _, d := range [][2]float32{{64, 0}, {-1024, 512}, {4096, -8192}} {
		got := build(d[0], d[1])
		a, b := want.Columns(), got.Columns()
		moved := 0
		for i := range want.Rows() {
			if a.VX[i] != b.VX[i] || a.VY[i] != b.VY[i] || a.W[i] != b.W[i] || a.Angle[i] != b.Angle[i] {
				t.Fatalf("by %v: body %d has (%v, %v), %v and angle %v, at the origin (%v, %v), %v and %v", d, i,
					b.VX[i], b.VY[i], b.W[i], b.Angle[i], a.VX[i], a.VY[i], a.W[i], a.Angle[i])
			}
			if a.VX[i] != 0 {
				moved++
			}
		}
		if moved < 150 {
			t.Errorf("only %d bodies moved", moved)
		}
	}
}

// island fills a region with bodies of its own kind.
func island(r fixture, number int) []physics.Body {
	x := 100 * float32(number)
	d := plain
	d.Friction = 0.2 * float32(number+1)
	d.Restitution = 0.3 * float32(number%2)
	d.RollingResistance = 0.1 * float32(number/2)
	d.TangentSpeed = float32(number / 3)
	ground := r.body(physics.StaticBody, x, 0)
	r.box(ground, d, 10, 0.5)
	all := []physics.Body{ground}
	for i := range 30 + number {
		n := random(100*number + i)
		b := r.dynamic(x+n.Range(-4, 4), 1+0.5*float32(i), turned(float64(n.Range(-3, 3))))
		all = append(all, b)
		switch (i + number) % 3 {
		case 0:
			r.circle(b, d, 0.3)
		case 1:
			r.box(b, d, 0.3, 0.4)
		case 2:
			r.capsule(b, d, -0.3, 0, 0.3, 0, 0.2)
		}
	}
	return all
}

// The motion of a group of bodies depends neither on other bodies that it never meets nor on
// which of them were created first.
func TestIslandsDoNotKnowEachOther(t *testing.T) {
	const islands = 4
	run := func(order ...int) map[int][]float32 {
		r := newFixture(t, -10)
		bodies := map[int][]physics.Body{}
		for _, number := range order {
			bodies[number] = island(r, number)
		}
		r.seconds(3)
		state := map[int][]float32{}
		c := r.w.Columns()
		for number, all := range bodies {
			for _, b := range all {
				i := b.Index()
				state[number] = append(state[number], c.X[i], c.Y[i], c.Angle[i], c.VX[i], c.VY[i], c.W[i])
			}
		}
		return state
	}
	want := map[int][]float32{}
	for number := range islands {
		want[number] = run(number)[number]
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		got := run(order...)
		for number := range islands {
			if !slices.Equal(got[number], want[number]) {
				t.Errorf("order %v: island %d differs from the one that is alone", order, number)
			}
		}
	}
}

// Level and workers do not change a single bit.
func TestSceneHashes(t *testing.T) {
	ticks := paritytest.Rounds(200)
	for name, n := range map[string]int{"arena": 300, "tumbler": 300, "pyramid": 15, "pyramids": 5} {
		var want []uint64
		for _, level := range native.Levels() {
			want = sameHashes(t, name, n, physics.Config{Level: level}, ticks, want)
		}
		for _, workers := range []int{2, 7} {
			want = sameHashes(t, name, n, physics.Config{Workers: workers}, ticks, want)
		}
	}
}

// sameHashes runs a scene and fails at the first hash that differs from the wanted one. It
// returns the hashes if none is wanted.
func sameHashes(t *testing.T, name string, n int, c physics.Config, ticks int, want []uint64) []uint64 {
	t.Helper()
	s, err := scenes.New(name, n, 1, c)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for tick := range ticks {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		got = append(got, s.World.Hash())
		if want != nil && got[tick] != want[tick] {
			t.Errorf("%s, level %v, %d workers: hash %016x after tick %d, want %016x", name, c.Level, c.Workers, got[tick], tick, want[tick])
			return want
		}
	}
	return got
}

func TestStepsDoNotAllocate(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: allocations of an instrumented build")
	}
	for name, n := range map[string]int{"arena": 200, "tumbler": 200, "pyramid": 10} {
		s, err := scenes.New(name, n, 1, physics.Config{})
		if err != nil {
			t.Fatal(err)
		}
		step := func() {
			if err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
		for range 300 { // until the capacity for contacts suffices
			step()
		}
		if allocs := testing.AllocsPerRun(60, step); allocs > 0 {
			t.Errorf("%s: %v allocations a step", name, allocs)
		}
	}
}
