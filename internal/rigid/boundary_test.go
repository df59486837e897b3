package rigid_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// Branches of kernels differ from those of the oracle, if they do, where two numbers are equal: a limit that
// stands at its bound, a contact as far as the margin, two axes that tie. Numbers at random are never equal. Those
// here are from a lattice on which sums and products are exact, so that they often are, or are apart by one
// unit in the last place.

var negativeZero = float32(math.Copysign(0, -1))

// onLattice draws a number for a stage of the solver: of some that come to be each other's sums,
// products and roots, seldom a neighbour of one, and zeros of either sign.
func onLattice(run *paritytest.Run) float32 {
	numbers := [...]float32{0, negativeZero, 1, -1, 0.5, -0.5, 2, -2, 3, 4, -4, 5, 20, 0.25, 0, 0}
	v := numbers[run.IntN(len(numbers))]
	if run.IntN(12) == 0 {
		v = run.Near(v)
	}
	return v
}

// latticed is a system whose numbers are from the lattice, and a step of it in which sub-steps take 1/4 s. Half
// of the bodies are where they would be alone: at the origin, not turned, and at rest.
func latticed(run *paritytest.Run) (*rigid.System, float32) {
	s := randomSystem(run, []paritytest.Class{paritytest.Zero})
	draw := func(w []float32) {
		for i := range w {
			w[i] = onLattice(run)
		}
	}
	columns := (&heap{System: *s}).columns()
	for _, c := range columns {
		draw(*c)
	}
	m := &s.Materials
	for _, c := range [][]float32{m.Friction, m.Restitution, m.RollingResistance, m.TangentSpeed} {
		if draw(c); run.IntN(3) == 0 {
			for i := range c {
				c[i] = -abs32(c[i])
			}
		}
	}
	b, p := &s.Bodies, &s.Poses
	for i := range b.InvMass {
		b.InvMass[i], b.InvInertia[i] = abs32(b.InvMass[i]), abs32(b.InvInertia[i])
		b.LinearDamping[i], b.AngularDamping[i] = 0, 0
		turn := [...][2]float32{{1, 0}, {1, negativeZero}, {0, 1}, {-1, 0}}[run.IntN(4)]
		p.Cos[i], p.Sin[i] = turn[0], turn[1]
		if run.IntN(2) == 0 {
			p.X[i], p.Y[i], p.Cos[i], p.Sin[i], s.Angle[i], b.W[i] = 0, 0, 1, 0, 0, 0
		}
		if run.IntN(2) == 0 {
			b.GravityScale[i], b.ForceX[i], b.ForceY[i], b.Torque[i] = 0, 0, 0, 0
		}
	}
	for i := range s.Contacts {
		m, c := &s.Manifolds[i], &s.Contacts[i]
		m.Normal = [...]rigid.Vec{{X: 1}, {Y: 1}, {X: -1, Y: negativeZero}, {Y: -1}}[run.IntN(4)]
		for k := range m.Points {
			q := &m.Points[k]
			for _, v := range []*float32{&q.AnchorA.X, &q.AnchorA.Y, &q.AnchorB.X, &q.AnchorB.Y, &q.Separation, &c.Points[k].Tangent} {
				if *v = onLattice(run); run.IntN(3) == 0 {
					*v = 0
				}
			}
			c.Points[k].Normal = abs32(onLattice(run))
		}
		c.RollingImpulse = onLattice(run)
	}
	s.MaxSpeed, s.RestitutionThreshold = []float32{0, 1, 5}[run.IntN(3)], []float32{0, 0.5, 2}[run.IntN(3)]
	return s, 1
}

func TestParityStagesAtBoundaries(t *testing.T) {
	run := paritytest.Start(t, "StagesAtBoundaries")
	for range paritytest.Rounds(40) {
		begin, step := latticed(run)
		begin.BuildConstraints(step)
		for _, level := range native.Levels() {
			run.Case(level)
			want, got := cloned(begin), cloned(begin)
			want.BuildConstraints(step)
			got.BuildConstraints(step)
			for _, stage := range stages {
				n := len(got.States)
				if stage.blocks {
					n = len(got.Blocks)
				}
				stage.run(want, native.Go, 0, n)
				stage.run(got, level, 0, n)
				run.Check(compare(stage.name, got, want))
			}
		}
	}
}

