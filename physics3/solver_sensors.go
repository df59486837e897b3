package physics3

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/rigid3"
)

// sensorSweep is the memory of the search for sensors that fast bodies pass within a step.
type sensorSweep struct {
	visitors []uint32 // fast bodies that may pass sensors, ascending
	sensors  sweptShapes
	passed   []broad.Pairs    // by chunk of visitors
	found    []rigid3.Contact // of pairs that pass each other
	touches  []rigid3.SurfaceTouch
	hits     []rigid3.Hit
}

// findVisitorRows finds the bodies of which a point moves by more than half of their least extent: also kinematic ones, which nothing stops. A corner that
// turns fast passes a sensor, although the body is not fast enough to pass an obstacle.
func (s *solver) findVisitorRows(at, lo, hi int) {
	w, visitors, n := &s.continuous, s.sensorSweep.visitors, 0
	for i := lo; i < hi; i++ {
		st := &s.sys.States[i]
		moves := st.InvMass > 0 || s.cols.Type[i] == KinematicBody && s.sleep.Awake(i)
		if moves && st.IsFast(w.minExtent[i], s.extent[i]) {
			visitors[lo+n] = uint32(i)
			n++
		}
	}
	w.fastCounts[at] = n
}

// findPassedSensors finds the sensors that fast bodies have entered and left within this step.
func (s *solver) findPassedSensors() {
	z := &s.sensorSweep
	z.sensors.begin(s)
	for shape, is := range s.shapes.sensor {
		if is {
			z.sensors.add(s, shape)
		}
	}
	z.sensors.build(s)
	chunks := sweepChunks(z.visitors)
	for len(z.passed) < chunks {
		z.passed = append(z.passed, broad.Pairs{})
	}
	for i := range z.passed {
		z.passed[i].Reset()
	}
	s.stages.ForWorkers(chunks, (*solver).sweepVisitors)
	s.collectPassedSensors()
}

func (s *solver) sweepVisitors(worker, lo, hi int) {
	w, z := &s.continuous, &s.sensorSweep
	for chunk := lo; chunk < hi; chunk++ {
		for _, body := range sweepRange(z.visitors, chunk, chunk+1) {
			w.solver.PassedSensors(body, &z.sensors.obstacles, w.memory[worker], &z.passed[chunk])
		}
	}
}

// collectPassedSensors makes contacts of the pairs that were found, in the order of the contacts, without those that overlapped when the step began.
func (s *solver) collectPassedSensors() {
	z, t := &s.sensorSweep, &s.shapes
	for i := range z.passed {
		for k, a := range z.passed[i].A {
			b := z.passed[i].B[k]
			flags, old := s.sensorFlags(a, b), s.contacts[:s.convex]
			if t.surface[a] != nil || t.surface[b] != nil {
				flags, old = flags|rigid3.FlagSurface, s.contacts[s.convex:]
			}
			if at := rigid3.LowerBound(old, a, b); at < len(old) && old[at].A == a && old[at].B == b && old[at].Count > 0 {
				continue
			}
			z.found = append(z.found, rigid3.Contact{A: a, B: b, Count: 1, Flags: flags})
		}
	}
	slices.SortFunc(z.found, func(x, y rigid3.Contact) int {
		return cmp.Or(cmp.Compare(x.Flags&rigid3.FlagSurface, y.Flags&rigid3.FlagSurface), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	z.found = slices.CompactFunc(z.found, func(x, y rigid3.Contact) bool { return sameShapes(&x, &y) })
}

// reportPassedSensors reports the overlaps that were found. It adds their contacts, as if the shapes still overlapped; the next step finds that they do
// not, and ends the contacts. From then on the manifolds of this step no longer belong to its contacts.
func (s *solver) reportPassedSensors() {
	z := &s.sensorSweep
	if len(z.found) == 0 {
		return
	}
	n := 0
	for n < len(z.found) && z.found[n].Flags&rigid3.FlagSurface == 0 {
		n++
	}
	s.next, s.nextBases, z.touches, z.hits = s.next[:0], s.nextBases[:0], z.touches[:0], z.hits[:0]
	s.mergePassed(0, s.convex, z.found[:n])
	convex := len(s.next)
	s.mergePassed(s.convex, len(s.contacts), z.found[n:])
	s.contacts, s.next, s.bases, s.nextBases = s.next, s.contacts, s.nextBases, s.bases
	s.touches, z.touches, s.sys.Hits, z.hits = z.touches, s.touches, z.hits, s.sys.Hits
	s.convex, s.pairsKnown = convex, false
	for i := range z.found {
		c := &z.found[i]
		s.events.begin(s.lastGenerations, c.A, c.B, c.Flags)
	}
	s.events.sortTouches(len(s.events.Begin), len(s.events.End), 0, len(s.events.SensorEnd))
	z.found = z.found[:0]
}

// mergePassed appends contacts [lo, hi) of this step and those of sensors that were passed, which take the place of contacts of the same shapes.
func (s *solver) mergePassed(lo, hi int, passed []rigid3.Contact) {
	z := &s.sensorSweep
	add := func(c *rigid3.Contact, base rigid3.BaseManifold, touch rigid3.SurfaceTouch, hit rigid3.Hit) {
		s.next, s.nextBases, z.hits = append(s.next, *c), append(s.nextBases, base), append(z.hits, hit)
		if c.Flags&rigid3.FlagSurface != 0 {
			z.touches = append(z.touches, touch)
		}
	}
	for i := lo; i < hi; i++ {
		c := &s.contacts[i]
		for len(passed) > 0 && contactLess(&passed[0], c) {
			add(&passed[0], rigid3.BaseManifold{}, rigid3.SurfaceTouch{}, rigid3.Hit{})
			passed = passed[1:]
		}
		if len(passed) > 0 && sameShapes(&passed[0], c) {
			add(&passed[0], rigid3.BaseManifold{}, rigid3.SurfaceTouch{}, rigid3.Hit{})
			passed = passed[1:]
			continue
		}
		var touch rigid3.SurfaceTouch
		if i >= s.convex {
			touch = s.touches[i-s.convex]
		}
		add(c, s.bases[i], touch, s.sys.Hits[i])
	}
	for k := range passed {
		add(&passed[k], rigid3.BaseManifold{}, rigid3.SurfaceTouch{}, rigid3.Hit{})
	}
}
