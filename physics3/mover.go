package physics3

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/native"
)

// MoverDef describes characters that World.Move moves. Start from DefaultMoverDef.
type MoverDef struct {
	// Capsule is the form of a character, around its position. Of its two ends, the foot is that which is lower along Up, or P1 if both are
	// equally high.
	Capsule Capsule
	// Up points away from the ground; of any length from 1e-6 to 1e6.
	Up [3]float32
	// MaxSlope is the steepest ground on which it stands, in radians from level: 0 to π/2. Steeper ground is a wall, down which it slides.
	MaxSlope float32
	// StepHeight is the height of the highest step that it climbs without a jump, in metres; not negative. 0: none.
	StepHeight float32
	// SnapDistance is the greatest distance in metres over which it snaps down to ground, if it stood on ground before and does not move up; not
	// negative. 0: it does not snap.
	SnapDistance float32
	// PushForce is the force in N with which it pushes dynamic bodies that are in its way; not negative. 0: they are walls.
	PushForce float32
	// RecoverSpeed is the greatest speed in m/s at which it moves out of shapes that overlap it; not negative.
	RecoverSpeed float32
}

// DefaultMoverDef returns a character of 1.8 m by 0.6 m around its middle, upright along y, that stands on slopes of up to 50°, takes steps of 0.35 m,
// snaps to ground 0.3 m below, pushes nothing, and recovers at 10 m/s.
func DefaultMoverDef() MoverDef {
	return MoverDef{
		Capsule: Capsule{P1: [3]float32{0, -0.6, 0}, P2: [3]float32{0, 0.6, 0}, Radius: 0.3},
		Up:      [3]float32{0, 1, 0}, MaxSlope: 50 * math.Pi / 180, StepHeight: 0.35, SnapDistance: 0.3, RecoverSpeed: 10,
	}
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange.
func (d *MoverDef) Validate() error {
	_, err := d.Capsule.geometry()
	return errors.Join(
		err,
		checkDirection("physics3: MoverDef.Up", d.Up),
		check.Between("physics3: MoverDef.MaxSlope", d.MaxSlope, 0, math.Pi/2),
		check.Coefficient("physics3: MoverDef.StepHeight", d.StepHeight),
		check.Coefficient("physics3: MoverDef.SnapDistance", d.SnapDistance),
		check.Coefficient("physics3: MoverDef.PushForce", d.PushForce),
		check.Coefficient("physics3: MoverDef.RecoverSpeed", d.RecoverSpeed),
	)
}

// checkDirection checks a vector of any length from 1e-6 to 1e6.
func checkDirection(field string, d [3]float32) error {
	for _, v := range d {
		if !fault.Finite(v) {
			return fault.Field(ErrNotFinite, field, d)
		}
	}
	v := vecOf(d)
	if most := largest(d); !(most <= check.MaxCoefficient) || v.Dot(v) < 1e-12 {
		return fault.Field(ErrRange, field, d)
	}
	return nil
}

// Movers is a batch of characters, one per index. Move reads and writes them. All that decides how they move is in these columns and in the world: the
// program keeps the columns, and saves them with the world if it wants to come back.
type Movers struct {
	// X, Y and Z are their positions, in metres.
	X, Y, Z []float32
	// VX, VY and VZ are their intended velocities, in m/s, relative to the ground on which they stand, or which they left: walking, falling,
	// jumping. Move replaces them with what obstacles leave of them. Before each Move a program adds gravity to the velocity of characters that do not
	// stand on ground.
	VX, VY, VZ []float32
	// Ground is the shape on which each stands, or the zero Shape; GroundX, GroundY and GroundZ are its normal. Ground carries the character along,
	// also where it turns, and so does the belt of a ground with a TangentVelocity. Start with zeros.
	Ground                    []Shape
	GroundX, GroundY, GroundZ []float32
	// GroundVX, GroundVY and GroundVZ are the velocity of the ground below the character, in m/s. A character that leaves its ground keeps
	// that velocity, to which its own is added, until it meets an obstacle or lands. Start with zeros.
	GroundVX, GroundVY, GroundVZ []float32
	// Height is how tall each character is, in metres, along the axis of the capsule, whose foot stays where it is; at least twice the radius, at most
	// 2^20. Move changes it to TargetHeight: at once if that is less, and otherwise as soon as there is room. Nil, both: that of the Capsule.
	Height, TargetHeight []float32
	// QueryFilter selects the shapes that are obstacles. Exclude leaves out the body of a character, if it has one, and the bodies
	// that pass through that body: see World.IgnorePair and the joints.
	QueryFilter
}

// Validate reports the first fault of the batch: a value that is NaN or infinite (ErrNotFinite), a coordinate of more than 2^60, a speed of more
// than 1e6, or a normal of the ground of more than 2 along an axis (ErrRange). It panics if slices differ in length. Move checks the heights, too.
func (m *Movers) Validate() error {
	n := len(m.X)
	columns := m.columns()
	for k := range columns {
		if len(columns[k].values) != n {
			panic("physics3: Movers: slices differ in length")
		}
	}
	if len(m.Ground) != n || m.Height != nil && len(m.Height) != n || (m.Height == nil) != (m.TargetHeight == nil) ||
		m.TargetHeight != nil && len(m.TargetHeight) != n {
		panic("physics3: Movers: slices differ in length")
	}
	m.check(n)
	for i := range n {
		for k := range columns {
			c := &columns[k]
			if v := c.values[i]; !(v <= c.most && v >= -c.most) {
				if !fault.Finite(v) {
					return fault.Element(ErrNotFinite, c.field, i, v)
				}
				return fault.Element(ErrRange, c.field, i, v)
			}
		}
	}
	return nil
}

type moverColumn struct {
	field  string
	values []float32
	most   float32
}

func (m *Movers) columns() [12]moverColumn {
	return [12]moverColumn{
		{"physics3: Movers.X", m.X, maxQueryCoordinate}, {"physics3: Movers.Y", m.Y, maxQueryCoordinate}, {"physics3: Movers.Z", m.Z, maxQueryCoordinate},
		{"physics3: Movers.VX", m.VX, check.MaxCoefficient}, {"physics3: Movers.VY", m.VY, check.MaxCoefficient}, {"physics3: Movers.VZ", m.VZ, check.MaxCoefficient},
		{"physics3: Movers.GroundX", m.GroundX, 2}, {"physics3: Movers.GroundY", m.GroundY, 2}, {"physics3: Movers.GroundZ", m.GroundZ, 2},
		{"physics3: Movers.GroundVX", m.GroundVX, check.MaxCoefficient}, {"physics3: Movers.GroundVY", m.GroundVY, check.MaxCoefficient},
		{"physics3: Movers.GroundVZ", m.GroundVZ, check.MaxCoefficient},
	}
}

// checkHeights returns the first height that is less than twice a radius, or too large.
func (m *Movers) checkHeights(radius float32) error {
	for k, heights := range [2][]float32{m.Height, m.TargetHeight} {
		field := [2]string{"physics3: Movers.Height", "physics3: Movers.TargetHeight"}[k]
		for i, v := range heights {
			if !fault.Finite(v) {
				return fault.Element(ErrNotFinite, field, i, v)
			}
			if v < 2*radius || v > maxCoordinate {
				return fault.Element(ErrRange, field, i, v)
			}
		}
	}
	return nil
}

// Move moves characters by dt seconds, MinStep to MaxStep, through the present world: usually after a Step, which has moved the bodies that carry
// them. They slide along walls and down steep slopes, climb steps up and down, keep a distance of 5 mm from obstacles, and move out of shapes that
// overlap them, but not through others. They ignore each other, unless they have bodies. A character whose ground is destroyed, or moves away, falls.
//
// A triangle stops a character whose middle is on its front side, or at most 5 mm beyond it. One of a two-sided mesh stops it on either side.
//
// Pushed bodies (MoverDef.PushForce) get their impulses after all characters have moved, in the order of the characters. Move changes nothing else of
// the world.
//
// Errors: those of both Validate methods; ErrNotFinite or ErrRange for a height; ErrRange for dt; ErrStale for an excluded body that is destroyed;
// and ErrFloatEnv. Then no character has moved, except after an ErrFloatEnv of another goroutine.
func (w *World) Move(d *MoverDef, m *Movers, dt float32) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	if err := m.checkHeights(d.Capsule.Radius); err != nil {
		return err
	}
	if err := checkStep("physics3: Move: dt", dt); err != nil {
		return err
	}
	if err := w.prepareQueries(&m.QueryFilter, len(m.X)); err != nil {
		return err
	}
	t := &w.solver.queries.movers
	t.begin(w.solver, d, m, dt)
	if err := w.solver.pool.Run((len(m.X)+moverChunk-1)/moverChunk, t); err != nil {
		return err
	}
	t.push()
	t.m = nil
	return nil
}

