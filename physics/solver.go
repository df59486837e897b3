package physics

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/rigid"
)

// solver is the engine of this package: it computes in the columns themselves, by the
// stages of package rigid. All that a step depends on is in the columns, the shapes
// and the contacts; the rest is room to work in.
type solver struct {
	cols   *Columns
	bodies *pool       // of the World
	table  *shapeTable // of the World
	level  native.Level
	pool   *native.Pool
	rows   int // of bodies ever used

	shapes   shapeColumns
	contacts []rigid.Contact // of the last step, ascending by A, then B
	seen     []uint32        // generations that shapes had then
	steps    uint64          // done
	disabled int             // bodies that are

	sys       rigid.System
	centre    rigid.Poses // of the centres of mass; Cos and Sin are those of cols
	boxes     rigid.Boxes
	broad     rigid.Broad
	pairs     rigid.Pairs
	manifolds []rigid.Manifold
	next      []rigid.Contact // of the step that runs
	began     rigid.Pairs
	ended     rigid.Pairs
	own       []uint32 // what shapesOf returned
	movedIn   []int    // bodies that moved, by chunk
	stage     stageTask
	crew      crew
	passes    []pass
	stepJob   func(*shift) // s.stepPart

	events Events
	timed  func(stage string) // World.Trace
	traced bool               // Config.StageHashes
	trace  []ColumnHash       // of the last step
}

func (s *solver) Open(cfg Config, cols *Columns) error {
	level, err := native.Resolve(cfg.Level)
	if err == nil {
		err = checkUsable("physics: Config.Gravity", cfg.Gravity[:]...)
	}
	if err != nil {
		return err
	}
	s.cols, s.level, s.pool = cols, level, native.NewPool(cfg.Workers)
	s.stepJob = s.stepPart
	s.traced = cfg.StageHashes
	s.sys.Params = cfg.params()
	n := cfg.Capacity
	work := [...]*[]float32{&s.centre.X, &s.centre.Y, &s.sys.Bodies.FreeX, &s.sys.Bodies.FreeY, &s.sys.Bodies.FreeW}
	step := stagger.Stride(4 * n)
	arena := stagger.Bytes(step*len(work), len(cols.floatColumns()))
	for i, c := range work {
		*c = stagger.View[float32](arena[i*step : i*step+4*n])
	}
	s.sys.States = make([]rigid.State, n)
	return nil
}

func (s *solver) SetGravity(gravity [2]float32) error {
	if err := checkUsable("physics: SetGravity: gravity", gravity[:]...); err != nil {
		return err
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
	c := s.cols
	c.X[i], c.Y[i] = d.Position[0], d.Position[1]
	c.VX[i], c.VY[i], c.W[i] = d.LinearVelocity[0], d.LinearVelocity[1], d.AngularVelocity
	return s.weigh(i, nil) // one kilogram, if any: no error
}

func (s *solver) DestroyBody(body int) {
	if s.cols.Flags[body]&FlagDisabled != 0 {
		s.disabled--
	}
	for link := s.table.head[body]; link != 0; link = s.table.next[link-1] {
		s.shapes.clear(int(link - 1))
	}
}

// checkSolver is what this solver asks for beside Validate.
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
		if err := checkUsable(f.field, f.value); err != nil {
			return err
		}
	}
	return checkAngle("physics: BodyDef.Angle", d.Angle)
}

func checkUsable(field string, values ...float32) error {
	for _, v := range values {
		if !usable(v) {
			return because(fault.Field(ErrRange, field, v), "2^63 or more")
		}
	}
	return nil
}

func checkAngle(field string, v float32) error {
	if v > rigid.MaxAngle || v < -rigid.MaxAngle {
		return because(fault.Field(ErrRange, field, v), "more than 65536 rad")
	}
	return nil
}

// checkPlace is what this solver asks of a place to put a body.
func checkPlace(positionField, angleField string, position [2]float32, angle float32) error {
	if err := checkUsable(positionField, position[:]...); err != nil {
		return err
	}
	return checkAngle(angleField, angle)
}

func (s *solver) setRotation(i int, sin, cos float32) {
	c := s.cols
	c.Cos[i], c.Sin[i], c.Angle[i] = cos, sin, rigid.Atan2(sin, cos)
}

// turned returns a vector in body coordinates in those of the world.
func (s *solver) turned(i int, x, y float32) (float32, float32) {
	cos, sin := s.cols.Cos[i], s.cols.Sin[i]
	return float32(cos*x) - float32(sin*y), float32(sin*x) + float32(cos*y)
}

func vecOf(v [2]float32) rigid.Vec { return rigid.Vec{X: v[0], Y: v[1]} }
