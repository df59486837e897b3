package rigid3

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// joinRandomly adds joints of all classes, with numbers of some classes.
func (s *System) joinRandomly(run *paritytest.Run, classes []paritytest.Class) {
	bodies := len(s.States)
	locked := append(slices.Clone(lockedOf[1:]), 1<<Twist|1<<LinearX, 1<<SwingY)
	sparse := run.IntN(2) == 0
	for range 1 + run.IntN(45) {
		js := make([]Joint, 1)
		run.Fill(words(js), classes...)
		j := &js[0]
		j.A, j.B = uint32(run.IntN(bodies)), uint32(run.IntN(bodies))
		if j.A == j.B {
			j.B = (j.A + 1) % uint32(bodies)
		}
		j.Locked, j.Soft = locked[run.IntN(len(locked))], []uint32{0, 0, SoftLinear, SoftAngular, SoftLinear | SoftAngular}[run.IntN(5)]
		if sparse {
			j.Soft = 0
		}
		for _, q := range []*Quat{&j.FrameA, &j.FrameB, &j.Target} {
			if run.IntN(4) > 0 {
				*q = q.Normalize()
			}
		}
		for c := range j.Axes {
			j.Axes[c].Parts = 0
			if run.IntN(3) == 0 {
				j.Axes[c].Parts = uint32(run.IntN(8))
			}
			if a := &j.Axes[c]; a.Lower > a.Upper {
				a.Lower, a.Upper = a.Upper, a.Lower
			}
		}
		if j.Locked == lockedPoint && run.IntN(2) == 0 {
			j.Soft, j.Axes = 0, [NumCoordinates]JointAxis{}
		}
		j.Kept.Known = uint32(run.IntN(2))
		for _, f := range []*float32{&j.Hertz, &j.Damping, &j.Linear.Hertz, &j.Angular.Hertz} {
			if run.IntN(2) == 0 {
				*f = 0
			}
		}
		s.Joints = append(s.Joints, *j)
	}
}

// tidyJoints clears what is unspecified: unused lanes, and what no part uses.
func (s *System) tidyJoints() {
	for i := range s.JointBlocks {
		b := &s.JointBlocks[i]
		fields := words(s.JointBlocks[i : i+1])[unsafe.Offsetof(b.A)/4:]
		for lane := int(b.Joints); lane < Lanes; lane++ {
			for k := lane; k < len(fields); k += Lanes {
				fields[k] = 0
			}
		}
	}
}

func compareJoints(stage string, got, want *System) error {
	got.tidyJoints()
	want.tidyJoints()
	for i := range got.JointBlocks {
		if err := paritytest.Floats(fmt.Sprint(stage, ": block ", i, ", class ", got.JointBlocks[i].Class), words(got.JointBlocks[i:i+1]), words(want.JointBlocks[i:i+1])); err != nil {
			return err
		}
	}
	for i := range got.States {
		if err := paritytest.Floats(fmt.Sprint(stage, ": state ", i), words(got.States[i:i+1]), words(want.States[i:i+1])); err != nil {
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

var jointStages = []struct {
	name   string
	blocks bool
	run    func(s *System, lo, hi int)
}{
	{"PrepareBodies", false, (*System).PrepareBodies},
	{"PrepareJoints", true, (*System).PrepareJoints},
	{"WarmStartJoints", true, (*System).WarmStartJoints},
	{"SolveJoints", true, (*System).SolveJoints},
	{"IntegratePositions", false, (*System).IntegratePositions},
	{"RelaxJoints", true, (*System).RelaxJoints},
	{"SolveJoints again", true, (*System).SolveJoints},
	{"IntegratePositions again", false, (*System).IntegratePositions},
	{"RelaxJoints again", true, (*System).RelaxJoints},
	{"StoreJointImpulses", true, (*System).StoreJointImpulses},
}

// Each stage of joints on each level, split anywhere, against the whole stage in Go.
func TestParityJoints(t *testing.T) {
	run := paritytest.Start(t, "Joints")
	g := &heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}}
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}
	for round := range paritytest.Rounds(90) {
		begin := randomSystem(run, classes[round%3])
		begin.joinRandomly(run, classes[round%3])
		begin.deal(dt)
		for i := range begin.inertia {
			begin.inertia[i] = inertiaRow{}
		}
		for _, level := range native.Levels() {
			run.Case(level)
			g.side, g.gap = paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			want, got := begin.cloned(), begin.cloned()
			for _, s := range []*System{want, got} {
				s.Joints, s.JointBlocks, s.jointParts = slices.Clone(s.Joints), slices.Clone(s.JointBlocks), slices.Clone(s.jointParts)
			}
			got.Joints, got.JointBlocks, got.jointParts = guarded(g, "joints", got.Joints), guarded(g, "joint blocks", got.JointBlocks), guarded(g, "joint parts", got.jointParts)
			got.States, got.inertia, got.Bodies.Poses = guarded(g, "states", got.States), guarded(g, "inertia", got.inertia), guarded(g, "poses", got.Bodies.Poses)
			got.JointColours.Colours = graph.Colours{Edge: guarded(g, "lanes", got.JointColours.Edge)}
			want.Level, got.Level = native.Go, level
			for _, stage := range jointStages {
				n := len(got.States)
				if stage.blocks {
					n = len(got.JointBlocks)
				}
				stage.run(want, 0, n)
				for lo := 0; lo < n; {
					hi := lo + 1 + run.IntN(n-lo)
					stage.run(got, lo, hi)
					lo = hi
				}
				run.Check(compareJoints(stage.name, got, want), g.check())
			}
		}
	}
}

