package inspect_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

// yard is a Sim with bodies in space of every kind, and entities without bodies. Its hp is the order in which the entities were made.
type yard struct {
	sim    *evertick.Sim
	bodies *space.Bodies
	hp     *ecs.Column[float32]
	err    error
}

func newYard(boxes int) (*yard, error) {
	sim, err := evertick.New(evertick.Config{Capacity: boxes + 200})
	if err != nil {
		return nil, err
	}
	hp, err := ecs.AddColumn[float32](sim.World, "hp")
	if err != nil {
		return nil, err
	}
	b, err := space.Attach(sim, physics3.Config{Gravity: [3]float32{0, -10, 0}, Capacity: boxes + 400})
	return &yard{sim: sim, bodies: b, hp: hp, err: err}, err
}

// keep keeps the first error.
func (y *yard) keep(err error) {
	if y.err == nil {
		y.err = err
	}
}

// add makes an entity with a body.
func (y *yard) add(t physics3.BodyType, at [3]float32) physics3.Body {
	id, slot, err := y.sim.World.SpawnSlot()
	y.keep(err)
	def := physics3.DefaultBodyDef()
	def.Type, def.Position = t, at
	body, err := y.bodies.Create(id, def)
	y.keep(err)
	if err == nil {
		y.hp.Values()[slot] = float32(slot)
	}
	return body
}

func (y *yard) box(t physics3.BodyType, at, half [3]float32) physics3.Body {
	body := y.add(t, at)
	_, err := y.bodies.World().CreateBox(body, physics3.DefaultShapeDef(), physics3.Box{Half: half})
	y.keep(err)
	return body
}

// ground makes hills, and a ramp of triangles.
func (y *yard) ground() {
	const n = 49
	heights := make([]float32, n*n)
	for i := range heights {
		x, z := float64(i%n-n/2), float64(i/n-n/2)
		heights[i] = float32(max(0, math.Hypot(x, z)-14) * 0.12 * (1 + 0.5*math.Sin(x/3)*math.Cos(z/4)))
	}
	field, err := physics3.NewHeightField(physics3.HeightFieldDef{Width: n, Depth: n, Cell: [2]float32{1, 1}, Heights: heights})
	y.keep(err)
	ramp, _, err2 := physics3.NewMesh(physics3.MeshDef{
		Vertices:  [][3]float32{{0, 0, 0}, {4, 0, 0}, {4, 0, 3}, {0, 0, 3}, {4, 2, 0}, {4, 2, 3}},
		Triangles: [][3]uint32{{0, 5, 4}, {0, 3, 5}, {1, 4, 5}, {1, 5, 2}, {0, 4, 1}, {3, 2, 5}},
	})
	y.keep(err2)
	w, shape := y.bodies.World(), physics3.DefaultShapeDef()
	def := physics3.DefaultBodyDef()
	ground, err3 := w.CreateBody(def)
	y.keep(err3)
	if y.err != nil {
		return
	}
	_, err = w.CreateHeightField(ground, shape, field, physics3.Placement{Position: [3]float32{-n / 2, 0, -n / 2}})
	y.keep(err)
	_, err = w.CreateMesh(ground, shape, ramp, physics3.Placement{Position: [3]float32{5, 0, -6}})
	y.keep(err)
}

