package rigid3

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/native"
)

// pyramidOf is a pyramid of boxes of 1 m, in its rows.
func pyramidOf(base int) *scene {
	s := newScene()
	s.floor(Material{Friction: .6})
	for row := range base {
		for k := range base - row {
			s.Add(box(.5, .5, .5), 1, material, *at(float32(k)+.5*float32(row)-.5*float32(base), .5+float32(row), 0))
		}
	}
	return s
}

// BenchmarkSolver times the stages over the contacts of a pyramid of 5,050 boxes that settles: 14,950 contacts of four points.
func BenchmarkSolver(b *testing.B) {
	s := pyramidOf(100)
	for range 3 {
		s.step()
	}
	s.collide()
	for _, level := range native.Levels() {
		b.Run(fmt.Sprintf("level=%s", level), func(b *testing.B) { s.bench(b, level) })
	}
}

func (s *scene) bench(b *testing.B, level native.Level) {
	s.Level = level
	poses, impulses := slices.Clone(s.Bodies.Poses), slices.Clone(s.Contacts)
	var saved [][]float32
	for _, c := range s.Bodies.columns() {
		saved = append(saved, slices.Clone(*c))
	}
	restore := func() {
		for i, c := range s.Bodies.columns() {
			copy(*c, saved[i])
		}
		copy(s.Contacts, impulses)
		copy(s.Bodies.Poses, poses)
	}
	s.deal(dt)
	bodies, blocks, contacts := len(s.States), len(s.Blocks), float64(len(s.Contacts))
	for _, stage := range []struct {
		name string
		per  float64
		f    func()
	}{
		{"all", contacts, func() { restore(); s.Step(dt) }},
		{"iteration", contacts, func() { s.SolveContacts(0, blocks); s.RelaxContacts(0, blocks) }},
		{"solve", contacts, func() { s.SolveContacts(0, blocks) }},
		{"relax", contacts, func() { s.RelaxContacts(0, blocks) }},
		{"warm", contacts, func() { s.WarmStart(0, blocks) }},
		{"prepare", contacts, func() { s.PrepareContacts(0, blocks) }},
		{"store", contacts, func() { s.StoreImpulses(0, blocks) }},
		{"deal", contacts, func() { s.deal(dt) }},
		{"bodies", float64(bodies), func() { s.PrepareBodies(0, bodies) }},
		{"velocities", float64(bodies), func() { s.IntegrateVelocities(1, 0, bodies) }},
		{"positions", float64(bodies), func() { s.IntegratePositions(0, bodies) }},
		{"finalize", float64(bodies), func() { s.FinalizeBodies(0, bodies) }},
	} {
		restore()
		s.deal(dt)
		s.PrepareBodies(0, bodies)
		s.PrepareContacts(0, blocks)
		b.Run("stage="+stage.name, func(b *testing.B) {
			for b.Loop() {
				stage.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/stage.per, "ns/each")
		})
	}
	restore()
}
