package physics3

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/rigid3"
)

// continuousState is the memory of continuous collision, which keeps fast bodies from passing through thin shapes. Only the extents, which follow from
// the shapes, and enabled last from step to step.
type continuousState struct {
	enabled    bool
	minExtent  []float32 // by body: the least of its solid shapes; +Inf without one
	coreExtent []float32 // by body: the greatest rigid3.Shape.CoreExtent of its solid shapes
	solver     rigid3.Continuous
	fast       []uint32               // bodies, ascending
	fastCounts []int                  // number of them, by span
	bullets    []uint32               // bullets that may have met another body in this step
	memory     []*rigid3.ImpactMemory // by worker

	still           rigid3.Obstacles // shapes of the broad phase that do not move
	driven, dynamic sweptShapes
	drivers         []uint32 // bodies of driven
}

// sweptShapes are some shapes with the space that they swept in a step.
type sweptShapes struct {
	obstacles rigid3.Obstacles
	members   bitset.Set
	boxes     rigid3.Boxes
	planar    broad.Boxes // boxes along two axes
	grid      broad.Grid
	intervals broad.Filters
}

// sweepChunk is the number of fast bodies that a worker takes.
const sweepChunk = 16

// sweepChunks returns the number of chunks of bodies.
func sweepChunks(bodies []uint32) int { return (len(bodies) + sweepChunk - 1) / sweepChunk }

// sweepRange returns the bodies of chunks [lo, hi).
func sweepRange(bodies []uint32, lo, hi int) []uint32 {
	return bodies[lo*sweepChunk : min(hi*sweepChunk, len(bodies))]
}

func (s *solver) openContinuous(c *Config) {
	w := &s.continuous
	w.enabled = !c.DisableContinuous
	w.minExtent, w.coreExtent = make([]float32, c.Capacity), make([]float32, c.Capacity)
	for i := range w.minExtent {
		w.minExtent[i] = float32(math.Inf(1))
	}
	w.solver.Before = s.poseBefore
	w.solver.SetLevel(s.level)
}

// poseBefore returns the pose of a body before the step, until its columns get the new one.
func (s *solver) poseBefore(body uint32) rigid3.Pose { return s.pose(int(body)) }

// clearExtents makes a body one without shapes.
func (s *solver) clearExtents(i int) {
	s.extent[i], s.continuous.minExtent[i], s.continuous.coreExtent[i] = 0, float32(math.Inf(1)), 0
}

// solveContinuous moves fast bodies back to where they met an obstacle in this step.
func (s *solver) solveContinuous() {
	w := &s.continuous
	if !w.enabled || s.isIdle() {
		return
	}
	fast, sensors := s.findFast()
	bullets := s.sleep.AnyFlag(s.cols.Flags, FlagBullet)
	if !fast && !bullets && !sensors {
		return
	}
	s.prepareContinuous()
	s.stages.ForWorkers(sweepChunks(w.fast), (*solver).sweepFast)
	if bullets && s.findBullets() {
		w.dynamic.begin(s)
		for shape, body := range s.shapes.filters.Body {
			if !s.shapes.sensor[shape] && s.isDriver(body) && s.cols.Flags[body]&FlagBullet == 0 {
				w.dynamic.add(s, shape)
			}
		}
		w.dynamic.build(s)
		s.stages.ForWorkers(sweepChunks(w.bullets), (*solver).sweepBullets)
	}
	if sensors {
		s.findPassedSensors()
	}
	s.stages.End("continuous")
}

// isDriver reports whether a body is dynamic and simulated: contacts move it, and obstacles stop it.
func (s *solver) isDriver(body uint32) bool {
	return s.cols.Type[body] == DynamicBody && s.sleep.Awake(int(body))
}

// findFast lists the fast bodies, and the bodies that may pass sensors, in ascending order. It reports whether there are any.
func (s *solver) findFast() (fast, visitors bool) {
	w, z := &s.continuous, &s.sensorSweep
	z.found = z.found[:0]
	s.listRows(&w.fast, (*solver).findFastRows)
	if z.visitors = z.visitors[:0]; s.shapes.sensors > 0 {
		s.listRows(&z.visitors, (*solver).findVisitorRows)
	}
	return len(w.fast) > 0, len(z.visitors) > 0
}

// listRows makes a list of bodies of parts for each span, which find writes to the list from the first row of the span on, and counts in fastCounts.
func (s *solver) listRows(list *[]uint32, find func(s *solver, at, lo, hi int)) {
	w, n := &s.continuous, s.rows()
	*list = slices.Grow((*list)[:0], n)[:n]
	w.fastCounts = buffer.Resized(w.fastCounts, len(s.sleep.Spans))
	s.stages.ForNumberedSpans(s.sleep.Spans, find)
	found := 0
	for at, rows := range s.sleep.Spans {
		found += copy((*list)[found:], (*list)[rows.Lo:][:w.fastCounts[at]])
	}
	*list = (*list)[:found]
}

func (s *solver) findFastRows(at, lo, hi int) {
	w, n := &s.continuous, 0
	for i := lo; i < hi; i++ {
		if st := &s.sys.States[i]; st.InvMass > 0 && st.IsFast(w.minExtent[i], w.coreExtent[i]) {
			w.fast[lo+n] = uint32(i)
			n++
		}
	}
	w.fastCounts[at] = n
}

