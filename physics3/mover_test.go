package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// hero is one character with gravity in a world.
type hero struct {
	*testing.T
	w   *physics3.World
	def physics3.MoverDef
	m   physics3.Movers
	dt  float32
}

// newMovers returns n characters at the origin.
func newMovers(n int) physics3.Movers {
	of := func() []float32 { return make([]float32, n) }
	return physics3.Movers{X: of(), Y: of(), Z: of(), VX: of(), VY: of(), VZ: of(), Ground: make([]physics3.Shape, n),
		GroundX: of(), GroundY: of(), GroundZ: of(), GroundVX: of(), GroundVY: of(), GroundVZ: of()}
}

func newHero(t *testing.T, w *physics3.World, x, y, z float32) *hero {
	h := &hero{T: t, w: w, def: physics3.DefaultMoverDef(), m: newMovers(1), dt: dt}
	h.m.X[0], h.m.Y[0], h.m.Z[0] = x, y, z
	return h
}

func (h *hero) stands() bool { return h.m.Ground[0] != (physics3.Shape{}) }

func (h *hero) at() vec { return vec{h.m.X[0], h.m.Y[0], h.m.Z[0]} }

// walk moves at a velocity for n ticks, and falls where there is no ground.
func (h *hero) walk(vx, vz float32, n int) {
	h.Helper()
	for range n {
		h.m.VX[0], h.m.VZ[0] = vx, vz
		if h.stands() {
			h.m.VY[0] = 0
		} else {
			h.m.VY[0] -= 10 * h.dt
		}
		no(h.T, h.w.Move(&h.def, &h.m, h.dt))
	}
}

func (h *hero) expect(what string, want vec, tolerance float64) {
	h.Helper()
	for k, v := range h.at() {
		if math.Abs(float64(v-want[k])) > tolerance {
			h.Fatalf("%s: at %v, want %v", what, h.at(), want)
		}
	}
}

// tall is the height of the middle of a hero above its ground.
const tall = 0.9 + 0.005

// block adds a box to a body, at a place in it.
func block(t testing.TB, w *physics3.World, b physics3.Body, center, half vec) physics3.Shape {
	t.Helper()
	return must[physics3.Shape](t)(w.CreateBox(b, plain, physics3.Box{Half: half, Center: center}))
}

// static returns a static body at the origin.
func static(t testing.TB, w *physics3.World) physics3.Body {
	t.Helper()
	return bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
}

// floored is a world with a floor whose top is at height 0.
func floored(t testing.TB) (*physics3.World, physics3.Body) {
	w := emptyWorld(t, physics3.Config{Capacity: 100})
	b := static(t, w)
	block(t, w, b, vec{0, -1, 0}, vec{100, 1, 100})
	return w, b
}

func TestMoverFallsAndStands(t *testing.T) {
	w, _ := floored(t)
	h := newHero(t, w, 0, 5, 0)
	h.walk(0, 0, 120)
	h.expect("stands", vec{0, tall, 0}, 0.003)
	if !h.stands() || h.m.VY[0] != 0 {
		t.Errorf("%+v", h.m)
	}
	h.walk(3, 1, 60)
	h.expect("walked", vec{3, tall, 1}, 0.003)
}

// turnedBox adds a body with a box that is turned about an axis.
func turnedBox(t testing.TB, w *physics3.World, at vec, axis vec, angle float64, half vec) {
	t.Helper()
	d := physics3.DefaultBodyDef()
	s := float32(math.Sin(angle / 2))
	d.Position, d.Rotation = at, [4]float32{axis[0] * s, axis[1] * s, axis[2] * s, float32(math.Cos(angle / 2))}
	block(t, w, bodyOf(t, w, d), vec{}, half)
}

