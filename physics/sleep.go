package physics

import (
	"slices"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/rigid"
)

// Awake reports whether b is a live body that is simulated: not static, not disabled, and not
// asleep.
//
// Bodies fall asleep unless Config.DisableSleep is set, or EnableSleeping has turned sleep off. A dynamic body falls
// asleep together with all dynamic bodies that it touches, directly or through others, once all of these have been at
// rest for SleepTime. A body is at rest while its speed is at most BodyDef.SleepThreshold. Three speeds count: that of
// the centre of mass, that of the farthest point by rotation, and the speed at which any point has really moved in a
// step, which is greater where a joint pulls bodies together or a contact pushes them apart. A body with
// BodyDef.DisableSleep, or a moving kinematic body, keeps the bodies that it touches awake. A body with BodyDef.Asleep
// begins asleep. A kinematic body falls asleep by itself.
//
// A sleeping body has zero velocity and does not move. A step only checks whether a program has written to
// its columns. Contacts neither begin nor end because a body falls asleep or wakes.
//
// A body and all bodies that fell asleep with it wake when one of these happens: an awake body, or a static body that
// was moved, touches it; something that it touches is destroyed, changed or moved; it gets a force, an impulse, a
// non-zero velocity or another pose, by a call, by Commands, by Pull, or by writing to the columns; its shapes or its
// type change; or gravity changes. Writing damping or GravityScale does not wake it. A method wakes the body itself
// at once. In all other cases, and for the others of its island, that happens when the next step begins.
func (w *World) Awake(b Body) bool {
	if !w.Valid(b) || w.cols.Type[b.index] == StaticBody {
		return false
	}
	return w.cols.Flags[b.index]&(FlagDisabled|FlagAsleep) == 0
}

// AwakeCount returns the number of awake bodies. It reads all rows.
func (w *World) AwakeCount() int {
	n := 0
	for i := range w.Rows() {
		if w.cols.Type[i] != StaticBody && w.cols.Flags[i]&(FlagDisabled|FlagAsleep) == 0 {
			n++
		}
	}
	return n
}

// SetAwake wakes b, or puts it to sleep together with all dynamic bodies that it touches, directly or through others,
// at any speed. They stay asleep even if they were changed since the last step; sleepers that touch a changed or
// moved body wake, and wake it again where they still touch it. No body falls asleep if one of them has
// BodyDef.DisableSleep or touches a moving kinematic body, nor while sleep is off. SetAwake has no effect on a
// static or disabled body. Errors: ErrStale, and ErrUnsupported from another engine.
func (w *World) SetAwake(b Body, awake bool) error {
	i, err := w.solverRow(b)
	switch {
	case err != nil:
		return err
	case awake:
		w.solver.wake(i)
	case w.Awake(b) && w.solver.sleep.enabled:
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
	if err == nil {
		w.solver.wake(i)
		w.solver.sleep.threshold[i] = sleepThreshold(speed)
	}
	return err
}

// putIslandToSleep puts an awake body to sleep, with its island.
func (s *solver) putIslandToSleep(i int) {
	c, z := s.cols, &s.sleep
	if c.Type[i] != DynamicBody {
		if c.Flags[i]&FlagDisableSleep == 0 {
			z.restless.Reset(s.rows)
			s.clearChanges(i)
			s.wakeNeighbours(z.restless)
			s.putToSleep(i)
		}
		return
	}
	s.buildIslands()
	island, members := z.islands.Find(uint32(i)), z.restlessIslands
	for k := range s.rows {
		if c.Type[k] == DynamicBody && s.isAwake(k) && z.islands.Find(uint32(k)) == island {
			if c.Flags[k]&FlagDisableSleep != 0 || z.restless.Has(k) {
				return
			}
			members.Add(k)
		}
	}
	z.restless.Reset(s.rows)
	each := func(do func(*solver, int)) {
		for k := range s.rows {
			if members.Has(k) {
				do(s, k)
			}
		}
	}
	each((*solver).clearChanges)
	s.wakeNeighbours(z.restless)
	each((*solver).putToSleep)
}

// clearChanges discards the changes to a body since the last step, so that they do not wake it again after it has
// been put to sleep. If it was more than woken, its neighbours must wake: it is marked as restless.
func (s *solver) clearChanges(i int) {
	z := &s.sleep
	why := z.changes[i]
	z.changes[i] = 0
	s.markChanged(i, newAsleep)
	if why&^woken != 0 || why != 0 && s.poseWritten(i) {
		z.restless.Add(i)
	}
}

// wakeNeighbours wakes the sleepers that touch some bodies, or that a joint connects to them, except new sleepers.
func (s *solver) wakeNeighbours(bodies bitset.Set) {
	z, of := &s.sleep, s.shapes.filters.Body
	if z.asleep == 0 {
		return
	}
	wake := func(a, b uint32) {
		if bodies.Has(int(a)) {
			a, b = b, a
		}
		if bodies.Has(int(b)) && s.isSleeper(a) && z.changes[a]&newAsleep == 0 {
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
