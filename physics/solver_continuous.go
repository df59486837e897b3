package physics

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/stage"
)

// continuousState is the memory of continuous collision, which keeps fast bodies from passing through thin ones. Only
// the extents, which follow from the shapes, last from step to step.
type continuousState struct {
	enabled    bool
	extents    rigid.Extents
	turnAngle  []float32 // rigid.ContinuousSolver.TurnAngle
	solver     rigid.ContinuousSolver
	fast       []uint32 // bodies
	fastCounts []int    // number of them, by span
	bullets    []uint32 // bullets that may have met another body in this step

	// For bullets: where the shapes of other moving bodies have been in this step.
	boxes        broad.Boxes
	movingShapes bitset.Set
	movingGrid   broad.Grid

	// Shapes of bodies that are active in this step alone and do not move.
	restingShapes bitset.Set
	restingGrid   broad.Grid
}

// sweepChunk is the number of fast bodies that a worker takes.
const sweepChunk = 16

func (w *continuousState) open(cfg *Config) {
	n := cfg.Capacity
	w.enabled = !cfg.DisableContinuous
	w.extents = rigid.Extents{Min: make([]float32, n), Max: make([]float32, n)}
	w.turnAngle = make([]float32, n)
}

// updateExtents computes the extents of a body from its shapes, which are in the scene.
func (s *solver) updateExtents(body int, shapes []uint32) {
	w := &s.continuous
	w.extents.Min[body], w.extents.Max[body] = float32(math.Inf(1)), 0
	for _, i := range shapes {
		s.extend(body, i)
	}
}

// extend adds a shape to the extents of a body.
func (s *solver) extend(body int, shape uint32) {
	w, t := &s.continuous, &s.shapes
	if !t.sensor[shape] && t.shape[shape].Count > 0 {
		least, most := t.shape[shape].Extents()
		w.extents.Min[body] = min(w.extents.Min[body], least)
		w.extents.Max[body] = max(w.extents.Max[body], most)
	}
}

func (s *solver) updateAllExtents() {
	for i := range s.rows {
		s.updateExtents(i, s.bodyShapes(i))
	}
}

// solveContinuous moves fast bodies back to where they met an obstacle in this step. For bullets, moving bodies are
// obstacles, too.
func (s *solver) solveContinuous(dt float32) {
	w := &s.continuous
	if !w.enabled {
		return
	}
	fast, bullets := s.findFast(), s.sleep.AnyFlag(s.cols.Flags, FlagBullet)
	if !fast && !bullets {
		return
	}
	s.prepareContinuous(dt)
	s.stages.For(0, len(w.fast), sweepChunk, (*solver).sweepStatic)
	if bullets && s.findBullets() {
		s.buildMovingGrid()
		s.stages.For(0, len(w.bullets), sweepChunk, (*solver).sweepBullets)
	}
	s.stages.End("continuous")
}

func (s *solver) prepareContinuous(dt float32) {
	w, t := &s.continuous, &s.shapes
	clear(w.turnAngle[:s.rows])
	w.solver = rigid.ContinuousSolver{
		States: s.sys.States, Poses: s.sys.Poses, Angle: s.sys.Angle, VX: s.cols.VX, VY: s.cols.VY,
		MaxExtent: w.extents.Max, TurnAngle: w.turnAngle, Dt: dt, MaxSpeed: s.sys.Params.MaxSpeed,
		Head: s.shapeTable.Head, Next: s.shapeTable.Next, HadContact: s.touchedJob, Locks: s.motionLocksJob,
		Shapes: t.shape, Filters: &t.filters, Sensor: t.sensor, ChainSegments: t.smooth,
	}
	if s.sleep.On {
		w.solver.Active = s.sleep.Active
	}
	if len(s.sleep.ActiveOnce) > 0 {
		s.buildRestingGrid()
		w.solver.Resting = &w.restingGrid
	}
	if !s.ignoredPairs.Empty() || s.joints.noCollide > 0 || t.oneWays > 0 {
		w.solver.PassesThrough = s.ignoredJob
	}
}

