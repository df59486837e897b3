package physics3_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// paving is a floor of tiles side by side: its top is the plane y = 0 of its frame.
type paving struct {
	name   string
	bodies bool    // a body for each tile
	hulls  bool    // tiles are hulls
	bricks bool    // each second row is moved by half a tile
	wall   bool    // the tops look towards +z
	turn   float64 // of the frame about the vertical axis
}

func pavings() []paving {
	return []paving{
		{name: "static bodies", bodies: true},
		{name: "one body"},
		{name: "hulls", bodies: true, hulls: true},
		{name: "hulls of one body", hulls: true},
		{name: "bricks", bodies: true, bricks: true},
		{name: "turned", bodies: true, turn: 0.5},
		{name: "turned hulls", hulls: true, turn: -1.1, bricks: true},
		{name: "wall", bodies: true, wall: true},
	}
}

const tile = 2 // metres: the length of a tile along x, and across

// frame returns a place and a direction of the frame in the world, and the rotation of it.
func (p paving) frame(at vec) vec {
	if p.wall {
		at = vec{at[0], -at[2], at[1]} // y to z
	}
	sin, cos := math.Sincos(p.turn)
	s, c := float32(sin), float32(cos)
	return vec{c*at[0] + s*at[2], at[1], -s*at[0] + c*at[2]}
}

func (p paving) up() vec { return p.frame(vec{0, 1, 0}) }

func (p paving) rotation() [4]float32 {
	half := p.turn / 2
	return [4]float32{0, float32(math.Sin(half)), 0, float32(math.Cos(half))}
}

// lay makes n rows of 9 tiles.
func (p paving) lay(t testing.TB, w *physics3.World, d physics3.ShapeDef, n int) {
	t.Helper()
	half := vec{tile / 2, 0.25, tile / 2}
	if p.wall {
		half = vec{half[0], half[2], half[1]}
	}
	body := bodyOf(t, w, physics3.DefaultBodyDef())
	for row := range n {
		for k := range 9 {
			z := float32(k-4) * tile
			if p.bricks && row%2 == 1 {
				z += tile / 2
			}
			at := p.frame(vec{float32(row) * tile, -0.25, z})
			place := physics3.Placement{Position: at, Rotation: p.rotation()}
			if p.bodies {
				def := physics3.DefaultBodyDef()
				def.Position, def.Rotation = at, p.rotation()
				body, place = bodyOf(t, w, def), physics3.Placement{}
			}
			if p.hulls {
				x, y, z := half[0], half[1], half[2]
				h := newHull(0, vec{-x, -y, -z}, vec{x, -y, -z}, vec{-x, y, -z}, vec{x, y, -z}, vec{-x, -y, z}, vec{x, -y, z}, vec{-x, y, z}, vec{x, y, z})
				must[physics3.Shape](t)(w.CreateHull(body, d, h, place))
			} else {
				must[physics3.Shape](t)(w.CreateBox(body, d, physics3.Box{Half: half, Center: place.Position, Rotation: place.Rotation}))
			}
		}
	}
}

func dot3(a, b vec) float32 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func times(a vec, f float32) vec { return vec{a[0] * f, a[1] * f, a[2] * f} }

// slider makes one of five bodies that lies on a paving at a place of its frame.
func (p paving) slider(t testing.TB, w *physics3.World, d physics3.ShapeDef, kind int, x, z float32) physics3.Body {
	t.Helper()
	height := []float32{0.4, 0.3, 0.3, 0.4, 0.3}[kind]
	def := dynamicAt(0, 0, 0)
	def.Position, def.Rotation = p.frame(vec{x, height, z}), p.rotation()
	b := bodyOf(t, w, def)
	half, along := vec{0.5, 0.3, 0.4}, vec{0, 0, 0.5}
	if p.wall {
		half, along = vec{0.5, 0.4, 0.3}, vec{0, 0.5, 0}
	}
	switch kind {
	case 0:
		sphere(t, w, b, d, 0.4)
	case 1:
		must[physics3.Shape](t)(w.CreateCapsule(b, d, physics3.Capsule{P1: times(along, -1), P2: along, Radius: 0.3}))
	case 2:
		box(t, w, b, d, half[0], half[1], half[2])
	case 3:
		must[physics3.Shape](t)(w.CreateHull(b, d, cube, physics3.Placement{}))
	case 4: // a box that is larger than a tile
		must[physics3.Shape](t)(w.CreateBox(b, d, physics3.Box{Half: vec{1.3, 0.3, 1.2}}))
	}
	return b
}

