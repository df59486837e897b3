package physics3

import (
	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/forces"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/stage"
	"github.com/evertick/evertick/internal/team"
	"github.com/evertick/evertick/internal/tuning"
	"github.com/evertick/evertick/native"
)

// solver moves the bodies of a World. It computes in the columns themselves, with the stages of package rigid3. A step depends on the
// columns, the shapes and the contacts; the rest is working memory.
type solver struct {
	cols       *Columns
	bodies     *handle.Pool   // of the World
	shapeTable *handle.Shapes // of the World
	jointTable *handle.Joints // of the World
	level      native.Level
	pool       *native.Pool

	shapes          shapeColumns
	joints          jointColumns
	contents        contents
	contacts        []rigid3.Contact      // of the last step, ascending by A, then B; first those without a surface
	convex          int                   // number of contacts without a surface
	touches         []rigid3.SurfaceTouch // of the others
	bases           []rigid3.BaseManifold // of contacts with rigid3.FlagBase
	baseMarks       []uint8               // see rigid3.Recycling
	lastGenerations []uint32              // of the shapes in that step
	steps           uint64                // number of steps done
	subStepRate     float32               // in the last step, 1/s
	thirdAxis       int                   // that which the broad phase gets as spans
	disabledBodies  int                   // number of disabled bodies
	principal       []rigid3.Quat         // by body: the rotation from the principal axes to those of the body
	extent          []float32             // by body: distance of its farthest point from the centre of mass
	sleep           sleep.State
	sleepers        sleepers // what sleep sees of the solver
	frictionMix     Mix
	restitutionMix  Mix
	tuning          tuning.Tuning
	massOverrides   handle.Sparse[MassData] // of SetMassData
	ignoredPairs    handle.Pairs            // of bodies that pass through each other
	omittedPairs    int                     // pairs that the last step left out
	dt              float32                 // of this step
	kept            forces.Kept

	sys            rigid3.System
	surfaces       surfaceContacts
	seams          seamState
	poses          []rigid3.Pose // of the centres of mass
	boxes          rigid3.Boxes
	planar         broad.Boxes // boxes along the other two axes
	broad          broad.Phase
	pairs          broad.Pairs
	contactPairs   broad.Pairs // of contacts, if pairsKnown
	pairsKnown     bool        // only the last step has changed the list of contacts
	samePairs      bool        // the pairs are those of contacts
	manifolds      []rigid3.Manifold
	recycled       []int32          // by pair: see rigid3.Recycling
	next           []rigid3.Contact // of this step
	nextBases      []rigid3.BaseManifold
	nextBaseMarks  []uint8
	spareBases     []rigid3.BaseManifold // what keptBases returned
	ownShapes      []uint32              // what bodyShapes returned
	massParts      []rigid3.Mass         // of shapes of a body
	movedCounts    []int                 // bodies that moved, by span
	checkedColumns int                   // number of columns that disableInvalid checks
	collided       bool                  // whether the manifolds of this step are computed
	contactChunks  []contactChunk        // of the pairs, by chunk
	colouring      team.SerialStage      // of chunks of the pairs
	sub            int                   // sub-step
	ranges         []stage.Range         // of contacts, which solve runs one after the other
	jointRanges    []stage.Range         // of joints
	groupBytes     int                   // most bytes of a group of islands; 0: what is best for the workers
	untilGroups    int                   // steps until splitIslands tries again
	regions        regions
	filter         pairFilter
	stages         stage.Runner[solver]
	broadPhaseJob  func(parts int, f func(part int))
	present        presentMemory
	queries        queries
	continuous     continuousState
	sensorSweep    sensorSweep
	patches        []rigid3.Patch // scratch
	encodedShapes  []byte         // scratch
	derived        bitset.Set     // bodies for deriveMass after a restore

	// Methods of s as function values, bound once so that a step allocates nothing.
	wholeStep                        func()
	colourJob                        func(chunk int)
	pairIgnoredJob, bodiesIgnoredJob func(a, b uint32) bool

	events Events
}

