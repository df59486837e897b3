package physics

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/tuning"
	"github.com/evertick/evertick/internal/wire"
)

// Tuning holds the rules of a world that SetTuning can change. All values are at most 1e6; 0 means
// the default of Config.
type Tuning struct {
	// These five are as in Config.
	ContactHertz, ContactDamping, PushSpeed, RestitutionThreshold, MaxSpeed float32
	// HitSpeed is the least approach speed of a Hit, in m/s. 0: 1.
	HitSpeed float32
}

// Validate reports every fault of t at once. Errors wrap ErrNotFinite or ErrRange.
func (t *Tuning) Validate() error {
	u := tuning.Tuning(*t)
	return u.Check("physics: Tuning.")
}

func (c *Config) tuning() tuning.Tuning {
	return tuning.Tuning{
		ContactHertz: c.ContactHertz, ContactDamping: c.ContactDamping, PushSpeed: c.PushSpeed,
		RestitutionThreshold: c.RestitutionThreshold, MaxSpeed: c.MaxSpeed,
	}.Filled()
}

// Tuning returns the tuning of the world, with its defaults filled in: that of its Config until
// SetTuning changes it. With another engine it is zero.
func (w *World) Tuning() Tuning { return Tuning(w.solver.tuning) }

// SetTuning replaces the tuning from the next step on. The tuning is part of the state: Restore and CopyFrom replace
// it, while Config stays the same. Errors: those of Validate, and ErrUnsupported from another engine.
func (w *World) SetTuning(t Tuning) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
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

// The frame "tuning": the float32 fields.

func (w *World) encodeTuning(e *frame.Encoder) { w.solver.tuning.Encode(e) }

func (im *snapshotImage) readTuning(b []byte) error { return im.tuning.Decode(&im.Decoder, b) }

func (w *World) restoreTuning(im *snapshotImage) { w.solver.applyTuning(im.tuning) }

func (w *World) copyTuning(src *World) { w.solver.applyTuning(src.solver.tuning) }

// hashTuning appends the tuning unless it is that of the configuration, and the rate of the sub-steps unless it is the usual one.
func (w *World) hashTuning(dst []ColumnHash) []ColumnHash {
	s := w.solver
	if s.tuning != w.config.tuning() {
		dst = s.tuning.Hash(dst)
	}
	if s.subStepRate != 0 && s.subStepRate != usualSubStepRate {
		dst = append(dst, ColumnHash{Name: "SubStepRate", Hash: uint64(math.Float32bits(s.subStepRate))})
	}
	return dst
}

// usualSubStepRate is the rate of the sub-steps in a world with default Config and steps of 1/60 s.
var usualSubStepRate = (&rigid.Params{}).SubStepRate(1. / 60)

func (m *MassData) validate(prefix string) error {
	err := errors.Join(
		check.Positive(prefix+"Mass", m.Mass), check.NotNegative(prefix+"Inertia", m.Inertia),
		check.Vector(prefix+"Center", m.Center[:]),
	)
	if err != nil {
		return err
	}
	for _, v := range m.Center {
		if max(v, -v) > rigid.MaxCoordinate {
			return fault.Field(ErrRange, prefix+"Center", m.Center)
		}
	}
	return nil
}

// SetMassData sets the mass of b, its inertia about its centre of mass, and that centre, in place of the values from
// its shapes, until ResetMassData: creating, destroying or changing shapes has no effect on them. With an inertia of
// 0 the body does not turn. They apply while b is dynamic; FixedRotation makes the inertia 0. If b turns, its
// velocity changes as its centre moves. Errors: ErrStale; ErrNotFinite; ErrRange for a mass that is not positive, a
// negative inertia, values beyond 1e-19 to 1e19, and a centre beyond 2^20 m; and ErrUnsupported from another engine.
func (w *World) SetMassData(b Body, m MassData) error {
	i, err := w.solverRow(b)
	if err == nil {
		err = m.validate("physics: MassData.")
	}
	if err == nil {
		_, err = check.Inverse("physics: MassData.Mass", m.Mass)
	}
	if err == nil {
		_, err = check.Inverse("physics: MassData.Inertia", m.Inertia)
	}
	if err != nil {
		return err
	}
	return w.solver.overrideMass(i, m, true)
}

// ResetMassData gives b the mass of its shapes again. Errors: ErrStale; ErrRange as when a shape is
// created; and ErrUnsupported from another engine.
func (w *World) ResetMassData(b Body) error {
	i, err := w.solverRow(b)
	if err != nil {
		return err
	}
	return w.solver.overrideMass(i, MassData{}, false)
}