// Nothing bumps over seams: not a millimetre per second across the floor, and no loss of speed along it.
func TestNoBumpsOverSeams(t *testing.T) {
	slippery := plain
	slippery.Friction = 0
	for _, p := range pavings() {
		for _, speed := range []float32{1, 5, 20, 50} {
			ticks, rows := 90, 6
			if speed > 1 {
				ticks = min(int(60*36/speed), 120)
				rows = 2 + int(float32(ticks)/60*speed/tile) + 4
			}
			if testing.Short() && (speed == 5 || ticks > 100) {
				ticks = min(ticks, 60)
			}
			w := emptyWorld(t, physics3.Config{Capacity: 9*rows + 10, Gravity: times(p.up(), -10), DisableSleep: true})
			p.lay(t, w, slippery, rows)
			var bodies []physics3.Body
			for kind := range 5 {
				if kind < 4 || !p.wall {
					bodies = append(bodies, p.slider(t, w, slippery, kind, 2, 3.1*float32(kind-2)))
				}
			}
			steps(t, w, 40)
			for i, b := range bodies {
				no(t, w.SetVelocity(b, p.frame(vec{speed, 0, 0.02 * float32(i-2) * min(speed, 5)}), vec{}))
			}
			worst, slowest := make([]float32, len(bodies)), make([]float32, len(bodies))
			for i := range slowest {
				slowest[i] = speed
			}
			for step := range ticks {
				steps(t, w, 1)
				for i, b := range bodies {
					v := speedOf(t, w, b)
					rise := dot3(v, p.up())
					if worst[i] = max(worst[i], rise, -rise); worst[i] > 1e-3 {
						t.Fatalf("%s, %g m/s: step %d: body %d at %v moves up or down at %g m/s", p.name, speed, step, i, position(t, w, b), worst[i])
					}
					slowest[i] = min(slowest[i], dot3(v, p.frame(vec{1, 0, 0})))
					if len(must[[]physics3.Touch](t)(w.AppendContacts(nil, b))) == 0 {
						t.Fatalf("%s, %g m/s: step %d: body %d touches nothing", p.name, speed, step, i)
					}
					for _, c := range must[[]physics3.ContactData](t)(w.AppendContactData(nil, b)) {
						if up := dot3(c.Normal, p.up()); c.Count > 0 && max(up, -up) < 0.9999 {
							t.Fatalf("%s, %g m/s: step %d: contact of body %d: %+v", p.name, speed, step, i, c)
						}
					}
				}
			}
			for i, v := range slowest {
				if v < speed*0.9999 {
					t.Errorf("%s, %g m/s: body %d slows down to %g m/s", p.name, speed, i, v)
				}
			}
		}
	}
}