// A hero at rest keeps its position to the bit, even when pushed against a wall and with gravity.
func TestMoverDoesNotJitter(t *testing.T) {
	w, b := floored(t)
	block(t, w, b, vec{2, 1, 0}, vec{0.5, 5, 10})
	block(t, w, b, vec{0, 1, 4}, vec{10, 5, 0.5})
	turnedBox(t, w, vec{-10, 0, 0}, vec{0, 0, 1}, 0.5, vec{5, 0.5, 5})
	hills := newMesh(gridMesh(20, 10, func(x, z float32) float32 { return 0.3 * float32(math.Sin(float64(2*x))*math.Cos(float64(2*z))) }))
	_, err := w.CreateMesh(b, plain, hills, physics3.Placement{Position: vec{0, 3, -30}})
	no(t, err)
	for _, c := range []struct{ at, v vec }{
		{vec{0, 2, 0}, vec{}}, {vec{0, 2, 0}, vec{4, 0, 0}}, {vec{0, 2, 0}, vec{0, -3, 0}}, {vec{0, 2, 0}, vec{4, -3, 4}},
		{vec{-10, 3, 0}, vec{}}, {vec{-10, 3, 0}, vec{0, -3, 0}}, {vec{0.3, 5, -30.1}, vec{}}, {vec{1.1, 5, -29.3}, vec{0, -1, 0}},
	} {
		h := newHero(t, w, c.at[0], c.at[1], c.at[2])
		h.walk(0, 0, 120)
		h.walk(c.v[0], c.v[2], 120)
		at := h.at()
		for i := range 500 {
			h.m.VX[0], h.m.VY[0], h.m.VZ[0] = c.v[0], c.v[1], c.v[2]
			no(t, h.w.Move(&h.def, &h.m, dt))
			if h.at() != at || !h.stands() {
				t.Fatalf("%+v: moved from %v to %v at tick %d, stands %v", c, at, h.at(), i, h.stands())
			}
		}
	}
}

func TestMoverStopsAtWallsAndCorners(t *testing.T) {
	w, b := floored(t)
	block(t, w, b, vec{3, 2, 0}, vec{0.5, 3, 10})
	block(t, w, b, vec{0, 2, 5}, vec{10, 3, 0.5})
	h := newHero(t, w, 0, tall, 0)
	h.walk(5, 0, 60)
	h.expect("at the wall", vec{2.5 - 0.305, tall, 0}, 0.003)
	if h.m.VX[0] != 0 {
		t.Errorf("still wants to go at %v", h.m.VX[0])
	}
	h.walk(5, 3, 120)
	h.expect("in the corner", vec{2.5 - 0.305, tall, 4.5 - 0.305}, 0.003)
	if h.m.VX[0] != 0 || h.m.VZ[0] != 0 {
		t.Errorf("still wants to go at %v, %v", h.m.VX[0], h.m.VZ[0])
	}
	h.walk(-5, 0, 30)
	h.expect("along the other wall", vec{2.5 - 0.305 - 2.5, tall, 4.5 - 0.305}, 0.003)

	// An acute corner above: between the floor and a sloping roof.
	turnedBox(t, w, vec{-8, 2.6, 0}, vec{0, 0, 1}, 0.35, vec{3, 0.2, 10})
	h = newHero(t, w, 0, tall, 0)
	h.walk(-5, 0, 120)
	if x := h.m.X[0]; !(x > -9.8 && x < -5) || h.m.Y[0] > tall+0.01 {
		t.Errorf("under the roof at %v", h.at())
	}
	x := h.m.X[0]
	h.walk(-5, 0, 300)
	if math.Abs(float64(h.m.X[0]-x)) > 0.01 {
		t.Errorf("creeps under the roof from %g to %g", x, h.m.X[0])
	}
	h.walk(-3, -2, 60) // and slides along the wedge
	h.expect("along the wedge", vec{x, tall, -2}, 0.05)
}

