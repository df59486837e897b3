package rigid_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/native"
)

// BenchmarkJoints times the stages over a grid of 10,000 discs and 19,800 pins.
func BenchmarkJoints(b *testing.B) {
	s := jointGrid(100, 100)
	s.JointsVersion = 1
	for range 3 {
		s.advance(native.Auto)
	}
	s.BuildConstraints(dt)
	for _, level := range native.Levels() {
		b.Run(fmt.Sprintf("level=%s", level), func(b *testing.B) { s.benchJoints(b, level) })
	}
}

func (s *heap) benchJoints(b *testing.B, level native.Level) {
	bodies, blocks, joints := len(s.States), len(s.JointBlocks), float64(len(s.Joints))
	columns := s.columns()
	var saved [][]float32
	for _, c := range columns {
		saved = append(saved, slices.Clone(*c))
	}
	impulses := slices.Clone(s.Joints)
	restore := func() {
		for i, c := range columns {
			copy(*c, saved[i])
		}
		copy(s.Joints, impulses)
	}
	for _, stage := range []struct {
		name string
		f    func()
	}{
		{"all", func() { restore(); s.Step(level, dt) }},
		{"solve", func() { s.SolveJoints(level, true, 0, blocks) }},
		{"relax", func() { s.SolveJoints(level, false, 0, blocks) }},
		{"warm", func() { s.WarmStartJoints(level, 0, blocks) }},
		{"prepare", func() { s.PrepareJoints(level, 0, blocks) }},
		{"store", func() { s.StoreJointImpulses(level, 0, blocks) }},
		{"deal", func() { s.JointColours.Assign(s.Joints, s.Bodies.InvMass) }},
	} {
		restore()
		s.LoadStates(level, 0, bodies)
		s.PrepareJoints(level, 0, blocks)
		s.WarmStartJoints(level, 0, blocks)
		b.Run("stage="+stage.name, func(b *testing.B) {
			for b.Loop() {
				stage.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/joints, "ns/each")
		})
	}
	restore()
}
