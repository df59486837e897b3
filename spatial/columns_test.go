package spatial_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// plane is a world of two dimensions and every kind of query, with zeros or nil for z.
type plane struct {
	ix      *spatial.Index
	x, y, z []float32
	slots   []uint32
	radius  []float32
	queries spatial.Queries
	nearest spatial.NearestQueries
	boxes   spatial.Boxes
	rays    spatial.Rays
	out     [6]spatial.Result
	hits    spatial.RayHits
	first   spatial.NearestResult
	counts  []uint32
	met     []uint32
	at      []float32
}

func newPlane(tb testing.TB, cfg spatial.Config, implied bool) *plane {
	tb.Helper()
	const n, asked = 700, 40
	ix, err := spatial.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	spatial.AlwaysParallel(ix)
	p := &plane{ix: ix, counts: make([]uint32, asked), met: make([]uint32, asked), at: make([]float32, asked)}
	for i := range n {
		p.x, p.y, p.z = append(p.x, float32(i%31)), append(p.y, float32(i*7%37)), append(p.z, 0)
		p.slots, p.radius = append(p.slots, uint32(i)), append(p.radius, 0.25)
	}
	qx, qy, zero, one, three := p.x[100:100+asked], p.y[200:200+asked], p.z[:asked], make([]float32, asked), make([]float32, asked)
	top := make([]float32, asked)
	for i := range asked {
		one[i], three[i], top[i] = 1, 3, qx[i]+4
	}
	if implied {
		p.z, p.slots, zero = nil, nil, nil
	}
	p.queries = spatial.Queries{X: qx, Y: qy, Z: zero, Radius: three}
	p.nearest = spatial.NearestQueries{X: qx, Y: qy, Z: zero, K: 5}
	high := make([]float32, asked)
	for i := range high {
		high[i] = qy[i] + 5
	}
	p.boxes = spatial.Boxes{MinX: qx, MinY: qy, MinZ: zero, MaxX: top, MaxY: high, MaxZ: zero}
	p.rays = spatial.Rays{OX: qx, OY: qy, OZ: zero, DX: one, DY: three, DZ: zero, MaxT: three}
	return p
}

func (p *plane) ask() error {
	self := &spatial.Self{Radius: 2}
	return firstError(
		p.ix.Build(p.x, p.y, p.z, p.slots),
		p.ix.Radius(&p.queries, &p.out[0]),
		p.ix.RadiusSelf(self, &p.out[1]),
		p.ix.Pairs(self, &p.out[2]),
		p.ix.KNN(&p.nearest, &p.out[3]),
		p.ix.Nearest(&p.nearest, &p.first),
		p.ix.Count(&p.queries, p.counts),
		p.ix.Overlap(&p.boxes, &p.out[4]),
		p.ix.RayAll(p.radius, &p.rays, &p.hits),
		p.ix.RayClosest(p.radius, &p.rays, p.met, p.at),
		p.ix.RadiusOnce(spatial.Columns{X: p.x, Y: p.y, Z: p.z, Slots: p.slots}, &p.queries, &p.out[5]),
	)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// answers returns the rows of all queries.
func (p *plane) answers() []any {
	all := []any{p.ix.Len(), p.first.Slots, p.first.Dist2, p.counts, p.met, p.at, p.hits.Offsets, p.hits.Slots, p.hits.T}
	for i := range p.out {
		all = append(all, p.out[i].Offsets, p.out[i].Slots, p.out[i].Dist2)
	}
	return all
}

// Without z and slots every kind of query returns the same as with zeros and all rows.
func TestPlaneNeedsNoZerosAndNoSlots(t *testing.T) {
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			cfg := spatial.Config{Level: level, Workers: workers}
			want, got := newPlane(t, cfg, false), newPlane(t, cfg, true)
			if err := errors.Join(want.ask(), got.ask()); err != nil {
				t.Fatal(err)
			}
			if want.ix.Len() != 700 || len(want.out[0].Slots) == 0 || len(want.hits.Slots) == 0 {
				t.Fatalf("%d points, %d neighbours, %d hits", want.ix.Len(), len(want.out[0].Slots), len(want.hits.Slots))
			}
			for i, w := range want.answers() {
				if g := got.answers()[i]; !reflect.DeepEqual(g, w) {
					t.Errorf("level %s, %d workers, answer %d: %v, want %v", level, workers, i, g, w)
				}
			}
			oracles(t, got)
			if paritytest.Instrumented {
				continue
			}
			for range 20 {
				if err := got.ask(); err != nil {
					t.Fatal(err)
				}
			}
			if n := allocations(20, func() { _ = got.ask() }); n != 0 {
				t.Errorf("level %s, %d workers: %g allocations", level, workers, n)
			}
		}
	}
}

func oracles(t *testing.T, p *plane) {
	t.Helper()
	var out spatial.Result
	for i, c := range []struct {
		ask  func() error
		want *spatial.Result
	}{
		{func() error { return p.ix.RadiusOracle(&p.queries, &out) }, &p.out[0]},
		{func() error { return p.ix.KNNOracle(&p.nearest, &out) }, &p.out[3]},
		{func() error { return p.ix.OverlapOracle(&p.boxes, &out) }, &p.out[4]},
	} {
		if err := c.ask(); err != nil {
			t.Error(err)
		} else if err := sameResult(fmt.Sprint("oracle ", i), &out, c.want, false); err != nil {
			t.Error(err)
		}
	}
}

// Slots that are empty and not nil mean no points; and with nil slots an invalid value in
// any row is found.
func TestEmptySlotsAreNone(t *testing.T) {
	ix, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	three := []float32{1, 2, 3}
	for _, c := range []struct {
		slots []uint32
		want  int
	}{{nil, 3}, {[]uint32{}, 0}, {[]uint32{1}, 1}, {nil, 3}} {
		if err := ix.Build(three, three, nil, c.slots); err != nil || ix.Len() != c.want {
			t.Errorf("slots %v: %d points, %v", c.slots, ix.Len(), err)
		}
		var out spatial.Result
		q := &spatial.Queries{X: []float32{2}, Y: []float32{2}, Radius: []float32{9}}
		if err := ix.RadiusOnce(spatial.Columns{X: three, Y: three, Slots: c.slots}, q, &out); err != nil || len(out.Slots) != c.want {
			t.Errorf("slots %v, asked once: %v, %v", c.slots, out.Slots, err)
		}
	}
	again, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Build(three, three, nil, []uint32{}); err != nil {
		t.Fatal(err)
	}
	if err := again.Restore(ix.Snapshot(nil)); err != nil || again.Len() != 0 {
		t.Errorf("restored: %d points, %v", again.Len(), err)
	}
	inf := []float32{1, 2, float32(math.Inf(1))}
	if err := ix.Build(three, inf, nil, nil); !errors.Is(err, spatial.ErrNotFinite) || ix.Len() != 0 {
		t.Errorf("an infinite y: %v, %d points", err, ix.Len())
	}
}
