package command

import (
	"fmt"
	"io"
	"time"

	"github.com/evertick/evertick/native"
)

// What the table of the scene queries covers if a flag is not given.
var (
	gridPoints  = sizes{2256, 16384}
	gridQueries = sizes{200, 1000}
	gridRadii   = lengths{1, 2, 4} // m, at one point per cubic metre
)

// Limits of -n, -q and -r for queries.
const (
	gridMostPoints  = 1 << 21
	gridMostQueries = selfChunk
	gridMostHits    = 1 << 28 // in a batch, about
)

// isGrid reports whether the scene queries times sizes that the flags choose.
func (o *Options) isGrid() bool { return !o.scale && len(o.Ns)+len(o.qs)+len(o.rs) > 0 }

// gridDefaults fills in the flags that were not given, and checks them.
func (o *Options) gridDefaults() error {
	if len(o.Ns) == 0 {
		o.Ns = gridPoints
	}
	if len(o.qs) == 0 {
		o.qs = gridQueries
	}
	if len(o.rs) == 0 {
		o.rs = gridRadii
	}
	for _, n := range o.Ns {
		for _, q := range o.qs {
			for _, r := range o.rs {
				hits := float64(q) * min(float64(n), 4.2*r*r*r)
				switch {
				case n < 1 || n > gridMostPoints:
					return fmt.Errorf("%w: -n %d: 1 to %d points", ErrUsage, n, gridMostPoints)
				case q < 1 || q > gridMostQueries:
					return fmt.Errorf("%w: -q %d: 1 to %d queries", ErrUsage, q, gridMostQueries)
				case !(r > 0 && r <= longestRadius):
					return fmt.Errorf("%w: -r %g: above 0 to %d", ErrUsage, r, longestRadius)
				case hits > gridMostHits:
					return fmt.Errorf("%w: -n %d -q %d -r %g: about %.2g hits, more than %d", ErrUsage, n, q, r, hits, gridMostHits)
				}
			}
		}
	}
	return nil
}

func (o *Options) runGrid(level native.Level, stdout, stderr io.Writer) error {
	r := o.NewReport(level.String())
	r.Figures.Columns = []Column{
		{Name: "level"}, {Name: "points", head: "points"}, {Name: "queries", head: "queries"}, {Name: "radius_m", head: "r, m"},
		{Name: "hits_per_query", head: "hits each"},
		{Name: "build_us", head: "build, µs"}, {Name: "build_us_p05"}, {Name: "build_us_p95"},
		{Name: "query_us", head: "query, µs"}, {Name: "query_us_p05"}, {Name: "query_us_p95"},
		{Name: "ns_per_hit", head: "ns a hit"}, {Name: "times_as_fast_as_go", head: "× go"}, {Name: "low", head: "[95 %"}, {Name: "high", head: "]"},
	}
	r.WriteText = func(w io.Writer) {
		fmt.Fprint(w, "Points uniform in a cube, one per cubic metre, moved before each batch. Medians.\n\n")
		r.Figures.WriteText(w)
	}
	return o.Publish(stdout, r, func() error {
		progress := NewProgress(stderr)
		defer progress.Clear()
		for _, n := range o.Ns {
			for _, q := range o.qs {
				for _, radius := range o.rs {
					row, err := o.gridRow(level, n, q, radius, progress)
					if err != nil {
						return err
					}
					r.Figures.Add(row...)
				}
			}
		}
		return nil
	})
}

// gridRow checks a batch against the oracle and times it, by turns with pure Go.
func (o *Options) gridRow(level native.Level, points, queries int, radius float64, line *Progress) ([]any, error) {
	p := patience{warmup: 2, least: 7, most: 1000, time: 500 * time.Millisecond}
	if o.quick {
		p = patience{warmup: 1, least: 3, most: 10, time: 2 * time.Millisecond}
	}
	ours, pure := newQuery(byRadius, points, level), newQuery(byRadius, points, native.Go)
	all := []*query{ours, pure}
	if level == native.Go {
		all = all[:1]
	}
	for _, t := range all {
		t.queries, t.radius = queries, float32(radius)
	}
	e := experiment[*query]{
		fmt.Sprintf("%d points, %d queries, r %g", points, queries, radius), all,
		func(p *Progress) error { return openQueries(all, o.Seed, p) },
	}
	if err := e.run(p, line); err != nil {
		return nil, err
	}
	ratio := medianRatio("go", nanos(pure.samples[totalUs]), nanos(ours.samples[totalUs]))
	build, batch, hits := ours.quantities[buildUs], ours.quantities[queryUs], ours.quantities[hitsPerQuery].Median
	nsPerHit := 0.
	if hits > 0 {
		nsPerHit = batch.Median * 1e3 / (float64(queries) * hits)
	}
	return []any{
		level.String(), points, queries, radius, hits, build.Median, build.P05, build.P95, batch.Median, batch.P05, batch.P95,
		nsPerHit, ratio.Median, ratio.Low, ratio.High,
	}, nil
}

func nanos(us []float64) []int64 {
	ns := make([]int64, len(us))
	for i, v := range us {
		ns[i] = int64(v * 1e3)
	}
	return ns
}
