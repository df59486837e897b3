package physics

import "slices"

// Awake reports whether b is a live body that is simulated: not static, not disabled, and not
// asleep.
//
// A body falls asleep, unless Config.DisableSleep is set, together with all dynamic bodies
// that it touches, directly or by way of others, once all of these have been at rest for
// SleepTime: their speeds up to BodyDef.SleepThreshold, that of no body counted that is not dynamic.
// One with BodyDef.DisableSleep, or a kinematic body that moves, keeps awake what it touches.
// A kinematic body falls asleep by itself. Its velocity is zero then, it does not
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
// touches, directly or by way of others, as fast as they may be. Nothing falls asleep if one
// of them has BodyDef.DisableSleep or is touched by a kinematic body that moves, and nothing at all with
// Config.DisableSleep. It does nothing to a body that is static or disabled. Errors: ErrStale,
// and ErrUnsupported from another engine.
func (w *World) SetAwake(b Body, awake bool) error {
	i, err := w.solved(b)
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
	i, err := w.solved(b)
	if err == nil {
		err = checkTuning("physics: SetSleepThreshold: speed", speed)
	}
	if err == nil && w.solver.sleep.on {
		w.solver.wake(i)
		w.solver.sleep.threshold[i] = thresholdOf(speed)
	}
	return err
}

// putIslandToSleep puts a body that is awake to sleep, with its island.
func (s *solver) putIslandToSleep(i int) {
	c, z := s.cols, &s.sleep
	if c.Type[i] != DynamicBody {
		if c.Flags[i]&FlagDisableSleep == 0 {
			s.putToSleep(i)
		}
		return
	}
	s.joinContacts()
	island := z.islands.Of(uint32(i))
	for pass := range 2 {
		for k := range s.rows {
			switch {
			case c.Type[k] != DynamicBody || !s.awake(k) || z.islands.Of(uint32(k)) != island:
			case pass == 1:
				s.putToSleep(k)
			case c.Flags[k]&FlagDisableSleep != 0 || z.loud.has(k):
				return
			}
		}
	}
}
