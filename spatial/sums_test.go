package spatial_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// sumCase is a scene with columns, and terms over them in every combination.
type sumCase struct {
	scene   *paritytest.Scene
	columns [][]float32 // by slot
	own     [][]float32 // by query
}

func newSumCase(run *paritytest.Run, s *paritytest.Scene) *sumCase {
	c := &sumCase{scene: s}
	x, y, z := s.Columns()
	c.columns = [][]float32{x, y, z}
	c.own = [][]float32{s.QueryX, s.QueryY, s.QueryZ}
	for _, classes := range [][]paritytest.Class{{paritytest.Uniform}, {paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses} {
		column, own := make([]float32, s.Limit()), make([]float32, len(s.QueryX))
		run.Fill(column, classes...)
		run.Fill(own, classes...)
		c.columns, c.own = append(c.columns, column), append(c.own, own)
	}
	return c
}

// draw returns sums of random terms, with rows results each.
func (c *sumCase) draw(run *paritytest.Run, own [][]float32, rows int) *spatial.Sums {
	s := &spatial.Sums{Softening: []float32{0, 0.25, 1e-3}[run.IntN(3)]}
	for range []int{0, 1, 3, 9, 12, 40}[run.IntN(6)] {
		t := spatial.Term{Weight: spatial.Weight(run.IntN(int(spatial.CubicSpline) + 1)), Reduce: spatial.Reduce(run.IntN(int(spatial.Max) + 1))}
		if run.IntN(5) > 0 {
			i := run.IntN(len(c.columns))
			t.Of = c.columns[i]
			if run.IntN(2) == 0 {
				if run.IntN(4) == 0 {
					i = run.IntN(len(own))
				}
				t.Own = own[i]
			}
		}
		s.Terms = append(s.Terms, t)
	}
	s.Counts, s.Nearest, s.NearestDist2 = make([]uint32, rows), make([]uint32, rows), make([]float32, rows)
	switch run.IntN(6) {
	case 0:
		s.Counts = nil
	case 1:
		s.Nearest = nil
	case 2:
		s.NearestDist2 = nil
	case 3:
		s.Counts, s.Nearest, s.NearestDist2 = nil, nil, nil
	}
	return s
}

// blank gives sums new columns of results, filled with a value that shows whether a row was written.
func blank(s *spatial.Sums, rows int) {
	for i := range s.Terms {
		s.Terms[i].To = slices.Repeat([]float32{12345}, rows)
	}
	for i := range s.Counts {
		s.Counts[i] = 12345
	}
	for i := range s.Nearest {
		s.Nearest[i] = 12345
	}
	for i := range s.NearestDist2 {
		s.NearestDist2[i] = 12345
	}
}

func cloneSums(s *spatial.Sums) *spatial.Sums {
	return &spatial.Sums{Terms: slices.Clone(s.Terms), Counts: slices.Clone(s.Counts), Nearest: slices.Clone(s.Nearest),
		NearestDist2: slices.Clone(s.NearestDist2), Softening: s.Softening}
}

func sameSums(what string, got, want *spatial.Sums) error {
	err := cmp.Or(paritytest.Bits(what+": Counts", got.Counts, want.Counts), paritytest.Bits(what+": Nearest", got.Nearest, want.Nearest),
		paritytest.Bits(what+": NearestDist2", got.NearestDist2, want.NearestDist2))
	for i := range want.Terms {
		t := &want.Terms[i]
		err = cmp.Or(err, paritytest.Floats(fmt.Sprintf("%s: Terms[%d] of %d, of %t, own %t, weight %d, reduce %d", what, i, len(want.Terms),
			t.Of != nil, t.Own != nil, t.Weight, t.Reduce), got.Terms[i].To, t.To))
	}
	return err
}

// TestParitySums compares Sum and SumSelf with their oracles on every level.
func TestParitySums(t *testing.T) {
	run := paritytest.Start(t, "Sums")
	for range rounds(1, 12) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, 250, []int{1, 63, 64, 65, 200}[run.IntN(5)])
			if run.IntN(3) == 0 {
				s.Category = run.Categories(s.Limit())
			}
			c := newSumCase(run, s)
			sizes, bounds := cellSizes(s), boundsFor(s)
			cfg := spatial.Config{CellSize: sizes[run.IntN(len(sizes))], Bounds: bounds[run.IntN(len(bounds))]}
			for range rounds(1, 3) {
				paritySum(t, run, c, cfg)
				paritySumSelf(t, run, c, cfg)
			}
		}
	}
}

func paritySum(t *testing.T, run *paritytest.Run, c *sumCase, cfg spatial.Config) {
	q := queriesOf(c.scene)
	if run.IntN(3) == 0 {
		q.Exclude = nil
	}
	if run.IntN(3) == 0 {
		q.Mask = run.Categories(len(q.X))
	}
	if run.IntN(3) == 0 {
		q.Live = run.Bitmap(c.scene.Limit())
	}
	want := c.draw(run, c.own, len(q.X))
	paritySums(t, run, c, cfg, want, len(q.X), func(ix *spatial.Index, s *spatial.Sums) error { return ix.SumOracle(q, s) },
		func(ix *spatial.Index, s *spatial.Sums) error { return ix.Sum(q, s) })
}

func paritySumSelf(t *testing.T, run *paritytest.Run, c *sumCase, cfg spatial.Config) {
	q := &spatial.Self{Radius: []float32{c.scene.Scale, c.scene.Radius[0]}[run.IntN(2)], IncludeSelf: run.IntN(2) == 0}
	if run.IntN(4) == 0 {
		q.Mask = run.Categories(c.scene.Limit())
	}
	if run.IntN(4) == 0 {
		q.Live = run.Bitmap(c.scene.Limit())
	}
	want := c.draw(run, c.columns, c.scene.Limit())
	paritySums(t, run, c, cfg, want, c.scene.Limit(), func(ix *spatial.Index, s *spatial.Sums) error { return ix.SumSelfOracle(q, s) },
		func(ix *spatial.Index, s *spatial.Sums) error { return ix.SumSelf(q, s) })
}

func paritySums(t *testing.T, run *paritytest.Run, c *sumCase, cfg spatial.Config, want *spatial.Sums, rows int,
	oracle, sum func(*spatial.Index, *spatial.Sums) error) {
	blank(want, rows)
	run.Check(oracle(build(t, cfg, c.scene), want))
	for _, cfg.Level = range native.Levels() {
		for _, cfg.Workers = range []int{1, 2, 7} {
			run.Case(cfg.Level)
			got := cloneSums(want)
			blank(got, rows)
			run.Check(sum(build(t, cfg, c.scene), got),
				sameSums(fmt.Sprintf("scene %s, %d points, %+v", c.scene.Name, len(c.scene.X), cfg), got, want))
		}
	}
}