// A pit with an upright edge between two walls that meet at any angle: the hero ends in the corner, whatever the direction.
func TestMoverInWedges(t *testing.T) {
	for _, angle := range []float64{0.3, 0.8, 1.2, 1.9, 2.6} {
		w, _ := floored(t)
		for _, side := range []float64{1, -1} { // two walls that open towards -x
			a := side * angle / 2
			at := vec{float32(-5 * math.Cos(a)), 2, float32(-5 * math.Sin(a))}
			off := 0.5 * side
			at[0] += float32(off * math.Sin(a))
			at[2] -= float32(off * math.Cos(a))
			turnedBox(t, w, at, vec{0, 1, 0}, -a, vec{5, 2, 0.5})
		}
		want := -0.305 / math.Sin(angle/2)
		h := newHero(t, w, float32(min(2*want, -2)), tall, 0.02)
		for i, heading := range []float64{0, 0.4 * (math.Pi - angle), -0.4 * (math.Pi - angle)} {
			h.walk(float32(4*math.Cos(heading)), float32(4*math.Sin(heading)), 180)
			if !(math.Abs(float64(h.m.X[0])-want) < 0.03) || math.Abs(float64(h.m.Z[0])) > 0.03 || h.m.Y[0] > tall+0.003 {
				t.Errorf("angle %g, heading %d: at %v, want %g", angle, i, h.at(), want)
			}
		}
	}
}

func TestMoverUnderRoofs(t *testing.T) {
	for _, c := range []struct{ height, x float32 }{
		{1.5, 3.695}, {1.8, 3.92}, // the head is round
		{1.85, 9},
	} {
		w, b := floored(t)
		block(t, w, b, vec{5, c.height + 0.2, 0}, vec{1, 0.2, 10})
		h := newHero(t, w, 3, tall, 0)
		h.walk(3, 0, 120)
		h.expect("under a roof", vec{c.x, tall, 0}, 0.01)
	}
}

func TestMoverCeilingStopsJumps(t *testing.T) {
	w, b := floored(t)
	block(t, w, b, vec{0, 3, 0}, vec{5, 0.5, 5})
	h := newHero(t, w, 0, tall, 0)
	h.walk(0, 0, 5)
	h.m.VY[0] = 8
	no(t, w.Move(&h.def, &h.m, dt))
	top := float32(0)
	for range 120 {
		h.walk(0, 0, 1)
		if top = max(top, h.m.Y[0]); h.stands() {
			break
		}
	}
	if math.Abs(float64(top)-(2.5-0.905)) > 0.003 {
		t.Errorf("top at %g", top)
	}
	h.expect("down again", vec{0, tall, 0}, 0.003)
}

func TestMoverGapBetweenWalls(t *testing.T) {
	for _, c := range []struct {
		width float32
		falls bool
	}{{0.5, false}, {0.7, true}} {
		w := emptyWorld(t, physics3.Config{Capacity: 10})
		b := static(t, w)
		block(t, w, b, vec{-5 - c.width/2, -2, 0}, vec{5, 2, 5})
		block(t, w, b, vec{5 + c.width/2, -2, 0}, vec{5, 2, 5})
		h := newHero(t, w, 0, 2, 0)
		h.walk(0, 0, 60)
		if fell := h.m.Y[0] < 0; fell != c.falls {
			t.Errorf("a gap of %v: at %v", c.width, h.at())
		}
	}
}

func TestMoverRecovers(t *testing.T) {
	w, b := floored(t)
	h := newHero(t, w, 0, 0.5, 0)
	h.walk(0, 0, 30)
	h.expect("out of the floor", vec{0, tall, 0}, 0.003)
	s := block(t, w, b, vec{0.4, 1, 0}, vec{0.3, 1, 3})
	h.walk(0, 0, 30)
	h.expect("out of a wall", vec{0.1 - 0.305, tall, 0}, 0.006)
	no(t, w.DestroyShape(s))
	_, err := w.CreateMesh(b, plain, newMesh(gridMesh(20, 20, flat)), physics3.Placement{Position: vec{0, 0.5, 0}})
	no(t, err)
	h.walk(0, 0, 30)
	h.expect("out of ground that was raised", vec{h.m.X[0], 0.5 + tall, 0}, 0.003)
}

