package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/graph"
)

// Params apply to all contacts and bodies of a step. The zero value has no gravity and the defaults of the fields.
type Params struct {
	Gravity Vec // m/s²

	// SubSteps of a step. 0: 4.
	SubSteps int

	// ContactHertz and ContactDamping set how fast contacts push overlapping bodies apart: as a spring of that frequency, at most a
	// quarter of the sub-step rate, and of that damping ratio. Contacts with bodies that are not dynamic have twice the
	// frequency. 0: 30 Hz, 10.
	ContactHertz, ContactDamping float32

	// PushSpeed is the greatest speed in m/s at which overlaps are removed. 0: 3.
	PushSpeed float32

	// RestitutionThreshold is the approach speed in m/s below which nothing bounces. 0: 1.
	RestitutionThreshold float32

	// MaxSpeed is the greatest speed of a dynamic body in m/s. 0: 400.
	MaxSpeed float32
}

// MaxRotation is the largest rotation of a body in one sub-step, in radians.
const MaxRotation = math.Pi / 4

// Bodies are the constant data of bodies in a step, an element per body.
type Bodies struct {
	Pose                          []Pose // before the step
	V, W                          []Vec
	InvMass                       []float32 // 1/kg; 0: not dynamic, and then InvInertia is 0 too
	InvInertia                    []Vec     // about the principal axes, 1/(kg·m²)
	Moments                       []Vec     // their reciprocals, or 0
	Principal                     []Quat    // from the principal axes to those of the body
	Force, Torque                 []Vec     // N, N·m
	GravityScale                  []float32
	LinearDamping, AngularDamping []float32 // 1/s, ≥ 0
}

// Material is the surface of a shape.
type Material struct {
	Friction          float32 // ≥ 0
	Restitution       float32 // 0: does not bounce, 1: bounces back as fast
	RollingResistance float32 // a lever arm in metres: a coefficient times the radius of the shape
	TwistResistance   float32 // the same about the normal
	TangentVelocity   Vec     // of a belt on the surface, in the axes of the world, m/s
}

// softness is a soft constraint: a spring and a damper that act on the velocity v of a constraint with position error C, as the impulse
//
//	-massScale*(v + biasRate*C) - impulseScale*accumulated
//
// in units of the effective mass.
type softness struct{ biasRate, massScale, impulseScale float32 }

// makeSoftness returns the softness of a spring of a frequency in Hz and a damping ratio for steps of h seconds: see Catto, "Soft
// Constraints", Game Developers Conference 2011.
func makeSoftness(hertz, damping, h float32) softness {
	w := float32(2*math.Pi) * hertz
	c := float32(2*damping) + float32(h*w)
	stiff := float32(float32(h*w) * c)
	impulse := 1 / (1 + stiff)
	return softness{biasRate: w / c, massScale: float32(stiff * impulse), impulseScale: impulse}
}

// stepContext holds the values derived from Params for one length of step.
type stepContext struct {
	h, invH                         float32
	subSteps                        int
	contactSoftness, staticSoftness softness
	maxBiasVelocity, threshold      float32
	maxSpeed, maxSpin               float32
	gravity                         Vec
}

func (p *Params) stepContext(dt float32) stepContext {
	or := func(v, usual float32) float32 {
		if v == 0 {
			return usual
		}
		return v
	}
	n := p.SubSteps
	if n == 0 {
		n = 4
	}
	h := dt / float32(n)
	invH := 1 / h
	hertz := minFloat(or(p.ContactHertz, 30), float32(0.25*invH))
	damping := or(p.ContactDamping, 10)
	return stepContext{
		h: h, invH: invH, subSteps: n, gravity: p.Gravity,
		contactSoftness: makeSoftness(hertz, damping, h), staticSoftness: makeSoftness(2*hertz, damping, h),
		maxBiasVelocity: or(p.PushSpeed, 3), threshold: or(p.RestitutionThreshold, 1),
		maxSpeed: or(p.MaxSpeed, 400), maxSpin: MaxRotation * invH,
	}
}

// System is the data of a step. Its owner sets the slices; the stages read and write them in place.
type System struct {
	Params

	Bodies    Bodies
	States    []State
	BodyOf    []uint32 // the body of each shape
	Materials []Material
	Contacts  []Contact
	Manifolds []Manifold

	Colours graph.Colours
	Blocks  []ContactBlock
	step    stepContext
	inertia []Sym // the inverse inertia of each body in the axes of the world, when the step began
}

// Step moves the bodies by dt seconds, > 0. Contacts and manifolds must be known.
func (s *System) Step(dt float32) {
	s.step = s.Params.stepContext(dt)
	s.assignBlocks()
	s.loadStates()
	for i := range s.Blocks {
		s.prepareBlock(&s.Blocks[i], (*[Lanes]uint32)(s.Colours.Edge[i*Lanes:]))
	}
	for range s.step.subSteps {
		s.runSubStep()
	}
	s.storeImpulses()
	s.storeStates()
}

func (s *System) runSubStep() {
	s.integrateVelocities()
	for i := range s.Blocks {
		s.Blocks[i].warmStart(s.States)
	}
	for i := range s.Blocks {
		s.Blocks[i].solve(s.States, &s.step, true)
	}
	s.integratePositions()
	for i := range s.Blocks {
		s.Blocks[i].solve(s.States, &s.step, false)
	}
	for i := range s.Blocks {
		s.Blocks[i].applyRestitution(s.States, s.step.threshold)
	}
}

// assignBlocks gives each contact with points a lane.
func (s *System) assignBlocks() {
	s.Colours.Reset(len(s.Contacts), MaxPoints, s.Bodies.InvMass)
	e := &s.Colours.Edges
	for i := range s.Contacts {
		c := &s.Contacts[i]
		e.A[i], e.B[i], e.Class[i] = s.BodyOf[c.A], s.BodyOf[c.B], uint8(s.Manifolds[i].Count)
	}
	s.Colours.Assign()
	s.Blocks = buffer.Resized(s.Blocks, s.Colours.Blocks())
}
