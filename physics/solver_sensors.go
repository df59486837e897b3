package physics

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/rigid"
)

// sensorSweep is the memory of the search for sensors that fast bodies pass within a step.
type sensorSweep struct {
	sensors bitset.Set // shapes
	boxes   broad.Boxes
	grid    broad.Grid
	passed  []broad.Pairs // by chunk of fast bodies
	found   []rigid.Contact
}

// reportPassedSensors reports the sensors that fast bodies have entered and left within this step. It adds their
// contacts, as if the shapes still overlapped; the next step finds that they do not, and ends the contacts.
func (s *solver) reportPassedSensors() {
	w, z := &s.continuous, &s.sensorSweep
	if s.shapes.sensors == 0 || !w.enabled || len(w.fast) == 0 {
		return
	}
	s.buildSensorGrid()
	chunks := (len(w.fast) + sweepChunk - 1) / sweepChunk
	for len(z.passed) < chunks {
		z.passed = append(z.passed, broad.Pairs{})
	}
	for i := range z.passed {
		z.passed[i].A, z.passed[i].B = z.passed[i].A[:0], z.passed[i].B[:0]
	}
	s.stages.For(0, len(w.fast), sweepChunk, (*solver).findPassedSensors)
	s.collectPassedSensors()
	if len(z.found) == 0 {
		return
	}
	s.addContacts(z.found)
	for i := range z.found {
		c := &z.found[i]
		s.events.begin(s.lastGenerations, c.A, c.B, c.Flags)
	}
	slices.SortFunc(s.events.SensorBegin, func(x, y Sensed) int {
		return cmp.Or(
			cmp.Compare(min(x.Sensor.index, x.Visitor.index), min(y.Sensor.index, y.Visitor.index)),
			cmp.Compare(max(x.Sensor.index, x.Visitor.index), max(y.Sensor.index, y.Visitor.index)))
	})
}

// buildSensorGrid collects the sensors, with the area that they swept in this step.
func (s *solver) buildSensorGrid() {
	w, z, t := &s.continuous, &s.sensorSweep, &s.shapes
	n := len(t.shape)
	for _, b := range [...]*[]float32{&z.boxes.MinX, &z.boxes.MinY, &z.boxes.MaxX, &z.boxes.MaxY} {
		*b = slices.Grow((*b)[:0], n)[:n]
	}
	z.sensors.Reset(n)
	for i, sensor := range t.sensor {
		if sensor && t.shape[i].Count > 0 {
			z.sensors.Add(i)
			s.computeBounds(&z.boxes, i, i+1)
			w.solver.SweepBoxes(&s.boxes, &z.boxes, i, i+1)
		}
	}
	z.grid.Build(s.level, &z.boxes, z.sensors)
}

func (s *solver) findPassedSensors(lo, hi int) {
	w, z := &s.continuous, &s.sensorSweep
	w.solver.PassedSensors(&z.grid, w.fast[lo:hi], &z.passed[lo/sweepChunk])
}

// collectPassedSensors makes contacts of the pairs that were found, ascending, without those that overlapped when the
// step began, and those that ignore each other.
func (s *solver) collectPassedSensors() {
	z, of := &s.sensorSweep, s.shapes.filters.Body
	z.found = z.found[:0]
	for i := range z.passed {
		for k, a := range z.passed[i].A {
			b := z.passed[i].B[k]
			if c := s.contactOf(a, b); c != nil && c.Count > 0 || s.pairIgnored(a, b) ||
				s.joints.noCollide > 0 && s.jointPreventsCollision(of[a], of[b]) {
				continue
			}
			z.found = append(z.found, rigid.Contact{A: a, B: b, Count: 1, Flags: s.sensorFlags(a, b)})
		}
	}
	slices.SortFunc(z.found, compareContacts)
}

func compareContacts(a, b rigid.Contact) int {
	return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
}

// addContacts adds ascending contacts to those of this step, in place of those of the same shapes. From then on the
// manifolds of the step no longer belong to its contacts.
func (s *solver) addContacts(more []rigid.Contact) {
	next, bases := s.next[:0], s.nextBases[:0]
	for i := range s.contacts {
		c := &s.contacts[i]
		for len(more) > 0 && contactLess(&more[0], c) {
			next, bases, more = append(next, more[0]), append(bases, rigid.BaseManifold{}), more[1:]
		}
		if len(more) > 0 && !contactLess(c, &more[0]) {
			c, more = &more[0], more[1:]
		}
		next, bases = append(next, *c), append(bases, s.bases[i])
	}
	for _, c := range more {
		next, bases = append(next, c), append(bases, rigid.BaseManifold{})
	}
	s.contacts, s.next, s.pairsKnown = next, s.contacts, false
	s.bases, s.nextBases = bases, s.bases
}
