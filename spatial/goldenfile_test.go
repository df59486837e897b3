package spatial_test

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew, if all levels agree")

const goldenHead = `# Hashes of answers: name, hash. They hold on every architecture, on every level
# and with any number of workers. Changing one needs a line under "Determinism" in
# CHANGELOG.md; regenerate with
#	go test ./spatial -run TestParityGoldenFile -update
`

// goldenCrowd is a set of points and queries drawn from an integer sequence. The
// coordinates of half of them are whole multiples of 1/8 metre, which gives ties
// and points exactly at the radius, of the others of 2^-17, which gives squares that
// must be rounded. There is a point a cubic metre, so that a query reaches about 32.
type goldenCrowd struct {
	x, y, z []float32 // by slot
	slots   []uint32
	queries spatial.Queries
}

const (
	goldenCell    = 2 // m
	goldenQueries = 200
)

// goldenRadii, in metres, have many points of the lattice exactly at their end.
var goldenRadii = [...]float32{15.0 / 8, 17.0 / 8}

// goldenSizes are the crowds, with the edge of the cube that each fills, in 1/8
// metre, and the numbers of workers that answer.
var goldenSizes = []struct {
	points, edge uint32
	workers      []int
}{
	{2256, 105, []int{1, 2, 7}},
	{16384, 203, []int{1, 2, 7}},
	{1 << 20, 813, []int{2}},
}

// goldenKinds are the kinds of queries: each kind is one line of the file for
// each crowd. It returns the hash of the rows, which must depend on their order.
var goldenKinds = []struct {
	name string
	ask  func(ix *spatial.Index, c *goldenCrowd) (uint64, error)
}{
	{"radius/slot", radiusBy(spatial.BySlot)},
	{"radius/distance", radiusBy(spatial.ByDistance)},
	{"radius/grid", radiusBy(spatial.Grid)},
	{"once/slot", func(ix *spatial.Index, c *goldenCrowd) (uint64, error) {
		var out spatial.Result
		err := ix.RadiusOnce(spatial.Columns{X: c.x, Y: c.y, Z: c.z, Slots: c.slots}, &c.queries, &out)
		return hashResult(&out), err
	}},
	{"self/slot", selfBy(spatial.Self{Order: spatial.BySlot})},
	{"self/grid", selfBy(spatial.Self{Order: spatial.Grid, RowsInGridOrder: true, IncludeSelf: true})},
	{"pairs", func(ix *spatial.Index, _ *goldenCrowd) (uint64, error) {
		var out spatial.Result
		err := ix.Pairs(&spatial.Self{Radius: goldenRadii[0] / 2}, &out)
		return hashResult(&out), err
	}},
	{"knn", func(ix *spatial.Index, c *goldenCrowd) (uint64, error) {
		q := spatial.NearestQueries{X: c.queries.X, Y: c.queries.Y, Z: c.queries.Z, K: 16, Exclude: c.queries.Exclude}
		var out spatial.Result
		err := ix.KNN(&q, &out)
		return hashResult(&out), err
	}},
	{"count", func(ix *spatial.Index, c *goldenCrowd) (uint64, error) {
		counts := make([]uint32, len(c.queries.X))
		err := ix.Count(&c.queries, counts)
		return statehash.Rows(counts), err
	}},
	{"sum", func(ix *spatial.Index, c *goldenCrowd) (uint64, error) {
		n := len(c.queries.X)
		sums := &spatial.Sums{Terms: everyTerm(c.y, c.queries.Y)[:64], Counts: make([]uint32, n), Nearest: make([]uint32, n), Softening: 0.25}
		blank(sums, n)
		err := ix.Sum(&c.queries, sums)
		return hashSums(sums), err
	}},
	{"sum/self", func(ix *spatial.Index, c *goldenCrowd) (uint64, error) {
		n := len(c.x)
		sums := &spatial.Sums{Counts: make([]uint32, n), Nearest: make([]uint32, n), Softening: 0.25}
		for weight := range sumWeights {
			sums.Terms = append(sums.Terms, spatial.Term{Of: c.x, Own: c.x, Weight: spatial.Weight(weight), Reduce: spatial.Reduce(weight % 4)})
		}
		blank(sums, n)
		err := ix.SumSelf(&spatial.Self{Radius: goldenRadii[0]}, sums)
		return hashSums(sums), err
	}},
	{"overlap", overlapGolden},
	{"rays", raysGolden},
}

func selfBy(q spatial.Self) func(*spatial.Index, *goldenCrowd) (uint64, error) {
	q.Radius = goldenRadii[0]
	return func(ix *spatial.Index, _ *goldenCrowd) (uint64, error) {
		var out spatial.Result
		err := ix.RadiusSelf(&q, &out)
		return hashResult(&out), err
	}
}

