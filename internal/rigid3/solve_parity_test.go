package rigid3

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

func words[T any](s []T) []float32 { return buffer.Words[float32](s) }

// columns returns the columns of floats.
func (b *Bodies) columns() (out []*[]float32) {
	for k := range 3 {
		out = append(out, &b.V[k], &b.W[k], &b.InvInertia[k], &b.Force[k], &b.Torque[k])
	}
	return append(out, &b.InvMass, &b.GravityScale, &b.LinearDamping, &b.AngularDamping)
}

// randomSystem has bodies and contacts that mean nothing, with numbers of some classes.
func randomSystem(run *paritytest.Run, classes []paritytest.Class) *System {
	s, bodies := &System{}, 2+run.IntN(70)
	draw := func(c []float32) {
		run.Fill(c, classes...)
		for i := range c {
			if run.IntN(8) == 0 {
				c[i] = 0
			}
		}
	}
	b := &s.Bodies
	s.States, b.Poses, b.Principal = make([]State, bodies), make([]Pose, bodies), make([]Quat, bodies)
	for _, c := range b.columns() {
		*c = make([]float32, bodies)
		draw(*c)
	}
	draw(words(b.Poses))
	draw(words(b.Principal))
	s.BodyOf, s.Materials, b.Locks = make([]uint32, bodies), make([]Material, bodies), make([]uint8, bodies)
	draw(words(s.Materials))
	for i := range bodies {
		s.BodyOf[i] = uint32(i)
		for _, q := range []*Quat{&b.Poses[i].Q, &b.Principal[i]} { // most are rotations
			if run.IntN(4) > 0 {
				*q = q.Normalize()
			}
		}
		switch run.IntN(4) {
		case 0:
			b.InvMass[i] = 0
		case 1:
			b.Locks[i] = uint8(run.IntN(64))
		case 2: // equal moments, and no torque
			b.InvInertia[1][i], b.InvInertia[2][i] = b.InvInertia[0][i], b.InvInertia[0][i]
			b.Torque[0][i], b.Torque[1][i], b.Torque[2][i] = 0, 0, 0
		}
	}
	for field := range 5 {
		if run.IntN(3) == 0 {
			for i := range s.Materials {
				m := &s.Materials[i]
				switch field {
				case 0:
					m.Friction = 0
				case 1:
					m.Restitution = 0
				case 2:
					m.RollingResistance = 0
				case 3:
					m.TwistResistance = 0
				case 4:
					m.TangentVelocity = Vec{}
				}
			}
		}
	}
	s.Gravity = Vec{run.Float(classes[0]), run.Float(classes[0]), run.Float(classes[0])}
	s.MaxSpeed = []float32{0, 1, 1e30}[run.IntN(3)]
	hub := run.IntN(4) == 0 // of more contacts than there are colours
	for a := range bodies {
		for o := a + 1; o < bodies; o++ {
			if run.IntN(bodies) < 5 || hub && a == 0 {
				m, c := make([]Manifold, 1), make([]Contact, 1)
				draw(words(m))
				draw(words(c))
				if run.IntN(4) > 0 {
					m[0].Normal = m[0].Normal.unit(Vec{0, 1, 0})
				}
				m[0].Count, m[0].Source = uint32(run.IntN(MaxPoints+1)), Source(run.IntN(2))
				c[0].A, c[0].B = uint32(a), uint32(o)
				s.Manifolds, s.Contacts = append(s.Manifolds, m...), append(s.Contacts, c...)
			}
		}
	}
	s.Hits = make([]Hit, len(s.Contacts))
	if run.IntN(3) == 0 {
		s.Mixed = run.IntN(len(s.Contacts) + 1)
		s.Materials = append(s.Materials, make([]Material, s.Mixed)...)
		for i := range s.Mixed {
			s.Materials[bodies+i] = s.Materials[run.IntN(bodies)]
		}
	}
	return s
}

// heapGuard holds the slices of a System against guard pages.
type heapGuard struct {
	t    *testing.T
	bufs map[string]*paritytest.Buffer[float32]
	side paritytest.Side
	gap  int
}

// guarded returns a copy of s against a guard page.
func guarded[T any](g *heapGuard, name string, s []T) []T {
	if g.bufs[name] == nil {
		g.bufs[name] = paritytest.NewBuffer[float32](g.t, 1<<17)
	}
	w := g.bufs[name].PlaceCopy(words(s), g.side, g.gap)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(w))), len(s))
}

