package spatial

import (
	"errors"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// Errors that this package returns, wrapped.
var (
	ErrNotFinite   = fault.ErrNotFinite
	ErrRange       = fault.ErrRange
	ErrUnsupported = fault.ErrUnsupported
	ErrFloatEnv    = fault.ErrFloatEnv
)

// NoSlot is the slot that no point has: in Exclude it leaves nothing out, and as an
// answer it says that nothing was found.
const NoSlot = native.NoSlot

// Bounds is a box in metres.
type Bounds struct{ Min, Max [3]float32 }

// Config of an Index. The zero value works.
type Config struct {
	// CellSize is the edge of a cell along y and z in metres; along x a cell has a
	// quarter of it. A good value is the most common radius, or a little more.
	// 0: chosen at each Build from the extent and the number of points. It is
	// doubled until the grid has at most two cells a point. Where points lie far from
	// most others, only the cells around these have that size.
	CellSize float32
	// Bounds fixes the box that the grid covers, with cells of one size; points outside
	// count into its border cells. The zero box: the points' own box, found at each Build.
	Bounds Bounds
	// Level on which Build and Radius run. native.Auto, the zero value: the best.
	Level native.Level
	// Workers that answer a batch of queries, 1 to 1024. 0: 1. A batch too small
	// to gain from it is answered by one: up to 960 queries, 240 rays, 768 points of
	// RadiusSelf and Pairs, 122,880 points of RadiusOnce. From 65,536 points on they
	// build, too. Results do not depend on it.
	Workers int
}

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	_, levelErr := native.Resolve(c.Level)
	errs := []error{levelErr}
	if !fault.Finite(c.CellSize) {
		errs = append(errs, fault.Field(ErrNotFinite, "spatial: Config.CellSize", c.CellSize))
	} else if c.CellSize < 0 {
		errs = append(errs, fault.Field(ErrRange, "spatial: Config.CellSize", c.CellSize))
	}
	for a := range 3 {
		lo, hi := c.Bounds.Min[a], c.Bounds.Max[a]
		switch {
		case !fault.Finite(lo):
			errs = append(errs, fault.Element(ErrNotFinite, "spatial: Config.Bounds.Min", a, lo))
		case !fault.Finite(hi):
			errs = append(errs, fault.Element(ErrNotFinite, "spatial: Config.Bounds.Max", a, hi))
		case hi < lo:
			errs = append(errs, fault.Element(ErrRange, "spatial: Config.Bounds.Max", a, hi))
		}
	}
	if c.Workers < 0 || c.Workers > 1024 {
		errs = append(errs, fault.Field(ErrRange, "spatial: Config.Workers", c.Workers))
	}
	return errors.Join(errs...)
}

// Index is a grid over a set of points, made by New. Build replaces the set;
// queries read it, and may run from several goroutines at once, each with a Result of
// its own, as long as no Build runs.
type Index struct {
	cfg    Config
	level  native.Level
	grid   native.Grid
	cell   float32 // edge of a cell along y and z, metres
	points native.Points
	n      int
	builds uint64 // successful calls of Build, for Gate
	box    Bounds // of the points

	parallelFrom  int // number of chunks
	buildTogether int // number of points from which all workers build
	builder       native.Builder
	pools         pools

	category  []uint32 // room for points.Category
	cellOf    []uint32 // scratch of Build: the cell of each point
	sampling  sampling // scratch of Build
	restored  restored // scratch of Restore
	scratches scratches
}

// New returns an empty index. Faults of the configuration are ErrNotFinite,
// ErrRange or ErrUnsupported (a level that cannot run here).
func New(cfg Config) (*Index, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	level, _ := native.Resolve(cfg.Level)
	cfg.Workers = max(cfg.Workers, 1)
	ix := &Index{cfg: cfg, level: level, parallelFrom: parallelFrom, buildTogether: buildTogether}
	ix.empty()
	ix.builds = 0
	return ix, nil
}

// made panics if the index is a zero Index.
func (ix *Index) made() {
	if ix.cfg.Workers == 0 {
		panic("spatial: the Index was not made by New")
	}
}