// What writes states back, for states that no stage makes: moved or turned by zeros of either sign, or turned by a
// cosine alone.
func TestParityFinishAtBoundaries(t *testing.T) {
	run := paritytest.Start(t, "FinishAtBoundaries")
	numbers := []float32{0, negativeZero, 0, 0, 1, -1, math.SmallestNonzeroFloat32}
	for range paritytest.Rounds(40) {
		begin, _ := latticed(run)
		n := len(begin.States)
		w := words(begin.States)
		for i := range w {
			w[i] = numbers[run.IntN(len(numbers))]
		}
		for i := range begin.States {
			if run.IntN(2) == 0 {
				begin.States[i].C = run.Near(1)
			}
		}
		least, most := make([]float32, n), make([]float32, n)
		for i := range least {
			least[i], most[i] = 2*abs32(onLattice(run)), numbers[run.IntN(len(numbers))]
		}
		e := rigid.Extents{Min: least, Max: most}
		for _, level := range native.Levels() {
			run.Case(level)
			want, got := cloned(begin), cloned(begin)
			var moved, fast [2][]uint32
			for k, s := range []*rigid.System{want, got} {
				l := []native.Level{native.Go, level}[k]
				s.StoreStates(l, 0, n)
				moved[k], fast[k] = make([]uint32, n), make([]uint32, n)
				o := rigid.Origins{X: s.Bodies.VX, Y: s.Bodies.VY, CentreX: s.Bodies.ForceX, CentreY: s.Bodies.ForceY}
				moved[k] = moved[k][:o.UpdateOrigins(l, s.States, &s.Poses, 0, n, moved[k])]
				fast[k] = fast[k][:e.FindFast(l, s.States, 0, n, fast[k])]
			}
			run.Check(compare("Finish", got, want), paritytest.Bits("moved", moved[1], moved[0]), paritytest.Bits("fast", fast[1], fast[0]))
		}
	}
}

// latticedJoints adds joints whose numbers are from the lattice: anchors often coincide, and limits, targets,
// forces and angles are where the bodies are.
func latticedJoints(run *paritytest.Run, s *rigid.System) {
	randomJoints(run, s, []paritytest.Class{paritytest.Zero})
	for i := range s.Joints {
		j := &s.Joints[i]
		vec := func() rigid.Vec { return rigid.Vec{X: onLattice(run), Y: onLattice(run)} }
		j.AnchorA, j.AnchorB, j.PointImpulse = vec(), vec(), vec()
		if run.IntN(2) == 0 {
			j.AnchorA, j.AnchorB = rigid.Vec{}, rigid.Vec{X: onLattice(run)}
		}
		j.Axis = [...]rigid.Vec{{X: 1}, {Y: 1}, {X: -1}}[run.IntN(3)]
		j.ReferenceAngle = []float32{0, 0, negativeZero, math.Pi / 2}[run.IntN(4)]
		for _, d := range []*rigid.JointAxis{&j.Linear, &j.Angular} {
			*d = rigid.JointAxis{Target: onLattice(run), Hertz: []float32{0, negativeZero, 1, 1e-30}[run.IntN(4)], Damping: abs32(onLattice(run)),
				MaxSpringForce: abs32(onLattice(run)), MotorSpeed: onLattice(run), MaxMotorForce: abs32(onLattice(run))}
			a, b := onLattice(run), onLattice(run)
			d.Lower, d.Upper = min(a, b), max(a, b)
		}
		for _, d := range []*rigid.AxisImpulse{&j.LinearImpulse, &j.AngularImpulse} {
			*d = rigid.AxisImpulse{Spring: onLattice(run), Motor: onLattice(run), Lower: abs32(onLattice(run)), Upper: abs32(onLattice(run))}
		}
	}
}

func TestParityJointStagesAtBoundaries(t *testing.T) {
	run := paritytest.Start(t, "JointStagesAtBoundaries")
	for range paritytest.Rounds(30) {
		begin, step := latticed(run)
		begin.Contacts, begin.Manifolds, begin.Hits, begin.Bases, begin.BaseMarks = nil, nil, nil, nil, nil
		latticedJoints(run, begin)
		compareJointStages(run, begin, step)
	}
}

func compareJointStages(run *paritytest.Run, begin *rigid.System, step float32) {
	begin.BuildConstraints(step)
	for _, level := range native.Levels() {
		run.Case(level)
		want, got := cloned(begin), cloned(begin)
		for _, s := range []*rigid.System{want, got} {
			s.Joints, s.JointBlocks, s.JointColours = slices.Clone(begin.Joints), nil, rigid.JointColours{}
			s.BuildConstraints(step)
		}
		for _, stage := range jointStages {
			n := len(got.States)
			if stage.joints {
				n = len(got.JointBlocks)
			}
			stage.run(want, native.Go, 0, n)
			stage.run(got, level, 0, n)
			run.Check(compareJoints(stage.name, got, want))
		}
	}
}

