package physics

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// MoverDef describes characters that World.Move moves. Start from DefaultMoverDef.
type MoverDef struct {
	// Capsule is the form of a character, around its position.
	Capsule Capsule
	// Up points away from the ground; of any length from 1e-6 to 1e6.
	Up [2]float32
	// MaxSlope is the steepest ground on which it stands, in radians from level: 0 to π/2.
	// Steeper ground is a wall, down which it slides.
	MaxSlope float32
	// StepHeight is the height of the highest step that it climbs without a jump, in metres; not negative. 0: none.
	StepHeight float32
	// SnapDistance is the greatest distance in metres over which it snaps down to ground, if it stood on ground
	// before and does not move up; not negative. 0: it does not snap.
	SnapDistance float32
	// PushForce is the force in N with which it pushes dynamic bodies that are in its way; not
	// negative. 0: they are walls.
	PushForce float32
	// RecoverSpeed is the greatest speed in m/s at which it moves out of shapes that overlap it;
	// not negative.
	RecoverSpeed float32
}

// DefaultMoverDef returns a character of 1.8 m by 0.6 m around its middle that stands on slopes
// of up to 50°, takes steps of 0.35 m, snaps to ground 0.3 m below, pushes nothing,
// and recovers at 10 m/s.
func DefaultMoverDef() MoverDef {
	return MoverDef{
		Capsule: Capsule{P1: [2]float32{0, -0.6}, P2: [2]float32{0, 0.6}, Radius: 0.3},
		Up:      [2]float32{0, 1}, MaxSlope: 50 * math.Pi / 180, StepHeight: 0.35, SnapDistance: 0.3, RecoverSpeed: 10,
	}
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange.
func (d *MoverDef) Validate() error {
	return errors.Join(
		d.Capsule.validate(),
		checkDirection("physics: MoverDef.Up", d.Up),
		check.Between("physics: MoverDef.MaxSlope", d.MaxSlope, 0, math.Pi/2),
		check.Coefficient("physics: MoverDef.StepHeight", d.StepHeight),
		check.Coefficient("physics: MoverDef.SnapDistance", d.SnapDistance),
		check.Coefficient("physics: MoverDef.PushForce", d.PushForce),
		check.Coefficient("physics: MoverDef.RecoverSpeed", d.RecoverSpeed),
	)
}

// Movers is a batch of characters, one per index. Move reads and writes them.
type Movers struct {
	// X and Y are their positions, in metres.
	X, Y []float32
	// VX and VY are their intended velocities, in m/s, relative to the ground on which they stand: walking,
	// falling, jumping. Move replaces them with what obstacles leave of them. Before each Move a program adds gravity to
	// the velocity of characters that do not stand on ground.
	VX, VY []float32
	// Ground is the shape on which each stands, or the zero Shape; GroundX, GroundY are its normal.
	// Ground carries the character along, and so does the belt of a ground with a TangentSpeed. Start with zeros.
	Ground           []Shape
	GroundX, GroundY []float32
	// QueryFilter selects the shapes that are obstacles. Exclude leaves out the body of a
	// character, if it has one.
	QueryFilter
}

// Validate reports the first fault of the batch: a value that is NaN or infinite
// (ErrNotFinite), a coordinate of more than 2^60, a speed of more than 1e6, or a normal of the
// ground of more than 2 along an axis (ErrRange); or a span as in Rays.Validate. It panics if slices differ in length.
func (m *Movers) Validate() error {
	n := len(m.X)
	if len(m.Y) != n || len(m.VX) != n || len(m.VY) != n ||
		len(m.Ground) != n || len(m.GroundX) != n || len(m.GroundY) != n {
		panic("physics: Movers: slices differ in length")
	}
	if err := m.check(n); err != nil {
		return err
	}
	for i := range n {
		for _, c := range [...]struct {
			field string
			value float32
			most  float32
		}{
			{"physics: Movers.X", m.X[i], maxQueryCoordinate}, {"physics: Movers.Y", m.Y[i], maxQueryCoordinate},
			{"physics: Movers.VX", m.VX[i], check.MaxCoefficient}, {"physics: Movers.VY", m.VY[i], check.MaxCoefficient},
			{"physics: Movers.GroundX", m.GroundX[i], 2}, {"physics: Movers.GroundY", m.GroundY[i], 2},
		} {
			if !fault.Finite(c.value) {
				return fault.Element(ErrNotFinite, c.field, i, c.value)
			}
			if c.value > c.most || c.value < -c.most {
				return fault.Element(ErrRange, c.field, i, c.value)
			}
		}
	}
	return nil
}

// Move moves characters by dt seconds, MinStep to MaxStep, through the present world: usually
// after a Step, which has moved the bodies that carry them. They slide along walls and down steep
// slopes, climb steps up and down, keep a distance of rigid.LinearSlop from obstacles, and move
// out of shapes that overlap them. One-way platforms and chains stop them from the front
// only. They ignore each other, unless they have bodies. A character
// whose ground is destroyed, or moves away, falls.
//
// Pushed bodies (MoverDef.PushForce) get their impulses after all characters have moved, in the order of the characters.
// Move changes nothing else of the world.
//
// Errors: those of both Validate methods; ErrRange for dt; ErrStale for an excluded body that is
// destroyed; ErrUnsupported from another engine; and ErrFloatEnv. Then no character has moved, except
// after an ErrFloatEnv of another goroutine.
func (w *World) Move(d *MoverDef, m *Movers, dt float32) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	if err := w.checkStep("physics: Move: dt", dt); err != nil {
		return err
	}
	form, err := CapsuleForm(d.Capsule)
	if err != nil {
		return err
	}
	if err := w.prepareQueries(&m.QueryFilter, len(m.X), moverCost); err != nil {
		return err
	}
	t := &w.solver.queries.movers
	t.begin(w.solver, d, m, &form, dt)
	if err := w.solver.pool.Run((len(m.X)+moverChunk-1)/moverChunk, t); err != nil {
		return err
	}
	t.push()
	return nil
}