// overlapGolden queries the cubes around the queries.
func overlapGolden(ix *spatial.Index, c *goldenCrowd) (uint64, error) {
	moved := func(column []float32, by float32) []float32 {
		to := make([]float32, len(column))
		for i, v := range column {
			to[i] = v + by
		}
		return to
	}
	q := &c.queries
	var out spatial.Result
	err := ix.Overlap(&spatial.Boxes{
		MinX: moved(q.X, -1.5), MinY: moved(q.Y, -1.5), MinZ: moved(q.Z, -1.5),
		MaxX: moved(q.X, 1.5), MaxY: moved(q.Y, 1.5), MaxZ: moved(q.Z, 1.5), Exclude: q.Exclude,
	}, &out)
	return hashResult(&out), err
}

// raysGolden sends a ray from each query to the next, past spheres of an eighth to
// half a metre.
func raysGolden(ix *spatial.Index, c *goldenCrowd) (uint64, error) {
	q, n := &c.queries, len(c.queries.X)
	rays := spatial.Rays{OX: q.X, OY: q.Y, OZ: q.Z, Exclude: q.Exclude}
	for i := range n {
		to := (i + 1) % n
		rays.DX, rays.DY = append(rays.DX, q.X[to]-q.X[i]), append(rays.DY, q.Y[to]-q.Y[i])
		rays.DZ, rays.MaxT = append(rays.DZ, q.Z[to]-q.Z[i]+0.5), append(rays.MaxT, 1)
	}
	radius := make([]float32, len(c.x))
	for slot := range radius {
		radius[slot] = float32(1+slot%4) / 8
	}
	var hits spatial.RayHits
	err := ix.RayAll(radius, &rays, &hits)
	return hashResult(&spatial.Result{Offsets: hits.Offsets, Slots: hits.Slots, Dist2: hits.T}), err
}

func radiusBy(order spatial.Order) func(*spatial.Index, *goldenCrowd) (uint64, error) {
	return func(ix *spatial.Index, c *goldenCrowd) (uint64, error) {
		q := c.queries
		q.Order = order
		var out spatial.Result
		err := ix.Radius(&q, &out)
		return hashResult(&out), err
	}
}

func hashResult(r *spatial.Result) uint64 {
	return statehash.Fold([]statehash.Column{
		{Name: "Offsets", Hash: statehash.Rows(r.Offsets)},
		{Name: "Slots", Hash: statehash.Rows(r.Slots)},
		{Name: "Dist2", Hash: statehash.Rows(r.Dist2)},
	})
}

func hashSums(s *spatial.Sums) uint64 {
	columns := []statehash.Column{{Name: "Counts", Hash: statehash.Rows(s.Counts)}, {Name: "Nearest", Hash: statehash.Rows(s.Nearest)}}
	for i := range s.Terms {
		columns = append(columns, statehash.Column{Name: fmt.Sprint("Terms ", i), Hash: statehash.Rows(s.Terms[i].To)})
	}
	return statehash.Fold(columns)
}

func newGoldenCrowd(points, edge uint32) *goldenCrowd {
	state := uint64(points)
	next := func(n uint32) uint32 { // Knuth's MMIX generator; its upper half, below n
		state = state*6364136223846793005 + 1442695040888963407
		return uint32(state >> 32 * uint64(n) >> 32)
	}
	coordinate := func(fine bool) float32 {
		if fine {
			return float32(next(edge<<14)) / (1 << 17) // exact: edge<<14 is below 1<<24
		}
		return float32(next(edge)) / 8
	}
	c := &goldenCrowd{}
	for slot := uint32(0); len(c.slots) < int(points); slot++ {
		fine := next(2) == 0
		c.x, c.y, c.z = append(c.x, coordinate(fine)), append(c.y, coordinate(fine)), append(c.z, coordinate(fine))
		if slot%7 != 3 {
			c.slots = append(c.slots, slot)
		}
	}
	q := &c.queries
	for i := range goldenQueries {
		fine := next(2) == 0
		at, exclude := [3]float32{coordinate(fine), coordinate(fine), coordinate(fine)}, spatial.NoSlot
		if i%2 == 0 { // on a point, which every other such query leaves out
			slot := c.slots[next(points)]
			at = [3]float32{c.x[slot], c.y[slot], c.z[slot]}
			if i%8 < 4 {
				exclude = slot
			}
		}
		q.X, q.Y, q.Z = append(q.X, at[0]), append(q.Y, at[1]), append(q.Z, at[2])
		q.Radius, q.Exclude = append(q.Radius, goldenRadii[i/2%2]), append(q.Exclude, exclude)
	}
	return c
}

// golden is a line of the file.
type golden struct {
	name string
	hash uint64
}

