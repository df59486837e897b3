package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/articulated"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/native"
)

// Params apply to all contacts and bodies of a step. The zero value has no gravity and the defaults of the fields.
type Params struct {
	Gravity Vec // m/s²

	// SubSteps of a step, at most 64. 0: 4.
	SubSteps int

	// ContactHertz and ContactDamping set how fast contacts push overlapping bodies apart: as a spring of that frequency, at most a
	// quarter of the sub-step rate, and of that damping ratio. Contacts with bodies that are not dynamic have twice the
	// frequency, and those of bodies of similar mass 1.6 times. 0: 30 Hz, 10.
	ContactHertz, ContactDamping float32

	// JointHertz and JointDamping set the same for the rows and limits of joints. 0: 60 Hz, 5.
	JointHertz, JointDamping float32

	// PushSpeed is the greatest speed in m/s at which overlaps are removed. 0: 3.
	PushSpeed float32

	// RestitutionThreshold is the approach speed in m/s below which nothing bounces. 0: 1.
	RestitutionThreshold float32

	// MaxSpeed is the greatest speed of a dynamic body in m/s. 0: 400.
	MaxSpeed float32
}

// MaxRotation is the largest rotation of a body in one sub-step, in radians.
const MaxRotation = math.Pi / 4

// Bodies are columns with an element per body.
type Bodies struct {
	Poses                         []Pose       // of the centres of mass before the step
	V, W                          [3][]float32 // by axis of the world
	InvMass                       []float32    // 1/kg; 0: not dynamic, and then InvInertia is 0 too
	InvInertia                    [3][]float32 // about the principal axes, 1/(kg·m²)
	Principal                     []Quat       // from the principal axes to those of the body
	Force, Torque                 [3][]float32 // N, N·m
	GravityScale                  []float32
	LinearDamping, AngularDamping []float32 // 1/s, ≥ 0
	Locks                         []uint8   // LockX and so on; of no effect on bodies that are not dynamic
}

// vecAt returns element i of columns.
func vecAt(c *[3][]float32, i int) Vec { return Vec{c[0][i], c[1][i], c[2][i]} }

func setVec(c *[3][]float32, i int, v Vec) { c[0][i], c[1][i], c[2][i] = v.X, v.Y, v.Z }

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
	h, invH                                          float32
	subSteps                                         int
	contactSoftness, similarSoftness, staticSoftness softness
	jointSoftness                                    softness
	jointHertz, jointDamping                         float32
	maxBiasVelocity, threshold                       float32
	maxSpeed, maxSpin                                float32
	gravity                                          Vec
}

// Two dynamic bodies are of similar mass if one is at most similarMasses times the other. Their contact has similarStiffness times the
// frequency. So a pyramid sinks in by a third as much, and yet a heavy body on a light one comes to rest, which it would not if
// its contact were as stiff.
const (
	similarMasses    = 3
	similarStiffness = 1.6
)

// softnessOf returns the softness of a contact of two dynamic bodies, given their inverse masses.
func (k *stepContext) softnessOf(a, b float32) *softness {
	if maxFloat(a, b) <= float32(similarMasses*minFloat(a, b)) {
		return &k.similarSoftness
	}
	return &k.contactSoftness
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
	most := float32(0.25 * invH)
	hertz := minFloat(or(p.ContactHertz, 30), most)
	damping := or(p.ContactDamping, 10)
	jointHertz, jointDamping := minFloat(or(p.JointHertz, 60), most), or(p.JointDamping, 5)
	return stepContext{
		h: h, invH: invH, subSteps: n, gravity: p.Gravity,
		contactSoftness: makeSoftness(hertz, damping, h), similarSoftness: makeSoftness(minFloat(similarStiffness*hertz, most), damping, h),
		staticSoftness: makeSoftness(2*hertz, damping, h),
		jointSoftness:  makeSoftness(jointHertz, jointDamping, h), jointHertz: jointHertz, jointDamping: jointDamping,
		maxBiasVelocity: or(p.PushSpeed, 3), threshold: or(p.RestitutionThreshold, 1),
		maxSpeed: or(p.MaxSpeed, 400), maxSpin: MaxRotation * invH,
	}
}

