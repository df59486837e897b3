package physics

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

const (
	// DefaultCapacity is the number of bodies of a world whose Config leaves
	// Capacity zero.
	DefaultCapacity = 16384
	// MaxCapacity is the largest number of bodies of one world.
	MaxCapacity = 1 << 24
	// MaxSubSteps is the largest Config.SubSteps.
	MaxSubSteps = 64
	// MaxWorkers is the largest Config.Workers.
	MaxWorkers = 1024
)

// Config describes a world. The zero value works.
type Config struct {
	// Capacity is the largest number of bodies alive at a time, exactly.
	// 0 means DefaultCapacity; at most MaxCapacity.
	Capacity int
	// Gravity is the acceleration of dynamic bodies in m/s², along the two
	// axes of the plane. Any finite value; zero means none.
	Gravity [2]float32
	// Plane is the plane of the 3D world in which bodies move. Zero is XY.
	Plane Plane
	// SubSteps divides every Step into that many equal parts, for stiffer
	// contacts. 0 means the engine's choice; at most MaxSubSteps.
	SubSteps int
	// Workers bounds the goroutines that the engine may use; it may use fewer,
	// and their number never changes a result. 0 means 1; at most MaxWorkers.
	Workers int
	// Level on which kernels run. native.Auto, the zero value: the best.
	Level native.Level
	// Engine is another solver, as that of physics/box2d. It belongs to one world. nil:
	// the solver of this package.
	Engine Engine
}

// Plane is a plane of the 3D world.
type Plane uint8

const (
	// XY: the axes of a body are x and y; its angle turns about +Z.
	XY Plane = iota
	// XZ: the axes of a body are x and z; its angle turns x to z, which is
	// about -Y in a right-handed world.
	XZ
)

// String returns "XY" or "XZ".
func (p Plane) String() string {
	switch p {
	case XY:
		return "XY"
	case XZ:
		return "XZ"
	}
	return fmt.Sprintf("Plane(%d)", uint8(p))
}

// Validate reports every fault of c at once. Errors wrap ErrRange,
// ErrNotFinite, or, for a level that cannot run here, ErrUnsupported.
func (c Config) Validate() error {
	return errors.Join(
		checkWithin("physics: Config.Capacity", c.Capacity, 0, MaxCapacity),
		checkFinite2("physics: Config.Gravity", c.Gravity),
		checkPlane(c.Plane),
		checkWithin("physics: Config.SubSteps", c.SubSteps, 0, MaxSubSteps),
		checkWithin("physics: Config.Workers", c.Workers, 0, MaxWorkers),
		checkLevel(c.Level),
	)
}

func checkPlane(p Plane) error {
	if p > XZ {
		return fault.Field(ErrRange, "physics: Config.Plane", p)
	}
	return nil
}

func checkLevel(l native.Level) error {
	_, err := native.Resolve(l)
	return err
}
