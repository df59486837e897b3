package box2d

import (
	"errors"
	"fmt"
	"math"
	"sync"

	b2 "github.com/ByteArena/box2d"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// MaxIterations is the largest number of iterations in Options.
const MaxIterations = 255

// Options tunes the solver. The zero value is the library's usual setting.
type Options struct {
	// VelocityIterations per step. 0 means 8; at most MaxIterations.
	VelocityIterations int
	// PositionIterations per step. 0 means 3; at most MaxIterations.
	PositionIterations int
	// NoContinuous turns continuous collision off: faster in dense scenes, and
	// fast bodies pass through thin ones.
	NoContinuous bool
}

// Validate reports every fault of o at once. Errors wrap physics.ErrRange.
func (o Options) Validate() error {
	return errors.Join(
		checkIterations("physics/box2d: Options.VelocityIterations", o.VelocityIterations),
		checkIterations("physics/box2d: Options.PositionIterations", o.PositionIterations),
	)
}

func checkIterations(field string, n int) error {
	if n < 0 || n > MaxIterations {
		return fault.Field(physics.ErrRange, field, n)
	}
	return nil
}

// New returns an empty world that this engine solves. It fills c.Engine, if
// that is nil, with NewEngine(Options{}). Errors are those of physics.New.
func New(c physics.Config) (*physics.World, error) {
	if c.Engine == nil {
		c.Engine = NewEngine(Options{})
	}
	return physics.New(c)
}

// NewEngine returns an engine for one world. physics.New reports the faults of o.
func NewEngine(o Options) physics.Engine { return &engine{options: o} }

// engine implements physics.Engine. bodies and fixtures are indexed by our indices:
// every loop uses them, never the linked lists of the library.
type engine struct {
	options  Options
	subSteps int
	noSleep  bool // Config.DisableSleep: no body begins asleep
	world    *b2.B2World
	cols     *physics.Columns
	bodies   []*b2.B2Body
	fixtures []*b2.B2Fixture
}

// stepping serialises the steps of all worlds, because they write package variables of
// the library.
var stepping sync.Mutex

// warmUp makes the library build its table of contact types, which it does
// lazily and without a lock at the first contact of the process. Our lock protects
// our own worlds; this protects a program that runs others of its own.
var warmUp = sync.OnceFunc(func() {
	stepping.Lock()
	defer stepping.Unlock()
	world := b2.MakeB2World(b2.B2Vec2{})
	circle := b2.NewB2CircleShape()
	circle.M_radius = 1
	for range 2 {
		def := b2.MakeB2BodyDef()
		def.Type = b2.B2BodyType.B2_dynamicBody
		world.CreateBody(&def).CreateFixture(circle, 1)
	}
	world.Step(1.0/60, 1, 1)
})

// Open makes the library's world.
func (e *engine) Open(c physics.Config, cols *physics.Columns) error {
	if e.world != nil {
		return fmt.Errorf("physics/box2d: the engine already belongs to a world: %w", physics.ErrUnsupported)
	}
	if err := e.options.Validate(); err != nil {
		return err
	}
	e.options.VelocityIterations = orDefault(e.options.VelocityIterations, 8)
	e.options.PositionIterations = orDefault(e.options.PositionIterations, 3)
	e.subSteps = orDefault(c.SubSteps, 1)
	e.cols, e.noSleep = cols, c.DisableSleep

	warmUp()
	world := b2.MakeB2World(vec(c.Gravity))
	// Without a filter object the library ignores all filters.
	world.SetContactFilter(&b2.B2ContactFilter{})
	world.M_continuousPhysics = !e.options.NoContinuous
	world.SetAutoClearForces(false) // forces act through all sub-steps
	e.world = &world
	return nil
}

// Step runs the sub-steps and fills the motion columns.
func (e *engine) Step(dt float32) error {
	if err := e.advance(float64(dt)); err != nil {
		return err
	}
	for i, b := range e.bodies {
		if b != nil {
			e.publish(i, b)
		}
	}
	return nil
}

// advance turns a panic into an error. The library then leaves its world locked,
// which is why the World stops permanently after an error.
func (e *engine) advance(dt float64) (err error) {
	stepping.Lock()
	defer stepping.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("physics/box2d: the library panicked in the middle of a step (%v): %w",
				r, physics.ErrRange)
		}
	}()
	h := dt / float64(e.subSteps)
	for range e.subSteps {
		e.world.Step(h, e.options.VelocityIterations, e.options.PositionIterations)
	}
	e.world.ClearForces()
	return nil
}

// publish writes the motion of a body to its row.
func (e *engine) publish(i int, b *b2.B2Body) {
	c := e.cols
	c.X[i], c.Y[i] = float32(b.M_xf.P.X), float32(b.M_xf.P.Y)
	c.Angle[i] = float32(wrap(b.M_sweep.A))
	c.Cos[i], c.Sin[i] = float32(b.M_xf.Q.C), float32(b.M_xf.Q.S)
	c.VX[i], c.VY[i] = float32(b.M_linearVelocity.X), float32(b.M_linearVelocity.Y)
	c.W[i] = float32(b.M_angularVelocity)
}

// wrap wraps an angle, which the library lets grow, to [-π, π].
func wrap(angle float64) float64 {
	if angle >= -math.Pi && angle <= math.Pi {
		return angle
	}
	return math.Remainder(angle, 2*math.Pi)
}

func orDefault(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

func vec(v [2]float32) b2.B2Vec2 { return b2.B2Vec2{X: float64(v[0]), Y: float64(v[1])} }