// System is the data of a step. Its owner sets the slices; the stages read and write them in place. The stages also process elements
// that belong to no body, shape or contact: give them inverse mass 0, velocity 0, and no points.
//
// The stages are methods for a range of bodies, contacts or blocks, so that workers can share a stage. The ranges of bodies, and of
// blocks of one colour except Overflow, may run in any order and at the same time. Step and solveGo have the order of the stages.
type System struct {
	Params

	// Level of the kernels.
	Level native.Level

	// By body. PrepareBodies sets States.
	Bodies Bodies
	States []State

	// By shape.
	BodyOf    []uint32 // the body of each shape
	Materials []Material

	// Mixed is the number of contacts, the last ones, whose two materials are mixed already, but for TangentVelocity, of which they have half:
	// the result follows the materials of the shapes in Materials, in the order of the contacts.
	Mixed int

	// By contact. StoreImpulses sets Hits.
	Contacts  []Contact
	Manifolds []Manifold
	Hits      []Hit

	// Joints are solved before contacts. Their blocks are kept from the last step if JointsVersion is the same and not 0: then
	// neither their bodies, nor which coordinates are locked or have parts, nor which bodies are dynamic may have changed.
	Joints        []Joint
	JointsVersion uint64

	// JointOrder lists the joints in the order in which they get colours. Nil: the order of their numbers.
	JointOrder []uint32

	// Set by LayOutBlocks.
	JointColours JointColours
	JointBlocks  []JointBlock
	jointParts   []JointParts

	// Trees are the trees of joints that SolveTrees solves. LayOutBlocks sets them.
	Trees []uint32
	plan  articulated.Plan

	// Set by the stages from ResetColours to LayOutBlocks.
	Colours graph.Colours
	Blocks  []ContactBlock
	step    stepContext
	inertia []inertiaRow // of each body, inverse, in the axes of the world, when the step began
	free    [6][]float32 // of each dynamic body: V and W without contacts in the sub-step
	spans   []graph.Span // the bodies that Solve moves
	allRows []graph.Span // those of Step
	groups  graph.Groups
	work    []groupWork // by worker

	jointsSplit bool // in this step, the joints have runs, and no blocks yet

	// Set by the owner and the stages from CutRegions to FillRegions: see regions.go.
	Regions, JointRegions graph.Regions
	cuts                  uint64 // number of CutRegions so far
	jointCut              uint64 // the one by which the joints have their blocks; 0: none
	jointCutVersion       uint64 // and their JointsVersion
	weights               []graph.Weighted
}

// Step moves the bodies by dt seconds, > 0. Contacts and manifolds must be known. It allocates if there are more bodies or blocks than
// ever before.
func (s *System) Step(dt float32) {
	s.deal(dt)
	s.allRows = append(s.allRows[:0], graph.Span{Hi: len(s.States)})
	s.Solve(s.allRows)
}

// Solve runs the stages that follow LayOutBlocks and FillBlocks, over some bodies and all blocks. It is one call of C, because a call for
// each stage would dominate the time where there is little to do.
func (s *System) Solve(rows []graph.Span) {
	s.spans = rows
	if len(s.Trees) > 0 {
		s.solveWithTrees()
		return
	}
	kernelsOf(s.Level).solve(s)
}

func (s *System) solveGo() {
	blocks, joints := len(s.Blocks), len(s.JointBlocks)
	for _, p := range s.spans {
		s.prepareBodiesGo(p.Lo, p.Hi)
	}
	s.prepareJointsGo(0, joints)
	s.prepareContactsGo(0, blocks)
	bounces := s.HasRestitution(0, blocks)
	for sub := range s.step.subSteps {
		for _, p := range s.spans {
			s.integrateVelocitiesGo(sub, p.Lo, p.Hi)
		}
		if sub == 0 {
			s.warmStartJointsGo(0, joints)
			s.warmStartGo(0, blocks)
		}
		s.solveJointsGo(0, joints)
		s.solveContactsGo(0, blocks)
		for _, p := range s.spans {
			s.integratePositionsGo(p.Lo, p.Hi)
		}
		s.relaxJointsGo(0, joints)
		s.relaxContactsGo(0, blocks)
		if bounces {
			s.applyRestitutionGo(0, blocks)
		}
	}
	s.storeJointImpulsesGo(0, joints)
	s.storeImpulsesGo(0, blocks)
	for _, p := range s.spans {
		s.finalizeBodiesGo(p.Lo, p.Hi)
	}
}

