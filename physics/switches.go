package physics

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/native"
)

// SleepingEnabled reports whether bodies at rest fall asleep: see Awake. With another engine it is false.
func (w *World) SleepingEnabled() bool { return w.solver.sleep.Enabled }

// EnableSleeping turns sleep on or off. It is on in a new world, unless Config.DisableSleep is set. Turning it off wakes
// all bodies at once, and the next step reports them in Events.Woke. After it is turned on, bodies fall asleep once they
// have been at rest for SleepTime. The switch is part of the state, so Restore and CopyFrom replace it, together with
// Config.DisableSleep. ErrUnsupported from another engine.
func (w *World) EnableSleeping(on bool) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	w.solver.sleep.Enable(on)
	return nil
}

// ContinuousEnabled reports whether continuous collision keeps fast bodies from passing through thin ones. With another
// engine it is false.
func (w *World) ContinuousEnabled() bool { return w.solver.continuous.enabled }

// EnableContinuous turns continuous collision on or off, from the next step on. It is on in a new world, unless
// Config.DisableContinuous is set. The switch is part of the state, so Restore and CopyFrom replace it, together with
// Config.DisableContinuous. ErrUnsupported from another engine.
func (w *World) EnableContinuous(on bool) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	w.solver.continuous.enabled = on
	return nil
}

// SetWorkers replaces Config.Workers from the next step on. The number never changes a result and is not part of the
// state. Errors: ErrRange unless it is 1 to MaxWorkers, and ErrUnsupported from another engine.
func (w *World) SetWorkers(workers int) error {
	if err := w.engine.require(); err != nil {
		return err
	}
	if err := fault.Between("physics: SetWorkers: workers", workers, 1, MaxWorkers); err != nil {
		return err
	}
	if workers != w.config.Workers {
		w.config.Workers, w.solver.pool = workers, native.NewPool(workers)
	}
	return nil
}

// switches hold which features were on when the world was created, and which are on now.
type switches struct{ sleepFirst, continuousFirst, sleep, continuous bool }

func (w *World) switches() switches {
	s := w.solver
	return switches{!w.config.DisableSleep, !w.config.DisableContinuous, s.sleep.Enabled, s.continuous.enabled}
}

func (w *World) setSwitches(v switches) {
	w.config.DisableSleep, w.config.DisableContinuous = !v.sleepFirst, !v.continuousFirst
	w.solver.sleep.Enabled, w.solver.continuous.enabled = v.sleep, v.continuous
}

// changed reports whether the switches differ from those of the configuration.
func (v switches) changed() bool { return v.sleep != v.sleepFirst || v.continuous != v.continuousFirst }

func (v switches) bits() (b uint32) {
	for i, on := range [...]bool{v.sleepFirst, v.continuousFirst, v.sleep, v.continuous} {
		b |= bit(on) << i
	}
	return b
}

func switchesOf(b uint32) switches { return switches{b&1 != 0, b&2 != 0, b&4 != 0, b&8 != 0} }

// hashSwitches appends the switches if they differ from the configuration, and, for a world without a sleep state,
// the sleep thresholds if one differs from the default.
func (w *World) hashSwitches(dst []ColumnHash) []ColumnHash {
	s, v := w.solver, w.switches()
	if v.changed() {
		dst = append(dst, ColumnHash{Name: "Switches", Hash: uint64(v.bits())})
	}
	if !s.sleep.On && s.sleep.OwnThresholds() {
		dst = append(dst, ColumnHash{Name: "SleepThreshold", Hash: statehash.Rows(s.sleep.Threshold[:s.rows])})
	}
	return dst
}

// The frame "switches": a uint32 with the bits of switches, and, if the frame of sleep is empty, the float32 sleep
// thresholds by row.

func (w *World) encodeSwitches(e *frame.Encoder) {
	e.U32(int(w.switches().bits()))
	if s := w.solver; !s.sleep.On {
		s.sleep.EncodeThresholds(e)
	}
}

func (im *snapshotImage) readSwitches(b []byte) error {
	want := 4
	if !im.sleep.On {
		want += 4 * im.rows
	}
	if len(b) != want {
		return im.Corrupt("length of the switches", len(b))
	}
	bits := wire.U32At(b, 0)
	im.switches = switchesOf(bits)
	if v := im.switches; bits > 15 || (v.sleepFirst || v.sleep) && !im.sleep.On {
		return im.Corrupt("switches", bits)
	}
	for i, f := range im.flags() {
		if f&FlagAsleep != 0 && !im.switches.sleep {
			return im.CorruptElement("flags of body", i, f)
		}
	}
	if !im.sleep.On {
		return im.sleep.ReadThresholds(snapshotName, b[4:])
	}
	return nil
}

func (w *World) restoreSwitches(im *snapshotImage) { w.setSwitches(im.switches) }

func (w *World) copySwitches(src *World) { w.setSwitches(src.switches()) }
