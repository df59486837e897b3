//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package broad

/*
#cgo CFLAGS: -std=c11 -O3 -fno-fast-math -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas
#cgo !asan CFLAGS: -g0
#cgo !amd64,!arm64 LDFLAGS: -lm
*/
import "C"

import (
	_ "embed"

	_ "github.com/evertick/evertick/csrc" // for the headers that the C files here share with it
)

// The header that csrc/broad/face includes, as csrc does it.
//
//go:embed broad.h
var broadHeader string
