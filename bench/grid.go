package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// What the grid of the scene queries has where a flag is left out.
var (
	gridPoints  = sizes{2256, 16384}
	gridQueries = sizes{200, 1000}
	gridRadii   = lengths{1, 2, 4} // m, at one point a cubic metre
)

// Bounds of what -n, -q and -r may say of queries.
const (
	gridMostPoints  = 1 << 21
	gridMostQueries = selfChunk
	gridMostHits    = 1 << 28 // in a batch, about
)

// isGrid tells whether the scene queries is to time chosen sizes.
func (o *options) isGrid() bool {
	return o.scene == queriesScene && !o.scale && len(o.ns)+len(o.qs)+len(o.rs) > 0
}

// gridDefaults fills in the flags that were not given, and checks them.
func (o *options) gridDefaults() error {
	if len(o.ns) == 0 {
		o.ns = gridPoints
	}
	if len(o.qs) == 0 {
		o.qs = gridQueries
	}
	if len(o.rs) == 0 {
		o.rs = gridRadii
	}
	for _, n := range o.ns {
		if n < 1 || n > gridMostPoints {
			return fmt.Errorf("%w: -n %d: 1 to %d points", errUsage, n, gridMostPoints)
		}
	}
	for _, q := range o.qs {
		if q < 1 || q > gridMostQueries {
			return fmt.Errorf("%w: -q %d: 1 to %d queries", errUsage, q, gridMostQueries)
		}
	}
	for _, r := range o.rs {
		if !(r > 0 && r <= longestRadius) {
			return fmt.Errorf("%w: -r %g: above 0 to %d", errUsage, r, longestRadius)
		}
		for _, n := range o.ns {
			for _, q := range o.qs {
				if hits := float64(q) * min(float64(n), 4.2*r*r*r); hits > gridMostHits {
					return fmt.Errorf("%w: -n %d -q %d -r %g: about %.2g hits, more than %d", errUsage, n, q, r, hits, gridMostHits)
				}
			}
		}
	}
	return nil
}

// gridCell is what a batch of some size takes.
type gridCell struct {
	Points   int           `json:"points"`
	Queries  int           `json:"queries"`
	Radius   float64       `json:"radius"`         // m
	Hits     float64       `json:"hits_per_query"` // the median
	BuildUs  spread        `json:"build_us"`
	QueryUs  spread        `json:"query_us"`
	VersusGo profile.Ratio `json:"times_as_fast_as_go"` // build and query together; 1 on level go
}

// gridReport is what -json prints.
type gridReport struct {
	Scene       string              `json:"scene"`
	Seed        uint64              `json:"seed"`
	Environment profile.Environment `json:"environment"`
	Level       string              `json:"level"`
	Cells       []gridCell          `json:"cells"`
}

// runGrid times batches of all sizes.
func (o *options) runGrid(level native.Level, stdout, stderr io.Writer) error {
	file, err := o.createCSV()
	if err != nil {
		return err
	}
	defer file.Close()
	progress := newProgress(stderr)
	defer progress.clear()
	p := patience{warmup: 2, least: 7, most: 1000, time: 500 * time.Millisecond}
	if o.quick {
		p = patience{warmup: 1, least: 3, most: 10, time: 2 * time.Millisecond}
	}
	rep := &gridReport{Scene: o.scene, Seed: o.seed, Environment: profile.ThisEnvironment(), Level: level.String()}
	for _, n := range o.ns {
		for _, q := range o.qs {
			for _, r := range o.rs {
				cell, err := o.gridCell(level, n, q, float32(r), p, progress)
				if err != nil {
					return err
				}
				rep.Cells = append(rep.Cells, cell)
			}
		}
	}
	progress.clear()
	if file != nil {
		if err := errors.Join(rep.writeCSV(file), file.Close()); err != nil {
			return err
		}
	}
	return o.deliver(stdout, rep)
}

// gridCell checks a batch against the oracle and times it, by turns with pure Go.
func (o *options) gridCell(level native.Level, points, queries int, radius float32, p patience, progress *progress) (gridCell, error) {
	e := experiment{name: fmt.Sprintf("%d points, %d queries, r %g", points, queries, radius)}
	ours := &trial{method: byRadius, points: points, queries: queries, radius: radius, level: level, workers: 1, order: spatial.Grid}
	base := *ours
	base.level = native.Go
	e.trials = []*trial{ours, &base}
	if level == native.Go {
		e.trials = e.trials[:1]
	}
	runtime.GC()
	if err := e.run(o.seed, p, progress); err != nil {
		return gridCell{}, fmt.Errorf("%s: %w", e.name, err)
	}
	cell := gridCell{
		Points: points, Queries: queries, Radius: float64(radius), Hits: spreadOf(ours.neighbours).Median,
		BuildUs: spreadOf(ours.build), QueryUs: spreadOf(ours.query), VersusGo: profile.Ratio{Name: level.String(), Median: 1, Low: 1, High: 1},
	}
	if level != native.Go {
		cell.VersusGo.Median, cell.VersusGo.Low, cell.VersusGo.High = medianRatio(nanos(base.total), nanos(ours.total), o.seed)
	}
	return cell, nil
}

func nanos(us []float64) []int64 {
	ns := make([]int64, len(us))
	for i, v := range us {
		ns[i] = int64(v * 1e3)
	}
	return ns
}

func (r *gridReport) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"level", "points", "queries", "radius_m", "hits_per_query", "build_us", "query_us", "ns_per_hit", "times_as_fast_as_go", "low", "high"})
	for i := range r.Cells {
		k := &r.Cells[i]
		line := []string{r.Level, strconv.Itoa(k.Points), strconv.Itoa(k.Queries)}
		for _, v := range []float64{k.Radius, k.Hits, k.BuildUs.Median, k.QueryUs.Median, k.nsPerHit(), k.VersusGo.Median, k.VersusGo.Low, k.VersusGo.High} {
			line = append(line, number(v))
		}
		_ = c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// nsPerHit is 0 of no hits.
func (k *gridCell) nsPerHit() float64 {
	if k.Hits == 0 {
		return 0
	}
	return k.QueryUs.Median * 1e3 / (float64(k.Queries) * k.Hits)
}

func (r *gridReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "evertick bench · scene %s · level %s · 1 worker · seed %d\n%s\n\n", r.Scene, r.Level, r.Seed, r.Environment)
	b.WriteString("Points uniform in a cube, one a cubic metre, moved before each batch. Medians.\n\n")
	fmt.Fprintf(&b, "%9s %7s %6s %10s %10s %10s %8s  %s\n", "points", "queries", "r, m", "hits each", "build, µs", "query, µs", "ns a hit", "× go")
	for i := range r.Cells {
		k := &r.Cells[i]
		fmt.Fprintf(&b, "%9d %7d %6.3g %10.1f %10.1f %10.1f %8.2f  %.2f [%.2f–%.2f]\n",
			k.Points, k.Queries, k.Radius, k.Hits, k.BuildUs.Median, k.QueryUs.Median, k.nsPerHit(), k.VersusGo.Median, k.VersusGo.Low, k.VersusGo.High)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
