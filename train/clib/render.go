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
	"github.com/evertick/evertick/physics/raster"
)

//export evertick_train_go_render
func evertick_train_go_render(handle C.uint64_t, world C.int64_t, width, height C.int32_t, rgb *C.uint8_t, bytes C.int64_t) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		i, err := h.world(world)
		if err != nil {
			return err
		}
		if rgb == nil {
			return null("rgb")
		}
		if err := h.resize(int(width), int(height)); err != nil {
			return err
		}
		if want := 3 * int64(width) * int64(height); int64(bytes) != want {
			return fmt.Errorf("%w, wants %d", fault.Field(fault.ErrRange, "train: bytes of rgb", int64(bytes)), want)
		}
		if err := h.b.Render(i, h.canvas); err != nil {
			return err
		}
		h.canvas.AppendRGB(unsafe.Slice((*byte)(unsafe.Pointer(rgb)), int(bytes))[:0])
		return nil
	})
}

// resize keeps a canvas of the size of the last picture.
func (h *batch) resize(width, height int) error {
	if h.canvas != nil && h.canvas.Image().Rect.Dx() == width && h.canvas.Image().Rect.Dy() == height {
		return nil
	}
	if min(width, height) > 0 && max(width, height) <= raster.MaxSize {
		if err := room(5*uint64(width)*uint64(height), "width * height", int64(width)*int64(height)); err != nil {
			return err
		}
	}
	c, err := raster.New(width, height)
	if err == nil {
		h.canvas = c
	}
	return err
}
