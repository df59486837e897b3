package physics_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// hero is one character with gravity in a fixture.
type hero struct {
	fixture
	def physics.MoverDef
	m   physics.Movers
}

func (r fixture) hero(x, y float32) *hero {
	h := &hero{fixture: r, def: physics.DefaultMoverDef()}
	h.m = physics.Movers{X: []float32{x}, Y: []float32{y}, VX: []float32{0}, VY: []float32{0},
		Ground: make([]physics.Shape, 1), GroundX: []float32{0}, GroundY: []float32{0}}
	return h
}

func (h *hero) stands() bool { return h.m.Ground[0] != (physics.Shape{}) }

// walk moves at vx for n ticks, and falls where there is no ground.
func (h *hero) walk(vx float32, n int) {
	h.Helper()
	for range n {
		h.m.VX[0] = vx
		if h.stands() {
			h.m.VY[0] = 0
		} else {
			h.m.VY[0] -= 10 * dt
		}
		h.no(h.w.Move(&h.def, &h.m, dt))
	}
}

func (h *hero) expect(what string, x, y, tolerance float64) {
	h.Helper()
	h.near(what+": x", float64(h.m.X[0]), x, tolerance)
	h.near(what+": y", float64(h.m.Y[0]), y, tolerance)
}

// tall is the height of the middle of a hero above its ground.
const tall = 0.9 + 0.005

func TestMoverFallsAndStands(t *testing.T) {
	r := newFixture(t, 0)
	r.floor(plain)
	h := r.hero(0, 5)
	h.walk(0, 120)
	h.expect("stands", 0, tall, 0.003)
	if !h.stands() || h.m.VY[0] != 0 {
		t.Errorf("%+v", h.m)
	}
	h.walk(3, 60)
	h.expect("walked", 3, tall, 0.003)
}

// A hero at rest keeps its position to the bit, even when pushed against a wall and with gravity.
func TestMoverDoesNotJitter(t *testing.T) {
	r := newFixture(t, 0)
	r.floor(plain)
	r.box(r.body(physics.StaticBody, 2, 1), plain, 0.5, 5)
	slope := r.body(physics.StaticBody, -10, 0, turned(0.5))
	r.box(slope, plain, 5, 0.5)
	for _, c := range []struct {
		x, y, vx, vy float32
	}{{0, 2, 0, 0}, {0, 2, 4, 0}, {0, 2, 0, -3}, {0, 2, 4, -3}, {-10, 3, 0, 0}, {-10, 3, 0, -3}} {
		h := r.hero(c.x, c.y)
		h.walk(0, 120)
		h.walk(c.vx, 120)
		x, y := h.m.X[0], h.m.Y[0]
		n := 10000
		if testing.Short() || paritytest.Instrumented {
			n = 500
		}
		for i := range n {
			h.m.VX[0], h.m.VY[0] = c.vx, c.vy
			h.no(h.w.Move(&h.def, &h.m, dt))
			if h.m.X[0] != x || h.m.Y[0] != y || !h.stands() {
				t.Fatalf("%+v: moved from %v, %v to %v, %v at tick %d, ground %v", c, x, y, h.m.X[0], h.m.Y[0], i, h.m.Ground)
			}
		}
	}
}

func TestMoverStopsAtWallsAndCorners(t *testing.T) {
	r := newFixture(t, 0)
	r.floor(plain)
	r.box(r.body(physics.StaticBody, 3, 2), plain, 0.5, 3)
	h := r.hero(0, tall)
	h.walk(5, 120)
	h.expect("at the wall", 2.5-0.305, tall, 0.003)
	if h.m.VX[0] != 0 {
		t.Errorf("still wants to go at %v", h.m.VX[0])
	}
	h.walk(-5, 30)
	h.expect("back", 2.5-0.305-2.5, tall, 0.003)

	// An acute corner above: between the floor and a sloping roof.
	roof := r.body(physics.StaticBody, -8, 2.6, turned(0.35))
	r.box(roof, plain, 3, 0.2)
	h.walk(-5, 120)
	if x := h.m.X[0]; !(x > -9.8 && x < -5) || h.m.Y[0] > tall+0.01 {
		t.Errorf("under the roof at %v, %v", x, h.m.Y[0])
	}
	x := h.m.X[0]
	h.walk(-5, 300)
	h.near("stays there", float64(h.m.X[0]), float64(x), 0.01)
}

