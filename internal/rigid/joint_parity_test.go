package rigid_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// randomJoints adds joints that mean nothing, with numbers of some classes.
func randomJoints(run *paritytest.Run, s *rigid.System, classes []paritytest.Class) {
	n, bodies := run.IntN(120), len(s.States)
	s.Joints = make([]rigid.Joint, n)
	w := words(s.Joints)
	run.Fill(w, classes...)
	for i := range w {
		if run.IntN(8) == 0 {
			w[i] = 0
		}
	}
	few, hub, untuned := run.IntN(2) == 0, run.IntN(4) == 0, run.IntN(3) == 0
	for i := range s.Joints {
		j := &s.Joints[i]
		j.Kind, j.Parts = rigid.JointKind(run.IntN(6)), rigid.JointParts(run.IntN(1024))
		if few && run.IntN(2) == 0 {
			j.Parts = 0
		}
		if untuned {
			j.Parts &^= rigid.PartTuned
		}
		j.A, j.B = uint32(run.IntN(bodies)), uint32(run.IntN(bodies-1))
		if hub {
			j.A = 0
		}
		if j.B >= j.A {
			j.B++
		}
	}
}

// joints adds copies of the joints of a system to a guarded copy of it.
func (g *heapGuard) joints(r, s *rigid.System) {
	r.Joints = structs[rigid.Joint](g.copy("joints", words(s.Joints)))
	r.JointBlocks = structs[rigid.JointBlock](g.copy("joint blocks", words(make([]rigid.JointBlock, len(s.JointBlocks)))))[:0:len(s.JointBlocks)]
	r.JointColours = rigid.JointColours{Colours: graph.Colours{Edge: structs[uint32](g.copy("joint lanes", words(s.JointColours.Edge)))}}
}

// unused makes lanes behind the last joint alike, which mean nothing.
func unused(blocks []rigid.JointBlock) {
	for i := range blocks {
		b := &blocks[i]
		const header = 16
		for at, w := header, words(blocks[i:i+1]); at < len(w); at += rigid.Lanes {
			clear(w[at+int(b.Joints) : at+rigid.Lanes])
		}
	}
}

func compareJoints(stage string, got, want *rigid.System) error {
	if err := compare(stage, got, want); err != nil {
		return err
	}
	for i := range got.JointBlocks {
		g, w := slices.Clone(got.JointBlocks[i:i+1]), slices.Clone(want.JointBlocks[i:i+1])
		unused(g)
		unused(w)
		if err := paritytest.Floats(fmt.Sprint(stage, ": block of joints ", i), words(g), words(w)); err != nil {
			return err
		}
	}
	for i := range got.Joints {
		if err := paritytest.Floats(fmt.Sprint(stage, ": joint ", i), words(got.Joints[i:i+1]), words(want.Joints[i:i+1])); err != nil {
			return err
		}
	}
	return nil
}

// jointStages are the stages of a step of two sub-steps, and whether they work on joints.
var jointStages = []struct {
	name   string
	joints bool
	run    func(s *rigid.System, l native.Level, lo, hi int)
}{
	{"Start", false, (*rigid.System).LoadStates},
	{"PrepareJoints", true, (*rigid.System).PrepareJoints},
	{"IntegrateVelocities", false, func(s *rigid.System, l native.Level, lo, hi int) { s.IntegrateVelocities(l, 0, lo, hi) }},
	{"WarmStartJoints", true, (*rigid.System).WarmStartJoints},
	{"SolveJoints", true, func(s *rigid.System, l native.Level, lo, hi int) { s.SolveJoints(l, true, lo, hi) }},
	{"IntegratePositions", false, (*rigid.System).IntegratePositions},
	{"relax", true, func(s *rigid.System, l native.Level, lo, hi int) { s.SolveJoints(l, false, lo, hi) }},
	{"IntegrateVelocities again", false, func(s *rigid.System, l native.Level, lo, hi int) { s.IntegrateVelocities(l, 1, lo, hi) }},
	{"SolveJoints again", true, func(s *rigid.System, l native.Level, lo, hi int) { s.SolveJoints(l, true, lo, hi) }},
	{"IntegratePositions again", false, (*rigid.System).IntegratePositions},
	{"relax again", true, func(s *rigid.System, l native.Level, lo, hi int) { s.SolveJoints(l, false, lo, hi) }},
	{"StoreJoints", true, (*rigid.System).StoreJointImpulses},
	{"Finish", false, (*rigid.System).StoreStates},
}

// Each stage on each level, split anywhere, against the whole stage in Go.
func TestParityJointStages(t *testing.T) {
	run := paritytest.Start(t, "JointStages")
	g := &heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}}
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}
	for round := range paritytest.Rounds(100) {
		begin := randomSystem(run, classes[round%3])
		begin.Contacts, begin.Manifolds, begin.Hits, begin.Bases, begin.BaseMarks = nil, nil, nil, nil, nil
		randomJoints(run, begin, classes[round%3])
		begin.BuildConstraints(dt)
		for _, level := range native.Levels() {
			run.Case(level)
			g.side, g.gap = paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			want, got := cloned(begin), g.system(begin)
			want.Joints, want.JointBlocks, want.JointColours = slices.Clone(begin.Joints), nil, rigid.JointColours{}
			g.joints(got, begin)
			want.BuildConstraints(dt)
			got.BuildConstraints(dt)
			for _, stage := range jointStages {
				n := len(got.States)
				if stage.joints {
					n = len(got.JointBlocks)
				}
				stage.run(want, native.Go, 0, n)
				for lo := 0; lo < n; {
					hi := lo + 1 + run.IntN(n-lo)
					stage.run(got, level, lo, hi)
					lo = hi
				}
				run.Check(compareJoints(stage.name, got, want), g.check(),
					paritytest.Bits("lanes", got.JointColours.Edge, want.JointColours.Edge))
			}
		}
	}
}

// workshop has joints of every kind with parts of all kinds, and contacts.
func workshop() *heap {
	s := heapPyramid(8)
	s.pairs = nil
	for i := 1; i < 30; i++ {
		j := s.tie(rigid.JointKind(1+i%5), i, i+1+i%4, s.Poses.X[i], s.Poses.Y[i]+1)
		j.Parts = rigid.JointParts(i * 35 % 1024)
		j.Linear = rigid.JointAxis{Target: 0.3, Hertz: float32(i % 3), Damping: 0.5, MaxSpringForce: float32(i % 2 * 20),
			MotorSpeed: 1, MaxMotorForce: 10, Lower: -0.5, Upper: 0.5}
		j.Angular = rigid.JointAxis{Target: 0.1, Hertz: float32(i % 4), Damping: 0.5, MotorSpeed: -1, MaxMotorForce: 1, Lower: -0.5, Upper: 1}
	}
	s.near(1)
	return s
}

// Scenes say the same bits after many steps on every level, as Step has its own way.
func TestParityWorkshop(t *testing.T) {
	for _, level := range native.Levels() {
		want, got := workshop(), workshop()
		for step := range 60 {
			want.advance(native.Go)
			got.advance(level)
			if err := compareJoints(fmt.Sprint("step ", step), &got.System, &want.System); err != nil {
				t.Fatalf("level %s: %v", level, err)
			}
		}
	}
}
