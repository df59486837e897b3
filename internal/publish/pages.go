package publish

import (
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
)

// transformNames are the columns of ecs.Transforms, in the order of transformColumns.
var transformNames = [...]string{"position.x", "position.y", "position.z",
	"rotation.x", "rotation.y", "rotation.z", "rotation.w", "scale.x", "scale.y", "scale.z"}

// firstOne is the index in transformNames from which on the initial value of columns is 1; before
// it, it is 0.
const firstOne = 6

func transformColumns(t *ecs.Transforms) [len(transformNames)]*[]float32 {
	p, r, s := &t.Position, &t.Rotation, &t.Scale
	return [...]*[]float32{&p.X, &p.Y, &p.Z, &r.X, &r.Y, &r.Z, &r.W, &s.X, &s.Y, &s.Z}
}

// page holds the published columns as they were after a tick. Copies share pages: Now of one copy is
// Previous of the next, so most ticks are copied only once.
type page struct {
	rows    int // for which there is room
	columns [][]byte
}

// entitySet holds what changes only with spawns and despawns. Copies share it, too.
type entitySet struct {
	ids  []ecs.ID
	live []uint64
}

// add adds a column of the World.
func (p *Copies) add(field string, i int, name string) error {
	c, ok := p.world.ColumnNamed(name)
	if !ok || p.indexOf(name) >= 0 {
		return fault.Element(fault.ErrRange, field, i, name)
	}
	p.columns = append(p.columns, c)
	return nil
}

// indexOf returns the index of a column, or -1.
func (p *Copies) indexOf(name string) int {
	return slices.IndexFunc(p.columns, func(c ecs.ColumnView) bool { return c.Name() == name })
}

// copyNow copies the columns of the World to a free page.
func (p *Copies) copyNow(rows int) *page {
	pg := p.freePage(rows)
	for i, c := range p.columns {
		to := pg.columns[i][:rows*c.RowBytes()]
		n := copy(to, columns.Memory(&c))
		clear(to[n:]) // if a Restore has dropped the column
	}
	return pg
}

// copyPrevious copies the transforms of the tick before to a free page.
func (p *Copies) copyPrevious(rows int) *page {
	pg := p.freePage(rows)
	for i, from := range transformColumns(p.world.Previous()) {
		if at := p.indexOf(transformNames[i]); at >= 0 && at < p.transforms {
			copy(stagger.View[float32](pg.columns[at])[:rows], *from)
		}
	}
	return pg
}

// freePage returns a page that no copy uses. There always is one: the copy that is being filled
// needs two of the six, and each of the others has at most two.
func (p *Copies) freePage(rows int) *page {
	for i := range p.pages {
		if pg := &p.pages[i]; !p.uses(func(f *Copy) bool { return f.now == pg || f.previous == pg }) {
			p.reserve(pg, rows)
			return pg
		}
	}
	panic("evertick: Publisher: no free page")
}

// copyEntities copies ids and live slots to a set that no copy uses.
func (p *Copies) copyEntities(w *ecs.World, rows int) *entitySet {
	for i := range p.entitySets {
		r := &p.entitySets[i]
		if p.uses(func(f *Copy) bool { return f.entities == r }) {
			continue
		}
		r.live = append(r.live[:0], w.LiveMask()[:(rows+63)/64]...)
		r.ids = slices.Grow(r.ids[:0], rows)[:rows]
		for slot := range r.ids {
			r.ids[slot], _ = w.ID(ecs.Slot(slot))
		}
		return r
	}
	panic("evertick: Publisher: no free entity set")
}

// uses reports whether the function is true for any copy.
func (p *Copies) uses(it func(*Copy) bool) bool {
	for i := range p.copies {
		if it(&p.copies[i]) {
			return true
		}
	}
	return false
}

// leastRows is the least number of rows for which a page has room.
const leastRows = 64

// reserve makes room for that many rows in a page. If the page grows, its content is lost.
func (p *Copies) reserve(pg *page, rows int) {
	if pg.rows >= rows && pg.rows > 0 {
		return
	}
	pg.rows = min(p.world.Cap(), max(rows, 2*pg.rows, leastRows))
	size := 0
	for _, c := range p.columns {
		size += stagger.Stride(pg.rows * c.RowBytes())
	}
	mem := stagger.Bytes(size, 0)
	pg.columns = pg.columns[:0]
	for _, c := range p.columns {
		n := pg.rows * c.RowBytes()
		pg.columns = append(pg.columns, mem[:n:n])
		mem = mem[stagger.Stride(n):]
	}
	if p.transforms == len(transformNames) || len(p.zeros) >= pg.rows {
		return
	}
	p.zeros, p.ones = make([]float32, pg.rows), make([]float32, pg.rows) // the reader may have the old ones
	for i := range p.ones {
		p.ones[i] = 1
	}
}
