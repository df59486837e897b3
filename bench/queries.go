package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// queriesScene is the scene of the spatial index alone: it has no ticks.
const queriesScene = "queries"

const (
	fewQueries     = 200
	meanNeighbours = 32
	selfChunk      = 4096 // queries of a batch where every point is one
	fewCells       = 1.3  // edge of a cell in radii, where points do not all ask
)

// method is what a trial does with the points.
type method string

const (
	byRadius method = "radius" // Build, then Radius
	byOracle method = "oracle" // Build, then RadiusOracle
	byOnce   method = "once"   // answers without an index that is kept
	bySelf   method = "self"   // Build, then every point asks
)

// answerOnce answers the queries of a trial from its points, in one go.
func answerOnce(t *trial) error {
	c := t.cloud
	return t.ix.RadiusOnce(spatial.Columns{X: c.x, Y: c.y, Z: c.z, Slots: c.slots}, &t.q, &t.out)
}

// answerSelf asks for the neighbours of every point, itself among them, and returns
// how many there are. The index is built.
func answerSelf(t *trial) (int, error) {
	q := spatial.Self{Radius: t.q.Radius[0], Order: t.order, SkipDist2: true, IncludeSelf: true, RowsInGridOrder: true}
	err := t.ix.RadiusSelf(&q, &t.out)
	return len(t.out.Slots), err
}

// cloud is a set of points, uniform in a cube with one a cubic metre.
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

// move shifts every point by up to half a metre along each axis; what leaves the
// cube returns on the other side.
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

// radiusFor is the radius of a sphere with k points, at one a cubic metre.
func radiusFor(k int) float32 { return float32(math.Cbrt(3 * float64(k) / (4 * math.Pi))) }

// trial is one way to answer one kind of batch, and what its rounds took.
type trial struct {
	method    method
	points    int
	queries   int     // as many as points for bySelf
	k         int     // points in the sphere
	radius    float32 // of the sphere, if it is not that of k
	level     native.Level
	workers   int
	order     spatial.Order
	distances bool
	goal      *goal
	bases     []base

	cloud *cloud // shared by the trials of an experiment
	ix    *spatial.Index
	q     spatial.Queries
	out   spatial.Result

	build, query, total []float64 // µs, by round; build and query are empty for byOnce
	neighbours          []float64 // per query
}

// base is a trial with which another is compared.
type base struct {
	name string
	of   *trial
}

// open makes the index and the batch.
func (t *trial) open() (err error) {
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
	if t.method != bySelf {
		t.q.X, t.q.Y, t.q.Z = make([]float32, n), make([]float32, n), make([]float32, n)
	}
	return err
}

// renew moves the points and draws the queries anew: a branch predictor learns
// what is repeated, and no simulation repeats itself.
func (t *trial) renew() {
	t.cloud.move()
	if t.method != bySelf {
		t.cloud.draw(t.q.X)
		t.cloud.draw(t.q.Y)
		t.cloud.draw(t.q.Z)
	}
}

// duration of a round, in nanoseconds, and what it found.
type duration struct {
	build, total int64
	neighbours   int
}

// answer builds the index and answers the batch.
func (t *trial) answer() (d duration, err error) {
	start := time.Now()
	if t.method != byOnce {
		if err := t.ix.Build(t.cloud.x, t.cloud.y, t.cloud.z, t.cloud.slots); err != nil {
			return d, err
		}
		d.build = int64(time.Since(start))
	}
	switch t.method {
	case byRadius:
		err = t.ix.Radius(&t.q, &t.out)
	case byOracle:
		err = t.ix.RadiusOracle(&t.q, &t.out)
	case byOnce:
		err = answerOnce(t)
	case bySelf:
		d.neighbours, err = answerSelf(t)
	}
	d.total = int64(time.Since(start))
	if t.method != bySelf {
		d.neighbours = len(t.out.Slots)
	}
	return d, err
}

