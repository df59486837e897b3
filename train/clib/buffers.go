//go:build cgo

package clib

/*
#include "evertick_train.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/train"
)

// setBuffers makes the batch use the buffers of a caller, without a byte beyond them.
func (h *batch) setBuffers(c *C.evertick_train_buffers_in, step bool) error {
	if c == nil {
		return null("buffers")
	}
	if err := structSize("buffers", c.struct_size, unsafe.Sizeof(*c), unsafe.Offsetof(c.live), unsafe.Offsetof(c.final_mask)); err != nil {
		return err
	}
	if c.reserved != 0 {
		return fault.Field(fault.ErrRange, "train: buffers.reserved", uint32(c.reserved))
	}
	def, cfg := h.b.Definition(), h.b.Config()
	h.buffers = train.Buffers{}
	t := bufferReader{rows: h.b.Len() * h.b.Agents()}
	to := &h.buffers
	to.Obs, to.ObsUint8, to.ObsStride = t.obs("obs", c.obs, def.Obs)
	if c.mask.data != nil && def.Action.Kind == train.Int32 {
		to.Mask, to.MaskStride = rows[bool](&t, "mask", c.mask, def.Action.MaskSize())
	}
	if uintptr(c.struct_size) > unsafe.Offsetof(c.live) && c.live.data != nil {
		to.Live = dense[bool](&t, "live", c.live)
	}
	if !step {
		return t.err
	}
	if def.Action.Kind == train.Int32 {
		to.Choices, to.ActionStride = rows[int32](&t, "actions", c.actions, def.Action.Size())
	} else {
		to.Actions, to.ActionStride = rows[float32](&t, "actions", c.actions, def.Action.Size())
	}
	to.Reward = dense[float32](&t, "reward", c.reward)
	to.Terminated = dense[bool](&t, "terminated", c.terminated)
	to.Truncated = dense[bool](&t, "truncated", c.truncated)
	if cfg.Autoreset != train.SameStep {
		return t.err
	}
	to.Final = dense[bool](&t, "final", c.final)
	to.FinalObs, to.FinalObsUint8, to.FinalStride = t.obs("final_obs", c.final_obs, def.Obs)
	if uintptr(c.struct_size) > unsafe.Offsetof(c.final_mask) && c.final_mask.data != nil && def.Action.Kind == train.Int32 {
		to.FinalMask, to.FinalMaskStride = rows[bool](&t, "final_mask", c.final_mask, def.Action.MaskSize())
	}
	return t.err
}

func (t *bufferReader) obs(name string, r C.evertick_train_rows, s train.Space) (f []float32, u []uint8, stride int) {
	if s.Kind == train.Uint8 {
		u, stride = rows[uint8](t, name, r, s.Size())
	} else {
		f, stride = rows[float32](t, name, r, s.Size())
	}
	return f, u, stride
}

// bufferReader makes slices of buffers, and keeps the first error.
type bufferReader struct {
	rows int
	err  error
}

func (t *bufferReader) fail(name, what string, v, want any) {
	if t.err == nil {
		t.err = fmt.Errorf("%w, wants %v", fault.Field(fault.ErrRange, "train: buffers."+name+": "+what, v), want)
	}
}

// rows returns the numbers of a buffer with rows of row numbers, and its stride in numbers. The
// last row needs no gap after it.
func rows[T float32 | int32 | uint8 | bool](t *bufferReader, name string, r C.evertick_train_rows, row int) ([]T, int) {
	var zero T
	size := int64(unsafe.Sizeof(zero))
	stride, bytes := int64(r.stride), int64(r.bytes)
	switch {
	case r.data == nil:
		t.fail(name, "data", "null", "memory")
		return nil, 0
	case uintptr(r.data)%uintptr(size) != 0:
		t.fail(name, "data", r.data, fmt.Sprintf("a multiple of %d", size))
		return nil, 0
	case stride%size != 0 || stride < int64(row)*size || stride > 1<<30:
		t.fail(name, "stride", stride, fmt.Sprintf("a multiple of %d, %d bytes at least", size, int64(row)*size))
		return nil, 0
	}
	if want := int64(t.rows-1)*stride + int64(row)*size; bytes < want {
		t.fail(name, "bytes", bytes, want)
		return nil, 0
	}
	n := int64(t.rows-1)*stride/size + int64(row)
	return unsafe.Slice((*T)(r.data), int(n)), int(stride / size)
}

// dense returns a number for each world.
func dense[T float32 | bool](t *bufferReader, name string, r C.evertick_train_rows) []T {
	var zero T
	if int64(r.stride) != int64(unsafe.Sizeof(zero)) {
		t.fail(name, "stride", int64(r.stride), unsafe.Sizeof(zero))
		return nil
	}
	s, _ := rows[T](t, name, r, 1)
	return s
}
