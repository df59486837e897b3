package physics

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/material"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

const (
	// DefaultCapacity is the number of bodies of a world whose Config leaves
	// Capacity zero.
	DefaultCapacity = 16384
	// MaxCapacity is the largest number of bodies of one world.
	MaxCapacity = 1 << 24
	// MaxSubSteps is the largest Config.SubSteps.
	MaxSubSteps = 64
	// MaxWorkers is the largest Config.Workers.
	MaxWorkers = native.MaxWorkers
)

// Config describes a world. The zero value works.
type Config struct {
	// Capacity is the largest number of bodies alive at a time, exactly.
	// 0 means DefaultCapacity; at most MaxCapacity.
	Capacity int
	// Gravity is the acceleration of dynamic bodies in m/s², along the two
	// axes of the plane. Any finite value, and below 2^63 for the solver of this package; zero means none.
	Gravity [2]float32
	// Slots is the number of entities that Sync writes to, if known: CreateBody then refuses a larger
	// BodyDef.Slot. 0: Sync checks the slots.
	Slots int
	// Plane is the plane of the 3D world in which bodies move. Zero is XY.
	Plane Plane
	// SubSteps divides every Step into that many equal parts, for stiffer
	// contacts. 0 means the default of the engine, 4 for the solver of this package; at most
	// MaxSubSteps.
	SubSteps int

	// The fields from here to RestitutionMix apply to the solver of this package; other
	// engines have their own settings. Numbers are at most 1e6.

	// ContactHertz and ContactDamping define how contacts push overlapping bodies apart: like
	// a spring of that frequency in Hz, limited to a quarter of the rate of the sub-steps, and
	// of that damping ratio. 0: 30 Hz, 10.
	ContactHertz, ContactDamping float32
	// JointHertz and JointDamping define the same for the stiff constraints of joints. 0: 60 Hz, 5.
	JointHertz, JointDamping float32
	// PushSpeed is the greatest speed in m/s at which contacts push overlapping bodies apart. 0: 3.
	PushSpeed float32
	// RestitutionThreshold is the approach speed in m/s below which nothing bounces. 0: 1.
	RestitutionThreshold float32
	// MaxSpeed is the greatest speed of a dynamic body in m/s. 0: 400. The solver limits a greater speed and keeps
	// its direction: at the beginning of each sub-step, before the velocity moves the body, after contacts and joints
	// have changed it, and at the end of the step. So no dynamic body moves farther in a step than MaxSpeed times its
	// duration, nor turns by more than π/4 in a sub-step, except for a bullet that a faster kinematic body carries
	// along. The speed of kinematic bodies is not limited.
	MaxSpeed float32
	// FrictionMix and RestitutionMix combine the coefficients of two shapes that touch.
	// MixDefault: MixGeometric for friction, MixMax for restitution.
	FrictionMix, RestitutionMix Mix

	// DisableContinuous lets fast bodies pass through thin ones, until World.EnableContinuous: see the package comment.
	DisableContinuous bool
	// DisableSleep keeps bodies at rest simulated, until World.EnableSleeping. Otherwise they fall asleep: see
	// World.Awake.
	DisableSleep bool

	// StageHashes makes each step hash the results of its stages, for World.StageHashes. It
	// costs about as much as the step, and changes no result.
	StageHashes bool

	// Workers bounds the goroutines that the engine may use; it may use fewer,
	// and their number never changes a result. 0 means 1; at most MaxWorkers. World.SetWorkers changes it.
	Workers int
	// Level selects the kernels. native.Auto, the zero value: the best.
	Level native.Level
	// Engine is another solver, such as the one of physics/box2d. It belongs to one world. nil:
	// the solver of this package.
	Engine Engine
}

// Mix is a rule that combines the coefficients of two shapes.
type Mix = material.Mix

// The rules, for the coefficients a and b of two shapes.
const (
	MixDefault   = material.MixDefault   // the rule of Config
	MixGeometric = material.MixGeometric // √(ab)
	MixMax       = material.MixMax       // max(a, b)
	MixMin       = material.MixMin       // min(a, b)
	MixAverage   = material.MixAverage   // (a+b)/2
	MixMultiply  = material.MixMultiply  // ab
)

// Validate reports every fault of c at once. Errors wrap ErrRange,
// ErrNotFinite, or, for a level that cannot run here, ErrUnsupported.
func (c Config) Validate() error {
	return errors.Join(
		fault.Between("physics: Config.Capacity", c.Capacity, 0, MaxCapacity),
		check.Vector("physics: Config.Gravity", c.Gravity[:]),
		fault.Between("physics: Config.Slots", c.Slots, 0, math.MaxInt32),
		fault.Between("physics: Config.Plane", c.Plane, XY, XZ),
		fault.Between("physics: Config.SubSteps", c.SubSteps, 0, MaxSubSteps),
		check.Coefficient("physics: Config.ContactHertz", c.ContactHertz),
		check.Coefficient("physics: Config.ContactDamping", c.ContactDamping),
		check.Coefficient("physics: Config.JointHertz", c.JointHertz),
		check.Coefficient("physics: Config.JointDamping", c.JointDamping),
		check.Coefficient("physics: Config.PushSpeed", c.PushSpeed),
		check.Coefficient("physics: Config.RestitutionThreshold", c.RestitutionThreshold),
		check.Coefficient("physics: Config.MaxSpeed", c.MaxSpeed),
		fault.Between("physics: Config.FrictionMix", int(c.FrictionMix), 0, int(MixMultiply)),
		fault.Between("physics: Config.RestitutionMix", int(c.RestitutionMix), 0, int(MixMultiply)),
		fault.Between("physics: Config.Workers", c.Workers, 0, MaxWorkers),
		checkLevel(c.Level),
	)
}

// fillSolver fills in the defaults of the solver of this package.
func (c *Config) fillSolver() {
	if c.SubSteps == 0 {
		c.SubSteps = 4
	}
	if c.JointHertz == 0 {
		c.JointHertz = 60
	}
	if c.JointDamping == 0 {
		c.JointDamping = 5
	}
	t := c.tuning()
	c.ContactHertz, c.ContactDamping, c.PushSpeed = t.ContactHertz, t.ContactDamping, t.PushSpeed
	c.RestitutionThreshold, c.MaxSpeed = t.RestitutionThreshold, t.MaxSpeed
	c.FrictionMix, c.RestitutionMix = c.FrictionMix.Or(MixGeometric), c.RestitutionMix.Or(MixMax)
}

// params returns the parameters for package rigid.
func (c *Config) params() rigid.Params {
	return rigid.Params{
		Gravity: vecOf(c.Gravity), SubSteps: c.SubSteps,
		ContactHertz: c.ContactHertz, ContactDamping: c.ContactDamping,
		JointHertz: c.JointHertz, JointDamping: c.JointDamping,
		PushSpeed: c.PushSpeed, RestitutionThreshold: c.RestitutionThreshold, MaxSpeed: c.MaxSpeed,
		FrictionMix: c.FrictionMix, RestitutionMix: c.RestitutionMix,
	}
}

func checkLevel(l native.Level) error {
	_, err := native.Resolve(l)
	return err
}
