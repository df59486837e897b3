package physics3_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// wilderness is a world with hills as a mesh or a terrain, and with things of all kinds on it.
func wilderness(t testing.TB, seed uint64, c physics3.Config) *physics3.World {
	c.Capacity = 200
	c.Gravity = vec{0, -10, 0}
	w := emptyWorld(t, c)
	rng := rand.New(rand.NewPCG(seed, 7))
	between := func(lo, hi float64) float32 { return float32(lo + (hi-lo)*rng.Float64()) }
	b := static(t, w)
	hills := func(x, z float32) float32 {
		return float32(0.8*math.Sin(0.5*float64(x))*math.Cos(0.6*float64(z)) + 0.3*math.Sin(1.7*float64(x+z)))
	}
	if seed%2 == 0 {
		_, err := w.CreateMesh(b, plain, newMesh(gridMesh(60, 50, hills)), physics3.Placement{})
		no(t, err)
	} else {
		const side = 51
		heights := make([]float32, side*side)
		for i := range heights {
			heights[i] = hills(float32(i%side)-25, float32(i/side)-25)
		}
		f := newField(physics3.HeightFieldDef{Width: side, Depth: side, Cell: [2]float32{1, 1}, Heights: heights})
		_, err := w.CreateHeightField(b, plain, f, physics3.Placement{Position: vec{-25, 0, -25}})
		no(t, err)
	}
	rock := newRock(t, seed, 0.05)
	for i := range 80 {
		d := physics3.DefaultBodyDef()
		d.Position = vec{between(-20, 20), between(-0.3, 1.5), between(-20, 20)}
		for k := range d.Rotation {
			d.Rotation[k] = float32(rng.NormFloat64())
		}
		if i%4 == 3 {
			d.Type, d.Position[1] = physics3.DynamicBody, 4
		}
		x := bodyOf(t, w, d)
		switch i % 5 {
		case 0:
			sphere(t, w, x, plain, between(0.2, 1))
		case 1:
			_, err := w.CreateCapsule(x, plain, physics3.Capsule{P1: vec{-0.7, 0, 0}, P2: vec{0.7, 0, 0}, Radius: between(0.1, 0.4)})
			no(t, err)
		case 2:
			_, err := w.CreateHull(x, plain, rock, physics3.Placement{})
			no(t, err)
		default:
			box(t, w, x, plain, between(0.1, 2), between(0.1, 1), between(0.1, 2))
		}
	}
	return w
}

// crowdOfMovers drops n characters on it.
func crowdOfMovers(n int, seed uint64) physics3.Movers {
	rng := rand.New(rand.NewPCG(seed, 9))
	m := newMovers(n)
	for i := range n {
		m.X[i], m.Y[i], m.Z[i] = float32(36*rng.Float64()-18), 5, float32(36*rng.Float64()-18)
	}
	return m
}

// drive gives each a heading that changes now and then, and gravity.
func drive(m *physics3.Movers, tick int, speed float64) {
	for i := range m.X {
		a := float64(i*7+tick/40*3) * 1.3
		m.VX[i], m.VZ[i] = float32(speed*math.Cos(a)), float32(speed*math.Sin(a))
		if m.Ground[i] != (physics3.Shape{}) {
			m.VY[i] = 0
			if (tick+i)%97 == 0 {
				m.VY[i] = 4
			}
		} else {
			m.VY[i] -= 10 * dt
		}
	}
}

