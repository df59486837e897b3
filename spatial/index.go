package spatial

import (
	"errors"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/native"
)

// Errors that this package returns, wrapped.
var (
	ErrNotFinite   = fault.ErrNotFinite
	ErrRange       = fault.ErrRange
	ErrUnsupported = fault.ErrUnsupported
	ErrFloatEnv    = fault.ErrFloatEnv
)

// NoSlot is the slot that no point has: in Exclude it leaves nothing out, and in a
// result it means that nothing was found.
const NoSlot = native.NoSlot

// Bounds is a box in metres.
type Bounds struct{ Min, Max [3]float32 }

// Config of an Index. The zero value works.
type Config struct {
	// CellSize is the edge of a cell along y and z in metres; along x a cell is a
	// quarter as long. A good value is the most common radius, or a little more.
	// 0: each Build chooses it from the extent and the number of points. Build
	// makes it larger until the grid has at most two cells a point. Where some points lie far
	// from most others, only the cells around the others have that size; where points lie
	// in several clusters, only those in the clusters have it.
	CellSize float32
	// Bounds fixes the box that the grid covers, with cells of one size; points outside
	// are in its border cells. The zero box: each Build computes the box of the points.
	Bounds Bounds
	// Level on which Build and Radius run. native.Auto, the zero value: the best.
	Level native.Level
	// Workers that answer a batch of queries, 1 to 1024. 0: 1. A single worker answers a batch that
	// is too small to gain from more: up to 960 queries or points of SumSelf, 240 rays, 768 points
	// of RadiusSelf and Pairs, 122,880 points of RadiusOnce. From 65,536 points on, all workers
	// build. Results do not depend on the number of workers.
	Workers int
}

// Validate returns all faults of the configuration, joined.
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
	grid   neighbours.Grid
	cell   float32 // edge of a cell along y and z, metres
	points neighbours.Points
	n      int
	builds uint64 // successful calls of Build, for Gate
	box    Bounds // of the points

	parallelFrom  int // number of chunks
	buildTogether int // see the constant
	builder       neighbours.Builder
	pools         pools

	category  []uint32 // room for points.Category
	cellOf    []uint32 // scratch of Build: the cell of each point
	sampling  sampling // scratch of Build
	wide      divider  // the same, for points in several clusters
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

// mustBeInitialized panics if the index is a zero Index.
func (ix *Index) mustBeInitialized() {
	if ix.cfg.Workers == 0 {
		panic("spatial: the Index was not made by New")
	}
}

// SetWorkers replaces Config.Workers from the next Build or query on. The number never changes a result. ErrRange unless
// it is 1 to 1024.
func (ix *Index) SetWorkers(workers int) error {
	ix.mustBeInitialized()
	err := fault.Between("spatial: SetWorkers: workers", workers, 1, 1024)
	if err == nil {
		ix.cfg.Workers = workers
	}
	return err
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
// slots is nil, they are all rows, 0 to len(x)-1; if it is empty and not nil,
// there are no points. If z is nil, it is zero everywhere. Build reads the columns now and
// does not keep them; it removes the categories. A coordinate that is NaN or infinite is
// ErrNotFinite and names the column and slot; a slot that does not ascend, lies
// beyond the columns or is 1<<24 or above is ErrRange. On these errors the index
// stays as it was. ErrFloatEnv, which is possible for large sets with several
// workers, leaves it empty. It panics if x, y and z differ in length.
func (ix *Index) Build(x, y, z []float32, slots []uint32) error {
	ix.mustBeInitialized()
	z, slots = planar(z, len(x)), rowsOf(slots, len(x))
	if len(y) != len(x) || len(z) != len(x) {
		panic("spatial: Build: x, y and z differ in length")
	}
	lo, hi, bad := neighbours.Measure(ix.level, x, y, z, slots)
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
	ix.chooseGrid(x, y, z, slots, box)
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
	ix.builds++ // so that a Gate notices
	ix.chooseGrid(nil, nil, nil, nil, Bounds{})
	_ = ix.fill(nil, nil, nil, nil)
}

// badPoint returns the error for a fault that Measure found at an index of slots.
func badPoint(x, y, z []float32, slots []uint32, i int) error {
	if i > 0 && slots[i] <= slots[i-1] || slots[i] >= uint32(min(len(x), native.MaxSlots)) {
		return fault.Element(ErrRange, "spatial: Build: slots", i, slots[i])
	}
	slot := int(slots[i])
	name, v := "z", z[slot]
	if !fault.Finite(x[slot]) {
		name, v = "x", x[slot]
	} else if !fault.Finite(y[slot]) {
		name, v = "y", y[slot]
	}
	return fault.Element(ErrNotFinite, "spatial: Build: "+name, slot, v)
}

// buildTogether is the number of points from which all workers build. Each has
// counts of its own for all cells, and all must wait for each other five times.
const buildTogether = 1 << 16

// fill sorts the points into the grid.
func (ix *Index) fill(x, y, z []float32, slots []uint32) error {
	g, p := &ix.grid, &ix.points
	p.Start = aligned(p.Start, int(g.N[0])*int(g.N[1])*int(g.N[2])+1, 1)
	p.Blocks = aligned(p.Blocks, (len(slots)+neighbours.BlockLen-1)/neighbours.BlockLen, 0)
	ix.cellOf = aligned(ix.cellOf, len(slots), 3)
	if ix.cfg.Workers == 1 || len(slots) < ix.buildTogether {
		neighbours.Build(ix.level, g, x, y, z, slots, p, ix.cellOf)
		return nil
	}
	ix.pools.fit(ix)
	return ix.builder.Build(ix.pools.all, ix.level, g, x, y, z, slots, p, ix.cellOf)
}

// SortPermutation returns the slots of the index in grid order (cells by z, y, x, then slot), in
// the memory of dst if they fit: pass the previous result to allocate nothing. It is the row that a
// query in order Grid would have if it included every point.
//
// Columns whose rows are in this order have neighbours next to each other, so that queries
// and later passes read memory in sequence. ecs.World.Reorder takes such a permutation. To
// reorder columns of your own, copy to row i of each what row perm[i] had, and translate
// slots that are stored elsewhere:
//
//	perm = index.SortPermutation(perm)
//	for i, old := range perm {
//		newX[i] = x[old]
//	}
//
// and build the index again, over slots 0 to len(perm)-1: its permutation is
// then 0, 1, 2, …, until points move to other cells.
func (ix *Index) SortPermutation(dst []uint32) []uint32 {
	dst = slices.Grow(dst[:0], ix.n)[:ix.n]
	for i := 0; i < ix.n; i += neighbours.BlockLen {
		copy(dst[i:], ix.points.Blocks[i/neighbours.BlockLen].Slot[:])
	}
	return dst
}
