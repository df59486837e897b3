//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package rigid

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

// The headers that csrc/rigid/face includes, as csrc does it.
var (
	//go:embed entities.h
	entitiesHeader string
	//go:embed query.h
	queryHeader string
	//go:embed rigid.h
	rigidHeader string
	//go:embed system.h
	systemHeader string
)