// moverChunk is the number of characters that a worker takes at a time.
const moverChunk = 8

// moverTask is a batch of characters.
type moverTask struct {
	s             *solver
	def           MoverDef
	form          Form
	m             *Movers
	dt            float32
	up            rigid.Vec
	minWalkCosine float32     // least cosine of the slope of walkable ground
	foot          float32     // position of the lowest point along up; negative below the position
	walkers       []walker    // by worker
	pushes        []moverPush // by character
}

// moverPush is the contact with a body that a character has run into.
type moverPush struct {
	shape         uint32
	normal, point rigid.Vec
}

func (t *moverTask) begin(s *solver, d *MoverDef, m *Movers, form *Form, dt float32) {
	t.s, t.def, t.m, t.form, t.dt = s, *d, m, *form, dt
	x, y := d.Up[0], d.Up[1]
	inv := 1 / sqrt(float32(x*x)+float32(y*y))
	t.up = rigid.Vec{X: float32(x * inv), Y: float32(y * inv)}
	_, cos := rigid.SinCos(d.MaxSlope)
	t.minWalkCosine = cos - 1e-4 // a slope of exactly the greatest angle stays walkable despite rounding
	p, q := dot(vecOf(d.Capsule.P1), t.up), dot(vecOf(d.Capsule.P2), t.up)
	t.foot = min(p, q) - d.Capsule.Radius
	if workers := s.pool.Workers(); len(t.walkers) != workers {
		t.walkers = make([]walker, workers)
	}
	t.pushes = buffer.Resized(t.pushes, len(m.X))
}

// Do moves one chunk; it implements native.Task.
func (t *moverTask) Do(worker, chunk int) {
	for i := chunk * moverChunk; i < min((chunk+1)*moverChunk, len(t.m.X)); i++ {
		t.walkers[worker].move(t, i)
	}
}

var _ native.Task = (*moverTask)(nil)

// push applies impulses to the bodies into which characters have run.
func (t *moverTask) push() {
	if t.def.PushForce == 0 {
		return
	}
	for i := range t.pushes {
		p := &t.pushes[i]
		if p.shape == rigid.NoShape {
			continue
		}
		body := int(t.s.shapeTable.Owner[p.shape])
		j := float32(t.def.PushForce * t.dt)
		// A body whose velocity would overflow is not pushed.
		_ = t.s.ApplyLinearImpulse(body, [2]float32{float32(-p.normal.X * j), float32(-p.normal.Y * j)},
			[2]float32{p.point.X, p.point.Y})
	}
}

func dot(a, b rigid.Vec) float32 { return float32(a.X*b.X) + float32(a.Y*b.Y) }

func add(a, b rigid.Vec) rigid.Vec { return rigid.Vec{X: a.X + b.X, Y: a.Y + b.Y} }

func sub(a, b rigid.Vec) rigid.Vec { return rigid.Vec{X: a.X - b.X, Y: a.Y - b.Y} }

func scale(a rigid.Vec, k float32) rigid.Vec {
	return rigid.Vec{X: float32(a.X * k), Y: float32(a.Y * k)}
}

func length(a rigid.Vec) float32 { return sqrt(dot(a, a)) }
