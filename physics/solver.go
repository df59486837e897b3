package physics

import (
	"sync/atomic"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/forces"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/material"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/stage"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/internal/team"
	"github.com/evertick/evertick/internal/tuning"
	"github.com/evertick/evertick/native"
)

// solver is the engine of this package. It computes in the columns themselves, with the
// stages of package rigid. A step depends on the columns, the shapes, the joints and the contacts;
// the rest is working memory.
type solver struct {
	cols       *Columns
	bodies     *handle.Pool   // of the World
	shapeTable *handle.Shapes // of the World
	jointTable *handle.Joints // of the World
	level      native.Level
	pool       *native.Pool
	rows       int // of bodies ever used
	stages     stage.Runner[solver]

	shapes          shapeColumns
	joints          jointColumns
	contacts        []rigid.Contact      // of the last step, ascending by A, then B
	bases           []rigid.BaseManifold // of contacts with rigid.FlagBase
	baseMarks       []uint8              // see rigid.Recycling
	lastGenerations []uint32             // of the shapes in that step
	steps           uint64               // number of steps done
	disabledBodies  int                  // number of disabled bodies
	subStepRate     float32              // in the last step, 1/s
	sleep           sleep.State
	sleepers        sleepers // what sleep sees of the solver

	tuning          tuning.Tuning
	massOverrides   handle.Sparse[MassData] // of SetMassData, by body
	lockedBodies    int                     // bodies with FlagLockX or FlagLockY
	ignoredPairs    handle.Pairs            // of bodies that pass through each other
	materialPairs   material.Pairs
	passingContacts int     // contacts that pass through one-way platforms
	omittedPairs    int     // pairs that the last step left out
	dt              float32 // of this step
	kept            forces.Kept

	sys            rigid.System
	centre         rigid.Poses // of the centres of mass; Cos and Sin are those of cols
	boxes          broad.Boxes
	broad          broad.Phase
	pairs          broad.Pairs
	contactPairs   broad.Pairs // of contacts, if pairsKnown
	keptPairs      []int       // by chunk of the pairs: those that filterPairs keeps
	pairsKnown     bool        // only the last step has changed the list of contacts since the blocks were prepared
	samePairs      bool        // of contacts
	manifolds      []rigid.Manifold
	recycled       []int32         // by pair: see rigid.Recycle
	next           []rigid.Contact // of this step
	nextBases      []rigid.BaseManifold
	nextBaseMarks  []uint8
	spareBases     []rigid.BaseManifold // what keptBases returned
	ownShapes      []uint32             // what bodyShapes returned
	movedCounts    []int                // bodies that moved, by span
	checkedColumns int                  // number of columns that disableInvalid checks
	collided       bool                 // whether the manifolds of this step are computed
	continuous     continuousState
	sensorSweep    sensorSweep
	contactChunks  []contactChunk // of the pairs, by chunk
	seams          seamState
	colouring      team.SerialStage // of chunks of the pairs
	sub            int              // sub-step
	bounces        atomic.Bool      // a contact of this step has restitution
	contactRanges  []stage.Range    // what solve runs one after the other
	jointRanges    []stage.Range
	regions        regions

	// Methods of s as function values, bound once so that a step allocates nothing.
	wholeStep      func()
	colourJob      func(chunk int)
	parallelForJob func(parts int, f func(part int))
	ignoredJob     func(shape, other uint32) bool
	touchedJob     func(a, b uint32) bool
	motionLocksJob func(body uint32) rigid.MotionLocks

	queries queries
	look    lookMemory

	events Events
}

func (s *solver) Open(cfg Config, cols *Columns) error {
	level, err := native.Resolve(cfg.Level)
	if err == nil {
		err = check.Limited("physics: Config.Gravity", cfg.Gravity[:]...)
	}
	if err != nil {
		return err
	}
	s.ignoredPairs = handle.NewPairs(cfg.Capacity)
	s.cols, s.level, s.pool = cols, level, native.NewPool(cfg.Workers)
	s.stages.Open(s)
	s.stages.Hashes.On = cfg.StageHashes
	s.parallelForJob, s.ignoredJob, s.touchedJob, s.motionLocksJob = s.stages.EachPart, s.ignoredInSweep, s.mayTouch, s.motionLocks
	s.wholeStep, s.colourJob = s.step, s.colourChunk
	s.sys.Params = cfg.params()
	s.applyTuning(cfg.tuning())
	n := cfg.Capacity
	work := [workColumns]*[]float32{&s.centre.X, &s.centre.Y, &s.sys.Bodies.FreeX, &s.sys.Bodies.FreeY, &s.sys.Bodies.FreeW}
	step := stagger.Stride(4 * n)
	arena := stagger.Bytes(step*len(work), len(cols.floatColumns()))
	for i, c := range work {
		*c = stagger.View[float32](arena[i*step : i*step+4*n])
	}
	s.sys.States = make([]rigid.State, n)
	s.continuous.open(&cfg)
	s.openSleep(&cfg)
	return nil
}