// At the end of a row bodies fall, as from one box, and a step that is higher than the slop stops what is on a face.
func TestSeamsEndWhereTheRowEnds(t *testing.T) {
	slippery := plain
	slippery.Friction = 0
	for _, step := range []float32{-1, 0, 0.004, 0.0065, 0.01, 0.05, 0.24, 0.4} { // -1: no third tile
		for kind := range 4 {
			w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{0, -10, 0}, DisableSleep: true})
			for k := range 3 {
				if k < 2 || step >= 0 {
					top := max(step, 0) * float32(k/2)
					box(t, w, bodyAt(t, w, physics3.StaticBody, tile*float32(k), -0.5+top, 0), slippery, tile/2, 0.5, tile/2)
				}
			}
			b := paving{}.slider(t, w, slippery, kind, 0, 0)
			steps(t, w, 40)
			no(t, w.SetVelocity(b, vec{2, 0, 0}, vec{}))
			no(t, w.SetMotionLocks(b, physics3.MotionLocks{Rotation: true})) // so that it does not tip over a low step
			from := position(t, w, b)
			steps(t, w, 150)
			p := position(t, w, b)
			flat := kind >= 2
			switch {
			case step < 0 && p[1] > -0.5:
				t.Errorf("body %d is at %v, beyond the end of the row", kind, p)
			case step >= 0 && step < 0.005 && !(p[0] > 3.9):
				t.Errorf("body %d: a step of %g m stops it at %v", kind, step, p)
			case step > 0.005 && flat && !(p[0] < 2.61):
				t.Errorf("body %d: a step of %g m does not stop it: %v", kind, step, p)
			case step > 0.3 && !(p[0] < 3):
				t.Errorf("body %d: a step of %g m does not stop it: %v", kind, step, p)
			case step >= 0 && p[0] < 2.61 && math.Abs(float64(p[1]-from[1])) > 1e-3:
				t.Errorf("body %d: before a step of %g m it is at %v, and was at %v", kind, step, p, from)
			}
		}
	}
}

// Whatever falls on a seam, with a corner or an edge exactly on it, stays on the floor.
func TestNothingSinksIntoASeam(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 41))
	for _, p := range pavings() {
		if p.wall {
			continue
		}
		n := paritytest.Rounds(400) / 10
		w := emptyWorld(t, physics3.Config{Capacity: 9*6 + n + 2, Gravity: vec{0, -10, 0}, DisableSleep: true})
		p.lay(t, w, plain, 6)
		var bodies []physics3.Body
		for i := range n {
			d := dynamicAt(0, 0, 0)
			// Above a corner of four tiles, or the middle of a seam.
			at := vec{1 + tile*float32(i%5), 1.2 + float32(i/15), float32(i/5%3) * tile / 2}
			d.Position, d.LinearVelocity = p.frame(at), vec{0, -5 * float32(i%4), 0}
			b := addProjectile(t, w, rng, 1+i%3, d)
			if i%2 == 0 { // on a corner
				no(t, w.SetTransform(b, d.Position, [4]float32{0.3647052, 0, 0.2798481, 0.8880738}))
			}
			bodies = append(bodies, b)
		}
		for step := range 90 {
			steps(t, w, 1)
			for i, b := range bodies {
				if c := must[vec](t)(w.WorldCenter(b)); c[1] < 0 && onPaving(p, c) {
					t.Fatalf("%s: step %d: body %d is at %v (seed %d)", p.name, step, i, c, paritytest.Seed())
				}
			}
		}
	}
}

// onPaving reports whether a place is above or below the inner part of six rows of tiles.
func onPaving(p paving, at vec) bool {
	back := p
	back.turn = -p.turn
	at = back.frame(at)
	return at[0] > -0.8 && at[0] < 10.8 && at[2] > -7.5 && at[2] < 7.5
}

// A load on a platform of two bodies that move on their own accord has contacts with each side: these are not joined.
func TestMovingBodiesAreNotJoined(t *testing.T) {
	slippery := plain
	slippery.Friction = 0
	for _, together := range []bool{true, false} {
		w := emptyWorld(t, physics3.Config{Capacity: 10, Gravity: vec{0, -10, 0}, DisableSleep: true})
		cart := bodyAt(t, w, physics3.KinematicBody, 0, 0, 0)
		for k := range 3 {
			if !together && k > 0 {
				cart = bodyAt(t, w, physics3.KinematicBody, 0, 0, 0)
			}
			must[physics3.Shape](t)(w.CreateBox(cart, slippery, physics3.Box{Half: vec{1, 0.5, 1}, Center: vec{2 * float32(k), -0.5, 0}}))
		}
		b := paving{}.slider(t, w, slippery, 2, 0, 0)
		steps(t, w, 40)
		no(t, w.SetVelocity(b, vec{1, 0, 0}, vec{}))
		steps(t, w, 180)
		if p := position(t, w, b); together != (p[0] > 2.9) {
			t.Errorf("one body %v: the box is at %v", together, p)
		}
	}
}