// Limits that stand at their bound, one unit in the last place within and beyond it, at zeros of either sign; and
// points that are dragged by just what is allowed. These are met whatever the seed.
func TestParityJointsAtTheirBounds(t *testing.T) {
	run := paritytest.Start(t, "JointsAtTheirBounds")
	s := linked()
	add := func(kind rigid.JointKind, parts rigid.JointParts, x, vx, vy float32) *rigid.Joint {
		a, b := s.box(1, 1, 0, 0, 0), s.box(1, 1, x, 0, 1)
		s.Bodies.InvMass[b], s.Bodies.InvInertia[b], s.Bodies.GravityScale[b] = 1, 1, 0
		s.Bodies.VX[b], s.Bodies.VY[b], s.Bodies.W[b] = vx, vy, vx
		j := s.tie(kind, a, b, x, 0)
		j.AnchorA, j.AnchorB, j.Parts = rigid.Vec{}, rigid.Vec{}, parts
		return j
	}
	up, down := math.Nextafter32(2, 3), math.Nextafter32(2, 1)
	for _, kind := range []rigid.JointKind{rigid.JointDistance, rigid.JointPoint, rigid.JointPrismatic, rigid.JointWheel} {
		for _, at := range []struct{ x, bound float32 }{{0, 0}, {0, negativeZero}, {2, 2}, {2, up}, {2, down}, {0, 1e-45}, {0, -1e-45}} {
			for _, v := range []float32{0, negativeZero, 1, -1} {
				for _, old := range []float32{0, 1} {
					j := add(kind, rigid.PartLimits|rigid.PartAngularLimits|rigid.PartMotor, at.x, v, 0)
					j.Linear.Lower, j.Linear.Upper = at.bound, at.bound
					j.LinearImpulse, j.Linear.MaxMotorForce = rigid.AxisImpulse{Lower: old, Upper: old}, old
					j.Angular.Lower, j.Angular.Upper, j.AngularImpulse = at.bound, at.bound, j.LinearImpulse
				}
			}
		}
	}
	for _, force := range []float32{math.Nextafter32(20, 0), 20, math.Nextafter32(20, 30)} { // 5 N·s in 1/4 s
		j := add(rigid.JointPoint, rigid.PartFriction, 0, -3, -4)        // (2, -4) with what was remembered
		j.PointImpulse, j.Linear.MaxSpringForce = rigid.Vec{X: 5}, force // becomes (3, 4)
	}
	// The same at an anchor beside the centre of mass, where an impulse that is cut off has another direction.
	for _, at := range [][3]float32{{3, 4, 5}, {5, 12, 13}, {8, 15, 17}, {20, 21, 29}, {12, 35, 37}} { // impulse and length
		for _, force := range []float32{math.Nextafter32(4*at[2], 0), 4 * at[2], math.Nextafter32(4*at[2], 200)} {
			j := add(rigid.JointPoint, rigid.PartFriction, -1, -at[0], at[0]-2*at[1])
			j.AnchorB, j.PointImpulse, j.Linear.MaxSpringForce = rigid.Vec{X: 1}, rigid.Vec{X: 5}, force
		}
	}
	compareJointStages(run, &s.System, 1)
}

// onGrid draws a length that is exact in units of 2^-8 m, and such that with others of its kind it makes a
// gap of just the margin: that is of one binade with them.
func onGrid(run *paritytest.Run) float32 {
	const unit = 1. / 256
	v := unit * float32(run.IntN(13)-6) / 2
	switch run.IntN(4) {
	case 0:
		v = []float32{rigid.SpeculativeDistance, rigid.SpeculativeDistance + unit, rigid.SpeculativeDistance + 2*unit,
			rigid.SpeculativeDistance + 1.5*unit, 0.1 * rigid.LinearSlop, 1e-6, 0}[run.IntN(7)]
		if v = run.Near(v); run.IntN(2) == 0 {
			v = -v
		}
	case 1:
		v = run.Near(v)
	}
	return v
}

