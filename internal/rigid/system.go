package rigid

import (
	"math"

	"github.com/evertick/evertick/internal/articulated"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/material"
	"github.com/evertick/evertick/native"
)

// Params apply to all contacts and bodies of a step. The zero value has no gravity and the defaults of the fields.
type Params struct {
	Gravity Vec // m/s²

	// SubSteps of a step, at most 64. 0: 4.
	SubSteps int

	// ContactHertz and ContactDamping set how fast contacts push overlapping bodies apart: as a spring of that
	// frequency, at most a quarter of the sub-step rate, and of that damping ratio. Contacts with bodies that
	// are not dynamic have twice the frequency. 0: 30 Hz, 10.
	ContactHertz, ContactDamping float32

	// JointHertz and JointDamping set the same for the rigid parts of joints. 0: 60 Hz, 5.
	JointHertz, JointDamping float32

	// PushSpeed is the greatest speed in m/s at which overlaps are removed. 0: 3.
	PushSpeed float32

	// RestitutionThreshold is the approach speed in m/s below which nothing bounces. 0: 1.
	RestitutionThreshold float32

	// MaxSpeed is the greatest speed of a dynamic body in m/s. 0: 400. It bounds the motion in each sub-step, and the
	// velocity after the step. MaxRotation does the same for the rotation of a dynamic body in a sub-step. Between
	// these points, contacts and joints may exceed the limits.
	MaxSpeed float32

	// FrictionMix and RestitutionMix are the mixing rules. MixDefault: MixGeometric for
	// friction, MixMax for restitution.
	FrictionMix, RestitutionMix material.Mix
}

// MaxRotation is the largest rotation of a body in one sub-step, in radians.
const MaxRotation = math.Pi / 4

// Validate returns an error that names the first field that is out of range.
func (p *Params) Validate() error {
	for _, f := range []struct {
		name  string
		value float32
		least float32
	}{
		{"Gravity.X", p.Gravity.X, float32(math.Inf(-1))}, {"Gravity.Y", p.Gravity.Y, float32(math.Inf(-1))},
		{"ContactHertz", p.ContactHertz, 0}, {"ContactDamping", p.ContactDamping, 0},
		{"JointHertz", p.JointHertz, 0}, {"JointDamping", p.JointDamping, 0}, {"PushSpeed", p.PushSpeed, 0},
		{"Threshold", p.RestitutionThreshold, 0}, {"MaxSpeed", p.MaxSpeed, 0},
	} {
		if !fault.Finite(f.value) {
			return fault.Field(fault.ErrNotFinite, "rigid: Params."+f.name, f.value)
		}
		if f.value < f.least {
			return fault.Field(fault.ErrRange, "rigid: Params."+f.name, f.value)
		}
	}
	if p.SubSteps < 0 || p.SubSteps > 64 {
		return fault.Field(fault.ErrRange, "rigid: Params.SubSteps", p.SubSteps)
	}
	if p.FrictionMix > material.MixMultiply {
		return fault.Field(fault.ErrRange, "rigid: Params.FrictionMix", p.FrictionMix)
	}
	if p.RestitutionMix > material.MixMultiply {
		return fault.Field(fault.ErrRange, "rigid: Params.RestitutionMix", p.RestitutionMix)
	}
	return nil
}

// softness is a soft constraint: a spring and a damper that act on the velocity v of a constraint with position
// error C, as the impulse
//
//	-massScale*(v + biasRate*C) - impulseScale*accumulated
//
// in units of the effective mass.
type softness struct{ biasRate, massScale, impulseScale float32 }

// makeSoftness returns the softness of a spring of a frequency in Hz and a damping ratio for steps of h
// seconds. An implicit Euler step of the spring, with w = 2π·hertz and c = 2·damping + h·w, has biasRate w/c,
// massScale h·w·c/(1 + h·w·c) and impulseScale 1/(1 + h·w·c): see Catto, "Soft Constraints", Game Developers
// Conference 2011.
func makeSoftness(hertz, damping, h float32) softness {
	w := float32(2*math.Pi) * hertz
	c := float32(2*damping) + float32(h*w)
	stiff := float32(float32(h*w) * c)
	impulse := 1 / (1 + stiff)
	return softness{biasRate: w / c, massScale: float32(stiff * impulse), impulseScale: impulse}
}

