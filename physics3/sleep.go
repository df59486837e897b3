package physics3

import (
	"slices"

	"github.com/evertick/evertick/internal/check"
)

// Awake reports whether b is a live body that is simulated: not static, not disabled, and not asleep.
//
// Bodies fall asleep unless Config.DisableSleep is set, or EnableSleeping has turned sleep off. A dynamic body falls asleep together with all
// dynamic bodies that it touches, directly or through others, once all of these have been at rest for SleepTime. A body is at rest while its
// speed is at most BodyDef.SleepThreshold. Three speeds count: that of the centre of mass, that of the farthest point by rotation, and the
// speed at which any point has really moved in a step, which is greater where a contact pushes bodies apart. A body with
// BodyDef.DisableSleep, or a moving kinematic body, keeps the bodies that it touches awake. A body with BodyDef.Asleep begins asleep. A
// kinematic body falls asleep by itself.
//
// A sleeping body has zero velocity and does not move. A step only checks whether a program has written to its columns. Contacts neither
// begin nor end because a body falls asleep or wakes.
//
// A body and all bodies that fell asleep with it wake when one of these happens: an awake body, or a static body that was moved, touches it;
// something that it touches is destroyed, changed or moved; it gets a force, an impulse, a non-zero velocity or another pose, by a call, by
// Commands, by Pull, or by writing to the columns; its shapes or its type change; or gravity changes. Writing damping or GravityScale does not
// wake it. A method wakes the body itself at once. In all other cases, and for the others of its island, that happens when the next step
// begins.
func (w *World) Awake(b Body) bool { return w.Valid(b) && w.solver.sleep.Awake(int(b.index)) }

// AwakeCount returns the number of awake bodies. It reads all rows.
func (w *World) AwakeCount() int { return w.solver.sleep.AwakeCount() }

// SetAwake wakes b, or puts it to sleep together with all dynamic bodies that it touches, directly or through others, at any speed. They stay
// asleep even if they were changed since the last step; sleepers that touch a changed or moved body wake, and wake it again where they still
// touch it. No body falls asleep if one of them has BodyDef.DisableSleep or touches a moving kinematic body, nor while sleep is off. SetAwake
// has no effect on a static or disabled body. ErrStale if b is destroyed.
func (w *World) SetAwake(b Body, awake bool) error {
	i, err := w.row(b)
	switch {
	case err != nil:
		return err
	case awake:
		w.solver.sleep.Wake(i)
	case w.Awake(b) && w.solver.sleep.Enabled:
		w.solver.sleep.PutToSleep(i)
		slept := &w.solver.events.Slept
		slices.Sort(*slept)
		*slept = slices.Compact(*slept)
	}
	return nil
}

// SetSleepThreshold replaces BodyDef.SleepThreshold. Errors: ErrStale; ErrNotFinite or ErrRange as from BodyDef.Validate.
func (w *World) SetSleepThreshold(b Body, speed float32) error {
	i, err := w.row(b)
	if err == nil {
		err = check.Coefficient("physics3: SetSleepThreshold: speed", speed)
	}
	if err == nil {
		w.solver.sleep.Wake(i)
		w.solver.sleep.Threshold[i] = sleepThreshold(speed)
	}
	return err
}

// SleepingEnabled reports whether bodies at rest fall asleep: see Awake.
func (w *World) SleepingEnabled() bool { return w.solver.sleep.Enabled }

// EnableSleeping turns sleep on or off. It is on in a new world, unless Config.DisableSleep is set. Turning it off wakes all bodies at once, and
// the next step reports them in Events.Woke. After it is turned on, bodies fall asleep once they have been at rest for SleepTime. The switch is
// part of the state, so Restore and CopyFrom replace it, together with Config.DisableSleep. The error is that which has stopped the world, if any.
func (w *World) EnableSleeping(on bool) error {
	if w.failed == nil {
		w.solver.sleep.Enable(on)
	}
	return w.failed
}