// workColumns is the number of columns of bodies that a step works in.
const workColumns = 5

func (s *solver) SetGravity(gravity [2]float32) error {
	if err := check.Limited("physics: SetGravity: gravity", gravity[:]...); err != nil {
		return err
	}
	if bitsDiffer(gravity[0], s.sys.Gravity.X) || bitsDiffer(gravity[1], s.sys.Gravity.Y) {
		s.sleep.WakeAll()
	}
	s.sys.Gravity = vecOf(gravity)
	return nil
}

func (s *solver) CreateBody(i int, d *BodyDef) error {
	if err := d.checkSolver(); err != nil {
		return err
	}
	sin, cos := rigid.SinCos(d.Angle)
	s.setRotation(i, sin, cos)
	s.rows = max(s.rows, i+1)
	s.lockedBodies += hasLock(s.cols.Flags[i])
	c := s.cols
	c.X[i], c.Y[i] = d.Position[0], d.Position[1]
	c.VX[i], c.VY[i], c.W[i] = d.LinearVelocity[0], d.LinearVelocity[1], d.AngularVelocity
	s.sleep.Add(i, sleepThreshold(d.SleepThreshold), d.Asleep && !d.Disabled)
	err := s.updateMass(i, nil) // one kilogram, if any: no error
	if d.Disabled {
		s.disable(i)
	}
	return err
}

func (s *solver) DestroyBody(body int) {
	s.destroyJoints(body)
	if s.cols.Flags[body]&FlagDisabled != 0 {
		s.disabledBodies--
	}
	s.ignoredPairs.RemoveBody(body)
	s.massOverrides.Set(body, MassData{}, false)
	s.lockedBodies -= hasLock(s.cols.Flags[body])
	for shape := range s.shapeTable.Of(body) {
		s.shapes.clear(shape)
	}
	s.sleep.Remove(body)
}

// checkSolver checks what this solver requires beyond Validate.
func (d *BodyDef) checkSolver() error {
	for _, f := range []struct {
		field string
		value float32
	}{
		{"physics: BodyDef.Position[0]", d.Position[0]}, {"physics: BodyDef.Position[1]", d.Position[1]},
		{"physics: BodyDef.LinearVelocity[0]", d.LinearVelocity[0]},
		{"physics: BodyDef.LinearVelocity[1]", d.LinearVelocity[1]},
		{"physics: BodyDef.AngularVelocity", d.AngularVelocity}, {"physics: BodyDef.LinearDamping", d.LinearDamping},
		{"physics: BodyDef.AngularDamping", d.AngularDamping}, {"physics: BodyDef.GravityScale", d.GravityScale},
	} {
		if err := check.Limited(f.field, f.value); err != nil {
			return err
		}
	}
	return checkAngle("physics: BodyDef.Angle", d.Angle)
}

func checkAngle(field string, v float32) error {
	if v > rigid.MaxAngle || v < -rigid.MaxAngle {
		return check.Because(fault.Field(ErrRange, field, v), "more than 65536 rad")
	}
	return nil
}

// checkPlace checks the position and the angle to which a call moves a body.
func checkPlace(positionField, angleField string, position [2]float32, angle float32) error {
	if err := check.Limited(positionField, position[:]...); err != nil {
		return err
	}
	return checkAngle(angleField, angle)
}

func (s *solver) setRotation(i int, sin, cos float32) {
	c := s.cols
	c.Cos[i], c.Sin[i], c.Angle[i] = cos, sin, rigid.Atan2(sin, cos)
}

// rotate converts a vector from body coordinates to world coordinates.
func (s *solver) rotate(i int, x, y float32) (float32, float32) { return s.cols.rotate(i, x, y) }

// worldPoint converts a point from body coordinates to world coordinates.
func (s *solver) worldPoint(i int, x, y float32) [2]float32 {
	x, y = s.rotate(i, x, y)
	return [2]float32{s.cols.X[i] + x, s.cols.Y[i] + y}
}

// centreOfMass returns the centre of mass of a body in world coordinates.
func (s *solver) centreOfMass(i int) [2]float32 {
	return s.worldPoint(i, s.cols.CentreX[i], s.cols.CentreY[i])
}

func vecOf(v [2]float32) rigid.Vec { return rigid.Vec{X: v[0], Y: v[1]} }