// Characters never enter obstacles that do not move, by more than 3 mm; Nearest measures it.
func TestMoversStayOutside(t *testing.T) {
	for seed := range uint64(4) {
		w := wilderness(t, seed, physics3.Config{})
		const n = 60
		m := crowdOfMovers(n, seed)
		def := physics3.DefaultMoverDef()
		form := must[physics3.Form](t)(physics3.CapsuleForm(def.Capsule))
		var d physics3.Distances
		within := make([]float32, n)
		outside, gone := make([]bool, n), make([]bool, n)
		fixed, stood := physics3.Probes{Forms: []physics3.Form{form}}, 0
		for tick := range 240 {
			drive(&m, tick, []float64{3, 12}[seed/2])
			no(t, w.Move(&def, &m, dt))
			fixed.X, fixed.Y, fixed.Z = m.X, m.Y, m.Z
			no(t, w.Nearest(&fixed, within, &d))
			for i := range n {
				if gone[i] = gone[i] || max(math.Abs(float64(m.X[i])), math.Abs(float64(m.Z[i]))) > 24; gone[i] {
					continue // it walks off the border of the ground
				}
				inside := d.Shapes[i] != (physics3.Shape{}) && d.Distance[i] < 0
				if outside[i] && inside && d.Distance[i] < -0.003 {
					t.Fatalf("seed %d, tick %d: character %d at %v, %v, %v is %v inside %v", seed, tick, i, m.X[i], m.Y[i], m.Z[i], d.Distance[i], d.Shapes[i])
				}
				outside[i] = outside[i] || !inside
				if m.Ground[i] != (physics3.Shape{}) {
					stood++
				}
				if m.Y[i] < -3 {
					t.Fatalf("seed %d, tick %d: character %d fell through the ground, at %v, %v, %v", seed, tick, i, m.X[i], m.Y[i], m.Z[i])
				}
			}
		}
		if stood < n*240/4 {
			t.Errorf("seed %d: stood %d times of %d", seed, stood, n*240)
		}
	}
}

// Nobody passes a wall, at any speed, in any direction, whatever the wall is made of.
func TestMoversNeverPassWalls(t *testing.T) {
	run := paritytest.Start(t, "movers against walls")
	for _, kind := range []string{"sheet", "box", "field", "balls"} {
		w := emptyWorld(t, physics3.Config{Capacity: 10})
		b := static(t, w)
		const s = math.Sqrt2 / 2
		switch kind {
		case "sheet": // it faces -x
			_, err := w.CreateMesh(b, plain, newMesh(gridMesh(30, 40, flat)), physics3.Placement{Rotation: [4]float32{2: s, 3: s}})
			no(t, err)
		case "box":
			block(t, w, b, vec{0.001, 0, 0}, vec{0.001, 20, 20})
		case "field":
			f := newField(physics3.HeightFieldDef{Width: 31, Depth: 31, Cell: [2]float32{1.3, 1.3}, Heights: make([]float32, 31*31)})
			_, err := w.CreateHeightField(b, plain, f, physics3.Placement{Position: vec{0, -20, -20}, Rotation: [4]float32{2: s, 3: s}})
			no(t, err)
		case "balls":
			for i := range 30 {
				for k := range 30 {
					_, err := w.CreateSphere(b, plain, physics3.Sphere{Center: vec{0.5, float32(i-15) * 0.7, float32(k-15) * 0.7}, Radius: 0.5})
					no(t, err)
				}
			}
		}
		const n = 64
		m := newMovers(n)
		def := physics3.DefaultMoverDef()
		for round := range 20 {
			for i := range n {
				m.X[i], m.Y[i], m.Z[i] = float32(-0.31-3*run.Float64()), float32(4*run.Float64()-2), float32(4*run.Float64()-2)
				m.Ground[i] = physics3.Shape{}
				m.GroundVX[i] = 0
				speed := math.Pow(10, 6*run.Float64()-1)
				a := (run.Float64() - 0.5) * 0.9 * math.Pi
				m.VX[i], m.VY[i], m.VZ[i] = float32(speed*math.Cos(a)), float32(0.1*speed*math.Sin(3*a)), float32(0.1*speed*math.Sin(a))
			}
			var around [n]bool // it has come to the border of the wall
			for range 4 {
				no(t, w.Move(&def, &m, dt))
				for i := range n {
					around[i] = around[i] || max(math.Abs(float64(m.Y[i])), math.Abs(float64(m.Z[i]))) > 8
					if !around[i] && m.X[i] > -0.25+0.5*b2f(kind == "balls") {
						t.Fatalf("%s, round %d: character %d is at %v, %v, %v", kind, round, i, m.X[i], m.Y[i], m.Z[i])
					}
				}
			}
		}
	}
}

