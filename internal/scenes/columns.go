package scenes

import (
	"fmt"

	"github.com/evertick/evertick/physics"
)

func init() {
	registerBodies(Definition{
		Name: "columns", N: len(columnHeights), Ticks: 1200, Warmup: 120, build: (*Scene).buildColumns, push: (*Scene).observeColumns, size: boxesOfColumns,
		Help: "n columns of 10, 15, 20, 25, 30 and 40 boxes of 1 m, by turns; the report says how long each stands",
	})
}

// columnHeights are the boxes of the columns, which take turns.
var columnHeights = [...]int{10, 15, 20, 25, 30, 40}

func boxesOfColumns(n int) (boxes int) {
	all := 0
	for i, h := range columnHeights {
		all += h
		if i < n%len(columnHeights) {
			boxes += h
		}
	}
	return boxes + n/len(columnHeights)*all
}

// Column is what has become of a column of boxes.
type Column struct {
	Boxes  int
	Fallen bool    // a box has left its place by half its edge, sideways, or has tilted by half a radian
	Stood  float32 // s, until then or until now
	Tilt   float32 // rad, the greatest of a box while the column stood
	Sag    float32 // m, the greatest of the uppermost box while the column stood

	first int // of its boxes in Scene.Bodies
	x     float32
}

// String is a line of a report.
func (c Column) String() string {
	state := "stands after"
	if c.Fallen {
		state = "fell after"
	}
	return fmt.Sprintf("%d boxes %s %.1f s, tilt %.4f rad, sag %.3f m", c.Boxes, state, c.Stood, c.Tilt, c.Sag)
}

// Columns returns the columns of the scene of that name, as they are now.
func (s *Scene) Columns() []Column {
	_ = s.observeColumns()
	return s.columns
}

// buildColumns stand on one floor. Boxes of twelve columns in a row do not collide with each other, so that a column
// that falls hits no other.
func (s *Scene) buildColumns() error {
	const pitch, apart = 6, 12
	ground, err := s.fixture(physics.StaticBody, 0)
	if err != nil {
		return err
	}
	width := float32(float32(s.N) * pitch)
	if err := s.polygons(ground, boxAt(0, -1, width/2+60, 1)); err != nil {
		return err
	}
	for i := range s.N {
		c := Column{Boxes: columnHeights[i%len(columnHeights)], first: len(s.Bodies), x: float32((float32(i)+0.5)*pitch) - width/2}
		shape := physics.DefaultShapeDef()
		shape.Filter.Category = 2 << (i % apart)
		shape.Filter.Mask = shape.Filter.Category | 1
		for row := range c.Boxes {
			def := physics.DefaultBodyDef()
			def.Position = [2]float32{c.x, float32(row) + 0.5}
			b, err := s.add(def)
			if err != nil {
				return err
			}
			if _, err := s.World.CreatePolygon(b, shape, physics.Box(0.5, 0.5)); err != nil {
				return err
			}
		}
		s.columns = append(s.columns, c)
	}
	return nil
}

func (s *Scene) observeColumns() error {
	cols := s.World.Columns()
	for k := range s.columns {
		c := &s.columns[k]
		if c.Fallen {
			continue
		}
		c.Stood = float32(s.tick) * Dt
		tilt := float32(0)
		for _, b := range s.Bodies[c.first : c.first+c.Boxes] {
			i := b.Index()
			tilt = max(tilt, cols.Angle[i], -cols.Angle[i])
			c.Fallen = c.Fallen || max(cols.X[i]-c.x, c.x-cols.X[i]) > 0.5
		}
		if c.Fallen = c.Fallen || tilt > 0.5; !c.Fallen {
			top := s.Bodies[c.first+c.Boxes-1].Index()
			c.Tilt, c.Sag = max(c.Tilt, tilt), max(c.Sag, float32(c.Boxes)-0.5-cols.Y[top])
		}
	}
	return nil
}

// Standing returns the number of columns that stand.
func (s *Scene) Standing() (n int) {
	for i := range s.columns {
		if !s.columns[i].Fallen {
			n++
		}
	}
	return n
}