func TestParityGoldenFile(t *testing.T) {
	run := paritytest.Start(t, "Index, golden file")
	path := filepath.Join("testdata", "golden.txt")
	if *update {
		if testing.Short() || paritytest.Instrumented {
			t.Fatal("-update needs a plain build and no -short")
		}
		if lines := answerGolden(t, run, nil); !t.Failed() {
			writeGolden(t, path, lines)
		}
		return
	}
	want := readGolden(t, path)
	names := make([]string, 0, len(want))
	for _, size := range goldenSizes {
		for _, kind := range goldenKinds {
			names = append(names, goldenName(size.points, kind.name))
		}
	}
	slices.Sort(names)
	if have := slices.Sorted(maps.Keys(want)); !slices.Equal(have, names) {
		t.Errorf("%s names %q, the test %q", path, have, names)
	}
	answerGolden(t, run, want)
}

func goldenName(points uint32, kind string) string { return fmt.Sprintf("%s/n=%d", kind, points) }

// answerGolden runs every kind of query on every crowd, with every level and number of
// workers. Where want has no hash, the first result sets it.
func answerGolden(t *testing.T, run *paritytest.Run, want map[string]uint64) []golden {
	t.Helper()
	if want == nil {
		want = map[string]uint64{}
	}
	var lines []golden
	for _, size := range goldenSizes {
		if size.points > 1<<16 && (!long && !*update || testing.Short() || paritytest.Instrumented) {
			t.Logf("not run: golden hashes of %d points: no EVERTICK_LONG, -short, or an instrumented build", size.points)
			continue
		}
		c := newGoldenCrowd(size.points, size.edge)
		for _, level := range native.Levels() {
			for _, workers := range some(run, size.workers...) {
				run.Case(level)
				ix := indexOf(t, spatial.Config{CellSize: goldenCell, Level: level, Workers: workers}, c.x, c.y, c.z, c.slots)
				for _, kind := range goldenKinds {
					name := goldenName(size.points, kind.name)
					hash, err := kind.ask(ix, c)
					run.Check(err)
					if _, ok := want[name]; !ok {
						want[name] = hash
						lines = append(lines, golden{name, hash})
					}
					if hash != want[name] {
						t.Errorf("%s on level %s with %d workers: hash %016x, want %016x", name, level, workers, hash, want[name])
					}
				}
			}
		}
	}
	return lines
}

// indexOf is build for columns.
func indexOf(t testing.TB, cfg spatial.Config, x, y, z []float32, slots []uint32) *spatial.Index {
	t.Helper()
	ix, err := spatial.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	spatial.AlwaysParallel(ix)
	if err := ix.Build(x, y, z, slots); err != nil {
		t.Fatal(err)
	}
	return ix
}

func readGolden(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := map[string]uint64{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var g golden
		if _, err := fmt.Sscanf(lines.Text(), "%s %x", &g.name, &g.hash); err != nil {
			t.Fatalf("%s: %q: %v", path, lines.Text(), err)
		}
		if _, ok := all[g.name]; ok {
			t.Fatalf("%s names %s twice", path, g.name)
		}
		all[g.name] = g.hash
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func writeGolden(t *testing.T, path string, lines []golden) {
	t.Helper()
	var b strings.Builder
	b.WriteString(goldenHead)
	for _, g := range lines {
		fmt.Fprintf(&b, "%s %016x\n", g.name, g.hash)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The crowds have what the golden file is to cover: about 32 hits per query, among
// them ties, and squares that were rounded.
func TestGoldenCrowd(t *testing.T) {
	for _, size := range goldenSizes[:2] {
		c := newGoldenCrowd(size.points, size.edge)
		ix := indexOf(t, spatial.Config{CellSize: goldenCell}, c.x, c.y, c.z, c.slots)
		q := c.queries
		q.Order = spatial.ByDistance
		var out spatial.Result
		if err := ix.RadiusOracle(&q, &out); err != nil {
			t.Fatal(err)
		}
		ties, limits, rounded := 0, 0, 0
		for row := range out.Len() {
			d2 := out.Dist2Row(row)
			for i, slot := range out.Row(row) {
				if i > 0 && d2[i] == d2[i-1] {
					ties++
				}
				if r := q.Radius[row]; d2[i] == float32(r*r) {
					limits++
				}
				dx, dy, dz := float64(c.x[slot]-q.X[row]), float64(c.y[slot]-q.Y[row]), float64(c.z[slot]-q.Z[row])
				if float64(d2[i]) != dx*dx+dy*dy+dz*dz {
					rounded++
				}
			}
		}
		if mean := float64(len(out.Slots)) / goldenQueries; mean < 20 || mean > 36 || min(ties, limits) < 5 || rounded < len(out.Slots)/4 {
			t.Errorf("%d points: %.1f hits a query, %d ties, %d at the radius, %d of %d squares rounded",
				size.points, mean, ties, limits, rounded, len(out.Slots))
		}
	}
}