func TestMoverTakesStairs(t *testing.T) {
	for _, rise := range []float32{0.1, 0.2, 0.3} {
		r := newFixture(t, 0)
		r.floor(plain)
		for i := range 10 {
			r.box(r.body(physics.StaticBody, 2+0.4*float32(i)+5, rise*float32(i+1)-1), plain, 5, 1)
		}
		h := r.hero(0, tall)
		h.walk(2, 360)
		h.near("up", float64(h.m.Y[0]), float64(10*rise)+tall, 0.01)
		if !(h.m.X[0] > 6) || !h.stands() {
			t.Errorf("rise %v: at %v", rise, h.m.X[0])
		}
		for i := range 420 {
			h.walk(-2, 1)
			if !h.stands() {
				t.Fatalf("rise %v: in the air at %v, %v, tick %d", rise, h.m.X[0], h.m.Y[0], i)
			}
			if h.m.X[0] < 0 {
				break
			}
		}
		h.near("down", float64(h.m.Y[0]), tall, 0.01)
	}
	r := newFixture(t, 0)
	r.floor(plain)
	r.box(r.body(physics.StaticBody, 4, -0.6), plain, 1, 1) // 0.4 high
	h := r.hero(0, tall)
	h.walk(3, 240)
	h.expect("before a step too high", 3-0.305, tall, 0.05)
}

func TestMoverSlopes(t *testing.T) {
	for _, c := range []struct {
		degrees float64
		climbs  bool
	}{{20, true}, {45, true}, {49.9, true}, {50, true}, {50.5, false}, {60, false}, {80, false}} {
		r := newFixture(t, 0)
		r.floor(plain)
		angle := c.degrees * math.Pi / 180
		ramp := r.body(physics.StaticBody, float32(2+10*math.Cos(angle)), float32(10*math.Sin(angle)-0.5/math.Cos(angle)*math.Cos(angle)), turned(angle))
		r.box(ramp, plain, 10, 0.5)
		h := r.hero(0, tall)
		h.walk(2, 180)
		if climbed := h.m.Y[0] > 2; climbed != c.climbs {
			t.Errorf("%v°: at %v, %v", c.degrees, h.m.X[0], h.m.Y[0])
		}
		if c.climbs {
			h.near("as fast across", float64(h.m.X[0]), 6, 0.4)
			for range 60 { // and down without a jump
				h.walk(-2, 1)
				if !h.stands() {
					t.Fatalf("%v°: flies at %v, %v", c.degrees, h.m.X[0], h.m.Y[0])
				}
			}
		}
	}
	// A hero that falls on a steep slope slides down.
	r := newFixture(t, 0)
	slope := r.body(physics.StaticBody, 0, 0, turned(-65*math.Pi/180))
	r.box(slope, plain, 10, 0.5)
	h := r.hero(0.5, 3)
	for range 60 {
		h.m.VY[0] -= 10 * dt
		h.no(h.w.Move(&h.def, &h.m, dt))
	}
	if h.stands() || h.m.Y[0] > 1 || h.m.X[0] < 1 {
		t.Errorf("on the slope at %v, %v", h.m.X[0], h.m.Y[0])
	}
}

func TestMoverIsCarried(t *testing.T) {
	for _, v := range [][2]float32{{0, 1}, {1.5, 0}, {-1, -0.7}, {1, 0.7}} {
		r := newFixture(t, 0)
		platform := r.body(physics.KinematicBody, 0, -1)
		r.box(platform, plain, 3, 1)
		h := r.hero(0.5, tall)
		h.walk(0, 30)
		r.no(r.w.SetVelocity(platform, v, 0))
		for range 180 {
			r.no(r.w.Step(dt))
			h.walk(0, 1)
			if !h.stands() {
				t.Fatalf("%v: fell off at %v, %v", v, h.m.X[0], h.m.Y[0])
			}
		}
		x, y := r.at(platform)
		h.expect("carried", x+0.5, y+1+tall, 0.03)
	}
}

