package physics

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// Tuning holds the rules of a world that SetTuning can change. All values are at most 1e6; 0 means
// the default of Config.
type Tuning struct {
	// These five are as in Config.
	ContactHertz, ContactDamping, PushSpeed, RestitutionThreshold, MaxSpeed float32
	// HitSpeed is the least approach speed of a Hit, in m/s. 0: DefaultHitSpeed.
	HitSpeed float32
}

// Validate reports every fault of t at once. Errors wrap ErrNotFinite or ErrRange.
func (t *Tuning) Validate() error {
	return errors.Join(
		checkTuning("physics: Tuning.ContactHertz", t.ContactHertz),
		checkTuning("physics: Tuning.ContactDamping", t.ContactDamping),
		checkTuning("physics: Tuning.PushSpeed", t.PushSpeed),
		checkTuning("physics: Tuning.RestitutionThreshold", t.RestitutionThreshold),
		checkTuning("physics: Tuning.MaxSpeed", t.MaxSpeed),
		checkTuning("physics: Tuning.HitSpeed", t.HitSpeed),
	)
}

// numbers returns the fields in the order of a snapshot.
func (t *Tuning) numbers() [6]*float32 {
	return [...]*float32{&t.ContactHertz, &t.ContactDamping, &t.PushSpeed,
		&t.RestitutionThreshold, &t.MaxSpeed, &t.HitSpeed}
}

// filled returns t with its defaults filled in.
func (t Tuning) filled() Tuning {
	defaults := [...]float32{30, 10, 3, 1, 400, DefaultHitSpeed}
	for i, v := range t.numbers() {
		if *v == 0 {
			*v = defaults[i]
		}
	}
	return t
}

func (c *Config) tuning() Tuning {
	return Tuning{c.ContactHertz, c.ContactDamping, c.PushSpeed, c.RestitutionThreshold, c.MaxSpeed, 0}.filled()
}

// Tuning returns the tuning of the world, with its defaults filled in: that of its Config until
// SetTuning changes it. With another engine it is zero.
func (w *World) Tuning() Tuning { return w.solver.tuning }

// SetTuning replaces the tuning from the next step on. The tuning is part of the state: Restore and CopyFrom replace
// it, while Config stays the same. Errors: those of Validate, and ErrUnsupported from another engine.
func (w *World) SetTuning(t Tuning) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	if err := t.Validate(); err != nil {
		return err
	}
	w.solver.applyTuning(t.filled())
	return nil
}

func (s *solver) applyTuning(t Tuning) {
	s.tuning = t
	p := &s.sys.Params
	p.ContactHertz, p.ContactDamping, p.PushSpeed = t.ContactHertz, t.ContactDamping, t.PushSpeed
	p.RestitutionThreshold, p.MaxSpeed = t.RestitutionThreshold, t.MaxSpeed
}

// The frame "tuning": the float32 fields.

const tuningBytes = 6 * 4

func (w *World) encodeTuning(e *frame.Encoder) {
	for _, v := range w.solver.tuning.numbers() {
		e.F32(*v)
	}
}

func (im *snapshotImage) readTuning(b []byte) error {
	if len(b) != tuningBytes {
		return im.Corrupt("length of the tuning", len(b))
	}
	for i, v := range im.tuning.numbers() {
		*v = wire.F32At(b, i)
	}
	if im.tuning.Validate() != nil || im.tuning != im.tuning.filled() {
		return im.Corrupt("tuning", im.tuning)
	}
	return nil
}

func (w *World) restoreTuning(im *snapshotImage) { w.solver.applyTuning(im.tuning) }

func (w *World) copyTuning(src *World) { w.solver.applyTuning(src.solver.tuning) }

// hashTuning appends the tuning unless it is that of the configuration, and the rate of the sub-steps unless it is the usual one.
func (w *World) hashTuning(dst []ColumnHash) []ColumnHash {
	s := w.solver
	if s.tuning != w.config.tuning() {
		var numbers [tuningBytes / 4]float32
		for i, v := range s.tuning.numbers() {
			numbers[i] = *v
		}
		dst = append(dst, ColumnHash{Name: "Tuning", Hash: statehash.Rows(numbers[:])})
	}
	if s.subStepRate != 0 && s.subStepRate != usualSubStepRate {
		dst = append(dst, ColumnHash{Name: "SubStepRate", Hash: uint64(math.Float32bits(s.subStepRate))})
	}
	return dst
}

// usualSubStepRate is the rate of the sub-steps in a world with default Config and steps of 1/60 s.
var usualSubStepRate = (&rigid.Params{}).SubStepRate(1. / 60)

// massOverride is the mass of a body that SetMassData has set.
type massOverride struct {
	body uint32
	MassData
}

func compareMass(m massOverride, body int) int { return cmp.Compare(int(m.body), body) }

// massOverride returns the mass that SetMassData has set for a body, if any.
func (s *solver) massOverride(body int) (MassData, bool) {
	if len(s.massOverrides) == 0 {
		return MassData{}, false
	}
	at, ok := slices.BinarySearchFunc(s.massOverrides, body, compareMass)
	if !ok {
		return MassData{}, false
	}
	return s.massOverrides[at].MassData, true
}

// setMassOverride stores a mass for a body, or removes it.
func (s *solver) setMassOverride(body int, m MassData, keep bool) {
	at, ok := slices.BinarySearchFunc(s.massOverrides, body, compareMass)
	switch {
	case ok && keep:
		s.massOverrides[at].MassData = m
	case ok:
		s.massOverrides = slices.Delete(s.massOverrides, at, at+1)
	case keep:
		s.massOverrides = slices.Insert(s.massOverrides, at, massOverride{uint32(body), m})
	}
}

func (m *MassData) validate(prefix string) error {
	err := errors.Join(
		checkPositive(prefix+"Mass", m.Mass), checkNotNegative(prefix+"Inertia", m.Inertia),
		checkFinite2(prefix+"Center", m.Center),
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
		_, err = inverse("physics: MassData.Mass", m.Mass)
	}
	if err == nil {
		_, err = inverse("physics: MassData.Inertia", m.Inertia)
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
	before, had := s.massOverride(body)
	s.setMassOverride(body, m, keep)
	err := s.updateMass(body, s.bodyShapes(body))
	if err != nil {
		s.setMassOverride(body, before, had)
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
		m := massOverride{r.U32(), MassData{r.F32(), r.F32(), [2]float32{r.F32(), r.F32()}}}
		if !im.alive(uint64(m.body)) || i > 0 && m.body <= im.masses[i-1].body || m.validate("") != nil {
			return im.element("mass", i, m.body)
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