// A piston that presses a hero against a sheet does not push it through.
func TestMoverIsNotPushedThroughSheets(t *testing.T) {
	w, b := floored(t)
	wall := physics3.Placement{Position: vec{2, 0, 0}, Rotation: [4]float32{2: float32(math.Sqrt(0.5)), 3: float32(math.Sqrt(0.5))}} // it faces -x
	_, err := w.CreateMesh(b, plain, newMesh(gridMesh(10, 20, flat)), wall)
	no(t, err)
	piston := bodyAt(t, w, physics3.KinematicBody, 0, 1, 0)
	block(t, w, piston, vec{}, vec{0.5, 1, 5})
	h := newHero(t, w, 1, tall, 0)
	no(t, w.SetVelocity(piston, vec{1, 0, 0}, vec{}))
	for range 90 {
		no(t, w.Step(dt))
		h.walk(0, 0, 1)
		if h.m.X[0] > 2-0.3 {
			t.Fatalf("pushed to %v", h.at())
		}
	}
	no(t, w.SetTransform(piston, vec{-5, 1, 0}, [4]float32{3: 1}))
	h.walk(0, 0, 30)
	h.expect("free again", vec{2 - 0.305, tall, h.m.Z[0]}, 0.01)
}

func TestMoverWithAnotherUp(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 10})
	block(t, w, static(t, w), vec{-1, 0, 0}, vec{1, 20, 20})
	h := newHero(t, w, 3, 0, 0)
	h.def.Up = vec{2, 0, 0}
	h.def.Capsule = physics3.Capsule{P1: vec{-0.6, 0, 0}, P2: vec{0.6, 0, 0}, Radius: 0.3}
	for range 120 {
		h.m.VX[0], h.m.VY[0], h.m.VZ[0] = h.m.VX[0]-10*dt, 1, 0.5
		no(t, w.Move(&h.def, &h.m, dt))
	}
	h.expect("walks up a wall", vec{tall, 2, 1}, 0.003)
	if !h.stands() {
		t.Error("does not stand")
	}
}

// A character runs over flush triangles as over a plane, also over the seams of tiles and of flush boxes: the height stays to a tenth of a millimetre,
// and the speed to a thousandth.
func TestMoverFeelsNoInnerEdges(t *testing.T) {
	for _, kind := range []string{"mesh", "terrain", "boxes"} {
		for _, angle := range []float64{0, 0.1, 0.7, math.Pi / 4, 1.5} {
			w := emptyWorld(t, physics3.Config{Capacity: 10})
			b := static(t, w)
			switch kind {
			case "mesh":
				_, err := w.CreateMesh(b, plain, newMesh(gridMesh(120, 60, flat)), physics3.Placement{Position: vec{20, 0, 20}})
				no(t, err)
			case "terrain":
				f := newField(fieldDef(11, 11, [2]float32{0.7, 0.5}, func(int, int) float32 { return 0 }))
				var tiles []physics3.TerrainTile
				for i := range 12 {
					for k := range 12 {
						tiles = append(tiles, physics3.TerrainTile{X: i, Z: k, Field: f})
					}
				}
				_, err := w.CreateTerrain(b, plain, newTerrain(t, tiles...), physics3.Placement{Position: vec{-10, 0, -10}})
				no(t, err)
			case "boxes":
				for i := range 12 {
					for k := range 12 {
						block(t, w, b, vec{5*float32(i) - 10, -1, 5*float32(k) - 10}, vec{2.5, 1, 2.5})
					}
				}
			}
			for _, speed := range []float64{1, 7, 50} {
				h := newHero(t, w, 0.01, tall, 0.02)
				h.walk(0, 0, 5)
				from := h.at()
				n := int(min(240, 40/speed*60))
				for i := range n {
					h.walk(float32(speed*math.Cos(angle)), float32(speed*math.Sin(angle)), 1)
					seconds := float64(i+1) / 60
					x, z := float64(from[0])+speed*seconds*math.Cos(angle), float64(from[2])+speed*seconds*math.Sin(angle)
					if off := math.Hypot(float64(h.m.X[0])-x, float64(h.m.Z[0])-z); !h.stands() || math.Abs(float64(h.m.Y[0]-from[1])) > 1e-4 || off > 1e-3*speed*seconds+1e-4 {
						t.Fatalf("%s at %g m/s, angle %g: tick %d at %v, stands %v, %g m off", kind, speed, angle, i, h.at(), h.stands(), off)
					}
				}
			}
		}
	}
}

