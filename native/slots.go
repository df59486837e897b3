package native

import "math"

// NoSlot is the slot that no point has: "exclude nothing".
const NoSlot uint32 = math.MaxUint32

// MaxSlots bounds the slots of a point set: slots are below it.
const MaxSlots = 1 << 24