// everyPoint asks for the neighbours of each point by Radius.
func (t *trial) everyPoint() (neighbours int, err error) {
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

func (t *trial) keep(d duration) {
	if t.method != byOnce {
		t.build = append(t.build, float64(d.build)/1e3)
		t.query = append(t.query, float64(d.total-d.build)/1e3)
	}
	t.total = append(t.total, float64(d.total)/1e3)
	t.neighbours = append(t.neighbours, float64(d.neighbours)/float64(t.queries))
}

// check compares one answer with the oracle.
func (t *trial) check() error {
	d, err := t.answer()
	if err != nil {
		return err
	}
	return t.verify(d)
}

// verify compares the rows of the last answer with the oracle's; where every point
// asks, the number of neighbours with that of Radius.
func (t *trial) verify(d duration) error {
	if t.method == bySelf {
		want, err := t.everyPoint()
		if err == nil && d.neighbours != want {
			err = fmt.Errorf("%v: %d neighbours, %d by Radius", t, d.neighbours, want)
		}
		return err
	}
	var want spatial.Result
	if err := t.ix.Build(t.cloud.x, t.cloud.y, t.cloud.z, t.cloud.slots); err != nil {
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

func (t *trial) String() string {
	return fmt.Sprintf("%s, %d points, %d queries, k %d, by %s, level %s, %d worker(s)",
		t.method, t.points, t.queries, t.k, orderName(t.order), t.level, t.workers)
}

func orderName(o spatial.Order) string {
	return [...]string{spatial.BySlot: "slot", spatial.ByDistance: "distance", spatial.Grid: "grid"}[o]
}

// experiment is a set of trials whose rounds are interleaved.
type experiment struct {
	name   string
	trials []*trial
}

// patience tells how many rounds an experiment has.
type patience struct {
	warmup, least, most int
	time                time.Duration // no further round begins after it
}

var (
	longRuns  = patience{warmup: 2, least: 5, most: 1000, time: 8 * time.Second}
	quickRuns = patience{warmup: 1, least: 3, most: 10, time: 50 * time.Millisecond}
)

// turns calls turn for each of n contestants in every round; rounds below 0 are the
// warm-up. Who begins changes from round to round.
func (p patience) turns(n int, turn func(i, round int) error) error {
	start := time.Now()
	for round := -p.warmup; round < p.least || round < p.most && time.Since(start) < p.time; round++ {
		for i := range n {
			if err := turn((i+round+p.warmup)%n, round); err != nil {
				return err
			}
		}
	}
	return nil
}

// run opens and checks the trials and then times them in rounds, in each of which
// every trial has a turn.
func (e *experiment) run(seed uint64, p patience, progress *progress) error {
	clouds := map[int]*cloud{}
	for _, t := range e.trials {
		if clouds[t.points] == nil {
			clouds[t.points] = newCloud(seed, t.points)
		}
		t.cloud = clouds[t.points]
		progress.show("%s: checking %v", e.name, t)
		if err := t.open(); err != nil {
			return err
		}
		t.renew()
		if err := t.check(); err != nil {
			return err
		}
	}
	runtime.GC()
	start := time.Now()
	err := p.turns(len(e.trials), func(i, round int) error {
		progress.show("%s: round %d, %.0f s", e.name, round, time.Since(start).Seconds())
		t := e.trials[i]
		d, err := t.turn()
		if err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
		if round >= 0 {
			t.keep(d)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range e.trials {
		t.close()
	}
	return nil
}

// turn times one answer. One before it brings the trial's own memory back into the
// caches, from which the other trials' has displaced it; large sets do not fit there.
func (t *trial) turn() (duration, error) {
	if t.points < large {
		t.renew()
		if _, err := t.answer(); err != nil {
			return duration{}, err
		}
	}
	t.renew()
	return t.answer()
}

// close lets go of everything but the durations.
func (t *trial) close() {
	t.cloud, t.ix, t.q, t.out = nil, nil, spatial.Queries{}, spatial.Result{}
}

// runQueries runs the experiments on the level and reports. If it was chosen by
// hand only Go is compared with it.
func (o *options) runQueries(level native.Level, stdout, stderr io.Writer) error {
	plan := queriesPlan{main: level, levels: native.Levels(), quick: o.quick}
	if o.level != native.Auto.String() {
		plan.levels = slices.Compact([]native.Level{native.Go, level})
	}
	csv, err := o.createCSV() // before minutes are spent
	if err != nil {
		return err
	}
	defer csv.Close()
	if !o.json {
		fmt.Fprintf(stdout, "evertick bench · scene %s · level %s\n%s\n\n", o.scene, level, profile.ThisEnvironment())
	}
	rep, err := o.measureQueries(&plan, stderr)
	if err != nil {
		return err
	}
	if csv != nil {
		if err := errors.Join(rep.writeCSV(csv), csv.Close()); err != nil {
			return err
		}
	}
	return o.deliver(stdout, rep)
}

// createCSV returns the file of -csv, or nil if none is asked for.
func (o *options) createCSV() (*os.File, error) {
	if o.csv == "" {
		return nil, nil
	}
	return os.Create(o.csv)
}

func (o *options) measureQueries(plan *queriesPlan, stderr io.Writer) (*queriesReport, error) {
	p := longRuns
	if o.quick {
		p = quickRuns
	}
	rep := &queriesReport{Scene: o.scene, Seed: o.seed, Quick: o.quick, Environment: profile.ThisEnvironment(), Level: plan.main.String()}
	progress := newProgress(stderr)
	defer progress.clear()
	for _, e := range plan.experiments() {
		if err := e.run(o.seed, p, progress); err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		for _, t := range e.trials {
			rep.Figures = append(rep.Figures, newFigure(e.name, t))
		}
	}
	return rep, nil
}