// A step that is a little lower than StepHeight is climbed at any rate, and one that is a little higher never, however long the hero tries.
func TestMoverStepHeight(t *testing.T) {
	for _, kind := range []string{"box", "mesh"} {
		for _, hertz := range []float32{30, 60, 240} {
			for _, c := range []struct {
				rise   float32
				climbs bool
			}{{0.05, true}, {0.3, true}, {0.39, true}, {0.41, false}, {0.6, false}} {
				for _, vz := range []float32{0, 2, -3} {
					w := emptyWorld(t, physics3.Config{Capacity: 10})
					b := static(t, w)
					if kind == "box" {
						block(t, w, b, vec{0, -1, 0}, vec{40, 1, 40})
						block(t, w, b, vec{20, c.rise - 1, 0}, vec{20, 1, 40})
					} else {
						_, err := w.CreateMesh(b, plain, stairMesh(1, c.rise, 1, 40), physics3.Placement{})
						no(t, err)
					}
					h := caseHero(t, w, vec{-1, tall, 0}, hertz)
					h.walk(2, vz, int(2*hertz))
					if got := h.m.Y[0] > tall+c.rise-0.01; got != c.climbs || h.m.X[0] > 0 != c.climbs || !h.stands() {
						t.Errorf("%s of %g m at %g Hz, vz %g: at %v, stands %v", kind, c.rise, hertz, vz, h.at(), h.stands())
					}
				}
			}
		}
	}
}

// In a funnel of three or more steep planes a hero slides to where it touches three of them, and stays there, whichever way it tries to go.
func TestMoverInFunnels(t *testing.T) {
	for _, sides := range []int{3, 4, 7} {
		for _, kind := range []string{"boxes", "mesh"} {
			w := emptyWorld(t, physics3.Config{Capacity: 10})
			const slope = 60 * math.Pi / 180
			var d physics3.MeshDef
			d.Vertices = append(d.Vertices, vec{})
			for i := range sides {
				a := 2*math.Pi*float64(i)/float64(sides) + 0.2
				if kind == "boxes" { // the top of each box is a plane through the origin that rises along a
					// It is tilted about z, then turned about y by -a.
					sz, cz := math.Sincos(slope / 2)
					sy, cy := math.Sincos(-a / 2)
					q := [4]float32{float32(sy * sz), float32(sy * cz), float32(cy * sz), float32(cy * cz)}
					def := physics3.DefaultBodyDef()
					def.Rotation = q
					block(t, w, bodyOf(t, w, def), vec{0, -0.5, 0}, vec{20, 0.5, 20})
					continue
				}
				far := 10 / math.Cos(math.Pi/float64(sides))
				corner := a + math.Pi/float64(sides)
				d.Vertices = append(d.Vertices, vec{float32(far * math.Cos(corner)), float32(10 * math.Tan(slope)), float32(far * math.Sin(corner))})
				d.Triangles = append(d.Triangles, [3]uint32{0, uint32(i + 1), uint32((i+sides-1)%sides + 1)})
			}
			if kind == "mesh" {
				_, err := w.CreateMesh(static(t, w), plain, newMesh(d), physics3.Placement{})
				no(t, err)
			}
			h := newHero(t, w, 0.7, 4, 0.3)
			h.walk(0, 0, 240)
			want := vec{0, float32(0.305/math.Cos(slope)) + 0.6, 0}
			h.expect(fmt.Sprintf("%d %s: at the bottom", sides, kind), want, 0.01)
			for i := range 12 {
				h.walk(float32(4*math.Cos(float64(i))), float32(4*math.Sin(float64(i))), 10)
				h.expect(fmt.Sprintf("%d %s: heading %d", sides, kind, i), want, 0.02)
			}
		}
	}
}
