package physics

import (
	"math"
	"slices"

	"github.com/evertick/evertick/native/rigid"
)

// sweeper keeps fast bodies from passing through thin ones. But for the extents, which
// follow from the shapes, it holds nothing from step to step.
type sweeper struct {
	off     bool // Config.DisableContinuous
	extents rigid.Extents
	sweep   rigid.Sweep
	fast    []uint32 // bodies
	fastIn  []int    // how many there are, by span
	bullets []uint32 // fast bodies that are

	// For bullets: where the shapes of other bodies are after the step.
	boxes  rigid.Boxes
	which  bitset
	layout rigid.Layout
}

// sweepChunk is the number of fast bodies that a worker takes.
const sweepChunk = 16

func (w *sweeper) open(cfg *Config) {
	n := cfg.Capacity
	w.off = cfg.DisableContinuous
	w.extents = rigid.Extents{Least: make([]float32, n), Most: make([]float32, n)}
}

// measure learns the extents of a body from its shapes, which are in their place.
func (s *solver) measure(body int, shapes []uint32) {
	w, t := &s.sweep, &s.shapes
	w.extents.Least[body], w.extents.Most[body] = float32(math.Inf(1)), 0
	for _, i := range shapes {
		if !t.sensor[i] && t.shape[i].Count > 0 {
			least, most := t.shape[i].Measure()
			w.extents.Least[body] = min(w.extents.Least[body], least)
			w.extents.Most[body] = max(w.extents.Most[body], most)
		}
	}
}

func (s *solver) measureAll() {
	for i := range s.rows {
		s.measure(i, s.shapesOf(i))
	}
}

// stopFast sets fast bodies back to where they met an obstacle in this step.
func (s *solver) stopFast(dt float32) {
	if s.sweep.off || !s.findFast() {
		return
	}
	w, t := &s.sweep, &s.shapes
	w.sweep = rigid.Sweep{
		States: s.sys.States, Poses: s.sys.Poses, Angle: s.sys.Angle, Most: w.extents.Most, Dt: dt,
		Head: s.table.head, Next: s.table.next,
		Shapes: t.shape, Filters: &t.filters, Sensor: t.sensor,
	}
	if !s.pairTable.empty() || s.joints.apart > 0 || t.oneWays > 0 || t.chained > 0 {
		w.sweep.Passes = s.passesJob
	}
	s.over(0, len(w.fast), sweepChunk, (*solver).stopAtStatic)
	if s.findBullets() {
		s.layOut()
		s.over(0, len(w.bullets), sweepChunk, (*solver).stopBullets)
	}
	s.done("sweep")
}

// findFast lists the fast bodies, ascending, and returns false if there are none.
func (s *solver) findFast() bool {
	w, n := &s.sweep, s.rows
	w.fast = slices.Grow(w.fast[:0], n)[:n]
	w.fastIn = resized(w.fastIn, len(s.sleep.spans))
	s.overSpans(s.sleep.spans, (*solver).fastRows)
	fast := 0
	for at, rows := range s.sleep.spans {
		fast += copy(w.fast[fast:], w.fast[rows.lo:][:w.fastIn[at]])
	}
	w.fast = w.fast[:fast]
	return fast > 0
}

func (s *solver) fastRows(at, lo, hi int) {
	w := &s.sweep
	w.fastIn[at] = w.extents.Fast(s.level, s.sys.States, lo, hi, w.fast[lo:hi])
}

func (s *solver) stopAtStatic(lo, hi int) { s.sweep.sweep.StopStill(&s.broad, s.sweep.fast[lo:hi]) }

// findBullets lists the bullets among the fast bodies, and returns false if there are none.
func (s *solver) findBullets() bool {
	w := &s.sweep
	w.bullets = w.bullets[:0]
	for _, i := range w.fast {
		if s.cols.Flags[i]&FlagBullet != 0 {
			w.bullets = append(w.bullets, i)
		}
	}
	return len(w.bullets) > 0
}

// layOut puts the solid shapes of moving bodies that are not bullets where they are now.
func (s *solver) layOut() {
	w, t := &s.sweep, &s.shapes
	n := len(t.shape)
	for _, b := range [...]*[]float32{&w.boxes.MinX, &w.boxes.MinY, &w.boxes.MaxX, &w.boxes.MaxY} {
		*b = slices.Grow((*b)[:0], n)[:n]
	}
	s.over(0, n, bodyChunk, func(s *solver, lo, hi int) { s.boundInto(&s.sweep.boxes, lo, hi) })
	w.which.reset(n)
	for i, moves := range t.filters.Moves {
		if moves && !t.sensor[i] && s.cols.Flags[t.filters.Body[i]]&FlagBullet == 0 {
			w.which.add(i)
		}
	}
	w.layout.Build(s.level, &w.boxes, w.which)
}

func (s *solver) stopBullets(lo, hi int) { s.sweep.sweep.Stop(&s.sweep.layout, s.sweep.bullets[lo:hi]) }