var rigidSoftness = softness{massScale: 1}

// stepContext holds the values derived from Params for one length of step.
type stepContext struct {
	h, invH                                        float32 // seconds of a sub-step, and their inverse
	contactSoftness, staticSoftness, jointSoftness softness
	jointHertz, jointDamping                       float32 // of jointSoftness
	maxBiasVelocity, restitutionThreshold          float32
	maxLinearSpeed, maxAngularSpeed                float32
	recycleTime                                    float32 // seconds of recycleSteps steps
	gravity                                        Vec
	subSteps                                       int32
	frictionMix, restitutionMix                    material.Mix
}

func (p *Params) stepContext(dt float32) stepContext {
	or := func(v, def float32) float32 {
		if v == 0 {
			return def
		}
		return v
	}
	n := p.SubSteps
	if n == 0 {
		n = 4
	}
	h := dt / float32(n)
	invH := inverse(h)
	hertz := minFloat(or(p.ContactHertz, 30), 0.25*invH)
	damping := or(p.ContactDamping, 10)
	jointHertz, jointDamping := or(p.JointHertz, 60), or(p.JointDamping, 5)
	k := stepContext{
		subSteps: int32(n), h: h, invH: invH, gravity: p.Gravity,
		contactSoftness: makeSoftness(hertz, damping, h), staticSoftness: makeSoftness(2*hertz, damping, h),
		jointSoftness: makeSoftness(minFloat(jointHertz, 0.25*invH), jointDamping, h), jointHertz: jointHertz, jointDamping: jointDamping,
		maxBiasVelocity: or(p.PushSpeed, 3), restitutionThreshold: or(p.RestitutionThreshold, 1),
		maxLinearSpeed: or(p.MaxSpeed, 400), maxAngularSpeed: MaxRotation * invH,
		recycleTime: recycleSteps * dt,
		frictionMix: p.FrictionMix.Or(material.MixGeometric), restitutionMix: p.RestitutionMix.Or(material.MixMax),
	}
	return k
}

// System is the data of a step. Its owner sets the slices; the stages read and write them in place. The stages also
// process elements that belong to no body, shape or contact: give them inverse mass 0, velocity 0, and no points.
//
// The stages are methods for a range of bodies or blocks, so that workers can share a stage. The ranges of bodies,
// and of blocks of one colour except Overflow, may run in any order and at the same time. Blocks of joints have
// colours of their own. solveGo has the order of the stages.
type System struct {
	Params

	// By body. LoadStates sets States.
	Bodies Bodies
	States []State
	Poses  Poses
	Angle  []float32 // radians

	// By shape.
	BodyOf    []uint32 // the body of each shape
	Materials Materials

	// By contact. StoreContactImpulses sets Hits.
	Contacts  []Contact
	Manifolds []Manifold
	Hits      []Hit

	// By contact, or empty. PrepareContacts sets those of contacts that it gives FlagBase: see Recycling.
	Bases     []BaseManifold
	BaseMarks []uint8 // 1 for these contacts

	// Joints with a kind are solved before contacts. Their blocks are kept from the last step if JointsVersion
	// is the same and not 0: change it with the number of joints, with the kind or a body of one, and with
	// which of their bodies are dynamic.
	Joints        []Joint
	JointsVersion uint64

	// SameBlocks says that the contacts, and which bodies are dynamic, are those of the last step, that as many points
	// touch, and that no material has changed. Then blocks keep their contacts, and those of which all are recycled
	// need little preparation.
	SameBlocks bool

	// Set by BuildConstraints.
	Colours      graph.Colours
	Regions      graph.Regions // of the blocks, if LayOutRegions has laid them out
	Blocks       []ContactBlock
	JointColours JointColours
	JointBlocks  []JointBlock
	Trees        []uint32 // the trees of joints that SolveTrees solves
	plan         articulated.Plan
	stiffened    []float32 // InvInertia of Bodies, in a step with trees
	step         stepContext
}

