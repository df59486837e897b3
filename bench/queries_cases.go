package main

import (
	"fmt"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// goal is the time for building and answering that a case should not exceed, and
// what the best of other programs took, from the fastest to the slowest of its
// settings. Those were measured apart, and are not run here.
type goal struct {
	us                float64
	peer              string
	peerLow, peerHigh float64
}

// queryCases are the lines of the main table, with k = 32.
var queryCases = []struct {
	method          method
	points, queries int
	goal            goal
}{
	{byRadius, 2256, fewQueries, goal{20, "TreeNSearch", 98, 243}},
	{byRadius, 16384, fewQueries, goal{52, "unibn octree", 640, 722}},
	{byOnce, 1 << 20, fewQueries, goal{1500, "unibn octree", 25400, 25400}},
	{bySelf, 16384, 16384, goal{830, "TreeNSearch", 3790, 5576}},
	{bySelf, 1 << 20, 1 << 20, goal{60000, "TreeNSearch", 310000, 310000}},
}

// large sets are left out when the scene is to be quick.
const large = 1 << 16

// Names of experiments; those of cases and orders are made.
const (
	expPoints     = "points"
	expNeighbours = "neighbours"
)

func caseName(number int) string {
	c := &queryCases[number]
	return fmt.Sprintf("%s_%d", c.method, c.points)
}

// comparesWorkers tells whether a case compares numbers of workers, not levels.
func comparesWorkers(number int) bool {
	return queryCases[number].method == bySelf && queryCases[number].points >= large
}

// orderedPoints are the sets of which the orders of rows are compared.
var orderedPoints = []int{2256, 16384}

func ordersName(points int) string { return fmt.Sprintf("orders_%d", points) }

// queriesPlan lists all experiments of the scene.
type queriesPlan struct {
	main   native.Level
	levels []native.Level // slowest first, Go the first
	quick  bool
}

func (p *queriesPlan) experiments() []*experiment {
	var all []*experiment
	for i := range queryCases {
		if !p.quick || queryCases[i].points < large {
			all = append(all, p.caseTrials(i))
		}
	}
	for _, points := range orderedPoints {
		all = append(all, p.orderTrials(points))
	}
	return append(all, p.pointTrials(), p.neighbourTrials())
}

// trial has the settings that most trials share: 200 queries with rows in grid
// order and no distances, on the main level, by one worker.
func (p *queriesPlan) trial(m method, points int) *trial {
	return &trial{method: m, points: points, queries: fewQueries, k: meanNeighbours, level: p.main, workers: 1, order: spatial.Grid}
}

// caseTrials answer one case on every level, and by the oracle; a million points
// that all ask are answered by one and by two workers instead.
func (p *queriesPlan) caseTrials(number int) *experiment {
	c := &queryCases[number]
	e := &experiment{name: caseName(number)}
	add := func(m method, level native.Level, bases ...base) *trial {
		t := p.trial(m, c.points)
		t.queries, t.level, t.bases = c.queries, level, bases
		if c.method == byOnce {
			t.order = spatial.BySlot // its rows need no grid
		}
		if m == c.method {
			t.goal = &c.goal
		}
		e.trials = append(e.trials, t)
		return t
	}
	if comparesWorkers(number) {
		one := add(bySelf, p.main)
		add(bySelf, p.main, base{"one_worker", one}).workers = 2
		return e
	}
	var bases []base
	switch c.method {
	case byRadius:
		bases = []base{{"oracle", add(byOracle, p.main)}}
	case byOnce:
		bases = []base{{"radius", add(byRadius, p.main)}}
	}
	for _, level := range p.levels {
		t := add(c.method, level, bases...)
		if level == native.Go {
			bases = append(bases, base{"go", t})
		}
	}
	return e
}

// orderTrials answer a case in each order, and in the default one with distances.
func (p *queriesPlan) orderTrials(points int) *experiment {
	grid := p.trial(byRadius, points)
	e := &experiment{name: ordersName(points), trials: []*trial{grid}}
	for _, order := range []spatial.Order{spatial.BySlot, spatial.ByDistance} {
		t := p.trial(byRadius, points)
		t.order = order
		e.trials = append(e.trials, t)
	}
	for _, order := range []spatial.Order{spatial.Grid, spatial.BySlot, spatial.ByDistance} {
		t := p.trial(byRadius, points)
		t.order, t.distances = order, true
		e.trials = append(e.trials, t)
	}
	for _, t := range e.trials[1:] {
		t.bases = []base{{"grid", grid}}
	}
	return e
}

// pointTrials answer 200 queries among more and more points.
func (p *queriesPlan) pointTrials() *experiment {
	e := &experiment{name: expPoints}
	for points := 1 << 10; points <= 1<<20; points <<= 2 {
		if !p.quick || points < large {
			e.trials = append(e.trials, p.trial(byRadius, points))
		}
	}
	return e
}

// neighbourTrials answer 200 queries of growing radius, on the main level and in Go.
func (p *queriesPlan) neighbourTrials() *experiment {
	e := &experiment{name: expNeighbours}
	for k := 1; k <= 256; k *= 2 {
		for _, level := range p.levels {
			if level == native.Go || level == p.main {
				t := p.trial(byRadius, 16384)
				t.k, t.level = k, level
				e.trials = append(e.trials, t)
			}
		}
	}
	return e
}
