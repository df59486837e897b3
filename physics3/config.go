package physics3

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/material"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/tuning"
	"github.com/evertick/evertick/native"
)

const (
	// DefaultCapacity is the number of bodies of a world whose Config leaves Capacity zero.
	DefaultCapacity = 16384
	// MaxCapacity is the largest number of bodies of one world.
	MaxCapacity = 1 << 24
	// MaxSubSteps is the largest Config.SubSteps.
	MaxSubSteps = 64
	// MaxWorkers is the largest Config.Workers.
	MaxWorkers = native.MaxWorkers
)

// Config describes a world. The zero value works. Numbers from ContactHertz to MaxSpeed are at most 1e6.
type Config struct {
	// Capacity is the largest number of bodies alive at a time, exactly. 0: DefaultCapacity; at most MaxCapacity.
	Capacity int
	// Gravity is the acceleration of dynamic bodies in m/s²: any value below 2^63; zero means none.
	Gravity [3]float32
	// Slots is the number of entities that Sync writes to, if known: CreateBody then refuses a larger BodyDef.Slot. 0: Sync
	// checks the slots.
	Slots int
	// SubSteps divides every Step into that many equal parts, for stiffer contacts. 0: 4; at most MaxSubSteps.
	SubSteps int

	// ContactHertz and ContactDamping define how contacts push overlapping bodies apart: like a spring of that frequency in
	// Hz, limited to a quarter of the rate of the sub-steps, and of that damping ratio. Contacts with bodies that are not
	// dynamic have twice the frequency, and those of two dynamic bodies whose masses differ by at most 3 times have 1.6 times.
	// 0: 30 Hz, 10. A contact of frequency f that carries a force F rests with an overlap of F/(μ·(2πf)²), where μ is the reduced
	// mass of the two bodies, that of the lighter one if the other is much heavier or static. So a heavy body sinks into a light
	// one by (M/m)·g/(2πf)².
	ContactHertz, ContactDamping float32
	// JointHertz and JointDamping define the same for the stiff constraints of joints. 0: 60 Hz, 5.
	JointHertz, JointDamping float32
	// PushSpeed is the greatest speed in m/s at which contacts push overlapping bodies apart. 0: 3.
	PushSpeed float32
	// RestitutionThreshold is the approach speed in m/s below which nothing bounces. 0: 1.
	RestitutionThreshold float32
	// MaxSpeed is the greatest speed of a dynamic body in m/s. 0: 400. No dynamic body turns by more than π/4 in a sub-step.
	// The speed of kinematic bodies is not limited.
	MaxSpeed float32
	// FrictionMix and RestitutionMix combine the coefficients of two shapes that touch. MixDefault: MixGeometric for friction, MixMax for
	// restitution.
	FrictionMix, RestitutionMix Mix

	// DisableSleep keeps bodies at rest simulated, until World.EnableSleeping. Otherwise they fall asleep: see World.Awake.
	DisableSleep bool
	// DisableContinuous lets fast bodies pass through thin shapes, until World.EnableContinuous.
	DisableContinuous bool
	// StageHashes makes each step hash the results of its stages, for World.StageHashes. It costs about as much as the step,
	// and changes no result.
	StageHashes bool
	// Workers bounds the goroutines of a step; it may use fewer, and their number never changes a result. 0: 1; at most
	// MaxWorkers. World.SetWorkers changes it.
	Workers int
	// Level selects the kernels. native.Auto, the zero value: the best.
	Level native.Level
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

// Validate reports every fault of c at once. Errors wrap ErrRange, ErrNotFinite, or, for a level that cannot run here,
// ErrUnsupported.
func (c Config) Validate() error {
	_, levelErr := native.Resolve(c.Level)
	return errors.Join(
		fault.Between("physics3: Config.Capacity", c.Capacity, 0, MaxCapacity),
		checkPlace("physics3: Config.Gravity", c.Gravity),
		fault.Between("physics3: Config.Slots", c.Slots, 0, math.MaxInt32),
		fault.Between("physics3: Config.SubSteps", c.SubSteps, 0, MaxSubSteps),
		check.Coefficient("physics3: Config.ContactHertz", c.ContactHertz),
		check.Coefficient("physics3: Config.ContactDamping", c.ContactDamping),
		check.Coefficient("physics3: Config.JointHertz", c.JointHertz),
		check.Coefficient("physics3: Config.JointDamping", c.JointDamping),
		check.Coefficient("physics3: Config.PushSpeed", c.PushSpeed),
		check.Coefficient("physics3: Config.RestitutionThreshold", c.RestitutionThreshold),
		check.Coefficient("physics3: Config.MaxSpeed", c.MaxSpeed),
		fault.Between("physics3: Config.FrictionMix", int(c.FrictionMix), 0, int(MixMultiply)),
		fault.Between("physics3: Config.RestitutionMix", int(c.RestitutionMix), 0, int(MixMultiply)),
		fault.Between("physics3: Config.Workers", c.Workers, 0, MaxWorkers),
		levelErr,
	)
}

// filled returns c with its defaults filled in.
func (c Config) filled() Config {
	if c.Capacity == 0 {
		c.Capacity = DefaultCapacity
	}
	if c.SubSteps == 0 {
		c.SubSteps = 4
	}
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.JointHertz == 0 {
		c.JointHertz = 60
	}
	if c.JointDamping == 0 {
		c.JointDamping = 5
	}
	c.FrictionMix, c.RestitutionMix = c.FrictionMix.Or(MixGeometric), c.RestitutionMix.Or(MixMax)
	t := c.tuning()
	c.ContactHertz, c.ContactDamping, c.PushSpeed = t.ContactHertz, t.ContactDamping, t.PushSpeed
	c.RestitutionThreshold, c.MaxSpeed = t.RestitutionThreshold, t.MaxSpeed
	return c
}

func (c *Config) tuning() tuning.Tuning {
	return tuning.Tuning{
		ContactHertz: c.ContactHertz, ContactDamping: c.ContactDamping, PushSpeed: c.PushSpeed,
		RestitutionThreshold: c.RestitutionThreshold, MaxSpeed: c.MaxSpeed,
	}.Filled()
}

// DefaultHitSpeed is Tuning.HitSpeed of a world whose tuning leaves it zero, in m/s.
const DefaultHitSpeed = tuning.DefaultHitSpeed

// Tuning holds the rules of a world that SetTuning can change. All values are at most 1e6; 0 means the default of Config.
type Tuning struct {
	// These five are as in Config.
	ContactHertz, ContactDamping, PushSpeed, RestitutionThreshold, MaxSpeed float32
	// HitSpeed is the least approach speed of a Hit, in m/s. 0: DefaultHitSpeed.
	HitSpeed float32
}

// Validate reports every fault of t at once. Errors wrap ErrNotFinite or ErrRange.
func (t *Tuning) Validate() error {
	u := tuning.Tuning(*t)
	return u.Check("physics3: Tuning.")
}

// Tuning returns the tuning of the world, with its defaults filled in: that of its Config until SetTuning changes it.
func (w *World) Tuning() Tuning { return Tuning(w.solver.tuning) }

// SetTuning replaces the tuning from the next step on. The tuning is part of the state: Restore and CopyFrom replace it, while
// Config stays the same. Errors are those of Validate.
func (w *World) SetTuning(t Tuning) error {
	if err := t.Validate(); err != nil {
		return err
	}
	w.solver.applyTuning(tuning.Tuning(t).Filled())
	return nil
}

func (s *solver) applyTuning(t tuning.Tuning) {
	s.tuning = t
	p := &s.sys.Params
	p.ContactHertz, p.ContactDamping, p.PushSpeed = t.ContactHertz, t.ContactDamping, t.PushSpeed
	p.RestitutionThreshold, p.MaxSpeed = t.RestitutionThreshold, t.MaxSpeed
}

// SetWorkers replaces Config.Workers from the next step on. The number never changes a result and is not part of the state. ErrRange unless it is 1 to
// MaxWorkers.
func (w *World) SetWorkers(workers int) error {
	if err := fault.Between("physics3: SetWorkers: workers", workers, 1, MaxWorkers); err != nil {
		return err
	}
	if workers != w.config.Workers {
		w.config.Workers, w.solver.pool = workers, native.NewPool(workers)
	}
	return nil
}

// params returns the parameters for package rigid3, before applyTuning.
func (c *Config) params() rigid3.Params {
	return rigid3.Params{Gravity: vecOf(c.Gravity), SubSteps: c.SubSteps, JointHertz: c.JointHertz, JointDamping: c.JointDamping}
}