// joints of all kinds between the bodies of a chain that tumbles.
func mixedJoints(level native.Level, bodies int) *jointScene {
	s := newJointScene()
	s.Level = level
	last := s.ground()
	limits := func(lower, upper float32) JointAxis { return JointAxis{Parts: PartLimits, Lower: lower, Upper: upper} }
	for i := range bodies {
		x := float32(i)
		b := s.Add(box(.4, .1, .15), float64(1+i%3), material, Pose{Vec{x + .5, 0, 0}, Identity})
		setVec(&s.Bodies.W, b, Vec{float32(i%5) - 2, float32(i%3) - 1, float32(i % 2)})
		frame := Quat{.1 * float32(i%4), .2, -.1 * float32(i%3), 1}.Normalize()
		j := s.join(last, b, Vec{x, 0, 0}, frame, lockedPoint)
		switch i % 9 {
		case 1:
			j.Axes[Cone], j.Axes[Twist] = limits(0, .5), limits(-.3, .3)
		case 2:
			j.Locked = lockedHinge
			j.Axes[Twist] = JointAxis{Parts: PartLimits | PartMotor, Lower: -.5, Upper: 1, MotorSpeed: 3, MaxMotorForce: 5}
		case 3:
			j.Locked = lockedSlider
			j.Axes[LinearX] = JointAxis{Parts: PartSpring | PartLimits, Hertz: 3, Damping: .2, Lower: -.2, Upper: .2}
		case 4:
			j.Locked, j.Soft = lockedAll, SoftAngular
			j.Angular = Drive{Hertz: 4, Damping: .5, MaxForce: 20}
			j.Target = Quat{.1, 0, 0, 1}
		case 5:
			j.Locked = 0
			j.Axes[Length] = limits(.1, .4)
		case 6:
			j.Locked = 1<<LinearX | 1<<LinearZ | 1<<SwingY | 1<<SwingZ
			j.Axes[LinearY], j.Axes[Twist] = JointAxis{Parts: PartSpring, Hertz: 5, Damping: .7}, JointAxis{Parts: PartMotor, MotorSpeed: 2, MaxMotorForce: 9}
		case 7:
			j.Axes[SwingY], j.Axes[SwingZ] = limits(-.4, .2), limits(-.1, .7)
		case 8:
			j.Locked = lockedAll
		}
		last = b
	}
	return s
}

// Scenes of joints say the same bits after many steps on every level.
func TestParityJointScenes(t *testing.T) {
	levels := native.Levels()
	want, got := mixedJoints(native.Go, 60), []*jointScene{}
	for _, level := range levels {
		got = append(got, mixedJoints(level, 60))
	}
	for step := range 60 {
		want.Step(dt)
		for i, s := range got {
			s.Step(dt)
			if err := compareJoints(fmt.Sprint("step ", step), &s.System, &want.System); err != nil {
				t.Fatalf("level %s: %v", levels[i], err)
			}
		}
	}
	for i := range want.States {
		if v := vecAt(&want.Bodies.V, i); !(v.length() < 100) || math.IsNaN(float64(v.X)) {
			t.Errorf("body %d moves at %v", i, v)
		}
	}
}
