package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// raysScene casts rays through an arena; nothing moves but one body, a little, before
// each batch, so that each pays for all shapes as after a step.
const raysScene = "rays"

const (
	raysBodies = 4096
	raysPerLap = 10000
	raysLaps   = 40
	raysGoal   = 10 // times as fast as box2d

	// rayAgreement is how far two fractions may be apart that count as one: float32 against
	// float64, over 60 m.
	rayAgreement = 1e-4
)

// raysReport is what -json prints.
type raysReport struct {
	Scene       string              `json:"scene"`
	N           int                 `json:"n"`
	Seed        uint64              `json:"seed"`
	Environment profile.Environment `json:"environment"`
	Level       string              `json:"level"`
	Workers     int                 `json:"workers"`
	Rays        int                 `json:"rays"` // in a batch
	Laps        int                 `json:"laps"`
	Hits        int                 `json:"hits"` // of a batch
	Shapes      int                 `json:"shapes"`

	Clock    string    `json:"clock"`
	BatchNs  quantiles `json:"batch_ns"`
	NsPerRay float64   `json:"ns_per_ray"`
	Allocs   float64   `json:"allocs_per_batch"`
	Differ   int       `json:"differ"` // rays of which the engines say something else

	Compare *comparison `json:"compare,omitempty"`
}

func (o *options) isRays() bool { return o.scene == raysScene }

// rayDefaults fills in the flags that were not given.
func (o *options) rayDefaults(given map[string]bool) error {
	var err error
	if o.n, err = single("n", o.ns, raysBodies); err != nil {
		return err
	}
	kind, _ := scenes.KindOf("arena")
	if o.n < 1 || o.n > kind.MaxN() {
		return fmt.Errorf("%w: -n %d: 1 to %d", errUsage, o.n, kind.MaxN())
	}
	if !given["ticks"] {
		o.ticks = raysLaps
	}
	if !given["warmup"] {
		o.warmup = min(8, o.ticks/2)
	}
	if err := o.checkCompare(); err != nil {
		return err
	}
	return o.check()
}

// runRays measures batches of rays, beside another engine if that was asked for.
func (o *options) runRays(level native.Level, stdout, _ io.Writer) error {
	ours, err := scenes.New("arena", o.n, o.seed, physics.Config{Level: level, Workers: o.workers})
	if err != nil {
		return err
	}
	var theirs physics.Engine
	if o.compare != "" {
		theirs = box2d.NewEngine(box2d.Options{})
		if _, err := scenes.New("arena", o.n, o.seed, physics.Config{Engine: theirs}); err != nil {
			return err
		}
	}
	if !o.json {
		fmt.Fprintf(stdout, "evertick bench · scene %s · n %d · level %s · %d worker(s)\n%s\n", o.scene, o.n, level, o.workers, profile.ThisEnvironment())
	}
	rep, err := o.castRays(level, ours.World, theirs)
	if err != nil {
		return err
	}
	return o.deliver(stdout, rep)
}

// raysThrough draws rays that begin in the arena and are up to two thirds of its edge long.
func (o *options) raysThrough(w *physics.World) *physics.Rays {
	x := w.Columns().X[:w.Rows()]
	half := max(slices.Max(x), -slices.Min(x))
	q := &physics.Rays{SkipInside: true} // as theirs
	for i := range raysPerLap {
		r := loop.NewRand(o.seed, 0, uint64(i), math.MaxUint32)
		q.X, q.Y = append(q.X, r.Range(-half, half)), append(q.Y, r.Range(-half, half))
		q.DX, q.DY = append(q.DX, r.Range(-half, half)), append(q.DY, r.Range(-half, half))
	}
	return q
}

func (o *options) castRays(level native.Level, w *physics.World, theirs physics.Engine) (*raysReport, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	q := o.raysThrough(w)
	clock, now := o.chooseClock()
	var hits physics.RayHits
	var mine, others []int64
	fractions := make([]float32, raysPerLap)
	if theirs != nil {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
	}
	allocs := memory{}
	x, wasX := w.Columns().X, w.Columns().X[0]
	for lap := range o.ticks {
		x[0] = wasX
		if lap%2 == 1 {
			x[0] = math.Nextafter32(wasX, 0)
		}
		before, start := allocated(), now()
		if err := w.RayClosest(q, &hits); err != nil {
			return nil, err
		}
		ns, after := int64(now()-start), allocated()
		if lap >= o.warmup {
			mine = append(mine, ns)
			allocs.allocs += after.allocs - before.allocs
		}
		if theirs == nil {
			continue
		}
		start = now()
		for i := range fractions {
			fractions[i], _ = box2d.RayClosest(theirs, [2]float32{q.X[i], q.Y[i]}, [2]float32{q.DX[i], q.DY[i]})
		}
		if ns := int64(now() - start); lap >= o.warmup {
			others = append(others, ns)
		}
		runtime.GC()
	}
	rep := &raysReport{
		Scene: o.scene, N: o.n, Seed: o.seed, Environment: profile.ThisEnvironment(), Level: level.String(), Workers: o.workers,
		Rays: raysPerLap, Laps: o.ticks, Shapes: w.ShapeCount(), Clock: clock, BatchNs: quantilesOf(mine),
		Allocs: float64(allocs.allocs) / float64(len(mine)),
	}
	rep.NsPerRay = float64(rep.BatchNs.P50) / raysPerLap
	for i, s := range hits.Shapes {
		if s != (physics.Shape{}) {
			rep.Hits++
		}
		if d := hits.Fractions[i] - fractions[i]; theirs != nil && max(d, -d) > rayAgreement {
			rep.Differ++
		}
	}
	if theirs != nil {
		rep.Compare = newComparison(o, mine, others)
		rep.Compare.Goal = raysGoal
	}
	return rep, nil
}

func (r *raysReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d batches of %d rays · seed %d · %d shapes, all taken anew for each batch · %d rays meet one\n\n",
		r.Laps, r.Rays, r.Seed, r.Shapes, r.Hits)
	fmt.Fprintf(&b, "batch    p50 %s   p95 %s   max %s µs   (%s), %.0f ns a ray\n",
		micros(r.BatchNs.P50), micros(r.BatchNs.P95), micros(r.BatchNs.Max), r.Clock, r.NsPerRay)
	fmt.Fprintf(&b, "memory   %.1f allocations a batch\n", r.Allocs)
	if c := r.Compare; c != nil {
		fmt.Fprintf(&b, "compare  %s takes %s µs, ours %s (medians of batches by turns): %.2f times as long [%.2f–%.2f]; the goal is %g\n",
			c.Name, micros(c.TheirsNs), micros(c.OursNs), c.Ratio, c.RatioLow, c.RatioHigh, c.Goal)
		fmt.Fprintf(&b, "         %d rays end elsewhere\n", r.Differ)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
