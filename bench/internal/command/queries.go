package command

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/evertick/evertick/bench/internal/celllist"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
	"github.com/zeebo/xxh3"
)

const (
	fewQueries     = 200
	meanNeighbours = 32
	selfChunk      = 4096 // queries of a batch if every point is one
	fewCells       = 1.3  // edge of a cell in radii, unless every point is a query
)

func init() {
	Register(Scene{
		Name: "queries", Family: withoutTicks,
		Help:  "the spatial index alone; with -n, -q or -r a table over these sizes, as in -n 2256,16384 -q 200 -r 1,2,4",
		Flags: []string{"seed", "level", "quick", "csv", "n", "q", "r"},
		Check: func(o *Options, _ map[string]bool) error {
			if o.isGrid() {
				return o.gridDefaults()
			}
			return nil
		},
		Run: func(o *Options, level native.Level, stdout, stderr io.Writer) error {
			if o.isGrid() {
				return o.runGrid(level, stdout, stderr)
			}
			return o.runQueries(level, stdout, stderr)
		},
		size: &sizeRange{unit: "points", first: 64, most: gridMostPoints, open: func(o *Options, n int, level native.Level) (stepper, error) {
			q := newQuery(byRadius, n, level)
			if len(o.qs) > 0 {
				q.queries = o.qs[0]
			}
			if len(o.rs) > 0 {
				q.radius = float32(o.rs[0])
			}
			s, err := q.stepper(o.Seed)
			return stepper{step: func() error { _, err := s.once(); return err }}, err
		}},
	})
}

// method is what a query does with the points.
type method string

const (
	byRadius method = "radius" // Build, then Radius
	byOracle method = "oracle" // Build, then RadiusOracle
	byOnce   method = "once"   // RadiusOnce: keeps no index
	bySelf   method = "self"   // Build, then RadiusSelf: every point is a query

	byCells     method = "cells"      // the same as byRadius with a plain cell list
	bySelfCells method = "self_cells" // the same as bySelf with a plain cell list
)

// Quantities of a query, beside ratios.
const (
	buildUs         = "build_us"
	queryUs         = "query_us"
	totalUs         = "total_us"
	hitsPerQuery    = "neighbours_per_query"
	nsPerQuery      = "ns_per_query"     // of query_us; of total_us where no index is kept
	nsPerNeighbour  = "ns_per_neighbour" // of the same
	buildNsPerPoint = "build_ns_per_point"
)

// cloud is a set of points, uniform in a cube with one point per cubic metre.
type cloud struct {
	rng     *rand.Rand
	edge    float32 // m
	x, y, z []float32
	slots   []uint32
}

func newCloud(seed uint64, points int) *cloud {
	c := &cloud{rng: rand.New(rand.NewPCG(seed, uint64(points))), edge: float32(math.Cbrt(float64(points)))}
	for _, column := range []*[]float32{&c.x, &c.y, &c.z} {
		*column = make([]float32, points)
		c.draw(*column)
	}
	for slot := range points {
		c.slots = append(c.slots, uint32(slot))
	}
	return c
}

func (c *cloud) draw(column []float32) {
	for i := range column {
		column[i] = c.rng.Float32() * c.edge
	}
}

// move shifts every point by up to half a metre along each axis. A point that leaves the cube
// returns on the other side.
func (c *cloud) move() {
	for _, column := range [][]float32{c.x, c.y, c.z} {
		for i, v := range column {
			v += float32(c.rng.Float32()) - 0.5
			if v < 0 {
				v += c.edge
			} else if v >= c.edge {
				v -= c.edge
			}
			column[i] = v
		}
	}
}

// radiusFor returns the radius of a sphere with k points, at one per cubic metre.
func radiusFor(k int) float32 { return float32(math.Cbrt(3 * float64(k) / (4 * math.Pi))) }

// query is one way to answer one kind of batch.
type query struct {
	trial
	method    method
	points    int
	queries   int     // as many as points for bySelf
	k         int     // points in the sphere
	radius    float32 // of the sphere; 0: the radius of k
	order     spatial.Order
	distances bool

	cloud *cloud // shared by the queries of an experiment
	ix    *spatial.Index
	q     spatial.Queries
	out   spatial.Result

	list    celllist.List
	centres []celllist.Point // of byCells
	rows    celllist.Rows
}

// newQuery returns a query with the settings that most share: 200 queries with rows in grid order
// and without distances, by one worker.
func newQuery(m method, points int, level native.Level) *query {
	return &query{
		trial: trial{level: level, workers: 1}, method: m, points: points, queries: fewQueries, k: meanNeighbours, order: spatial.Grid,
	}
}

