//go:build cgo

package csrc

import _ "embed"

// The headers that csrc/rigid includes too. They are part of this package's
// content here, so that an edit of one of them rebuilds csrc/rigid, which imports it.
// Nothing reads them, and the linker drops them.
var (
	//go:embed base.h
	baseHeader string
	//go:embed levels.h
	levelsHeader string
	//go:embed lanes.h
	lanesHeader string
)