func b2f(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// The way of a character hardly depends on the length of a step.
func TestMoversAtOtherRates(t *testing.T) {
	const n, seconds = 40, 4
	var want [n]vec
	worst := 0.
	for _, hertz := range []int{240, 60, 30} {
		w := emptyWorld(t, physics3.Config{Capacity: 10})
		b := static(t, w)
		hills := func(x, z float32) float32 {
			return float32(0.6*math.Sin(0.4*float64(x))*math.Cos(0.5*float64(z)) + 0.1*math.Sin(1.1*float64(x+z)))
		}
		_, err := w.CreateMesh(b, plain, newMesh(gridMesh(100, 60, hills)), physics3.Placement{})
		no(t, err)
		for i := range 5 {
			block(t, w, b, vec{10 + 0.4*float32(i) + 10, 0.2*float32(i+1) - 1 + 0.6, 0}, vec{10, 1, 40})
		}
		m := newMovers(n)
		for i := range n {
			m.X[i], m.Y[i], m.Z[i] = float32(i%8)*2-9, 2.5, float32(i/8)*3-6
		}
		def := physics3.DefaultMoverDef()
		h := 1 / float32(hertz)
		for tick := range seconds * hertz {
			for i := range n {
				a := 0.5 * math.Sin(float64(i))
				m.VX[i], m.VZ[i] = float32(4*math.Cos(a)), float32(4*math.Sin(a))
				if tick < hertz { // fall first
					m.VX[i], m.VZ[i] = 0, 0
				}
				if m.Ground[i] != (physics3.Shape{}) {
					m.VY[i] = 0
				} else {
					m.VY[i] -= 10 * h
				}
			}
			no(t, w.Move(&def, &m, h))
		}
		for i := range n {
			at := vec{m.X[i], m.Y[i], m.Z[i]}
			if hertz == 240 {
				want[i] = at
				continue
			}
			for k := range at {
				worst = max(worst, math.Abs(float64(at[k]-want[i][k])))
			}
		}
		if worst > 0.06 {
			t.Errorf("%d Hz: up to %g m from the way at 240 Hz", hertz, worst)
		}
		t.Logf("%d Hz: up to %g m off", hertz, worst)
	}
}

func movedCrowd(t *testing.T, c physics3.Config, ticks int) physics3.Movers {
	w := wilderness(t, 2, c)
	m := crowdOfMovers(80, 2)
	def := physics3.DefaultMoverDef()
	def.PushForce = 50
	for tick := range ticks {
		no(t, w.Step(dt))
		drive(&m, tick, 4)
		no(t, w.Move(&def, &m, dt))
	}
	return m
}

// Every level and any number of workers give the same bits.
func TestMoversLevelsAndWorkers(t *testing.T) {
	want := movedCrowd(t, physics3.Config{Workers: 1}, 60)
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			if got := movedCrowd(t, physics3.Config{Workers: workers, Level: level}, 60); !reflect.DeepEqual(got, want) {
				t.Errorf("level %s, %d workers: another result", level, workers)
			}
		}
	}
}

// A snapshot of the world and a copy of the columns continue with the same bits, in another world, too.
func TestMoversRestore(t *testing.T) {
	w := wilderness(t, 3, physics3.Config{})
	m := crowdOfMovers(60, 3)
	def := physics3.DefaultMoverDef()
	def.PushForce = 50
	run := func(w *physics3.World, m *physics3.Movers, from, to int) {
		for tick := from; tick < to; tick++ {
			no(t, w.Step(dt))
			drive(m, tick, 4)
			no(t, w.Move(&def, m, dt))
		}
	}
	run(w, &m, 0, 70)
	data, saved := snapshot(t, w), copyOfMovers(&m)
	run(w, &m, 70, 140)
	other := emptyWorld(t, physics3.Config{Capacity: 200})
	no(t, other.Restore(data))
	run(other, &saved, 70, 140)
	if !reflect.DeepEqual(m, saved) || w.Hash() != other.Hash() {
		t.Error("another result after Restore")
	}
}

func copyOfMovers(m *physics3.Movers) physics3.Movers {
	c := newMovers(len(m.X))
	copy(c.Ground, m.Ground)
	for _, x := range [][2][]float32{{c.X, m.X}, {c.Y, m.Y}, {c.Z, m.Z}, {c.VX, m.VX}, {c.VY, m.VY}, {c.VZ, m.VZ}, {c.GroundX, m.GroundX},
		{c.GroundY, m.GroundY}, {c.GroundZ, m.GroundZ}, {c.GroundVX, m.GroundVX}, {c.GroundVY, m.GroundVY}, {c.GroundVZ, m.GroundVZ}} {
		copy(x[0], x[1])
	}
	return c
}

func TestMoversAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	w := wilderness(t, 2, physics3.Config{})
	m := crowdOfMovers(20, 2)
	def := physics3.DefaultMoverDef()
	tick := 0
	step := func() {
		drive(&m, tick, 4)
		no(t, w.Move(&def, &m, dt))
		tick++
	}
	for range 200 {
		step()
	}
	if n := testing.AllocsPerRun(100, step); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestBadMovers(t *testing.T) {
	w, _ := floored(t)
	nan := float32(math.NaN())
	for _, c := range []struct {
		change func(h *hero)
		want   error
		says   string
	}{
		{func(h *hero) { h.m.X[0] = nan }, physics3.ErrNotFinite, "physics3: Movers.X[0] = NaN: not finite"},
		{func(h *hero) { h.m.Z[0] = float32(math.Inf(-1)) }, physics3.ErrNotFinite, "physics3: Movers.Z[0] = -Inf: not finite"},
		{func(h *hero) { h.m.VY[0] = 1e7 }, physics3.ErrRange, "physics3: Movers.VY[0] = 1e+07: out of range"},
		{func(h *hero) { h.m.GroundVZ[0] = -1e7 }, physics3.ErrRange, "physics3: Movers.GroundVZ[0] = -1e+07: out of range"},
		{func(h *hero) { h.m.GroundY[0] = 3 }, physics3.ErrRange, "physics3: Movers.GroundY[0] = 3: out of range"},
		{func(h *hero) { h.def.MaxSlope = 2 }, physics3.ErrRange, "physics3: MoverDef.MaxSlope = 2: out of range"},
		{func(h *hero) { h.def.Up = vec{} }, physics3.ErrRange, "physics3: MoverDef.Up = [0 0 0]: out of range"},
		{func(h *hero) { h.def.Up[1] = nan }, physics3.ErrNotFinite, "physics3: MoverDef.Up = [0 NaN 0]: not finite"},
		{func(h *hero) { h.def.StepHeight = -1 }, physics3.ErrRange, "physics3: MoverDef.StepHeight = -1: out of range"},
		{func(h *hero) { h.def.Capsule.Radius = 0 }, physics3.ErrRange, "physics3: Capsule.Radius = 0: out of range"},
		{func(h *hero) { h.dt = -1 }, physics3.ErrRange, "physics3: Move: dt = -1: out of range"},
		{func(h *hero) { h.m.Height, h.m.TargetHeight = []float32{0.5}, []float32{1} }, physics3.ErrRange, "physics3: Movers.Height[0] = 0.5: out of range"},
		{func(h *hero) { h.m.Height, h.m.TargetHeight = []float32{1}, []float32{nan} }, physics3.ErrNotFinite, "physics3: Movers.TargetHeight[0] = NaN: not finite"},
	} {
		h := newHero(t, w, 1, 2, 3)
		c.change(h)
		before := h.m.Y[0]
		err := w.Move(&h.def, &h.m, h.dt)
		if !errors.Is(err, c.want) || err.Error() != c.says || h.m.Y[0] != before {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
	for name, change := range map[string]func(m *physics3.Movers){
		"VZ": func(m *physics3.Movers) { m.VZ = nil }, "Ground": func(m *physics3.Movers) { m.Ground = nil },
		"Height": func(m *physics3.Movers) { m.Height = []float32{2} }, "Exclude": func(m *physics3.Movers) { m.Exclude = make([]physics3.Body, 2) },
	} {
		m := newMovers(1)
		change(&m)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			_ = m.Validate()
		}()
	}
}

// 1,000 characters on a mesh of triangles with sides of 1 m, and of 0.2 m.
func BenchmarkMovers(b *testing.B) {
	for _, cells := range []int{140, 700} {
		b.Run(fmt.Sprintf("cell=%gm", 140/float64(cells)), func(b *testing.B) {
			w := emptyWorld(b, physics3.Config{Capacity: 10, Workers: 1})
			hills := func(x, z float32) float32 {
				return float32(0.8*math.Sin(0.5*float64(x))*math.Cos(0.6*float64(z)) + 0.2*math.Sin(1.7*float64(x+z)))
			}
			_, err := w.CreateMesh(static(b, w), plain, newMesh(gridMesh(cells, 140, hills)), physics3.Placement{})
			no(b, err)
			const n = 1000
			m := newMovers(n)
			for i := range n {
				m.X[i], m.Y[i], m.Z[i] = float32(i%32)*4-64, 3, float32(i/32)*4-64
			}
			def := physics3.DefaultMoverDef()
			tick := 0
			step := func() {
				drive(&m, tick, 4)
				no(b, w.Move(&def, &m, dt))
				tick++
			}
			for range 60 {
				step()
			}
			for b.Loop() {
				step()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/walker")
		})
	}
}

// moverFuzz moves characters with numbers from data through a wilderness whose bodies data changes, and checks what comes out.
func moverFuzz(t *testing.T, seed uint64, data []byte) {
	w := wilderness(t, seed%8, physics3.Config{})
	next := func() float64 {
		if len(data) == 0 {
			return 0.5
		}
		v := float64(data[0]) / 255
		data = data[1:]
		return v
	}
	big := func() float32 { return float32((2*next() - 1) * math.Pow(10, 8*next()-2)) }
	const n = 8
	m := crowdOfMovers(n, seed)
	m.Height, m.TargetHeight = make([]float32, n), make([]float32, n)
	for i := range n {
		m.Height[i], m.TargetHeight[i] = 1.8, 1.8
	}
	c := w.Columns()
	for tick := range 24 {
		def := physics3.DefaultMoverDef()
		if next() < 0.3 {
			def.StepHeight, def.SnapDistance, def.RecoverSpeed = float32(math.Abs(float64(big()))), float32(3*next()), float32(math.Abs(float64(big())))
			def.MaxSlope = float32(1.5 * next())
			def.PushForce = 1000
		}
		def.StepHeight, def.RecoverSpeed = min(def.StepHeight, 1e6), min(def.RecoverSpeed, 1e6)
		if next() < 0.2 {
			def.Up = vec{float32(next() - 0.5), float32(next() - 0.5), 0.1}
		}
		i := int(next() * (n - 1))
		m.VX[i], m.VY[i], m.VZ[i] = min(max(big(), -1e6), 1e6), min(max(big(), -1e6), 1e6), float32(next())
		m.TargetHeight[i] = float32(0.6 + 2*next())
		switch row := int(next() * 80); int(next() * 6) {
		case 0:
			c.X[row], c.Y[row] = big(), big()
		case 1:
			c.QX[row] = float32(next()) * 3
		case 2:
			if c.Type[row] != physics3.StaticBody {
				c.VX[row], c.WY[row] = big(), big()
			}
		case 3:
			m.X[i], m.Z[i] = big(), big()
		case 4:
			c.X[row] = float32(math.NaN())
		}
		h := float32(math.Pow(10, 3*next()-3))
		no(t, w.Step(dt))
		no(t, w.Move(&def, &m, h))
		if err := m.Validate(); err != nil {
			t.Fatalf("tick %d: %v", tick, err)
		}
		for i := range n {
			if g := m.Ground[i]; g != (physics3.Shape{}) && !w.ValidShape(g) {
				t.Fatalf("tick %d: ground %v", tick, g)
			}
			if normal := (vector{float64(m.GroundX[i]), float64(m.GroundY[i]), float64(m.GroundZ[i])}); m.Ground[i] != (physics3.Shape{}) && math.Abs(length(normal)-1) > 1e-5 {
				t.Fatalf("tick %d: normal %v", tick, normal)
			}
		}
	}
}

func TestRandomMovers(t *testing.T) {
	run := paritytest.Start(t, "movers with random numbers")
	for range paritytest.Rounds(60) {
		data := make([]byte, 24*24)
		for i := range data {
			data[i] = byte(run.IntN(256))
		}
		moverFuzz(t, run.Uint64(), data)
	}
}

func FuzzMovers(f *testing.F) {
	f.Add(uint64(1), []byte("a character and a hill"))
	f.Add(uint64(2), []byte{0, 255, 3, 128, 255, 255, 7, 0, 64, 200, 100, 50, 25, 12, 6, 3})
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) { moverFuzz(t, seed, data) })
}
