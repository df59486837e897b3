//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package neighbours

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

// The headers that csrc/neighbours/face includes, as csrc does it.
var (
	//go:embed build.h
	buildHeader string
	//go:embed points.h
	pointsHeader string
	//go:embed queries.h
	queriesHeader string
	//go:embed stream.h
	streamHeader string
)