func (s *solver) prepareContinuous() {
	w, t, b := &s.continuous, &s.shapes, &s.sys.Bodies
	c := &w.solver
	c.States, c.Poses, c.V = s.sys.States, s.poses, b.V
	c.Dt, c.SubSteps, c.MaxSpeed = s.dt, s.sys.SubSteps, s.sys.MaxSpeed
	c.Head, c.Next = s.shapeTable.Head, s.shapeTable.Next
	c.Least, c.Core, c.Extent = w.minExtent, w.coreExtent, s.extent
	c.Shapes, c.Hulls, c.Sensors, c.Filters = t.shape, &s.contents.Hulls, t.sensor, t.filters
	c.Filters.SpanMin, c.Filters.SpanMax = nil, nil
	c.PassesThrough = nil
	if s.ignoresPairs() {
		c.PassesThrough = s.pairIgnoredJob
	}
	x, y, z := s.planarAxes()
	w.still = rigid3.Obstacles{Grid: s.broad.Stationary(), X: x, Y: y, Z: z, Intervals: &t.filters}
	w.still.Fit()
	c.Still = &w.still
	c.SetDriven(nil, nil)
	if s.findDrivers() {
		w.driven.begin(s)
		for _, body := range w.drivers {
			for shape := range s.shapeTable.Of(int(body)) {
				if t.filters.Moves[shape] && !t.sensor[shape] {
					w.driven.add(s, shape)
				}
			}
		}
		w.driven.build(s)
		c.SetDriven(&w.driven.obstacles, w.drivers)
	}
	for len(w.memory) < s.stages.Team.Workers() {
		w.memory = append(w.memory, new(rigid3.ImpactMemory))
	}
}

// findDrivers lists the bodies that may move, and that nothing stops: kinematic ones, and others that are active without being awake. It returns false if
// there are none.
func (s *solver) findDrivers() bool {
	w := &s.continuous
	w.drivers = w.drivers[:0]
	if s.anyKinematic() {
		for i, kind := range s.cols.Type[:s.rows()] {
			if kind == KinematicBody {
				w.drivers = append(w.drivers, uint32(i))
			}
		}
	}
	for _, i := range s.sleep.ActiveOnce {
		if s.cols.Type[i] != KinematicBody && !s.isDriver(i) {
			w.drivers = append(w.drivers, i)
		}
	}
	return len(w.drivers) > 0
}

// begin, add for each shape, and build collect shapes with the space that each swept.
func (z *sweptShapes) begin(s *solver) {
	n := len(s.shapes.shape)
	z.members.Reset(n)
	z.boxes.Resize(n)
}

func (z *sweptShapes) add(s *solver, shape int) {
	if s.shapes.shape[shape].Kind != rigid3.KindNone {
		z.members.Add(shape)
		s.continuous.solver.SweptBox(uint32(shape), &z.boxes)
	}
}

func (z *sweptShapes) build(s *solver) {
	x, y, third := s.planarAxes()
	b := &z.boxes
	z.intervals.SpanMin, z.intervals.SpanMax = b.Min[third], b.Max[third]
	z.planar = broad.Boxes{MinX: b.Min[x], MinY: b.Min[y], MaxX: b.Max[x], MaxY: b.Max[y]}
	z.grid.Build(s.level, &z.planar, z.members)
	z.obstacles = rigid3.Obstacles{Grid: &z.grid, X: x, Y: y, Z: third, Intervals: &z.intervals, Moving: true}
	z.obstacles.Fit()
}

func (s *solver) sweepFast(worker, lo, hi int) {
	w := &s.continuous
	for _, i := range sweepRange(w.fast, lo, hi) {
		w.solver.Stop(i, w.memory[worker])
	}
}

// findBullets lists the awake bullets whose motion, together with that of the fastest body that is not a bullet, exceeds half of their least extent. It
// returns false if there are none.
func (s *solver) findBullets() bool {
	w := &s.continuous
	w.bullets = w.bullets[:0]
	swiftest := float32(0)
	for _, rows := range s.sleep.Spans {
		for i := rows.Lo; i < rows.Hi; i++ {
			switch {
			case !s.sleep.Awake(i):
			case s.cols.Flags[i]&FlagBullet != 0 && s.cols.Type[i] == DynamicBody:
				w.bullets = append(w.bullets, uint32(i))
			default:
				if move := s.sys.States[i].MotionBound(s.extent[i]); move > swiftest { // NaN is not
					swiftest = move
				}
			}
		}
	}
	w.bullets = slices.DeleteFunc(w.bullets, func(i uint32) bool {
		return !(swiftest+s.sys.States[i].MotionBound(s.extent[i]) > float32(0.5*w.minExtent[i]))
	})
	return len(w.bullets) > 0
}

func (s *solver) sweepBullets(worker, lo, hi int) {
	w := &s.continuous
	for _, i := range sweepRange(w.bullets, lo, hi) {
		w.solver.StopAmong(i, &w.dynamic.obstacles, w.memory[worker])
	}
}
