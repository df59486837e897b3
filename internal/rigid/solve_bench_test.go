package rigid_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// BenchmarkSolver times the stages over the contacts of a settling heap: a pyramid of 5,050
// boxes, and an arena of 16,384 discs and boxes.
func BenchmarkSolver(b *testing.B) {
	for _, c := range []struct {
		name string
		heap func() *heap
	}{{"pyramid", func() *heap { return heapPyramid(100) }}, {"arena", heapArena}} {
		s := c.heap()
		for range 3 {
			s.advance(native.Auto)
		}
		s.collide()
		s.BuildConstraints(dt)
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("heap=%s/level=%s", c.name, level), func(b *testing.B) { s.bench(b, level) })
		}
	}
}

func (s *heap) bench(b *testing.B, level native.Level) {
	bodies, blocks := len(s.States), len(s.Blocks)
	contacts := float64(len(s.Contacts))
	columns := s.columns()
	var saved [][]float32
	for _, c := range columns {
		saved = append(saved, slices.Clone(*c))
	}
	impulses := slices.Clone(s.Contacts)
	restore := func() {
		for i, c := range columns {
			copy(*c, saved[i])
		}
		copy(s.Contacts, impulses)
	}
	step := func() {
		restore()
		s.LoadStates(level, 0, bodies)
		s.PrepareContacts(level, 0, blocks)
		for sub := range 4 {
			s.IntegrateVelocities(level, sub, 0, bodies)
			if sub == 0 {
				s.WarmStartContacts(level, 0, blocks)
			}
			s.SolveContacts(level, true, 0, blocks)
			s.IntegratePositions(level, 0, bodies)
			s.SolveContacts(level, false, 0, blocks)
		}
		s.ApplyRestitution(level, 0, blocks)
		s.StoreContactImpulses(level, 0, blocks)
		s.StoreStates(level, 0, bodies)
	}
	for _, stage := range []struct {
		name string
		per  float64
		f    func()
	}{
		{"all", contacts, step},
		{"solve", contacts, func() { s.SolveContacts(level, true, 0, blocks) }},
		{"relax", contacts, func() { s.SolveContacts(level, false, 0, blocks) }},
		{"warm", contacts, func() { s.WarmStartContacts(level, 0, blocks) }},
		{"prepare", contacts, func() { s.PrepareContacts(level, 0, blocks) }},
		{"store", contacts, func() { s.StoreContactImpulses(level, 0, blocks) }},
		{"velocities", float64(bodies), func() { s.IntegrateVelocities(level, 1, 0, bodies) }},
		{"positions", float64(bodies), func() { s.IntegratePositions(level, 0, bodies) }},
		{"finish", float64(bodies), func() { s.StoreStates(level, 0, bodies) }},
		{"start", float64(bodies), func() { s.LoadStates(level, 0, bodies) }},
	} {
		restore()
		s.LoadStates(level, 0, bodies)
		s.PrepareContacts(level, 0, blocks)
		b.Run("stage="+stage.name, func(b *testing.B) {
			for b.Loop() {
				stage.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/stage.per, "ns/each")
		})
	}
	restore()
}

// heapArena has discs and boxes in rows, most of them near a neighbour, without gravity.
func heapArena() *heap {
	s := newHeap()
	s.Gravity = rigid.Vec{}
	for i := range 16384 {
		x, y := float32(i%128)*1.02, float32(i/128)*1.25
		if i%3 == 0 {
			x += 0.05
		}
		if i%2 == 0 {
			s.disc(0.5, x, y, 1)
		} else {
			s.box(0.5, 0.5, x, y, 1)
		}
		s.Bodies.VX[i], s.Bodies.VY[i] = float32(i%7)-3, float32(i%5)-2
		s.Bodies.LinearDamping[i] = 0.5
	}
	s.margin = 0.03
	s.pairs = [][2]uint32{}
	for i := range 16383 {
		if i%128 != 127 {
			s.pairs = append(s.pairs, [2]uint32{uint32(i), uint32(i + 1)})
		}
	}
	return s
}