// crowd makes a pyramid of boxes, balls, capsules, hulls, a chain with joints, a sensor, and points without bodies.
func (y *yard) crowd() {
	w, shape := y.bodies.World(), physics3.DefaultShapeDef()
	for row := range 6 {
		for i := range 6 - row {
			y.box(physics3.DynamicBody, [3]float32{float32(i) + 0.5*float32(row) - 8, 0.5 + float32(row), -3}, [3]float32{0.5, 0.5, 0.5})
		}
	}
	hull, err := physics3.NewHull([][3]float32{{0.6, 0, 0}, {-0.6, 0, 0}, {0, 0.7, 0}, {0, -0.7, 0}, {0, 0, 0.6}, {0, 0, -0.6}, {0.4, 0.4, 0.4}, {-0.4, 0.4, -0.4}}, physics3.HullOptions{})
	y.keep(err)
	for i := range 12 {
		at := [3]float32{float32(i%4)*1.6 - 3, 2 + float32(i/4)*2, float32(i/4)*1.7 + 1}
		body := y.add(physics3.DynamicBody, at)
		switch i % 3 {
		case 0:
			_, err = w.CreateSphere(body, shape, physics3.Sphere{Radius: 0.55})
		case 1:
			_, err = w.CreateCapsule(body, shape, physics3.Capsule{P1: [3]float32{-0.5, 0, 0.2}, P2: [3]float32{0.5, 0.2, 0}, Radius: 0.35})
		default:
			_, err = w.CreateHull(body, shape, hull, physics3.Placement{})
		}
		y.keep(err)
	}
	before := y.box(physics3.StaticBody, [3]float32{4, 7, 3}, [3]float32{0.3, 0.3, 0.3})
	for i := range 6 {
		body := y.add(physics3.DynamicBody, [3]float32{4 + 0.9*float32(i+1), 7, 3})
		_, err = w.CreateCapsule(body, shape, physics3.Capsule{P1: [3]float32{-0.3, 0, 0}, P2: [3]float32{0.3, 0, 0}, Radius: 0.15})
		y.keep(err)
		d := physics3.SphericalJointDef{JointDef: physics3.JointDef{BodyA: before, BodyB: body,
			FrameA: physics3.JointFrame{Point: [3]float32{0.45, 0, 0}}, FrameB: physics3.JointFrame{Point: [3]float32{-0.45, 0, 0}}}}
		_, err = w.CreateJoint(&d)
		y.keep(err)
		before = body
	}
	sensor := shape
	sensor.Sensor = true
	zone := y.add(physics3.StaticBody, [3]float32{-1, 1.5, 6})
	_, err = w.CreateBox(zone, sensor, physics3.Box{Half: [3]float32{2, 1.5, 1.5}})
	y.keep(err)
	for i := range 40 {
		_, slot, err := y.sim.World.SpawnSlot()
		y.keep(err)
		p := &y.sim.World.Position
		a := float64(i) * math.Pi / 20
		p.X[slot], p.Y[slot], p.Z[slot] = float32(9*math.Cos(a)), 4+float32(math.Sin(3*a)), float32(9*math.Sin(a))
		y.hp.Values()[slot] = float32(slot)
	}
}

// fullYard is a yard with everything.
func fullYard() (*evertick.Sim, error) {
	y, err := newYard(0)
	if err != nil {
		return nil, err
	}
	y.ground()
	y.crowd()
	return y.sim, y.err
}

// wall is a yard of n boxes on a floor.
func wall(n int) (*evertick.Sim, error) {
	y, err := newYard(n)
	if err != nil {
		return nil, err
	}
	side := 1
	for side*side*side < n {
		side++
	}
	y.box(physics3.StaticBody, [3]float32{0, -1, 0}, [3]float32{float32(2 * side), 1, float32(2 * side)})
	for i := range n {
		at := [3]float32{float32(i%side) * 1.2, 0.5 + float32(i/side/side)*1.01, float32(i/side%side) * 1.2}
		for k := range 3 {
			if k != 1 {
				at[k] -= 0.6 * float32(side)
			}
		}
		y.box(physics3.DynamicBody, at, [3]float32{0.5, 0.5, 0.5})
	}
	return y.sim, y.err
}

// drawnInSpace waits until frames have been drawn, with all geometries.
func drawnInSpace(p *browser.Page, frames int) {
	p.Wait(fmt.Sprintf("window.evertickPage?.view3 && evertickPage.view3.stats.drawMs.length >= %d && evertickPage.view3.stats.uploadMs.length >= %d && !evertickPage.view3.missing()", frames, frames))
}

// Bodies in space appear, in both themes, on wide and narrow windows. EVERTICK_SCREENSHOTS keeps the pictures.
func TestSpaceInABrowser(t *testing.T) {
	p := browser.StartGL(t, "the world in space")
	p.Resize(1440, 900)
	sim, err := fullYard()
	p.Open(shown(t, sim, err))
	drawnInSpace(p, 10)
	for _, width := range []int{1440, 390} {
		p.Resize(width, 900)
		for _, theme := range []string{"light", "dark"} {
			p.Theme(theme)
			p.Settle()
			if share := inked(p.Image("#world3")); share < 0.25 {
				t.Errorf("%s, %d pixels: %.3f of the picture differ from its background", theme, width, share)
			}
			if bad := p.Illegible(20); bad != "" {
				t.Errorf("%s, %d pixels: %s", theme, width, bad)
			}
			p.Screenshot(fmt.Sprintf("space-%s-%d", theme, width))
		}
	}
	quiet(p)
}
