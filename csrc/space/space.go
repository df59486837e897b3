//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package space

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

// The headers that csrc/space/face includes, as csrc does it.
var (
	//go:embed geometry.h
	geometryHeader string
	//go:embed rays.h
	raysHeader string
	//go:embed space.h
	spaceHeader string
	//go:embed surfaces.h
	surfacesHeader string
	//go:embed sweeps.h
	sweepsHeader string
	//go:embed system.h
	systemHeader string
)
