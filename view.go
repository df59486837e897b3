package evertick

import (
	"math/bits"
	"reflect"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/loop"
)

// View is a frame that a Publisher has published. It is a copy, so no tick changes it. Only read it,
// on the goroutine that called Acquire, until the next Acquire. Rows are slots of the World.
type View struct {
	// Seq counts the publications of the Publisher, from 1: views with equal Seq are the same one. 0:
	// nothing was published yet.
	Seq uint64
	// Tick is Sim.Ticks: the completed ticks.
	Tick uint64
	// Frame is Sim.Frame.
	Frame loop.Frame
	// AtNs is the time at which Frame.Alpha was right, in nanoseconds on the clock of the Sim: when the
	// first tick of the frame began, or when the frame was published if it had no tick. If the only
	// Publisher was made within the frame, it is the time at which it was made.
	AtNs int64
	// Rows is World.HighWater, the length of all columns.
	Rows int
	// IDs are the entities by slot, 0 for a free slot. If an entity was spawned or despawned since an
	// earlier view, its row has another ID.
	IDs []ecs.ID
	// Live is World.LiveMask: bit s%64 of word s/64 is set if there is an entity in slot s.
	Live []uint64
	// Version and Generation are those of the World. While both stay the same, so do IDs and Live.
	Version, Generation uint64
	// Now holds the transforms after the last tick, Previous those after the tick before. For entities
	// that teleported (see Sim.Interpolate) Previous is Now, so linear interpolation is right in every
	// row. Without Config.Previous both are the same. Columns that are not published have their initial
	// values: 0, or 1 for Rotation.W and Scale. Rows without an entity may hold anything.
	Now, Previous ecs.Transforms

	publisher     *Publisher
	shifts        uint64 // Sim.shifts
	now, previous *page
	entities      *entitySet
	jumped        []uint64 // nil without Config.Previous
	tags          [][]uint64
	alpha         float64 // at AtNs
	alphaPerNs    float64
}

// ColumnOf returns a published column, one of the transforms or another, with Rows rows of type T: a
// number, or an array of them. It is false if no column of that name and type is published.
func ColumnOf[T any](v *View, name string) ([]T, bool) {
	i := v.publisher.indexOf(name)
	if i < 0 {
		return nil, false
	}
	t, count := reflect.TypeFor[T](), 1
	if t.Kind() == reflect.Array {
		t, count = t.Elem(), t.Len()
	}
	c := v.publisher.columns[i]
	if c.Kind() != columns.KindOf(t) || c.Components() != count {
		return nil, false
	}
	return stagger.View[T](v.now.columns[i])[:v.Rows:v.Rows], true
}

// Tag returns the bitmap of the entities that had the tag, in the form of Live, or nil if the tag is
// not published.
func (v *View) Tag(t ecs.Tag) []uint64 {
	for i, published := range v.publisher.tags {
		if published == t {
			return v.tags[i]
		}
	}
	return nil
}

// Alpha returns how far to draw between Previous, 0, and Now, 1, for a time in nanoseconds on the
// clock of the Sim: v.Alpha(p.Now()). It continues Frame.Alpha at the pace of simulated time, up to 1
// until the next tick is published. While the loop stops time it does not change. If the host has
// called Step since the last frame, and under loop.Config.Batch, it counts from 0 at AtNs.
func (v *View) Alpha(ns int64) float32 {
	a := v.alpha + float64(float64(ns-v.AtNs)*v.alphaPerNs)
	return float32(max(0, min(a, 1)))
}

// Interpolate computes where to draw the entities, as Sim.Interpolate does, into the rows of out. out
// has at least Rows rows. An alpha that is not finite is ErrNotFinite. It allocates nothing.
func (v *View) Interpolate(alpha float32, out *ecs.Transforms) error {
	return out.Interpolate(&v.publisher.ops, &v.Previous, &v.Now, alpha, v.jumped)
}

// describe sets the fields that are not columns.
func (v *View) describe(s *Sim) {
	w := s.World
	v.Tick, v.Frame, v.Rows = s.ticks, s.frame, w.HighWater()
	v.Version, v.Generation, v.shifts = w.Version(), w.Generation(), s.shifts
	scale := uint64(1e6)
	switch f := &v.Frame; {
	case s.ticks != s.frameTicks || s.config.Loop.Batch:
		v.alpha = 0
	case f.Menu || f.Paused || f.Gated || f.Frozen || f.Halted:
		v.alpha, scale = f.Alpha, 0
	default:
		v.alpha, scale = f.Alpha, f.ScaleMillionths
	}
	num, den := s.loop.Rate()
	v.alphaPerNs = float64(num) / float64(den) * float64(scale) / 1e15
}

// copyMasks copies the bitmaps that belong to this view alone.
func (v *View) copyMasks(s *Sim, tags []ecs.Tag) {
	w := s.World
	s.jumpWritten()
	words := (v.Rows + 63) / 64
	if jumped := w.Jumped(); jumped != nil {
		v.jumped = append(v.jumped[:0], jumped[:words]...)
	}
	for i, t := range tags {
		v.tags[i] = append(v.tags[i][:0], t.Mask()[:words]...)
	}
}

// setSlices sets the fields that are slices of pages.
func (v *View) setSlices() {
	v.IDs, v.Live = v.entities.ids, v.entities.live
	p := v.publisher
	now, previous := transformColumns(&v.Now), transformColumns(&v.Previous)
	for i, name := range transformNames {
		switch at := p.indexOf(name); {
		case at >= 0 && at < p.transforms:
			*now[i] = stagger.View[float32](v.now.columns[at])[:v.Rows:v.Rows]
			*previous[i] = stagger.View[float32](v.previous.columns[at])[:v.Rows:v.Rows]
		case i < firstOne:
			*now[i], *previous[i] = p.zeros[:v.Rows:v.Rows], p.zeros[:v.Rows:v.Rows]
		default:
			*now[i], *previous[i] = p.ones[:v.Rows:v.Rows], p.ones[:v.Rows:v.Rows]
		}
	}
}

// copyTeleported makes Previous equal to Now in the rows of entities that teleported. The reader does
// this after it has taken the view: before, it may still hold the view whose Now is the same page as
// Previous of this one.
func (v *View) copyTeleported() {
	if v.now == v.previous {
		return
	}
	for word, set := range v.jumped {
		for ; set != 0; set &= set - 1 {
			if row := 64*word + bits.TrailingZeros64(set); row < v.Rows {
				v.copyRow(row)
			}
		}
	}
}

func (v *View) copyRow(row int) {
	for i := range v.publisher.transforms {
		copy(v.previous.columns[i][4*row:4*row+4], v.now.columns[i][4*row:])
	}
}
