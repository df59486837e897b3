// Package publish copies columns of a world for a reader on another goroutine. The writer fills one of three copies, the
// reader holds one, and the third is the latest; neither waits for the other.
package publish

import (
	"math/bits"
	"reflect"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
)

// Config is evertick.PublishConfig.
type Config struct {
	Transforms, Columns []string
	Tags                []ecs.Tag
}

// State is what the writer knows of a state besides its world.
type State struct {
	Tick      uint64
	Shifts    uint64 // of the origin so far
	OnlyTicks bool   // only ticks have changed the state since the last copy
}

// Copy is a copy of a state. Its exported fields are those of evertick.View.
type Copy struct {
	State
	Seq                 uint64
	Rows                int
	IDs                 []ecs.ID
	Live                []uint64
	Version, Generation uint64
	Now, Previous       ecs.Transforms

	copies        *Copies
	now, previous *page
	entities      *entitySet
	jumped        []uint64 // nil without Config.Previous
	tags          [][]uint64
}

// Copies are the three copies and their memory.
type Copies struct {
	world      *ecs.World
	ops        native.Ops // of the reader
	columns    []ecs.ColumnView
	transforms int // number of transforms among columns, which begin with them
	tags       []ecs.Tag

	seq    uint64
	latest uint32 // index of the copy that was published last
	copies [3]Copy
	buffer tripleBuffer // of copies

	pages       [6]page
	entitySets  [3]entitySet
	zeros, ones []float32 // for transforms that are not published
}

// New returns copies without rows. Errors are those of evertick.Sim.Publish.
func New(w *ecs.World, level native.Level, c Config) (*Copies, error) {
	p := &Copies{world: w, ops: native.Ops{Level: level}, tags: slices.Clone(c.Tags)}
	if c.Transforms == nil {
		c.Transforms = transformNames[:]
	}
	for i, name := range c.Transforms {
		if !slices.Contains(transformNames[:], name) {
			return nil, fault.Element(fault.ErrRange, "evertick: Publish: Transforms", i, name)
		}
		if err := p.add("evertick: Publish: Transforms", i, name); err != nil {
			return nil, err
		}
	}
	p.transforms = len(p.columns)
	for i, name := range c.Columns {
		if err := p.add("evertick: Publish: Columns", i, name); err != nil {
			return nil, err
		}
	}
	for i, t := range c.Tags {
		if !hasTag(w, t) {
			return nil, fault.Element(fault.ErrRange, "evertick: Publish: Tags", i, t.Name())
		}
	}
	for i := range p.copies {
		p.copies[i] = Copy{copies: p, now: p.freePage(0), previous: p.freePage(0), entities: &p.entitySets[i], tags: make([][]uint64, len(p.tags))}
		p.copies[i].setSlices()
	}
	p.buffer.init()
	p.latest = p.buffer.front
	return p, nil
}

// hasTag reports whether a tag is one of the world.
func hasTag(w *ecs.World, t ecs.Tag) bool {
	if !slices.ContainsFunc(w.Describe().Tags, func(d ecs.TagDescription) bool { return d.Name == t.Name() }) {
		return false // World.Tag would add it
	}
	own, err := w.Tag(t.Name())
	return err == nil && own == t
}

// Fill copies the world to the copy of the writer, and returns the copy and its index, 0 to 2.
func (p *Copies) Fill(state State) (int, *Copy) {
	w, f, last := p.world, &p.copies[p.buffer.back], &p.copies[p.latest]
	p.seq++
	f.Seq, f.State = p.seq, state
	f.Rows, f.Version, f.Generation = w.HighWater(), w.Version(), w.Generation()
	f.copyMasks()
	sameWorld := last.Seq > 0 && last.Generation == f.Generation && last.Shifts == f.Shifts
	onlyTicks := state.OnlyTicks && sameWorld && last.Rows == f.Rows
	f.now, f.previous, f.entities = nil, nil, nil
	switch {
	case onlyTicks && last.Tick == f.Tick:
		f.now, f.previous = last.now, last.previous
	case w.Previous() == nil:
		f.now = p.copyNow(f.Rows)
		f.previous = f.now
	case onlyTicks && last.Tick+1 == f.Tick:
		f.now, f.previous = p.copyNow(f.Rows), last.now
	default:
		f.now = p.copyNow(f.Rows)
		f.previous = p.copyPrevious(f.Rows)
	}
	if f.entities = last.entities; !sameWorld || last.Version != f.Version {
		f.entities = p.copyEntities(w, f.Rows)
	}
	f.setSlices()
	return int(p.buffer.back), f
}

