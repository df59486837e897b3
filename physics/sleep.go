package physics

import (
	"slices"

	"github.com/evertick/evertick/native/rigid"
)

// Awake reports whether b is a live body that is simulated: not static, not disabled, and not
// asleep.
//
// A body falls asleep, unless Config.DisableSleep is set, together with all dynamic bodies
// that it touches, directly or by way of others, once all of these have been at rest for
// SleepTime: their speeds up to BodyDef.SleepThreshold, that of no body counted that is not dynamic.
// That is the speed of the centre of mass, that of the farthest point by its turning, and the speed at
// which any point has really moved in a step, which is more where a joint draws bodies together, or a
// contact pushes them apart.
// One with BodyDef.DisableSleep, or a kinematic body that moves, keeps awake what it touches.
// A body with BodyDef.Asleep begins so. A kinematic body falls asleep by itself. Its velocity is zero then, it does not
// move, and a step takes no time for it but to see whether somebody has written into
// its columns. Nothing begins or ends to touch because a body falls asleep or wakes.
//
// What wakes a body and all that fell asleep with it: a body that is awake, or a static one
// that was put elsewhere, and touches it; the end, a change or a move of something that it
// touches; a force, an impulse, a velocity other than zero, or another place, by a call,
// by Commands, by Pull, or by writing into the columns; a change of its shapes or its
// type; and another gravity. Damping and GravityScale, if written, do not. By a
// method the body itself wakes at once, and otherwise, as those with it, when the next step begins.
func (w *World) Awake(b Body) bool {
	if !w.Valid(b) || w.cols.Type[b.index] == StaticBody {
		return false
	}
	return w.cols.Flags[b.index]&(FlagDisabled|FlagAsleep) == 0
}

// AwakeCount returns the number of bodies that are awake. It looks at all rows.
func (w *World) AwakeCount() int {
	n := 0
	for i := range w.Rows() {
		if w.cols.Type[i] != StaticBody && w.cols.Flags[i]&(FlagDisabled|FlagAsleep) == 0 {
			n++
		}
	}
	return n
}

// SetAwake wakes b, or puts it to sleep together with all dynamic bodies that it
// touches, directly or by way of others, as fast as they may be. They stay so whatever was done to them
// since the last step; sleepers beside one that was changed or moved wake to notice it, and wake
// it again where they touch it. Nothing falls asleep if one of them has BodyDef.DisableSleep or is
// touched by a kinematic body that moves, and nothing at all with Config.DisableSleep. It does nothing to
// a body that is static or disabled. Errors: ErrStale, and ErrUnsupported from another engine.
func (w *World) SetAwake(b Body, awake bool) error {
	i, err := w.solverRow(b)
	switch {
	case err != nil:
		return err
	case awake:
		w.solver.wake(i)
	case w.Awake(b) && w.solver.sleep.on:
		w.solver.putIslandToSleep(i)
		slept := &w.solver.events.Slept
		slices.Sort(*slept)
		*slept = slices.Compact(*slept)
	}
	return nil
}

// SetSleepThreshold replaces BodyDef.SleepThreshold. Errors: ErrStale; ErrNotFinite or ErrRange
// as from BodyDef.Validate; and ErrUnsupported from another engine.
func (w *World) SetSleepThreshold(b Body, speed float32) error {
	i, err := w.solverRow(b)
	if err == nil {
		err = checkTuning("physics: SetSleepThreshold: speed", speed)
	}
	if err == nil && w.solver.sleep.on {
		w.solver.wake(i)
		w.solver.sleep.threshold[i] = sleepThreshold(speed)
	}
	return err
}

// putIslandToSleep puts a body that is awake to sleep, with its island.
func (s *solver) putIslandToSleep(i int) {
	c, z := s.cols, &s.sleep
	if c.Type[i] != DynamicBody {
		if c.Flags[i]&FlagDisableSleep == 0 {
			z.restless.reset(s.rows)
			s.clearChanges(i)
			s.wakeNeighbours(z.restless)
			s.putToSleep(i)
		}
		return
	}
	s.buildIslands()
	island, members := z.islands.Find(uint32(i)), z.restlessIslands
	for k := range s.rows {
		if c.Type[k] == DynamicBody && s.awake(k) && z.islands.Find(uint32(k)) == island {
			if c.Flags[k]&FlagDisableSleep != 0 || z.restless.has(k) {
				return
			}
			members.add(k)
		}
	}
	z.restless.reset(s.rows)
	each := func(do func(*solver, int)) {
		for k := range s.rows {
			if members.has(k) {
				do(s, k)
			}
		}
	}
	each((*solver).clearChanges)
	s.wakeNeighbours(z.restless)
	each((*solver).putToSleep)
}

// clearChanges keeps a body that is about to be put to sleep from waking for what was done to it since the step
// before. What slept beside it has to notice that, if it is more than having been woken: it is listed as loud.
func (s *solver) clearChanges(i int) {
	z := &s.sleep
	why := z.changes[i]
	z.changes[i] = 0
	s.mark(i, newAsleep)
	if why&^woken != 0 || why != 0 && s.poseWritten(i) {
		z.restless.add(i)
	}
}

// wakeNeighbours wakes the sleepers that touch bodies that are not, or are joined to them, but for fresh ones.
func (s *solver) wakeNeighbours(bodies bitset) {
	z, of := &s.sleep, s.shapes.filters.Body
	if z.asleep == 0 {
		return
	}
	wake := func(a, b uint32) {
		if bodies.has(int(a)) {
			a, b = b, a
		}
		if bodies.has(int(b)) && s.asleepDynamic(a) && z.changes[a]&newAsleep == 0 {
			s.wake(int(a))
		}
	}
	for _, contacts := range [...][]rigid.Contact{z.resting, s.contacts} {
		for k := range contacts {
			if c := &contacts[k]; c.Count > 0 && c.Flags&noPush == 0 && s.shapesLive(c) {
				wake(of[c.A], of[c.B])
			}
		}
	}
	s.eachJoint(wake)
}