// gridShape draws a small shape whose corners are on the grid. The makers of shapes would find some too small.
func gridShape(run *paritytest.Run) rigid.Shape {
	const unit = 1. / 256
	half := func() float32 { return unit * []float32{0.5, 1, 1.5, 2}[run.IntN(4)] }
	x, y, radius := half(), half(), []float32{0, 0, unit / 2, unit}[run.IntN(4)]
	switch run.IntN(6) {
	case 0:
		return disc(x)
	case 1:
		return lying(x, radius)
	case 2:
		return standing(y, radius)
	case 3:
		length := float32(math.Sqrt(float64(x*x + y*y)))
		return rigid.Shape{Count: 3, Radius: radius, Vertices: [rigid.MaxVertices]rigid.Vec{{X: -x, Y: -y}, {X: x, Y: -y}, {X: -x, Y: y}},
			Normals: [rigid.MaxVertices]rigid.Vec{{Y: -1}, {X: y / length, Y: x / length}, {X: -1}}}
	}
	return rigid.Shape{Count: 4, Radius: radius,
		Vertices: [rigid.MaxVertices]rigid.Vec{{X: -x, Y: -y}, {X: x, Y: -y}, {X: x, Y: y}, {X: -x, Y: y}},
		Normals:  [rigid.MaxVertices]rigid.Vec{{Y: -1}, {X: 1}, {Y: 1}, {X: -1}}}
}

// lying and standing are capsules.
func lying(half, radius float32) rigid.Shape {
	return rigid.Shape{Count: 2, Radius: radius, Vertices: [rigid.MaxVertices]rigid.Vec{{X: -half}, {X: half}},
		Normals: [rigid.MaxVertices]rigid.Vec{{Y: -1}, {Y: 1}}}
}

func standing(half, radius float32) rigid.Shape {
	return rigid.Shape{Count: 2, Radius: radius, Vertices: [rigid.MaxVertices]rigid.Vec{{Y: -half}, {Y: half}},
		Normals: [rigid.MaxVertices]rigid.Vec{{X: 1}, {X: -1}}}
}

// gridScene draws pairs of shapes on the grid, turned by right angles.
func gridScene(run *paritytest.Run, pairs int) *scene {
	s := &scene{}
	add := func() uint32 {
		turn := [...][2]float32{{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, negativeZero}}[run.IntN(5)]
		s.shapes = append(s.shapes, gridShape(run))
		s.bodyOf = append(s.bodyOf, s.bodyAt(0, 0, turn[0], turn[1]))
		return uint32(len(s.shapes) - 1)
	}
	for range pairs {
		a, b := add(), add()
		s.poses.X[b], s.poses.Y[b] = onGrid(run), onGrid(run)
		if run.IntN(2) == 0 {
			a, b = b, a
		}
		s.pair(a, b)
	}
	return s
}

// preferences are capsules across each other of which the second is farther, by as much as decides which of
// the two is the reference, or by one unit in the last place more or less.
func preferences() *scene {
	const unit = 1. / 256
	s := &scene{}
	for _, half := range []float32{unit / 2, unit, 2 * unit} {
		for apart := float32(0); apart <= 2*unit; apart += unit / 4 {
			first := half + (apart + 0.1*rigid.LinearSlop)
			for _, y := range []float32{math.Nextafter32(first, 0), first, math.Nextafter32(first, 1)} {
				s.pair(s.add(standing(half, 0), 0, 0, 0), s.add(lying(half, 0), float64(half+apart), float64(y), 0))
			}
		}
	}
	// The end of one is closest to the very middle of the other, which is too short to be the reference.
	for _, half := range []float32{unit, 2 * unit} {
		for k := range 4 {
			x, short := half+float32(k)*unit/128, float32(unit/64)
			lying, standing := lying(half, unit/2), standing(short, unit/2)
			s.pair(s.add(lying, 0, 0, 0), s.add(standing, float64(x), 0, 0))
			s.pair(s.add(standing, float64(-x), 0, 0), s.add(lying, 0, 0, 0))
		}
	}
	return s
}

// coincidences are shapes of which two points are as far from each other as decides whether there is a direction
// from one to the other, or nearly.
func coincidences() *scene {
	s := &scene{}
	for _, shape := range []rigid.Shape{disc(0.25), standing(0.25, 0.25)} {
		for _, slope := range []float64{0, 0.1, 0.3, 0.5, 0.7, 1, 1.3} {
			far := float32(1e-6 * math.Cos(slope))
			for range 9 {
				far = math.Nextafter32(far, 0)
			}
			for range 18 {
				y := 0.25
				if shape.Count == 1 {
					y = 0
				}
				s.pair(s.add(shape, 0, 0, 0), s.add(disc(0.25), float64(far), y+1e-6*math.Sin(slope), 0))
				far = math.Nextafter32(far, 1)
			}
		}
	}
	return s
}