// moverChunk is the number of characters that a worker takes at a time.
const moverChunk = 8

// moverTask is a batch of characters.
type moverTask struct {
	s       *solver
	m       *Movers
	force   float32 // PushForce times the time
	rules   rigid3.WalkRules
	scene   rigid3.WalkScene
	like    rigid3.Walk     // what all characters share
	walkers []rigid3.Walker // by worker
	walks   []rigid3.Walk   // by worker
	pushes  []moverPush     // by character
}

// moverPush is the contact with a body that a character has run into.
type moverPush struct {
	shape         uint32
	normal, point rigid3.Vec
}

func (t *moverTask) begin(s *solver, d *MoverDef, m *Movers, dt float32) {
	t.s, t.m, t.force = s, m, float32(d.PushForce*dt)
	_, cos := trig.SinCos(d.MaxSlope)
	t.rules = rigid3.WalkRules{
		Up:            unitVector(vecOf(d.Up)),
		MinWalkCosine: float64(cos) - 1e-4, // a slope of exactly the greatest angle stays walkable despite rounding
		StepHeight:    float64(d.StepHeight), SnapDistance: float64(d.SnapDistance), RecoverSpeed: float64(d.RecoverSpeed),
		Dt: float64(dt), SubSteps: s.sys.SubSteps,
	}
	c, q := s.cols, &s.queries
	t.scene = rigid3.WalkScene{
		Tree: &q.tree, Poses: q.poses, Bodies: s.shapes.filters.Body,
		V: [3][]float32{c.VX, c.VY, c.VZ}, W: [3][]float32{c.WX, c.WY, c.WZ}, InvMass: c.InvMass, Belts: s.shapes.belt,
	}
	if s.ignoresPairs() {
		t.scene.Passes = s.bodiesIgnoredJob
	}
	low, high := vecOf(d.Capsule.P1), vecOf(d.Capsule.P2)
	if high.Dot(t.rules.Up) < low.Dot(t.rules.Up) {
		low, high = high, low
	}
	axis := high.Sub(low)
	height := float32(math.Sqrt(float64(axis.Dot(axis)))) + float32(2*d.Capsule.Radius)
	t.like = rigid3.Walk{Low: low, Axis: unitVector(axis), Height: height, TargetHeight: height, Radius: d.Capsule.Radius}
	if workers := s.pool.Workers(); len(t.walkers) != workers {
		t.walkers, t.walks = make([]rigid3.Walker, workers), make([]rigid3.Walk, workers)
	}
	t.pushes = buffer.Resized(t.pushes, len(m.X))
}