var queryLabels = []string{"method", "points", "queries", "k", "level", "workers", "order", "distances"}

func (t *query) labels() []any {
	level := t.level
	if t.method == byOracle {
		level = native.Go
	}
	return []any{string(t.method), t.points, t.queries, t.k, level.String(), t.workers, t.orderName(), t.distances}
}

func (t *query) String() string {
	return fmt.Sprintf("%s, %d points, %d queries, k %d, by %s, level %s, %d worker(s)",
		t.method, t.points, t.queries, t.k, t.orderName(), t.level, t.workers)
}

func (t *query) orderName() string {
	return [...]string{spatial.BySlot: "slot", spatial.ByDistance: "distance", spatial.Grid: "grid"}[t.order]
}

// open creates the index and the batch.
func (t *query) open() (err error) {
	radius := t.radius
	if radius == 0 {
		radius = radiusFor(t.k)
	}
	cell := fewCells * radius
	if t.method == bySelf {
		cell = radius
	}
	t.ix, err = spatial.New(spatial.Config{CellSize: cell, Level: t.level, Workers: t.workers})
	n := min(t.queries, selfChunk)
	t.q = spatial.Queries{Order: t.order, SkipDist2: !t.distances, Radius: slices.Repeat([]float32{radius}, n)}
	if !t.asksAll() {
		t.q.X, t.q.Y, t.q.Z = make([]float32, n), make([]float32, n), make([]float32, n)
	}
	t.list.Level = t.level
	return err
}

// asksAll reports whether every point is a query.
func (t *query) asksAll() bool { return t.method == bySelf || t.method == bySelfCells }

// stepper returns a simulation in which each step builds the index and answers the batch. Before
// each step it moves the points.
func (t *query) stepper(seed uint64) (stepper, error) {
	t.cloud = newCloud(seed, t.points)
	return stepper{
		ready: func() error { t.renew(); return nil },
		step:  func() error { _, err := t.answer(); return err },
		hash: func() uint64 {
			var h xxh3.Hasher
			for _, slot := range t.out.Slots {
				_, _ = h.Write([]byte{byte(slot), byte(slot >> 8), byte(slot >> 16), byte(slot >> 24)})
			}
			return h.Sum64()
		},
	}, t.open()
}

// renew moves the points and draws new queries. A branch predictor would learn repeated ones, and
// simulations do not repeat themselves.
func (t *query) renew() {
	t.cloud.move()
	if !t.asksAll() {
		t.cloud.draw(t.q.X)
		t.cloud.draw(t.q.Y)
		t.cloud.draw(t.q.Z)
	}
}

// answerByCells builds the cell list and answers the batch. Its cells have an edge of one radius, with which it is
// fastest.
func (t *query) answerByCells() (a answer) {
	c, radius, start := t.cloud, t.q.Radius[0], time.Now()
	t.list.Build([3]float32{}, [3]float32{c.edge, c.edge, c.edge}, radius, c.x, c.y, c.z)
	a.build = int64(time.Since(start))
	centres := t.list.Points()
	if t.method == byCells {
		t.centres = t.centres[:0]
		for i := range t.q.X {
			t.centres = append(t.centres, celllist.Point{X: t.q.X[i], Y: t.q.Y[i], Z: t.q.Z[i]})
		}
		centres = t.centres
	}
	t.list.Find(centres, radius, &t.rows)
	a.total, a.neighbours = int64(time.Since(start)), len(t.rows.Slots)
	return a
}

// answer is the duration of a batch in nanoseconds, and how many neighbours it found.
type answer struct {
	build, total int64
	neighbours   int
}

// answer builds the index and answers the batch.
func (t *query) answer() (a answer, err error) {
	if t.method == byCells || t.method == bySelfCells {
		return t.answerByCells(), nil
	}
	c, start := t.cloud, time.Now()
	if t.method != byOnce {
		if err := t.ix.Build(c.x, c.y, c.z, c.slots); err != nil {
			return a, err
		}
		a.build = int64(time.Since(start))
	}
	switch t.method {
	case byRadius:
		err = t.ix.Radius(&t.q, &t.out)
	case byOracle:
		err = t.ix.RadiusOracle(&t.q, &t.out)
	case byOnce:
		err = t.ix.RadiusOnce(spatial.Columns{X: c.x, Y: c.y, Z: c.z, Slots: c.slots}, &t.q, &t.out)
	case bySelf:
		q := spatial.Self{Radius: t.q.Radius[0], Order: t.order, SkipDist2: true, IncludeSelf: true, RowsInGridOrder: true}
		err = t.ix.RadiusSelf(&q, &t.out)
	}
	a.total, a.neighbours = int64(time.Since(start)), len(t.out.Slots)
	return a, err
}

