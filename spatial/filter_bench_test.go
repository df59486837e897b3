package spatial_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/evertick/evertick/spatial"
)

// BenchmarkFilters answers batches of 200 queries, drawn anew, with each filter and
// without, taking turns: the metric is the ratio of the medians. Filters let pass
// nearly everything, so that there is as much to write as without.
func BenchmarkFilters(b *testing.B) {
	for _, n := range []int{2256, 16384} {
		c := cloud(n, 3)
		ix, err := spatial.New(spatial.Config{CellSize: 1.3 * within32})
		if err != nil {
			b.Fatal(err)
		}
		if err := ix.Build(c.x, c.y, c.z, c.slots); err != nil {
			b.Fatal(err)
		}
		category, live := make([]uint32, n), make([]uint64, (n+63)/64)
		for i := range category {
			category[i] = 1 << (i % 32)
		}
		for i := range live {
			live[i] = ^uint64(0) << (i % 2)
		}
		ix.SetCategories(category)
		mask, exclude := make([]uint32, 200), make([]uint32, 200)
		for i := range mask {
			mask[i], exclude[i] = ^uint32(1<<(i%32)), uint32(i)
		}
		for name, filter := range map[string]func(q *spatial.Queries){
			"mask":    func(q *spatial.Queries) { q.Mask = mask },
			"live":    func(q *spatial.Queries) { q.Live = live },
			"exclude": func(q *spatial.Queries) { q.Exclude = exclude },
		} {
			b.Run(fmt.Sprintf("n=%d/filter=%s", n, name), func(b *testing.B) {
				plain, filtered := newQueries(200, spatial.Grid), newQueries(200, spatial.Grid)
				plain.SkipDist2, filtered.SkipDist2 = true, true
				filter(filtered)
				var times [2][]time.Duration
				var out spatial.Result
				for b.Loop() {
					for i, q := range []*spatial.Queries{plain, filtered} {
						for j := range q.X {
							q.X[j], q.Y[j], q.Z[j], q.Radius[j] = c.somewhere(), c.somewhere(), c.somewhere(), within32
						}
						start := time.Now()
						if err := ix.Radius(q, &out); err != nil {
							b.Fatal(err)
						}
						times[i] = append(times[i], time.Since(start))
					}
				}
				b.ReportMetric(float64(median(times[1]))/float64(median(times[0])), "×plain")
			})
		}
	}
}