func (s *solver) overrideMass(body int, m MassData, keep bool) error {
	before, had := s.massOverrides.Of(body)
	s.massOverrides.Set(body, m, keep)
	err := s.updateMass(body, s.bodyShapes(body))
	if err != nil {
		s.massOverrides.Set(body, before, had)
		return err
	}
	s.sleep.WakeUnlessNew(body)
	return nil
}

// The frame "masses": for each body of SetMassData, in ascending order, its uint32 number and its mass,
// inertia and centre as float32.

const massBytes = 5 * 4

func (w *World) encodeMasses(e *frame.Encoder) {
	e.Rows(buffer.Bytes(w.solver.massOverrides), 4)
}

func (im *snapshotImage) readMasses(b []byte) error {
	if len(b)%massBytes != 0 {
		return im.Corrupt("length of the masses", len(b))
	}
	r := wire.NewReader(b)
	for i := range len(b) / massBytes {
		m := handle.SparseValue[MassData]{Number: r.U32(), Value: MassData{r.F32(), r.F32(), [2]float32{r.F32(), r.F32()}}}
		if !im.alive(uint64(m.Number)) || i > 0 && m.Number <= im.masses[i-1].Number || m.Value.validate("") != nil {
			return im.CorruptElement("mass", i, m.Number)
		}
		im.masses = append(im.masses, m)
	}
	return nil
}

func (w *World) restoreMasses(im *snapshotImage) {
	w.solver.massOverrides = append(w.solver.massOverrides[:0], im.masses...)
}

func (w *World) copyMasses(src *World) {
	w.solver.massOverrides = append(w.solver.massOverrides[:0], src.solver.massOverrides...)
}

func (w *World) hashMasses(dst []ColumnHash) []ColumnHash {
	if len(w.solver.massOverrides) == 0 {
		return dst
	}
	return append(dst, ColumnHash{Name: "MassData", Hash: statehash.Rows(buffer.Words[float32](w.solver.massOverrides))})
}

// MotionLocks are the directions in which a body does not move.
type MotionLocks struct {
	// X and Y lock the axes of the plane.
	X, Y bool
	// Rotation is BodyDef.FixedRotation.
	Rotation bool
}

// MotionLocks returns the locks of b. ErrStale.
func (w *World) MotionLocks(b Body) (MotionLocks, error) {
	i, err := w.row(b)
	if err != nil {
		return MotionLocks{}, err
	}
	f := w.cols.Flags[i]
	return MotionLocks{X: f&FlagLockX != 0, Y: f&FlagLockY != 0, Rotation: f&FlagFixedRotation != 0}, nil
}

// SetMotionLocks replaces BodyDef.LockX, LockY and FixedRotation of b. Locked motion stops in
// the next step. Errors: ErrStale; ErrRange as when a shape is created; and ErrUnsupported from
// another engine.
func (w *World) SetMotionLocks(b Body, l MotionLocks) error {
	i, err := w.solverRow(b)
	if err != nil {
		return err
	}
	flags := &w.cols.Flags[i]
	before := *flags
	*flags &^= FlagLockX | FlagLockY | FlagFixedRotation
	for _, f := range [...]struct {
		on   bool
		flag uint8
	}{{l.X, FlagLockX}, {l.Y, FlagLockY}, {l.Rotation, FlagFixedRotation}} {
		if f.on {
			*flags |= f.flag
		}
	}
	s := w.solver
	if err := s.updateMass(i, s.bodyShapes(i)); err != nil {
		*flags = before
		return err
	}
	if l.Rotation {
		w.cols.W[i] = 0
	}
	s.lockedBodies += hasLock(*flags) - hasLock(before)
	s.sleep.WakeWithNeighbours(i)
	return nil
}

// hasLock returns 1 if a body with these flags has a locked axis, else 0.
func hasLock(flags uint8) int {
	if flags&(FlagLockX|FlagLockY) != 0 {
		return 1
	}
	return 0
}

// applyMotionLocks zeroes the velocity of dynamic bodies [lo, hi) along locked axes.
func (s *solver) applyMotionLocks(lo, hi int) {
	if s.lockedBodies == 0 {
		return
	}
	states, flags := s.sys.States[lo:hi], s.cols.Flags[lo:hi]
	for i, f := range flags {
		if f&(FlagLockX|FlagLockY) == 0 || !(states[i].InvMass > 0) {
			continue
		}
		if f&FlagLockX != 0 {
			states[i].VX = 0
		}
		if f&FlagLockY != 0 {
			states[i].VY = 0
		}
	}
}
