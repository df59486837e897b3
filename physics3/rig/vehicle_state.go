package rig

import (
	"fmt"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/physics3"
)

// wheelBytes is the size of a wheel in AppendState: two handles, fifteen numbers, and Slips.
const wheelBytes = 2*8 + 15*4 + 1

// AppendState appends the wheels of all vehicles to dst: all that Step keeps. Controls are not in it.
func (v *Vehicles) AppendState(dst []byte) []byte {
	for i := range v.wheels {
		w := &v.wheels[i]
		dst = wire.AppendU64s(dst, w.Ground.Bits(), w.Joint.Bits())
		for _, number := range w.numbers() {
			dst = wire.AppendF32s(dst, *number)
		}
		dst = wire.AppendBool(dst, w.Slips)
	}
	return dst
}

// SetState sets the wheels to those of AppendState, of as many vehicles with as many wheels. Errors: ErrCorrupt, with nothing changed.
func (v *Vehicles) SetState(data []byte) error {
	if len(data) != wheelBytes*len(v.wheels) {
		return fmt.Errorf("rig: %d bytes for %d wheels: %w", len(data), len(v.wheels), fault.ErrCorrupt)
	}
	wheels := make([]Wheel, len(v.wheels))
	r := wire.NewReader(data)
	for i := range wheels {
		w := &wheels[i]
		w.Ground, w.Joint = physics3.BodyOfBits(r.U64()), physics3.JointOfBits(r.U64())
		for _, number := range w.numbers() {
			*number = r.F32()
			if !check.InRange(*number) {
				r.Fail("number of a wheel", *number)
			}
		}
		w.Slips = r.Bool()
	}
	if err := r.Done(); err != nil {
		return fmt.Errorf("rig: %w", err)
	}
	copy(v.wheels, wheels)
	return nil
}

// numbers are the fields of w that are numbers.
func (w *Wheel) numbers() [15]*float32 {
	c := &w.controls
	return [15]*float32{
		&w.Point[0], &w.Point[1], &w.Point[2], &w.Normal[0], &w.Normal[1], &w.Normal[2], &w.Compression, &w.Load, &w.Steering, &w.Speed, &w.Angle,
		&c.Throttle, &c.Brake, &c.HandBrake, &c.Steering,
	}
}
