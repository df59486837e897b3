//go:build cgo

package rigid

import (
	"github.com/evertick/evertick/csrc"
	"github.com/evertick/evertick/native"
)

// cLevel numbers a level as the C side does: both count from C on in one order.
func cLevel(l native.Level) int32 { return int32(l) - int32(native.C) }

var (
	_ [csrc.AVX2]byte   = [native.AVX2 - native.C]byte{}
	_ [csrc.AVX512]byte = [native.AVX512 - native.C]byte{}
	_ [csrc.NEON]byte   = [native.NEON - native.C]byte{}
)
