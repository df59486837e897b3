package rigid3

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/native"
)

// jointGrid is a net of n·n balls that spherical joints hold together, with a corner fixed: 2·n·(n-1) joints.
func jointGrid(n int) *jointScene {
	s := newJointScene()
	for k := range n * n {
		mass := 1.
		if k == 0 {
			mass = 0
		}
		b := s.Add(ball(.4), mass, material, *at(float32(k%n), -float32(k/n), 0))
		place := s.Bodies.Poses[b].P
		if k%n > 0 {
			s.join(b-1, b, place.Add(Vec{-.5, 0, 0}), Identity, lockedPoint)
		}
		if k >= n {
			s.join(b-n, b, place.Add(Vec{0, .5, 0}), Identity, lockedPoint)
		}
	}
	s.JointsVersion = 1
	return s
}

// ragdolls are figures of fourteen bodies: five hinges, and eight spherical joints with limits of cone and twist.
func ragdolls(count int) *jointScene {
	s := newJointScene()
	for k := range count {
		first, x := 0, float32(3*k)
		for i := range 14 {
			b := s.Add(box(.1, .25, .12), 1+float64(i%3), material, Pose{Vec{x + .3*float32(i%4), -.5 * float32(i/4), .1 * float32(i%2)}, Quat{.1, float32(i), .2, 3}.Normalize()})
			setVec(&s.Bodies.V, b, Vec{float32(i%5) - 2, float32(i%4) - 1, float32(i%3) - 1})
			if i == 0 {
				first = b
				continue
			}
			parent := first + (i-1)/2
			pa, pb := s.Bodies.Poses[parent].P, s.Bodies.Poses[b].P
			j := s.join(parent, b, pa.Add(pb).Times(.5), Quat{.1, .2, float32(i % 3), 1}.Normalize(), lockedPoint)
			if i%3 == 0 {
				j.Locked = lockedHinge
				j.Axes[Twist] = JointAxis{Parts: PartLimits, Lower: -.2, Upper: 1.5}
				continue
			}
			j.Axes[Cone] = JointAxis{Parts: PartLimits, Upper: .6}
			j.Axes[Twist] = JointAxis{Parts: PartLimits, Lower: -.4, Upper: .4}
		}
	}
	s.JointsVersion = 1
	return s
}

// BenchmarkJoints times whole steps of joined bodies without contacts, and the stages of their joints.
func BenchmarkJoints(b *testing.B) {
	for _, scene := range []struct {
		name string
		make func() *jointScene
	}{{"grid", func() *jointScene { return jointGrid(100) }}, {"ragdolls", func() *jointScene { return ragdolls(300) }}} {
		s := scene.make()
		for range 30 {
			s.Step(dt)
		}
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("scene=%s,level=%s", scene.name, level), func(b *testing.B) { s.bench(b, level) })
		}
	}
}

func (s *jointScene) bench(b *testing.B, level native.Level) {
	s.Level = level
	poses, joints := slices.Clone(s.Bodies.Poses), slices.Clone(s.Joints)
	var saved [][]float32
	for _, c := range s.Bodies.columns() {
		saved = append(saved, slices.Clone(*c))
	}
	restore := func() {
		for i, c := range s.Bodies.columns() {
			copy(*c, saved[i])
		}
		copy(s.Bodies.Poses, poses)
		copy(s.Joints, joints)
	}
	s.deal(dt)
	blocks := len(s.JointBlocks)
	for _, stage := range []struct {
		name string
		f    func()
	}{
		{"all", func() { s.Step(dt) }},
		{"solve", func() { s.SolveJoints(0, blocks) }},
		{"relax", func() { s.RelaxJoints(0, blocks) }},
		{"warm", func() { s.WarmStartJoints(0, blocks) }},
		{"prepare", func() { s.PrepareJoints(0, blocks) }},
		{"store", func() { s.StoreJointImpulses(0, blocks) }},
		{"bodies", func() { s.IntegrateVelocities(1, 0, len(s.States)); s.IntegratePositions(0, len(s.States)) }},
	} {
		restore()
		s.deal(dt)
		s.PrepareBodies(0, len(s.States))
		s.PrepareJoints(0, blocks)
		b.Run("stage="+stage.name, func(b *testing.B) {
			for b.Loop() {
				stage.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.Joints)), "ns/joint")
		})
	}
	restore()
}
