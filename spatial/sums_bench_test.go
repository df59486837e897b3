package spatial_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// flock is a swarm with velocities, and the nine sums of flocking in two ways: SumSelf, and a plain
// loop over the rows of RadiusSelf.
type flock struct {
	*swarm
	v    [3][]float32
	ix   *spatial.Index
	rows spatial.Result
	sums spatial.Sums
	loop [9][]float32 // results of the loop
}

const flockSoftening = 0.25

func newFlock(tb testing.TB, n int, cfg spatial.Config) *flock {
	f := &flock{swarm: newSwarm(n, 31)} // thirty neighbours and the centre
	cfg.CellSize = float32(f.radius * 1.05)
	var err error
	if f.ix, err = spatial.New(cfg); err != nil {
		tb.Fatal(err)
	}
	for i := range f.v {
		f.v[i] = make([]float32, n)
		for j := range f.v[i] {
			f.v[i][j] = f.rng.Float32() - 0.5
		}
	}
	to := func() []float32 { return make([]float32, n) }
	for i := range f.loop {
		f.loop[i] = to()
	}
	for _, of := range f.v {
		f.sums.Terms = append(f.sums.Terms, spatial.Term{Of: of, Own: of, Reduce: spatial.Mean, To: to()})
	}
	for _, weight := range []spatial.Weight{spatial.Uniform, spatial.InverseSquare} {
		for _, of := range [][]float32{f.x, f.y, f.z} {
			t := spatial.Term{Of: of, Own: of, Weight: weight, To: to()}
			if weight == spatial.Uniform {
				t.Reduce = spatial.Mean
			}
			f.sums.Terms = append(f.sums.Terms, t)
		}
	}
	f.sums.Softening = flockSoftening
	if err := f.ix.Build(f.x, f.y, f.z, f.slots); err != nil {
		tb.Fatal(err)
	}
	return f
}

func (f *flock) sum(tb testing.TB) {
	if err := f.ix.SumSelf(&spatial.Self{Radius: f.radius}, &f.sums); err != nil {
		tb.Fatal(err)
	}
}

// sumRows is what a program does without SumSelf: nine scalars, and no array that Go would keep in
// memory.
func (f *flock) sumRows(tb testing.TB) {
	if err := f.ix.RadiusSelf(&spatial.Self{Radius: f.radius, Order: spatial.Grid, RowsInGridOrder: true}, &f.rows); err != nil {
		tb.Fatal(err)
	}
	x, y, z, vx, vy, vz := f.x, f.y, f.z, f.v[0], f.v[1], f.v[2]
	y, z, vx, vy, vz = y[:len(x)], z[:len(x)], vx[:len(x)], vy[:len(x)], vz[:len(x)]
	for i, of := range f.rows.Of {
		row := f.rows.Row(i)
		dist2 := f.rows.Dist2Row(i)[:len(row)]
		px, py, pz, ux, uy, uz := x[of], y[of], z[of], vx[of], vy[of], vz[of]
		var a, b, c, d, e, g, h, k, l float32
		for j, s := range row {
			w := 1 / (dist2[j] + flockSoftening)
			a += vx[s] - ux
			b += vy[s] - uy
			c += vz[s] - uz
			dx, dy, dz := x[s]-px, y[s]-py, z[s]-pz
			d += dx
			e += dy
			g += dz
			h += float32(dx * w)
			k += float32(dy * w)
			l += float32(dz * w)
		}
		n := float32(max(len(row), 1))
		f.loop[0][of], f.loop[1][of], f.loop[2][of] = a/n, b/n, c/n
		f.loop[3][of], f.loop[4][of], f.loop[5][of] = d/n, e/n, g/n
		f.loop[6][of], f.loop[7][of], f.loop[8][of] = h, k, l
	}
}

// The benchmark compares two ways to compute one thing.
func TestFlockSumsAreTheLoop(t *testing.T) {
	for _, level := range native.Levels() {
		f := newFlock(t, 3000, spatial.Config{Level: level})
		f.sum(t)
		f.sumRows(t)
		for i := range f.loop {
			if !slices.Equal(f.loop[i], f.sums.Terms[i].To) {
				t.Errorf("level %s: sum %d differs", level, i)
			}
		}
	}
}

// BenchmarkSum runs SumSelf and the loop over rows by turns, without Build, and reports the median of
// the times of each, and their ratio.
func BenchmarkSum(b *testing.B) {
	levels := native.Levels()
	for _, level := range slices.Compact([]native.Level{native.Go, levels[len(levels)-1]}) {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("n=%d/level=%s/workers=%d", n, level, workers), func(b *testing.B) {
					f := newFlock(b, n, spatial.Config{Level: level, Workers: workers})
					byTurns(b, n, func() { f.sum(b) }, func() { f.sumRows(b) })
				})
			}
		}
	}
}

// byTurns times two functions by turns.
func byTurns(b *testing.B, n int, first, second func()) {
	first()
	second()
	var took [2][]float64
	for b.Loop() {
		for i, do := range []func(){first, second} {
			began := time.Now()
			do()
			took[i] = append(took[i], float64(time.Since(began).Nanoseconds())/float64(n))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	mid := len(took[0]) / 2
	b.ReportMetric(took[0][mid], "ns/centre")
	b.ReportMetric(took[1][mid], "rows-ns/centre")
	b.ReportMetric(took[1][mid]/took[0][mid], "ratio")
}