func (t *query) sample(a answer) sample {
	s := sample{
		totalUs: float64(a.total) / 1e3, hitsPerQuery: float64(a.neighbours) / float64(t.queries),
		nsPerQuery: float64(a.total-a.build) / float64(t.queries), nsPerNeighbour: float64(a.total-a.build) / float64(a.neighbours),
	}
	if t.method != byOnce {
		s[buildUs], s[queryUs] = float64(a.build)/1e3, float64(a.total-a.build)/1e3
		s[buildNsPerPoint] = float64(a.build) / float64(t.points)
	}
	return s
}

// countByRadius counts the neighbours of each point by Radius.
func (t *query) countByRadius() (neighbours int, err error) {
	c := t.cloud
	for from := 0; from < len(c.x) && err == nil; from += selfChunk {
		to := min(from+selfChunk, len(c.x))
		q := t.q
		q.X, q.Y, q.Z, q.Radius = c.x[from:to], c.y[from:to], c.z[from:to], t.q.Radius[:to-from]
		err = t.ix.Radius(&q, &t.out)
		neighbours += len(t.out.Slots)
	}
	return neighbours, err
}

// verify compares the rows of the last answer with the oracle's. If every point is a query,
// it compares the number of neighbours with that of Radius.
func (t *query) verify(a answer) error {
	if t.method == byCells || t.method == bySelfCells {
		return t.verifyCells()
	}
	if t.method == bySelf {
		want, err := t.countByRadius()
		if err == nil && a.neighbours != want {
			err = fmt.Errorf("%v: %d neighbours, %d by Radius", t, a.neighbours, want)
		}
		return err
	}
	var want spatial.Result
	if err := t.build(); err != nil {
		return err
	}
	if err := t.ix.RadiusOracle(&t.q, &want); err != nil {
		return err
	}
	if !slices.Equal(t.out.Offsets, want.Offsets) || !slices.Equal(t.out.Slots, want.Slots) || !slices.Equal(t.out.Dist2, want.Dist2) {
		return fmt.Errorf("%v: the rows are not those of the oracle", t)
	}
	return nil
}

func (t *query) build() error { return t.ix.Build(t.cloud.x, t.cloud.y, t.cloud.z, t.cloud.slots) }

// verifyCells compares the slots in the rows of the cell list with those of the index.
func (t *query) verifyCells() error {
	centres := t.centres
	if t.method == bySelfCells {
		centres = t.list.Points()
	}
	q := spatial.Queries{SkipDist2: true, Radius: slices.Repeat(t.q.Radius[:1], len(centres))} // by slot
	for _, c := range centres {
		q.X, q.Y, q.Z = append(q.X, c.X), append(q.Y, c.Y), append(q.Z, c.Z)
	}
	var want spatial.Result
	if err := errors.Join(t.build(), t.ix.Radius(&q, &want)); err != nil {
		return err
	}
	first := uint32(0)
	for i, end := range t.rows.Ends {
		row := slices.Sorted(slices.Values(t.rows.Slots[first:end]))
		if !slices.Equal(row, want.Row(i)) {
			return fmt.Errorf("%v: centre %d: %v, %v by Radius", t, i, row, want.Row(i))
		}
		first = end
	}
	return nil
}

// openQueries prepares queries over shared clouds and checks one answer of each against the oracle.
func openQueries(queries []*query, seed uint64, progress *Progress) error {
	clouds := map[int]*cloud{}
	for _, t := range queries {
		if clouds[t.points] == nil {
			clouds[t.points] = newCloud(seed, t.points)
		}
		t.cloud = clouds[t.points]
		progress.Show("checking %v", t)
		if err := t.open(); err != nil {
			return err
		}
		t.renew()
		a, err := t.answer()
		if err == nil {
			err = t.verify(a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// turn times one answer. It runs one answer before that, which brings the query's own memory back
// into the caches: the other queries have displaced it. Large sets do not fit there.
func (t *query) turn() (sample, error) {
	if t.points < large {
		t.renew()
		if _, err := t.answer(); err != nil {
			return nil, err
		}
	}
	t.renew()
	a, err := t.answer()
	return t.sample(a), err
}

func (t *query) close() {
	t.cloud, t.ix, t.q, t.out = nil, nil, spatial.Queries{}, spatial.Result{}
	t.list, t.centres, t.rows = celllist.List{}, nil, celllist.Rows{}
}
