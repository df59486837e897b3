package rigid_test

import (
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// run advances a heap on a level and checks that it stays finite.
func (s *heap) run(t *testing.T, steps int) {
	t.Helper()
	for range steps {
		s.advance(native.Auto)
	}
	for _, c := range s.columns() {
		for i, v := range *c {
			if v-v != 0 {
				t.Fatalf("body %d is not finite: %g", i, v)
			}
		}
	}
}

// momentum is the linear momentum, and the angular one about the origin, of dynamic bodies.
func (s *heap) momentum() (x, y, angular float64) {
	b := &s.Bodies
	for i := range s.half {
		if b.InvMass[i] == 0 {
			continue
		}
		m := 1 / float64(b.InvMass[i])
		px, py := m*float64(b.VX[i]), m*float64(b.VY[i])
		x, y = x+px, y+py
		angular += float64(s.Poses.X[i])*py - float64(s.Poses.Y[i])*px + float64(b.W[i])/float64(b.InvInertia[i])
	}
	return x, y, angular
}

func TestMomentumIsConserved(t *testing.T) {
	s := newHeap()
	s.Gravity = rigid.Vec{}
	for i := range 30 {
		x, y := float32(i%6)*1.02, float32(i/6)*1.02
		if i%2 == 0 {
			s.disc(0.5, x, y, 1)
		} else {
			s.turn(s.box(0.4, 0.5, x, y, 2), float32(i)*0.1)
		}
		s.Bodies.VX[i], s.Bodies.VY[i], s.Bodies.W[i] = 3-x, float32(i%5)-2, float32(i%7)-3
		s.Materials.Restitution[i] = float32(i%3) * 0.4
		s.Materials.RollingResistance[i] = float32(i%4) * 0.05
	}
	x, y, angular := s.momentum()
	s.run(t, 300)
	x1, y1, angular1 := s.momentum()
	// 30 bodies of about 1 kg at a few m/s, 1,200 sub-steps: rounding is around 1e-7 each.
	// Friction acts on two bodies at anchors that part during a step: the angular
	// momentum is kept less well.
	if math.Abs(x1-x) > 2e-4 || math.Abs(y1-y) > 2e-4 || math.Abs(angular1-angular) > 0.02*math.Abs(angular) {
		t.Errorf("momentum was %g, %g, %g and is %g, %g, %g", x, y, angular, x1, y1, angular1)
	}
}

func TestDiscComesToRest(t *testing.T) {
	s := newHeap()
	s.box(10, 1, 0, -1, 0)
	disc := s.disc(0.5, 0, 1, 1)
	s.run(t, 240)
	if y := s.Poses.Y[disc]; y < 0.5-rigid.LinearSlop || y > 0.5 {
		t.Errorf("the disc rests at %g", y)
	}
	if v := s.Bodies.VY[disc]; math.Abs(float64(v)) > 1e-4 {
		t.Errorf("the disc moves at %g m/s", v)
	}
}

// A box on a slope holds below the friction angle and slides above it, with the
// acceleration g·(sin a - μ·cos a).
func TestFrictionAngle(t *testing.T) {
	for _, mu := range []float32{0.2, 0.6, 1} {
		for _, part := range []float64{0.98, 1.02, 1.3} {
			angle := math.Atan(float64(mu)) * part
			s := newHeap()
			s.turn(s.box(100, 1, 0, 0, 0), float32(angle))
			up := vec{0, 1}.turned(math.Cos(angle), math.Sin(angle)).times(1.25)
			box := s.box(0.5, 0.25, float32(up.x), float32(up.y), 1)
			s.turn(box, float32(angle))
			s.Materials.Friction[0], s.Materials.Friction[box] = mu, mu
			s.run(t, 60)
			along := math.Hypot(float64(s.Poses.X[box])-up.x, float64(s.Poses.Y[box])-up.y)
			want := 0.5 * 10 * (math.Sin(angle) - float64(mu)*math.Cos(angle))
			if part < 1 && along > 0.01 || part > 1 && math.Abs(along-want) > 0.03*want+0.03 { // 0.03 m/s until the contact has sunk in and bears in full
				t.Errorf("friction %g, %g of its angle: moved by %g, want %g", mu, part, along, max(0, want))
			}
		}
	}
}

// A disc that falls from 2 m with restitution e rises to e² of that.
func TestRestitutionHeight(t *testing.T) {
	for _, e := range []float32{0, 0.5, 0.8, 1} {
		s := newHeap()
		s.box(10, 1, 0, -1, 0)
		disc := s.disc(0.25, 0, 2.25, 1)
		s.Materials.Restitution[disc] = e
		top, bounced := float32(0), false
		for range 120 {
			s.advance(native.Auto)
			bounced = bounced || s.Bodies.VY[disc] >= 0
			if bounced {
				top = max(top, s.Poses.Y[disc]-0.25)
			}
		}
		if want := 2 * e * e; math.Abs(float64(top-want)) > 0.05+0.1*float64(want) {
			t.Errorf("restitution %g: rises to %g, want %g", e, top, want)
		}
	}
}

// A stack stands and comes to rest.
func TestStackOfTen(t *testing.T) {
	s := newHeap()
	s.box(10, 1, 0, -1, 0)
	for i := range 10 {
		s.box(0.5, 0.5, 0, 0.5+float32(i), 1)
	}
	s.run(t, 1200)
	for i := 1; i <= 10; i++ {
		x, y := s.Poses.X[i], s.Poses.Y[i]
		if want := float32(i) - 0.5; math.Abs(float64(x)) > 0.01 || y > want || y < want-0.012*float32(i) {
			t.Errorf("box %d of the stack is at %g, %g", i, x, y)
		}
		if v := s.Bodies.VX[i]*s.Bodies.VX[i] + s.Bodies.VY[i]*s.Bodies.VY[i] + s.Bodies.W[i]*s.Bodies.W[i]; v > 1e-5 {
			t.Errorf("box %d moves at %g, %g, %g", i, s.Bodies.VX[i], s.Bodies.VY[i], s.Bodies.W[i])
		}
	}
}

func TestMassRatios(t *testing.T) {
	for _, ratio := range []float32{10, 100} {
		s := newHeap()
		s.box(10, 1, 0, -1, 0)
		s.box(0.5, 0.5, 0, 0.5, 1)
		s.box(0.5, 0.5, 0, 1.5, ratio)
		s.run(t, 600)
		if y := s.Poses.Y[2]; y < 1.4 || y > 1.51 {
			t.Errorf("ratio %g: the heavy box is at %g", ratio, y)
		}
	}
}

func TestPyramidStands(t *testing.T) {
	s := heapPyramid(20)
	before := append([]float32(nil), s.Poses.Y...)
	s.run(t, 300)
	for i, y := range s.Poses.Y {
		if d := before[i] - y; d > 0.15 || d < -0.01 {
			t.Fatalf("box %d sank by %g", i, d)
		}
	}
}

// What is on a belt goes with it; what rolls against resistance stops.
func TestSurfaces(t *testing.T) {
	s := newHeap()
	s.box(100, 1, 0, -1, 0)
	s.Materials.TangentSpeed[0] = 2
	box := s.box(0.5, 0.5, 0, 0.5, 1)
	s.run(t, 120)
	if v := s.Bodies.VX[box]; math.Abs(float64(v-2)) > 0.01 {
		t.Errorf("on a belt at 2 m/s a box moves at %g", v)
	}

	s = newHeap()
	s.box(100, 1, 0, -1, 0)
	disc := s.disc(0.5, 0, 0.5, 1)
	free := s.disc(0.5, 20, 0.5, 1)
	s.Materials.RollingResistance[disc] = 0.05
	for _, i := range []int{disc, free} {
		s.Bodies.VX[i], s.Bodies.W[i] = 1, -2
	}
	s.run(t, 60)
	// The resistance takes 0.05·g/(1.5·r) of the speed each second: 0.67 m/s.
	if v := s.Bodies.VX[disc]; v < 0.25 || v > 0.4 {
		t.Errorf("after a second against resistance: %g m/s", v)
	}
	if v := s.Bodies.VX[free]; v < 0.99 {
		t.Errorf("without resistance a disc slows to %g m/s", v)
	}
	s.run(t, 120)
	if v := s.Bodies.VX[disc]; math.Abs(float64(v)) > 1e-3 {
		t.Errorf("against resistance a disc rolls on at %g m/s", v)
	}
}

// Bodies that are not dynamic keep every bit, or their velocity.
func TestNotDynamic(t *testing.T) {
	s := newHeap()
	floor := s.box(10, 1, float32(math.Copysign(0, -1)), -1, 0)
	s.Poses.Cos[floor], s.Poses.Sin[floor] = 0.99999994, 1e-9 // would change if it were normalised
	kinematic := s.box(1, 0.5, 0, 1.5, 0)
	s.Bodies.VX[kinematic], s.Bodies.W[kinematic] = 0.5, 0.25
	s.box(0.5, 0.5, 0, 2.5, 1)
	s.run(t, 60)
	if x := s.Poses.X[floor]; x != 0 || !math.Signbit(float64(x)) || s.Poses.Y[floor] != -1 ||
		s.Poses.Cos[floor] != 0.99999994 || s.Poses.Sin[floor] != 1e-9 || s.Angle[floor] != 0 {
		t.Error("the floor moved")
	}
	if x, a := s.Poses.X[kinematic], s.Angle[kinematic]; math.Abs(float64(x-0.5)) > 1e-5 || math.Abs(float64(a-0.25)) > 1e-5 {
		t.Errorf("the kinematic body is at %g, turned by %g", x, a)
	}
}

// Warm starting of the bodies is what warm starting of the blocks would be.
func TestWarmStartOfLaterSubSteps(t *testing.T) {
	s := heapPyramid(6)
	for range 10 {
		s.advance(native.Auto)
	}
	s.collide()
	byBlocks := *s
	byBlocks.States = append([]rigid.State(nil), s.States...)
	byBlocks.Contacts = append([]rigid.Contact(nil), s.Contacts...)
	byBlocks.Hits = append([]rigid.Hit(nil), s.Hits...)
	byBlocks.Colours, byBlocks.Blocks = graph.Colours{}, nil
	for _, c := range byBlocks.columns() {
		*c = append([]float32(nil), *c...)
	}
	s.Step(native.Go, dt)
	n := len(s.States)
	r := &byBlocks
	r.BuildConstraints(dt)
	r.LoadStates(native.Go, 0, n)
	r.PrepareContacts(native.Go, 0, len(r.Blocks))
	for range 4 {
		r.IntegrateVelocities(native.Go, 0, 0, n)
		r.WarmStartContacts(native.Go, 0, len(r.Blocks))
		r.SolveContacts(native.Go, true, 0, len(r.Blocks))
		r.IntegratePositions(native.Go, 0, n)
		r.SolveContacts(native.Go, false, 0, len(r.Blocks))
	}
	r.ApplyRestitution(native.Go, 0, len(r.Blocks))
	r.StoreStates(native.Go, 0, n)
	for i := range n {
		if d := math.Hypot(float64(s.Bodies.VX[i]-r.Bodies.VX[i]), float64(s.Bodies.VY[i]-r.Bodies.VY[i])); d > 1e-4 {
			t.Fatalf("body %d: velocities differ by %g", i, d)
		}
	}
}

// A body that is not finite pushes no other.
func TestNaNStaysAlone(t *testing.T) {
	for _, bad := range []float32{nan32, inf32} {
		s := heapPyramid(4)
		for range 30 {
			s.advance(native.Auto)
		}
		s.collide()
		s.Bodies.VX[5], s.Bodies.W[5] = bad, bad
		for range 3 {
			s.Step(native.Auto, dt)
		}
		for i, x := range s.Poses.X {
			if y := s.Poses.Y[i]; i != 5 && (x-x != 0 || y-y != 0 || s.Angle[i] != s.Angle[i]) {
				t.Errorf("%g: body %d is at %g, %g", bad, i, x, y)
			}
		}
		if x := s.Poses.X[5]; x-x == 0 {
			t.Errorf("%g: the bad body is at %g", bad, x)
		}
	}
}

// Anything finite within the ranges stays finite.
func TestStaysFinite(t *testing.T) {
	s := newHeap()
	s.Gravity = rigid.Vec{X: 1e4, Y: -1e4}
	extremes := []float32{0, 1e-30, 1, 1e4, -1e4}
	for i := range 60 {
		d := s.box(0.5, 0.5, float32(i%8)*0.1, float32(i/8)*0.1, []float32{0, 1e-4, 1, 1e6}[i%4])
		s.Bodies.VX[d], s.Bodies.VY[d], s.Bodies.W[d] = extremes[i%5], extremes[i/2%5], extremes[i/3%5]
		s.Bodies.ForceX[d], s.Bodies.Torque[d] = extremes[i/4%5], extremes[i/5%5]
		s.Bodies.LinearDamping[d], s.Bodies.AngularDamping[d] = float32(i%3)*1e4, float32(i%2)*1e4
		s.Materials.Restitution[d], s.Materials.Friction[d] = float32(i%2), float32(i%6)*1e3
	}
	s.run(t, 60)
}

func TestHits(t *testing.T) {
	s := newHeap()
	s.box(10, 1, 0, -1, 0)
	disc := s.disc(0.5, 0, 0.51, 1)
	s.disc(0.5, 5, 0.515, 1) // near, and does not touch
	s.Gravity = rigid.Vec{}
	s.Bodies.VY[disc] = -3
	s.advance(native.Auto)
	mass := 1 / s.Bodies.InvMass[disc]
	if h := s.Hits[0]; h.Speed != 3 || math.Abs(float64(h.Impulse/(3*mass)-1)) > 0.2 {
		t.Errorf("hit %+v, want a speed of 3 and an impulse near %g", h, 3*mass)
	}
	if h := s.Hits[1]; h != (rigid.Hit{}) {
		t.Errorf("hit %+v without a touch", h)
	}
}

func TestParamsValidate(t *testing.T) {
	if err := (&rigid.Params{}).Validate(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		p    rigid.Params
		want error
	}{
		{rigid.Params{Gravity: rigid.Vec{X: nan32}}, fault.ErrNotFinite}, {rigid.Params{SubSteps: -1}, fault.ErrRange},
		{rigid.Params{SubSteps: 65}, fault.ErrRange}, {rigid.Params{ContactHertz: -1}, fault.ErrRange},
		{rigid.Params{MaxSpeed: inf32}, fault.ErrNotFinite}, {rigid.Params{FrictionMix: 99}, fault.ErrRange},
		{rigid.Params{RestitutionMix: 99}, fault.ErrRange},
	} {
		if err := c.p.Validate(); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.p, err, c.want)
		}
	}
}
