//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package csrc

/*
#cgo CFLAGS: -std=c11 -O3 -fno-fast-math -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas
#cgo !asan CFLAGS: -g0
#cgo !amd64,!arm64 LDFLAGS: -lm
*/
import "C"

import _ "embed"

// The headers that C files of other packages include. Embedding makes them part of the content of this package, so an
// edit of one rebuilds those, which import it. Nothing reads them, and the linker drops them.
var (
	// For csrc/face.
	//go:embed evertick.h
	evertickHeader string
	//go:embed ops.h
	opsHeader string
	//go:embed replica.h
	replicaHeader string

	// For csrc/broad, csrc/neighbours, csrc/rigid and csrc/space.
	//go:embed atan.h
	atanHeader string
	//go:embed body_rows.h
	bodyRowsHeader string
	//go:embed collide_lanes.h
	collideLanesHeader string
	//go:embed lanes.h
	lanesHeader string
	//go:embed levels.h
	levelsHeader string

	// For all.
	//go:embed base.h
	baseHeader string
)
