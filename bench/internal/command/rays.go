package command

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

const (
	raysBodies   = 4096
	raysPerBatch = 10000
	raysGoal     = 10 // times as fast as box2d

	// rayTolerance is the largest difference of two fractions that count as equal: float32 against
	// float64, over 60 m.
	rayTolerance = 1e-4
)

func init() {
	Register(Scene{
		Name: "rays", Family: bodiesAlone,
		Help:  fmt.Sprintf("%d rays through an arena in each of -ticks batches, before which a body moves a little, so that each rebuilds all shapes (n %d)", raysPerBatch, raysBodies),
		Flags: []string{"ticks", "warmup", "seed", "level", "workers", "n", "compare"},
		Check: func(o *Options, given map[string]bool) error {
			d, _ := scenes.Find("arena")
			if err := o.checkSize(raysBodies, d.MaxN()); err != nil {
				return err
			}
			return o.CheckSteps(given, 40, 8)
		},
		Run: (*Options).runRays,
	})
}

func (o *Options) runRays(level native.Level, stdout, _ io.Writer) error {
	ours, err := scenes.New("arena", o.N, o.Seed, physics.Config{Level: level, Workers: o.Workers})
	if err != nil {
		return err
	}
	var theirs physics.Engine
	if o.compare != "" {
		theirs = box2d.NewEngine(box2d.Options{})
		if _, err := scenes.New("arena", o.N, o.Seed, physics.Config{Engine: theirs}); err != nil {
			return err
		}
	}
	r := o.NewReport(level.String())
	b := &rayBatches{Options: o, world: ours.World, rays: o.raysThrough(ours.World), theirs: theirs}
	r.WriteText = b.write
	return o.Publish(stdout, r, func() error {
		err := b.run()
		for name, value := range map[string]any{
			"n": o.N, "rays": raysPerBatch, "batches": o.Ticks, "hits": b.found, "shapes": ours.World.ShapeCount(), "clock": b.clock,
			"batch_ns": b.ns, "ns_per_ray": b.nsPerRay(), "allocs_per_batch": b.allocs, "differ": b.differ, "compare": b.comparison,
		} {
			r.Facts[name] = value
		}
		return err
	})
}

// rayBatches are batches of rays and their results.
type rayBatches struct {
	*Options
	world  *physics.World
	rays   *physics.Rays
	hits   physics.RayHits
	theirs physics.Engine // nil: alone

	clock      string
	ns         Quantiles
	allocs     float64 // of a batch
	found      int     // rays that hit a shape
	differ     int     // rays for which the engines disagree
	comparison *comparison
}

// raysThrough draws rays that begin in the arena and are up to two thirds of its edge long.
func (o *Options) raysThrough(w *physics.World) *physics.Rays {
	x := w.Columns().X[:w.Rows()]
	half := max(slices.Max(x), -slices.Min(x))
	q := &physics.Rays{SkipInside: true} // as box2d does
	for i := range raysPerBatch {
		r := loop.NewRand(o.Seed, 0, uint64(i), math.MaxUint32)
		q.X, q.Y = append(q.X, r.Range(-half, half)), append(q.Y, r.Range(-half, half))
		q.DX, q.DY = append(q.DX, r.Range(-half, half)), append(q.DY, r.Range(-half, half))
	}
	return q
}

func (b *rayBatches) run() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock, now := b.chooseClock()
	var ours, theirs []int64
	fractions := make([]float32, raysPerBatch)
	if b.theirs != nil {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
	}
	spent, q := Memory{}, b.rays
	x, start := b.world.Columns().X, b.world.Columns().X[0]
	for batch := range b.Ticks {
		x[0] = start
		if batch%2 == 1 {
			x[0] = math.Nextafter32(start, 0)
		}
		before, from := Allocated(), now()
		if err := b.world.RayClosest(q, &b.hits); err != nil {
			return err
		}
		if ns := int64(now() - from); batch >= b.Warmup {
			ours = append(ours, ns)
			spent.add(Allocated().Since(before))
		}
		if b.theirs == nil {
			continue
		}
		from = now()
		for i := range fractions {
			fractions[i], _ = box2d.RayClosest(b.theirs, [2]float32{q.X[i], q.Y[i]}, [2]float32{q.DX[i], q.DY[i]})
		}
		if ns := int64(now() - from); batch >= b.Warmup {
			theirs = append(theirs, ns)
		}
		runtime.GC()
	}
	b.clock, b.ns, b.allocs = clock, QuantilesOf(ours), float64(spent.Allocs)/float64(len(ours))
	for i, s := range b.hits.Shapes {
		if s != (physics.Shape{}) {
			b.found++
		}
		if d := b.hits.Fractions[i] - fractions[i]; b.theirs != nil && max(d, -d) > rayTolerance {
			b.differ++
		}
	}
	if b.theirs != nil {
		b.comparison = b.compared(ours, theirs)
		b.comparison.Goal = raysGoal
	}
	return nil
}

func (b *rayBatches) nsPerRay() float64 { return float64(b.ns.P50) / raysPerBatch }

func (b *rayBatches) write(w io.Writer) {
	fmt.Fprintf(w, "%d batches of %d rays · n %d · %d shapes, rebuilt for each batch · %d rays hit one\n\n",
		b.Ticks, raysPerBatch, b.N, b.world.ShapeCount(), b.found)
	fmt.Fprintf(w, "batch    p50 %s   p95 %s   max %s µs   (%s), %.0f ns a ray\n", micros(b.ns.P50), micros(b.ns.P95), micros(b.ns.Max), b.clock, b.nsPerRay())
	fmt.Fprintf(w, "memory   %.1f allocations a batch\n", b.allocs)
	if b.comparison != nil {
		fmt.Fprintf(w, "%s         %d rays have another closest hit\n", b.comparison.text("batches"), b.differ)
	}
}