// buildRestingGrid collects the solid shapes of bodies that are active in this step alone and do not move: static and
// disabled bodies, and new sleepers. The broad phase treats these bodies as moving.
func (s *solver) buildRestingGrid() {
	w, t := &s.continuous, &s.shapes
	w.restingShapes.Reset(len(t.shape))
	for _, body := range s.sleep.ActiveOnce {
		if st := &s.sys.States[body]; s.sleep.Awake(int(body)) || st.DX != 0 || st.DY != 0 || st.S != 0 {
			continue
		}
		for shape := range s.shapeTable.Of(int(body)) {
			if t.filters.Moves[shape] && !t.sensor[shape] {
				w.restingShapes.Add(shape)
			}
		}
	}
	w.restingGrid.Build(s.level, &s.boxes, w.restingShapes)
}

// motionLocks is rigid.ContinuousSolver.Locks.
func (s *solver) motionLocks(body uint32) rigid.MotionLocks {
	f := s.cols.Flags[body]
	return rigid.MotionLocks{X: f&FlagLockX != 0, Y: f&FlagLockY != 0, Rotation: f&FlagFixedRotation != 0}
}

// findFast lists the fast bodies in ascending order, and returns false if there are none.
func (s *solver) findFast() bool {
	w, n := &s.continuous, s.rows
	w.fast = slices.Grow(w.fast[:0], n)[:n]
	w.fastCounts = buffer.Resized(w.fastCounts, len(s.sleep.Spans))
	s.stages.ForNumberedSpans(s.sleep.Spans, (*solver).findFastRows)
	fast := 0
	for at, rows := range s.sleep.Spans {
		fast += copy(w.fast[fast:], w.fast[rows.Lo:][:w.fastCounts[at]])
	}
	w.fast = w.fast[:fast]
	return fast > 0
}

func (s *solver) findFastRows(at, lo, hi int) {
	w := &s.continuous
	w.fastCounts[at] = w.extents.FindFast(s.level, s.sys.States, lo, hi, w.fast[lo:hi])
}

func (s *solver) sweepStatic(lo, hi int) {
	s.continuous.solver.SolveStationary(&s.broad, s.continuous.fast[lo:hi])
}

// findBullets lists the awake bullets whose motion, together with that of the fastest body that is not
// a bullet, exceeds half of their least extent. It returns false if there are none.
func (s *solver) findBullets() bool {
	w := &s.continuous
	w.bullets = w.bullets[:0]
	swiftest := float32(0)
	for _, rows := range s.sleep.Spans {
		for i := rows.Lo; i < rows.Hi; i++ {
			switch {
			case !s.sleep.Awake(i):
			case s.cols.Flags[i]&FlagBullet == 0:
				if move := w.extents.MotionBound(&s.sys.States[i], i); move > swiftest { // NaN is not
					swiftest = move
				}
			case s.cols.Type[i] == DynamicBody:
				w.bullets = append(w.bullets, uint32(i))
			}
		}
	}
	w.bullets = slices.DeleteFunc(w.bullets, func(i uint32) bool {
		return !(swiftest+w.extents.MotionBound(&s.sys.States[i], int(i)) > float32(0.5*w.extents.Min[i]))
	})
	return len(w.bullets) > 0
}

// buildMovingGrid collects the solid shapes of moving bodies that are not bullets, with the area that they swept in
// this step.
func (s *solver) buildMovingGrid() {
	w, t := &s.continuous, &s.shapes
	n := len(t.shape)
	for _, b := range [...]*[]float32{&w.boxes.MinX, &w.boxes.MinY, &w.boxes.MaxX, &w.boxes.MaxY} {
		*b = slices.Grow((*b)[:0], n)[:n]
	}
	s.stages.For(0, n, stage.RowChunk, (*solver).sweptBounds)
	w.movingShapes.Reset(n)
	for i, moves := range t.filters.Moves {
		if moves && !t.sensor[i] && (w.solver.Resting == nil || !w.restingShapes.Has(i)) && s.cols.Flags[t.filters.Body[i]]&FlagBullet == 0 {
			w.movingShapes.Add(i)
		}
	}
	w.movingGrid.Build(s.level, &w.boxes, w.movingShapes)
}

func (s *solver) sweptBounds(lo, hi int) {
	w := &s.continuous
	s.computeBounds(&w.boxes, lo, hi)
	w.solver.SweepBoxes(&s.boxes, &w.boxes, lo, hi)
}

func (s *solver) sweepBullets(lo, hi int) {
	w := &s.continuous
	w.solver.SolveMoving(&w.movingGrid, &s.broad, w.bullets[lo:hi])
}