// Ground that moves in any way carries a character without losing it, with and without snapping: after whole periods it is
// where it was on a lift, a swing and a see-saw.
func TestMoverKeepsItsPlaceOnMovingGround(t *testing.T) {
	run := paritytest.Start(t, "movers on moving ground")
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*run.Float64() }
	one := func(place, ax, ay, tilt float64, period int, snap float32) {
		t.Helper()
		r := fixture{t, newWorld(t, physics.Config{})}
		plank := r.body(physics.KinematicBody, 0, 0)
		r.polygon(plank, plain, physics.Box(12, 0.1))
		h := r.hero(float32(place), 0.1+tall)
		h.def.SnapDistance = snap
		h.walk(0, 30)
		x, y := h.m.X[0], h.m.Y[0]
		for i := range 4 * period {
			phase := 2 * math.Pi * float64(i+1) / float64(period)
			sin := math.Sin(phase)
			r.no(r.w.SetTargetTransform(plank, [2]float32{float32(ax * sin), float32(ay * math.Sin(2*phase))}, float32(tilt*sin), dt))
			r.steps(1)
			if h.walk(0, 1); !h.stands() {
				t.Fatalf("at %g, swing %g and %g m, %g rad, period %d, snap %g: in the air in step %d", place, ax, ay, tilt, period, snap, i)
			}
		}
		if off := math.Hypot(float64(h.m.X[0]-x), float64(h.m.Y[0]-y)); off > 0.03 {
			t.Errorf("at %g, swing %g and %g m, %g rad, period %d, snap %g: %g m off", place, ax, ay, tilt, period, snap, off)
		}
	}
	for _, snap := range []float32{0, 0.3} {
		one(6, 0, 0, 0.5, 120, snap)
		one(3, 0, 0, 0.5, 360, snap)
		one(0, 0, 2, 0, 120, snap)
		one(0, 4, 1, 0, 120, snap)
		for range paritytest.Rounds(50) {
			one(between(-6, 6), between(0, 3), between(0, 0.5), between(0, 0.5), 100+run.IntN(200), snap)
		}
	}
}

// A lift at any speed keeps its rider.
func TestMoverOnLifts(t *testing.T) {
	for _, snap := range []float32{0, 0.3} {
		for _, v := range []float32{0.1, 1, 3, 8, -0.1, -1, -3, -8} {
			r := newFixture(t, 0)
			lift := r.body(physics.KinematicBody, 0, -1)
			r.box(lift, plain, 3, 1)
			h := r.hero(0.5, tall)
			h.def.SnapDistance = snap
			h.walk(0, 30)
			r.no(r.w.SetVelocity(lift, [2]float32{0, v}, 0))
			for range 120 {
				r.steps(1)
				h.walk(0, 1)
				if !h.stands() {
					t.Fatalf("lift at %g, snap %g: in the air", v, snap)
				}
			}
			_, y := r.at(lift)
			h.expect("on the lift", 0.5, y+1+tall, 0.005)
		}
	}
}

// A belt carries a character clockwise around the shape: up and down slopes, too, and beside its own walk.
func TestMoverOnBelts(t *testing.T) {
	for _, angle := range []float64{0, 0.5, -0.5} {
		for _, speed := range []float32{0.01, 2, -1} {
			for _, walk := range []float32{0, -0.5} {
				r := newFixture(t, 0)
				belt := plain
				belt.TangentSpeed = speed
				r.box(r.body(physics.StaticBody, 0, 0, turned(angle)), belt, 30, 0.5)
				h := r.hero(0, float32(0.8/math.Cos(angle)+0.61))
				h.walk(0, 60)
				x, y := float64(h.m.X[0]), float64(h.m.Y[0])
				h.walk(walk, 60)
				along := float64(speed)*math.Cos(angle) + float64(walk)
				h.expect("on the belt", x+along, y+along*math.Tan(angle), 0.02)
				if !h.stands() {
					t.Errorf("belt at %g, angle %g: in the air", speed, angle)
				}
			}
		}
	}
}

func TestMoverUnderRoofs(t *testing.T) {
	for _, c := range []struct{ height, x float32 }{
		{1.5, 3.695}, {1.8, 3.92}, // the head is round
		{1.85, 9},
	} {
		r := newFixture(t, 0)
		r.floor(plain)
		r.box(r.body(physics.StaticBody, 5, c.height+0.2), plain, 1, 0.2)
		h := r.hero(3, tall)
		h.walk(3, 120)
		r.near("under a roof", float64(h.m.X[0]), float64(c.x), 0.01)
	}
}