func newSolver(w *World, level native.Level) *solver {
	c := &w.config
	s := &solver{
		cols: &w.cols, bodies: &w.bodies, shapeTable: &w.shapes, jointTable: &w.joints, level: level, pool: native.NewPool(c.Workers),
		ignoredPairs: handle.NewPairs(c.Capacity),
		principal:    make([]rigid3.Quat, c.Capacity), extent: make([]float32, c.Capacity),
	}
	s.stages.Open(s)
	s.stages.Hashes.On = c.StageHashes
	s.wholeStep, s.colourJob, s.broadPhaseJob, s.pairIgnoredJob = s.step, s.colourChunk, s.stages.EachPart, s.pairIgnored
	s.bodiesIgnoredJob = s.bodiesIgnored
	s.sys.Params, s.sys.Level = c.params(), level
	s.applyTuning(c.tuning())
	s.frictionMix, s.restitutionMix = c.FrictionMix, c.RestitutionMix
	s.poses, s.sys.States = make([]rigid3.Pose, c.Capacity), make([]rigid3.State, c.Capacity)
	s.openSleep(c)
	s.openContinuous(c)
	return s
}

// rows returns the number of rows that were ever used.
func (s *solver) rows() int { return s.bodies.Used() }

func (s *solver) createBody(i int, d *BodyDef) {
	s.setPosition(i, vecOf(d.Position))
	s.setRotation(i, unitRotation(d.Rotation))
	s.putVelocity(i, vecOf(d.LinearVelocity), vecOf(d.AngularVelocity))
	s.sleep.Add(i, sleepThreshold(d.SleepThreshold), d.Asleep && !d.Disabled)
	if err := s.updateMass(i, nil); err != nil {
		panic("physics3: a body without shapes has no mass") // it has one kilogram, or none
	}
	if d.Disabled {
		s.disable(i)
	}
}

func (s *solver) destroyBody(body int) {
	if s.cols.Flags[body]&FlagDisabled != 0 {
		s.disabledBodies--
	}
	s.destroyJoints(body)
	s.ignoredPairs.RemoveBody(body)
	s.massOverrides.Set(body, MassData{}, false)
	for shape := range s.shapeTable.Of(body) {
		s.clearShape(shape)
	}
	s.principal[body] = rigid3.Quat{}
	s.clearExtents(body)
	s.sleep.Remove(body)
}

// The columns of a body as vectors.

func (s *solver) position(i int) rigid3.Vec {
	return rigid3.Vec{X: s.cols.X[i], Y: s.cols.Y[i], Z: s.cols.Z[i]}
}

func (s *solver) rotation(i int) rigid3.Quat {
	return rigid3.Quat{X: s.cols.QX[i], Y: s.cols.QY[i], Z: s.cols.QZ[i], W: s.cols.QW[i]}
}

func (s *solver) linearVelocity(i int) rigid3.Vec {
	return rigid3.Vec{X: s.cols.VX[i], Y: s.cols.VY[i], Z: s.cols.VZ[i]}
}

func (s *solver) angularVelocity(i int) rigid3.Vec {
	return rigid3.Vec{X: s.cols.WX[i], Y: s.cols.WY[i], Z: s.cols.WZ[i]}
}

// centre returns the centre of mass in body coordinates.
func (s *solver) centre(i int) rigid3.Vec {
	return rigid3.Vec{X: s.cols.CentreX[i], Y: s.cols.CentreY[i], Z: s.cols.CentreZ[i]}
}

func (s *solver) setPosition(i int, p rigid3.Vec) {
	s.cols.X[i], s.cols.Y[i], s.cols.Z[i] = p.X, p.Y, p.Z
}

func (s *solver) setRotation(i int, q rigid3.Quat) {
	s.cols.QX[i], s.cols.QY[i], s.cols.QZ[i], s.cols.QW[i] = q.X, q.Y, q.Z, q.W
}

// putVelocity sets a velocity that is in range.
func (s *solver) putVelocity(i int, v, w rigid3.Vec) {
	c := s.cols
	c.VX[i], c.VY[i], c.VZ[i], c.WX[i], c.WY[i], c.WZ[i] = v.X, v.Y, v.Z, w.X, w.Y, w.Z
}

// putForce sets the force and the torque of the next step.
func (s *solver) putForce(i int, f, t rigid3.Vec) {
	c := s.cols
	c.ForceX[i], c.ForceY[i], c.ForceZ[i], c.TorqueX[i], c.TorqueY[i], c.TorqueZ[i] = f.X, f.Y, f.Z, t.X, t.Y, t.Z
}

// pose returns the centre of mass of a body in the world, and its rotation.
func (s *solver) pose(i int) rigid3.Pose {
	q := s.rotation(i)
	return rigid3.Pose{P: s.position(i).Add(q.Rotate(s.centre(i))), Q: q}
}
