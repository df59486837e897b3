package command

import (
	"fmt"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

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

// large sets are left out with -quick.
const large = 1 << 16

// Names of experiments, beside those of cases and orders.
const (
	expPoints     = "points"
	expNeighbours = "neighbours"
)

func caseName(number int) string {
	c := &queryCases[number]
	return fmt.Sprintf("%s_%d", c.method, c.points)
}

// comparesWorkers reports whether a case compares numbers of workers, not levels.
func comparesWorkers(number int) bool {
	return queryCases[number].method == bySelf && queryCases[number].points >= large
}

// orderedPoints are the sets whose orders of rows are compared.
var orderedPoints = []int{2256, 16384}

func ordersName(points int) string { return fmt.Sprintf("orders_%d", points) }

type queriesPlan struct {
	seed   uint64
	main   native.Level
	levels []native.Level // slowest first, Go the first
	quick  bool
}

func (p *queriesPlan) experiments() []*experiment[*query] {
	var all []*experiment[*query]
	add := func(name string, queries []*query) {
		all = append(all, &experiment[*query]{name, queries, func(progress *Progress) error { return openQueries(queries, p.seed, progress) }})
	}
	for i, c := range queryCases {
		if !p.quick || c.points < large {
			add(caseName(i), p.caseQueries(i))
		}
	}
	for _, points := range orderedPoints {
		add(ordersName(points), p.orderQueries(points))
	}
	add(expPoints, p.pointQueries())
	add(expNeighbours, p.neighbourQueries())
	return all
}

func (t *query) baseline(name string) baseline {
	return baseline{name, &t.trial, []string{totalUs, queryUs}}
}

// caseQueries answer one case on every level, and by the oracle. If the case has a million queries,
// one and two workers answer instead.
func (p *queriesPlan) caseQueries(number int) (all []*query) {
	c := &queryCases[number]
	add := func(m method, level native.Level, baselines ...baseline) *query {
		t := newQuery(m, c.points, level)
		t.queries, t.baselines = c.queries, baselines
		if c.method == byOnce {
			t.order = spatial.BySlot // RadiusOnce needs no grid for this order
		}
		if m == c.method {
			t.goal = &c.goal
		}
		all = append(all, t)
		return t
	}
	if comparesWorkers(number) {
		one := add(bySelf, p.main)
		add(bySelf, p.main, one.baseline("one_worker")).workers = 2
		return all
	}
	var baselines []baseline
	switch c.method {
	case byRadius:
		baselines = []baseline{add(byOracle, p.main).baseline("oracle")}
	case byOnce:
		baselines = []baseline{add(byRadius, p.main).baseline("radius")}
	}
	for _, level := range p.levels {
		t := add(c.method, level, baselines...)
		if level == native.Go {
			baselines = append(baselines, t.baseline("go"))
		}
	}
	return all
}

// orderQueries answer a case in each order, without and with distances.
func (p *queriesPlan) orderQueries(points int) (all []*query) {
	for _, distances := range []bool{false, true} {
		for _, order := range []spatial.Order{spatial.Grid, spatial.BySlot, spatial.ByDistance} {
			t := newQuery(byRadius, points, p.main)
			t.order, t.distances = order, distances
			if len(all) > 0 {
				t.baselines = []baseline{all[0].baseline("grid")}
			}
			all = append(all, t)
		}
	}
	return all
}

// pointQueries answer 200 queries among more and more points.
func (p *queriesPlan) pointQueries() (all []*query) {
	for points := 1 << 10; points <= 1<<20; points <<= 2 {
		if !p.quick || points < large {
			all = append(all, newQuery(byRadius, points, p.main))
		}
	}
	return all
}

// neighbourQueries answer 200 queries of growing radius, on the main level and in Go.
func (p *queriesPlan) neighbourQueries() (all []*query) {
	for k := 1; k <= 256; k *= 2 {
		for _, level := range p.levels {
			if level == native.Go || level == p.main {
				t := newQuery(byRadius, 16384, level)
				t.k = k
				all = append(all, t)
			}
		}
	}
	return all
}