func TestMoverCeilingStopsJumps(t *testing.T) {
	r := newFixture(t, 0)
	r.floor(plain)
	r.box(r.body(physics.StaticBody, 0, 3), plain, 5, 0.5)
	h := r.hero(0, tall)
	h.walk(0, 5)
	h.m.VY[0] = 8
	h.no(h.w.Move(&h.def, &h.m, dt))
	top := float32(0)
	for range 120 {
		h.m.VY[0] -= 10 * dt
		h.no(h.w.Move(&h.def, &h.m, dt))
		top = max(top, h.m.Y[0])
		if h.stands() {
			break
		}
	}
	r.near("top", float64(top), 2.5-0.905, 0.003)
	h.expect("down again", 0, tall, 0.003)
}

func TestMoverGapBetweenWalls(t *testing.T) {
	for _, c := range []struct {
		width float32
		falls bool
	}{{0.5, false}, {0.7, true}} {
		r := newFixture(t, 0)
		r.box(r.body(physics.StaticBody, -5-c.width/2, -2), plain, 5, 2)
		r.box(r.body(physics.StaticBody, 5+c.width/2, -2), plain, 5, 2)
		h := r.hero(0, 2)
		h.walk(0, 60)
		if fell := h.m.Y[0] < 0; fell != c.falls {
			t.Errorf("a gap of %v: at %v", c.width, h.m.Y[0])
		}
	}
}

// A jump leads through a one-way platform, and ends on it; a chain is ground from above.
func TestMoverAndOneWays(t *testing.T) {
	r := newFixture(t, 0)
	_, err := r.w.CreateChain(r.body(physics.StaticBody, 0, 0), physics.ChainDef{
		Points: [][2]float32{{20, 0}, {10, 0}, {-10, 0}, {-20, 0}}, Shape: plain})
	r.no(err)
	def := plain
	def.OneWay = [2]float32{0, 1}
	r.box(r.body(physics.StaticBody, 0, 2.4), def, 3, 0.1)
	h := r.hero(0, 1)
	h.walk(0, 30)
	h.expect("on the chain", 0, tall, 0.003)
	h.m.VY[0] = 8
	h.no(h.w.Move(&h.def, &h.m, dt))
	for range 120 {
		h.m.VY[0] -= 10 * dt
		h.no(h.w.Move(&h.def, &h.m, dt))
		if h.stands() {
			break
		}
	}
	h.walk(0, 30)
	h.expect("on the platform", 0, 2.5+tall, 0.003)
	h.walk(3, 150)
	h.expect("off it", 7.5, tall, 0.003)
}

func TestMoverRecovers(t *testing.T) {
	r := newFixture(t, 0)
	r.floor(plain)
	h := r.hero(0, 0.5)
	h.walk(0, 30)
	h.expect("out of the floor", 0, tall, 0.003)
	r.box(r.body(physics.StaticBody, 0.4, 1), plain, 0.3, 1)
	h.walk(0, 30)
	h.expect("out of a wall", 0.1-0.305, tall, 0.006)
}

func TestMoverPushes(t *testing.T) {
	for _, force := range []float32{0, 200} {
		r := newFixture(t, -10)
		r.floor(plain)
		crate := r.dynamic(2, 0.5)
		r.box(crate, plain, 0.5, 0.5)
		h := r.hero(0, tall)
		h.def.PushForce = force
		for range 180 {
			r.no(r.w.Step(dt))
			h.walk(1, 1)
		}
		if x, _ := r.at(crate); (x > 2.3) != (force > 0) {
			t.Errorf("force %v: the crate is at %v", force, x)
		}
	}
}