// deal runs the stages that assign contacts to blocks.
func (s *System) deal(dt float32) {
	contacts := len(s.Contacts)
	s.BeginStep(dt)
	s.ResetColours()
	s.ListEdges(0, contacts)
	s.Colours.AssignRange(0, contacts)
	s.LayOutBlocks()
	s.FillBlocks(0, contacts)
}

// BeginStep begins a step of dt seconds. Contacts and Manifolds must have their lengths by then; their elements may follow.
func (s *System) BeginStep(dt float32) {
	s.check()
	s.step = s.Params.stepContext(dt)
	s.inertia = buffer.Resized(s.inertia, len(s.States))
	for k := range s.free {
		s.free[k] = buffer.Resized(s.free[k], len(s.States))
	}
	s.jointsSplit = false
}

// ResetColours removes all colours of contacts.
func (s *System) ResetColours() { s.Colours.Reset(len(s.Contacts), MaxPoints, s.Bodies.InvMass) }

// ListEdges sets the edges of contacts [lo, hi). Those without points need no colour.
func (s *System) ListEdges(lo, hi int) {
	as, bs, classes := s.Colours.Edges.A[lo:hi], s.Colours.Edges.B[lo:hi], s.Colours.Edges.Class[lo:hi]
	contacts, manifolds := s.Contacts[lo:hi], s.Manifolds[lo:hi]
	for i := range contacts {
		c := &contacts[i]
		as[i], bs[i], classes[i] = s.BodyOf[c.A], s.BodyOf[c.B], uint8(manifolds[i].Count)
	}
}

// LayOutBlocks makes room for the blocks, and assigns the joints to theirs.
func (s *System) LayOutBlocks() {
	s.Colours.LayOut()
	s.Blocks = buffer.Resized(s.Blocks, s.Colours.Blocks())
	s.dealJoints()
}

// FillBlocks puts contacts [lo, hi), with bounds as those of Colours.AssignRange, into blocks, in any order.
func (s *System) FillBlocks(lo, hi int) {
	s.Colours.Fill(lo, hi)
	clear(s.Hits[lo:hi])
}

func (s *System) check() {
	n, b := len(s.States), &s.Bodies
	for _, c := range [...]*[3][]float32{&b.V, &b.W, &b.InvInertia, &b.Force, &b.Torque} {
		if len(c[0]) != n || len(c[1]) != n || len(c[2]) != n {
			panic("rigid3: System: columns of bodies differ in length")
		}
	}
	for _, c := range [...][]float32{b.InvMass, b.GravityScale, b.LinearDamping, b.AngularDamping} {
		if len(c) != n {
			panic("rigid3: System: columns of bodies differ in length")
		}
	}
	if len(b.Poses) != n || len(b.Principal) != n || len(b.Locks) != n {
		panic("rigid3: System: columns of bodies differ in length")
	}
	if len(s.Materials) != len(s.BodyOf)+s.Mixed || s.Mixed > len(s.Contacts) {
		panic("rigid3: System: BodyOf, Materials and Mixed do not agree")
	}
	if len(s.Manifolds) != len(s.Contacts) || len(s.Hits) != len(s.Contacts) {
		panic("rigid3: System: Contacts, Manifolds and Hits differ in length")
	}
}

// Rest gives n bodies states at rest and without mass. PrepareBodies sets those of bodies that take part in a step; others may touch them.
func (s *System) Rest(n int) {
	states := s.States[:n]
	for i := range states {
		states[i] = State{Q: Identity}
	}
	s.inertia = buffer.Resized(s.inertia, n)
	clear(s.inertia)
}