// unitVector returns a vector of length one; that of its argument is at least 1e-6.
func unitVector(v rigid3.Vec) rigid3.Vec {
	x, y, z := float64(v.X), float64(v.Y), float64(v.Z)
	l := math.Sqrt((float64(x*x) + float64(y*y)) + float64(z*z))
	return rigid3.Vec{X: float32(x / l), Y: float32(y / l), Z: float32(z / l)}
}

// Do moves one chunk; it implements native.Task.
func (t *moverTask) Do(worker, chunk int) {
	for i := chunk * moverChunk; i < min((chunk+1)*moverChunk, len(t.m.X)); i++ {
		t.move(&t.walkers[worker], &t.walks[worker], i)
	}
}

var _ native.Task = (*moverTask)(nil)

// move moves one character.
func (t *moverTask) move(w *rigid3.Walker, c *rigid3.Walk, i int) {
	m, s := t.m, t.s
	*c = t.like
	c.P, c.V = rigid3.Vec{X: m.X[i], Y: m.Y[i], Z: m.Z[i]}, rigid3.Vec{X: m.VX[i], Y: m.VY[i], Z: m.VZ[i]}
	c.Normal, c.GroundV = rigid3.Vec{X: m.GroundX[i], Y: m.GroundY[i], Z: m.GroundZ[i]}, rigid3.Vec{X: m.GroundVX[i], Y: m.GroundVY[i], Z: m.GroundVZ[i]}
	c.Ground = rigid3.NoShape
	if g := m.Ground[i]; g != (Shape{}) && s.shapeTable.IDs.Holds(g.index, g.generation) {
		c.Ground = g.index
	}
	if m.Height != nil {
		c.Height, c.TargetHeight = m.Height[i], m.TargetHeight[i]
	}
	m.set(&c.Filter, i, true)
	w.Move(&t.scene, &t.rules, c)
	m.X[i], m.Y[i], m.Z[i], m.VX[i], m.VY[i], m.VZ[i] = c.P.X, c.P.Y, c.P.Z, c.V.X, c.V.Y, c.V.Z
	m.Ground[i] = s.presentHandle(c.Ground)
	m.GroundX[i], m.GroundY[i], m.GroundZ[i] = c.Normal.X, c.Normal.Y, c.Normal.Z
	m.GroundVX[i], m.GroundVY[i], m.GroundVZ[i] = c.GroundV.X, c.GroundV.Y, c.GroundV.Z
	if m.Height != nil {
		m.Height[i] = c.Height
	}
	t.pushes[i] = moverPush{c.Pushed, c.PushNormal, c.PushedAt}
}

// push applies impulses to the bodies into which characters have run.
func (t *moverTask) push() {
	if t.force == 0 {
		return
	}
	for i := range t.pushes {
		p := &t.pushes[i]
		if p.shape == rigid3.NoShape {
			continue
		}
		body := int(t.s.shapeTable.Owner[p.shape])
		j := p.normal.Times(-t.force)
		// A body whose velocity would overflow is not pushed.
		t.s.applyImpulse(body, j, t.s.leverArm(body, arrayOf(p.point)).Cross(j))
	}
}