func TestParityCollideAtBoundaries(t *testing.T) {
	run := paritytest.Start(t, "CollideAtBoundaries")
	ties := map[string]int{}
	for round := range max(3, paritytest.Rounds(200)) {
		s := []*scene{preferences(), coincidences(), gridScene(run, 1000)}[min(round, 2)]
		want := s.collide(t)
		for i := range want {
			for _, p := range want[i].Points[:want[i].Count] {
				if p.Separation == rigid.SpeculativeDistance {
					ties[fmt.Sprint("at the margin, vertices ", s.shapes[s.pairs.A[i]].Count, s.shapes[s.pairs.B[i]].Count)]++
				}
			}
		}
		for _, level := range native.Levels() {
			run.Case(level)
			got := make([]rigid.Manifold, len(want))
			rigid.Collide(level, s.shapes, s.bodyOf, &s.poses, &s.pairs, got)
			run.Check(sameManifolds(got, want))
		}
	}
	t.Log(ties)
}

// Rays from and along the corners and sides of boxes that lie beside and on each other.
func TestParityRaysAtBoundaries(t *testing.T) {
	run := paritytest.Start(t, "RaysAtBoundaries")
	var targets rigid.QueryTree
	for range paritytest.Rounds(30) {
		c := newCrowd(run.Rand, 100, 4)
		p := &c.poses
		for i := range c.Shapes {
			p.X[i], p.Y[i], p.Cos[i], p.Sin[i] = float32(run.IntN(7)-3), float32(run.IntN(7)-3), 1, 0
			if c.Shapes[i] = disc(0.5); run.IntN(4) > 0 {
				c.Shapes[i] = box(0.5, 0.5, 0)
			}
		}
		rays := c.rays(run.Rand, 64, 4)
		for i := range rays {
			r := &rays[i]
			r.OX, r.OY = 0.5*float32(run.IntN(15)-7), 0.5*float32(run.IntN(15)-7)
			r.DX, r.DY, r.MaxT = 0.5*float32(run.IntN(9)-4), 0.5*float32(run.IntN(9)-4), []float32{0, 0.5, 1, 2}[run.IntN(4)]
		}
		rigid.PrepareRays(rays)
		closest, ends := make([]rigid.RayHit, len(rays)), make([]uint32, len(rays))
		rigid.CastRaysClosestOracle(&c.Scene, rays, closest)
		all := rigid.CastRaysAllOracle(&c.Scene, rays, ends, nil)
		for _, level := range native.Levels() {
			run.Case(level)
			targets.Build(level, &c.Scene)
			got, row, gotEnds := make([]rigid.RayHit, len(rays)), make([]rigid.RayHit, len(all)), make([]uint32, len(rays))
			targets.CastRaysClosest(level, rays, got)
			targets.CastRaysAll(level, rays, gotEnds, row, 0)
			run.Check(sameHits(got, closest), sameHits(row, all), paritytest.Bits("ends", gotEnds, ends))
		}
	}
}

// Entities whose slots follow each other, as vectors take them: turns of which a component is a zero of either
// sign, and each component in turn that is not what was written, if only by the sign of a zero.
func TestParityEntitiesAtBoundaries(t *testing.T) {
	run := paritytest.Start(t, "EntitiesAtBoundaries")
	signs := []float32{0, negativeZero, 1, -1, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32}
	const n = 36
	start := &syncCase{slots: make([]uint32, n)}
	for k := range start.bodies {
		start.bodies[k], start.kept[k] = make([]float32, n), make([]float32, n)
	}
	for k := range start.to {
		start.to[k] = make([]float32, n)
		run.Fill(start.to[k], paritytest.Uniform)
	}
	for i := range start.slots {
		start.slots[i], start.bodies[2][i], start.bodies[3][i] = uint32(i), signs[i/6], signs[i%6]
	}
	plain := &heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}}
	for _, level := range native.Levels() {
		for _, flip := range []bool{false, true} {
			run.Case(level)
			start.flip = flip
			want := start.copy(plain)
			want.put(native.Go, 0, n)
			got := start.copy(&heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}})
			got.put(level, 0, n)
			for k := range got.to {
				run.Check(paritytest.Floats("entities", got.to[k], want.to[k]))
			}
			for k := range got.to {
				for i := range n {
					old := got.to[k][i]
					got.to[k][i] = math.Float32frombits(math.Float32bits(old) ^ 1<<31)
					if at := got.entities().FirstChanged(level, got.slots, got.keeps(), 0, n); at != i {
						t.Fatalf("level %s: component %d of body %d: body %d is said to differ", level, k, i, at)
					}
					got.to[k][i] = old
				}
			}
		}
	}
}