// Publish makes the copy of the writer the latest.
func (p *Copies) Publish() {
	p.latest = p.buffer.back
	p.buffer.publish()
}

// Acquire gives the latest copy to the reader, and returns its index, 0 to 2.
func (p *Copies) Acquire() int {
	if p.buffer.fresh() {
		p.buffer.take()
		p.copies[p.buffer.front].copyTeleported()
	}
	return int(p.buffer.front)
}

// Copy returns the copy of an index.
func (p *Copies) Copy(i int) *Copy { return &p.copies[i] }

// ColumnOf is evertick.ColumnOf.
func ColumnOf[T any](f *Copy, name string) ([]T, bool) {
	i := f.copies.indexOf(name)
	if i < 0 {
		return nil, false
	}
	t, count := reflect.TypeFor[T](), 1
	if t.Kind() == reflect.Array {
		t, count = t.Elem(), t.Len()
	}
	c := f.copies.columns[i]
	if c.Kind() != columns.KindOf(t) || c.Components() != count {
		return nil, false
	}
	return stagger.View[T](f.now.columns[i])[:f.Rows:f.Rows], true
}

// Tag returns the bitmap of the entities that had the tag, or nil if the tag is not published.
func (f *Copy) Tag(t ecs.Tag) []uint64 {
	if i := slices.Index(f.copies.tags, t); i >= 0 {
		return f.tags[i]
	}
	return nil
}

// Interpolate is evertick.View.Interpolate.
func (f *Copy) Interpolate(alpha float32, out *ecs.Transforms) error {
	return out.Interpolate(&f.copies.ops, &f.Previous, &f.Now, alpha, f.jumped)
}

// copyMasks copies the bitmaps that belong to this copy alone.
func (f *Copy) copyMasks() {
	words := (f.Rows + 63) / 64
	if jumped := f.copies.world.Jumped(); jumped != nil {
		f.jumped = append(f.jumped[:0], jumped[:words]...)
	}
	for i, t := range f.copies.tags {
		f.tags[i] = append(f.tags[i][:0], t.Mask()[:words]...)
	}
}

// setSlices sets the fields that are slices of pages.
func (f *Copy) setSlices() {
	f.IDs, f.Live = f.entities.ids, f.entities.live
	p := f.copies
	now, previous := transformColumns(&f.Now), transformColumns(&f.Previous)
	for i, name := range transformNames {
		switch at := p.indexOf(name); {
		case at >= 0 && at < p.transforms:
			*now[i] = stagger.View[float32](f.now.columns[at])[:f.Rows:f.Rows]
			*previous[i] = stagger.View[float32](f.previous.columns[at])[:f.Rows:f.Rows]
		case i < firstOne:
			*now[i], *previous[i] = p.zeros[:f.Rows:f.Rows], p.zeros[:f.Rows:f.Rows]
		default:
			*now[i], *previous[i] = p.ones[:f.Rows:f.Rows], p.ones[:f.Rows:f.Rows]
		}
	}
}

// copyTeleported makes Previous equal to Now in the rows of entities that teleported. The reader does
// this after it has taken the copy: before, it may still hold the copy whose Now is the same page as
// Previous of this one.
func (f *Copy) copyTeleported() {
	if f.now == f.previous {
		return
	}
	for word, set := range f.jumped {
		for ; set != 0; set &= set - 1 {
			if row := 64*word + bits.TrailingZeros64(set); row < f.Rows {
				f.copyRow(row)
			}
		}
	}
}

func (f *Copy) copyRow(row int) {
	for i := range f.copies.transforms {
		copy(f.previous.columns[i][4*row:4*row+4], f.now.columns[i][4*row:])
	}
}