// place puts all slices of s that stages of C see against guard pages. Its blocks have been dealt out.
func (g *heapGuard) place(s *System) {
	for i, c := range s.Bodies.columns() {
		*c = guarded(g, fmt.Sprint("column ", i), *c)
	}
	for i := range s.free {
		s.free[i] = guarded(g, fmt.Sprint("free ", i), s.free[i])
	}
	b := &s.Bodies
	b.Poses, b.Principal, b.Locks = guarded(g, "poses", b.Poses), guarded(g, "principal", b.Principal), slices.Clone(b.Locks)
	s.inertia = guarded(g, "inertia", s.inertia)
	s.Materials = guarded(g, "materials", s.Materials)
	s.States, s.BodyOf = guarded(g, "states", s.States), guarded(g, "body", s.BodyOf)
	s.Contacts, s.Manifolds, s.Hits = guarded(g, "contacts", s.Contacts), guarded(g, "manifolds", s.Manifolds), guarded(g, "hits", s.Hits)
	s.Blocks = guarded(g, "blocks", s.Blocks)
	s.Colours = graph.Colours{Edge: guarded(g, "lanes", s.Colours.Edge)}
}

func (g *heapGuard) check() error {
	for name, b := range g.bufs {
		if err := b.Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// tidy clears what is unspecified: points beyond those of a block, lanes without a contact, what flags say that nothing reads, and the
// free velocities of bodies that are not dynamic.
func (s *System) tidy() {
	for i := range s.Blocks {
		b := &s.Blocks[i]
		for k := b.PointsEach; k < MaxPoints; k++ {
			b.Points[k], b.Approach[k], b.RelativeVelocity[k] = ContactBlockPoint{}, [Lanes]float32{}, [Lanes]float32{}
			for o := range k {
				b.Couplings[couplings[k][o]] = [Lanes]float32{}
			}
		}
		if b.Flags&flagRolling == 0 {
			b.RollingMass, b.RollingX, b.RollingY = PlanarLanes{}, [Lanes]float32{}, [Lanes]float32{}
		}
		header := unsafe.Offsetof(b.Normal) / 4
		fields := words(s.Blocks[i : i+1])[header:]
		for lane := int(b.Contacts); lane < Lanes; lane++ {
			for k := lane; k < len(fields); k += Lanes {
				fields[k] = 0
			}
		}
	}
	for i, m := range s.Bodies.InvMass {
		for k := range s.free {
			if !(m > 0) {
				s.free[k][i] = 0
			}
		}
	}
}

// compare compares all that stages write.
func compare(stage string, got, want *System) error {
	got.tidy()
	want.tidy()
	check := func(what string, got, want []float32) error { return paritytest.Floats(stage+": "+what, got, want) }
	wantColumns := want.Bodies.columns()
	for i, c := range got.Bodies.columns() {
		if err := check(fmt.Sprint("column ", i), *c, *wantColumns[i]); err != nil {
			return err
		}
	}
	for i := range got.free {
		if err := check(fmt.Sprint("free ", i), got.free[i], want.free[i]); err != nil {
			return err
		}
	}
	for i := range got.Blocks {
		if err := check(fmt.Sprint("block ", i), words(got.Blocks[i:i+1]), words(want.Blocks[i:i+1])); err != nil {
			return err
		}
	}
	for i := range got.States {
		if err := check(fmt.Sprint("state ", i), words(got.States[i:i+1]), words(want.States[i:i+1])); err != nil {
			return err
		}
	}
	for i := range got.Contacts {
		if err := check(fmt.Sprint("contact ", i), words(got.Contacts[i:i+1]), words(want.Contacts[i:i+1])); err != nil {
			return err
		}
	}
	if err := check("poses", words(got.Bodies.Poses), words(want.Bodies.Poses)); err != nil {
		return err
	}
	if err := check("inertia", words(got.inertia), words(want.inertia)); err != nil {
		return err
	}
	return check("hits", words(got.Hits), words(want.Hits))
}

// stages are the stages of a step of two sub-steps, and whether they work on blocks.
var stages = []struct {
	name   string
	blocks bool
	run    func(s *System, lo, hi int)
}{
	{"PrepareBodies", false, (*System).PrepareBodies},
	{"PrepareContacts", true, (*System).PrepareContacts},
	{"IntegrateVelocities", false, func(s *System, lo, hi int) { s.IntegrateVelocities(0, lo, hi) }},
	{"WarmStart", true, (*System).WarmStart},
	{"SolveContacts", true, (*System).SolveContacts},
	{"IntegratePositions", false, (*System).IntegratePositions},
	{"RelaxContacts", true, (*System).RelaxContacts},
	{"ApplyRestitution", true, (*System).ApplyRestitution},
	{"IntegrateVelocities again", false, func(s *System, lo, hi int) { s.IntegrateVelocities(1, lo, hi) }},
	{"SolveContacts again", true, (*System).SolveContacts},
	{"IntegratePositions again", false, (*System).IntegratePositions},
	{"RelaxContacts again", true, (*System).RelaxContacts},
	{"ApplyRestitution again", true, (*System).ApplyRestitution},
	{"StoreImpulses", true, (*System).StoreImpulses},
	{"FinalizeBodies", false, (*System).FinalizeBodies},
}

// Each stage on each level, split anywhere, against the whole stage in Go.
func TestParityStages(t *testing.T) {
	run := paritytest.Start(t, "Stages")
	g := &heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}}
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}
	for round := range paritytest.Rounds(150) {
		begin := randomSystem(run, classes[round%3])
		begin.deal(dt)
		for i := range begin.inertia {
			begin.inertia[i] = inertiaRow{}
		}
		for i := range begin.free {
			clear(begin.free[i])
		}
		for _, level := range native.Levels() {
			run.Case(level)
			g.side, g.gap = paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			want, got := begin.cloned(), begin.cloned()
			g.place(got)
			want.Level, got.Level = native.Go, level
			for _, stage := range stages {
				n := len(got.States)
				if stage.blocks {
					n = len(got.Blocks)
				}
				stage.run(want, 0, n)
				for lo := 0; lo < n; {
					hi := lo + 1 + run.IntN(n-lo)
					stage.run(got, lo, hi)
					lo = hi
				}
				run.Check(compare(stage.name, got, want), g.check(),
					paritytest.Bits("manifolds", words(got.Manifolds), words(want.Manifolds)),
					paritytest.Bits("lanes", got.Colours.Edge, want.Colours.Edge))
			}
		}
	}
}