// Hit describes how hard a contact was hit.
type Hit struct {
	Speed   float32 // approach speed before the step, m/s; ≥ 0
	Impulse float32 // along the normal, of all points and sub-steps, N·s; 0: never touched
}

// BuildConstraints checks lengths, and assigns the contacts and the joints to blocks. dt is the length of the
// step in seconds, > 0. It allocates if there are more blocks than ever before.
//
// Workers can share it: it consists of BeginStep, ResetColours, ListEdges of all contacts, Colours.AssignRange of all
// contacts in ascending order, LayOutBlocks, and FillBlocks of all contacts; and of BuildJoints, at any time after BeginStep.
func (s *System) BuildConstraints(dt float32) {
	s.BeginStep(dt)
	s.SameBlocks = false
	s.ResetColours()
	s.ListEdges(0, len(s.Contacts))
	s.Colours.AssignRange(0, len(s.Contacts))
	s.LayOutBlocks()
	s.BuildJoints()
	s.FillBlocks(0, len(s.Contacts))
}

// BeginStep begins a step of dt seconds. Contacts and Manifolds must have their lengths by then; their elements may
// follow.
func (s *System) BeginStep(dt float32) {
	s.check()
	s.step = s.Params.stepContext(dt)
}

// ResetColours removes all colours of contacts.
func (s *System) ResetColours() { s.Colours.Reset(len(s.Contacts), numClasses, s.Bodies.InvMass) }

// numClasses is the number of classes of contacts: the class is the number of points.
const numClasses = 2

// ListEdges sets the edges of contacts [lo, hi). Those without points need no colour.
func (s *System) ListEdges(lo, hi int) {
	as, bs, classes := s.Colours.Edges.A[lo:hi], s.Colours.Edges.B[lo:hi], s.Colours.Edges.Class[lo:hi]
	contacts, manifolds := s.Contacts[lo:hi], s.Manifolds[lo:hi]
	for i := range contacts {
		c := &contacts[i]
		as[i], bs[i], classes[i] = s.BodyOf[c.A], s.BodyOf[c.B], uint8(manifolds[i].Count)
	}
}

// LayOutBlocks makes room for the blocks of contacts.
func (s *System) LayOutBlocks() {
	if !s.SameBlocks {
		s.Colours.LayOut()
		s.Blocks = buffer.Resized(s.Blocks, s.Colours.Blocks())
	}
}

// FillBlocks puts contacts [lo, hi), with bounds as those of Colours.AssignRange, into blocks, in any order.
func (s *System) FillBlocks(lo, hi int) {
	if !s.SameBlocks {
		s.Colours.Fill(lo, hi)
	}
	clear(s.Hits[lo:hi])
}

// Surfaces says which contacts there are. Where there are contacts of both kinds of a pair, the layout of blocks may change the sign of a
// zero, since the operation that some contacts of a block need is done to all of them.
type Surfaces uint32

const (
	Rolls       Surfaces = 1 << iota // with rolling resistance
	RollsFreely                      // without
	Bounces                          // with restitution
	Stops                            // without
)

// Uniform reports whether the layout of blocks changes no bit.
func (k Surfaces) Uniform() bool {
	return k&(Rolls|RollsFreely) != Rolls|RollsFreely && k&(Bounces|Stops) != Bounces|Stops
}