func TestBadMovers(t *testing.T) {
	r := newFixture(t, 0)
	h := r.hero(0, 0)
	nan := float32(math.NaN())
	for _, c := range []struct {
		change func(h *hero)
		dt     float32
		want   error
		says   string
	}{
		{func(h *hero) { h.m.X[0] = nan }, dt, physics.ErrNotFinite, "physics: Movers.X[0] = NaN: not finite"},
		{func(h *hero) { h.m.VY[0] = 1e7 }, dt, physics.ErrRange, "physics: Movers.VY[0] = 1e+07: out of range"},
		{func(h *hero) { h.def.MaxSlope = 2 }, dt, physics.ErrRange, "physics: MoverDef.MaxSlope = 2: out of range"},
		{func(h *hero) { h.def.Up = [2]float32{} }, dt, physics.ErrRange, "physics: MoverDef.Up = [0 0]: out of range"},
		{func(h *hero) { h.def.StepHeight = -1 }, dt, physics.ErrRange, "physics: MoverDef.StepHeight = -1: out of range"},
		{func(h *hero) { h.def.Capsule.Radius = 0 }, dt, physics.ErrRange, "physics: Circle.Radius"},
		{func(*hero) {}, -1, physics.ErrRange, "physics: Move: dt = -1: out of range"},
	} {
		bad := r.hero(1, 2)
		bad.def = h.def
		c.change(bad)
		before := bad.m.Y[0]
		err := r.w.Move(&bad.def, &bad.m, c.dt)
		if !errors.Is(err, c.want) || c.says != "physics: Circle.Radius" && err.Error() != c.says || bad.m.Y[0] != before {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}

// Many characters move the same with any number of workers.
func TestManyMovers(t *testing.T) {
	want := manyMoved(t, 1)
	for _, workers := range []int{2, 7} {
		if got := manyMoved(t, workers); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: another result", workers)
		}
	}
}

func TestMoversAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	r := newFixture(t, 0)
	r.floor(plain)
	h := r.hero(0, 1)
	if n := testing.AllocsPerRun(50, func() { h.walk(1, 1) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func manyMoved(t *testing.T, workers int) physics.Movers {
	r, q := crowdOfRays(t, 400, physics.Config{Workers: workers})
	const n = 200
	m := physics.Movers{X: q.X[:n], Y: q.Y[:n], VX: q.DX[:n], VY: q.DY[:n],
		Ground: make([]physics.Shape, n), GroundX: make([]float32, n), GroundY: make([]float32, n)}
	def := physics.DefaultMoverDef()
	def.PushForce = 50
	for range 20 {
		r.no(r.w.Step(dt))
		r.no(r.w.Move(&def, &m, dt))
	}
	return m
}

func TestMoverWithAnotherUp(t *testing.T) {
	r := newFixture(t, 0)
	r.box(r.body(physics.StaticBody, -1, 0), plain, 1, 20)
	h := r.hero(3, 0)
	h.def.Up = [2]float32{2, 0}
	h.def.Capsule = physics.Capsule{P1: [2]float32{-0.6, 0}, P2: [2]float32{0.6, 0}, Radius: 0.3}
	for range 120 {
		h.m.VX[0], h.m.VY[0] = h.m.VX[0]-10*dt, 1
		h.no(h.w.Move(&h.def, &h.m, dt))
	}
	h.expect("walks up a wall", tall, 2, 0.003)
	if !h.stands() {
		t.Error("does not stand")
	}
}

// Characters never enter static obstacles.
func TestMoversStayOutside(t *testing.T) {
	r, q := crowdOfRays(t, 150, physics.Config{})
	const n = 100
	m := physics.Movers{X: q.X[:n], Y: q.Y[:n], VX: q.DX[:n], VY: q.DY[:n],
		Ground: make([]physics.Shape, n), GroundX: make([]float32, n), GroundY: make([]float32, n)}
	def := physics.DefaultMoverDef()
	def.Capsule = physics.Capsule{P2: [2]float32{0, 0.4}, Radius: 0.2}
	form := form(physics.CapsuleForm(def.Capsule))
	var d physics.Distances
	within := make([]float32, n)
	outside := make([]bool, n)
	inside := 0
	for tick := range 200 {
		for i := range n {
			m.VX[i], m.VY[i] = 3*float32(math.Cos(float64(i+tick/50))), m.VY[i]-10*dt
		}
		r.no(r.w.Move(&def, &m, dt))
		r.no(r.w.Nearest(&physics.Probes{Forms: []physics.Form{form}, X: m.X, Y: m.Y}, within, &d))
		for i := range n {
			deep := d.Distance[i] < -1e-4
			if outside[i] && deep {
				t.Fatalf("tick %d: character %d at %v, %v is %v inside", tick, i, m.X[i], m.Y[i], d.Distance[i])
			}
			outside[i] = !deep
			if deep {
				inside++
			}
		}
	}
	t.Logf("%d times inside, from the start", inside)
}