// cloned returns a copy of a System that shares nothing but what no stage writes.
func (s *System) cloned() *System {
	r := *s
	for _, c := range r.Bodies.columns() {
		*c = slices.Clone(*c)
	}
	for i := range r.free {
		r.free[i] = slices.Clone(r.free[i])
	}
	r.Bodies.Poses, r.inertia = slices.Clone(s.Bodies.Poses), slices.Clone(s.inertia)
	r.States, r.Contacts, r.Hits, r.Blocks = slices.Clone(s.States), slices.Clone(s.Contacts), slices.Clone(s.Hits), slices.Clone(s.Blocks)
	return &r
}

// Scenes say the same bits after many steps on every level.
func TestParityScenes(t *testing.T) {
	build := func(level native.Level) *scene {
		s := newScene()
		s.Level = level
		s.floor(Material{Friction: .7})
		for i := range 60 {
			shape := []*Shape{box(.5, .5, .5), ball(.4), upright(.3, .3), box(.3, .4, .5)}[i%4]
			m := Material{Friction: .5, Restitution: float32(i%3) * .3, RollingResistance: float32(i%4) * .01}
			if i%5 == 0 {
				m.TwistResistance, m.TangentVelocity = .1, Vec{1, 0, .5}
			}
			b := s.Add(shape, float64(1+i%3), m, Pose{Vec{float32(i%4) * 1.1, .7 + float32(i/16)*1.1, float32(i/4%4) * 1.1}, Quat{.1, float32(i), .2, 3}.Normalize()})
			if i%7 == 0 {
				s.Bodies.Locks[b] = uint8(i)
			}
			setVec(&s.Bodies.V, b, Vec{float32(i%5) - 2, 0, float32(i%3) - 1})
		}
		return s
	}
	levels := native.Levels()
	want, got := build(native.Go), []*scene{}
	for _, level := range levels {
		got = append(got, build(level))
	}
	for step := range 90 {
		want.step()
		for i, s := range got {
			s.step()
			if err := compare(fmt.Sprint("step ", step), &s.System, &want.System); err != nil {
				t.Fatalf("level %s: %v", levels[i], err)
			}
		}
	}
}