// SurfacesOf returns which contacts with points there are among [lo, hi).
func (s *System) SurfacesOf(lo, hi int) (kinds Surfaces) {
	m := &s.Materials
	for i, class := range s.Colours.Edges.Class[lo:hi] {
		if class == 0 {
			continue
		}
		c := &s.Contacts[lo+i]
		if max(m.RollingResistance[c.A], m.RollingResistance[c.B]) > 0 {
			kinds |= Rolls
		} else {
			kinds |= RollsFreely
		}
		if s.step.restitutionMix.Apply(m.Restitution[c.A], m.Restitution[c.B]) > 0 {
			kinds |= Bounces
		} else {
			kinds |= Stops
		}
	}
	return kinds
}

// LayOutRegions is LayOutBlocks with blocks by region. MarkRegions and CountRegions of all contacts come before it, unless SameBlocks is set.
func (s *System) LayOutRegions() {
	if !s.SameBlocks {
		s.Colours.LayOutRegions(&s.Regions)
		s.Blocks = buffer.Resized(s.Blocks, s.Colours.Blocks())
	}
}

// FillRegions is FillBlocks after LayOutRegions.
func (s *System) FillRegions(lo, hi int) {
	if !s.SameBlocks {
		s.Colours.FillRegions(&s.Regions, lo, hi)
	}
	clear(s.Hits[lo:hi])
}

func (s *System) check() {
	n := len(s.States)
	for _, c := range [...][]float32{s.Bodies.VX, s.Bodies.VY, s.Bodies.W, s.Bodies.InvMass, s.Bodies.InvInertia,
		s.Bodies.ForceX, s.Bodies.ForceY, s.Bodies.Torque, s.Bodies.GravityScale, s.Bodies.LinearDamping,
		s.Bodies.AngularDamping, s.Bodies.FreeX, s.Bodies.FreeY, s.Bodies.FreeW,
		s.Poses.X, s.Poses.Y, s.Poses.Cos, s.Poses.Sin, s.Angle} {
		if len(c) != n {
			panic("rigid: System: columns of bodies differ in length")
		}
	}
	n = len(s.BodyOf)
	for _, c := range [...][]float32{s.Materials.Friction, s.Materials.Restitution, s.Materials.RollingResistance,
		s.Materials.TangentSpeed} {
		if len(c) != n {
			panic("rigid: System: columns of shapes differ in length")
		}
	}
	if len(s.Manifolds) != len(s.Contacts) || len(s.Hits) != len(s.Contacts) || len(s.BaseMarks) != len(s.Bases) ||
		len(s.Bases) != 0 && len(s.Bases) != len(s.Contacts) {
		panic("rigid: System: Contacts, Manifolds, Hits, Bases and BaseMarks differ in length")
	}
}

// Step is BuildConstraints and Solve: a step of dt seconds, > 0. Contacts and manifolds must be known.
func (s *System) Step(level native.Level, dt float32) {
	s.BuildConstraints(dt)
	s.Solve(level)
}

// Solve runs the stages that follow BuildConstraints, over all bodies and blocks. It is one call of C, because a call
// for each stage would dominate the time where there is little to do.
func (s *System) Solve(level native.Level) {
	if len(s.Trees) > 0 {
		s.solveWithTrees(level)
		return
	}
	kernelsOf(level).solve(s)
}

func (s *System) solveGo() {
	bodies, blocks, joints := len(s.States), len(s.Blocks), len(s.JointBlocks)
	s.loadStatesGo(0, bodies)
	s.prepareJointsGo(0, joints)
	s.prepareContactsGo(0, blocks)
	for sub := range int(s.step.subSteps) {
		s.integrateVelocitiesGo(sub, 0, bodies)
		if sub == 0 {
			s.warmStartJointsGo(0, joints)
			s.warmStartContactsGo(0, blocks)
		}
		s.solveJointsGo(true, 0, joints)
		s.solveContactsGo(true, 0, blocks)
		s.integratePositionsGo(0, bodies)
		s.solveJointsGo(false, 0, joints)
		s.solveContactsGo(false, 0, blocks)
	}
	s.applyRestitutionGo(0, blocks)
	s.storeJointImpulsesGo(0, joints)
	s.storeContactImpulsesGo(0, blocks)
	s.storeStatesGo(0, bodies)
}