// Len returns the number of points in the index.
func (ix *Index) Len() int { return ix.n }

// Level returns the level on which Build and queries run.
func (ix *Index) Level() native.Level { return ix.level }

// CellSize returns the edge of a cell of the last Build along y and z, in metres;
// it is +Inf when points lie so far apart that it exceeds a float32, and means nothing
// before the first Build.
func (ix *Index) CellSize() float32 { return ix.cell }

// Build indexes the points (x[s], y[s], z[s]) of the slots s, which ascend strictly. If
// slots is nil, they are those of all rows, 0 to len(x)-1; if it is empty and not nil,
// there are no points. If z is nil, it is zero everywhere.
// The columns are read now and not kept; categories are forgotten. A coordinate that is NaN or infinite is
// ErrNotFinite and names the column and slot; a slot that does not ascend, lies
// beyond the columns or is 1<<24 or above is ErrRange. On these errors the index
// stays as it was. ErrFloatEnv, which large sets can give if there are several
// workers, leaves it empty. It panics if x, y and z differ in length.
func (ix *Index) Build(x, y, z []float32, slots []uint32) error {
	ix.made()
	z, slots = planar(z, len(x)), rowsOf(slots, len(x))
	if len(y) != len(x) || len(z) != len(x) {
		panic("spatial: Build: x, y and z differ in length")
	}
	lo, hi, bad := native.Measure(ix.level, x, y, z, slots)
	if bad >= 0 {
		return badPoint(x, y, z, slots, bad)
	}
	box := Bounds{lo, hi}
	ix.box = box
	if ix.cfg.Bounds != (Bounds{}) {
		box = ix.cfg.Bounds
	}
	ix.n = len(slots)
	ix.points.Limit = min(len(x), native.MaxSlots)
	ix.points.Category = nil
	ix.choose(x, y, z, slots, box)
	if err := ix.fill(x, y, z, slots); err != nil {
		ix.empty()
		return err
	}
	ix.builds++
	return nil
}

// empty makes the index one of no points.
func (ix *Index) empty() {
	ix.n, ix.points.Limit = 0, 0
	ix.builds++ // a Gate must not take it for what it was
	ix.choose(nil, nil, nil, nil, Bounds{})
	_ = ix.fill(nil, nil, nil, nil)
}

// badPoint words what Measure found at an index of slots.
func badPoint(x, y, z []float32, slots []uint32, i int) error {
	if i > 0 && slots[i] <= slots[i-1] || slots[i] >= uint32(min(len(x), native.MaxSlots)) {
		return fault.Element(ErrRange, "spatial: Build: slots", i, slots[i])
	}
	slot := int(slots[i])
	switch {
	case !fault.Finite(x[slot]):
		return fault.Element(ErrNotFinite, "spatial: Build: x", slot, x[slot])
	case !fault.Finite(y[slot]):
		return fault.Element(ErrNotFinite, "spatial: Build: y", slot, y[slot])
	}
	return fault.Element(ErrNotFinite, "spatial: Build: z", slot, z[slot])
}

// buildTogether is the number of points from which all workers build. Each has
// counts of its own for all cells, and there are five steps to wait for.
const buildTogether = 1 << 16

// fill sorts the points into the grid.
func (ix *Index) fill(x, y, z []float32, slots []uint32) error {
	g, p := &ix.grid, &ix.points
	p.Start = aligned(p.Start, int(g.N[0])*int(g.N[1])*int(g.N[2])+1, 1)
	p.Blocks = aligned(p.Blocks, (len(slots)+native.BlockLen-1)/native.BlockLen, 0)
	ix.cellOf = aligned(ix.cellOf, len(slots), 3)
	if ix.cfg.Workers == 1 || len(slots) < ix.buildTogether {
		native.Build(ix.level, g, x, y, z, slots, p, ix.cellOf)
		return nil
	}
	ix.pools.fit(ix)
	return ix.builder.Build(ix.pools.all, ix.level, g, x, y, z, slots, p, ix.cellOf)
}

// resize returns a slice of length n, reusing s where it is large enough, and
// otherwise with room to grow. Contents are unspecified.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n+n/4)
	}
	return s[:n]
}
