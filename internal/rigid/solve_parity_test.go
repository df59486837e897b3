package rigid_test

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/material"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// words returns the memory of a slice of structs as 32-bit words.
func words[T any](s []T) []float32 {
	var v T
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(v)/4))
}

// structs is the reverse of words.
func structs[T any](w []float32) []T {
	var v T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*4/int(unsafe.Sizeof(v)))
}

// randomSystem has bodies and contacts that mean nothing, with numbers of some classes.
func randomSystem(run *paritytest.Run, classes []paritytest.Class) *rigid.System {
	s := &heap{}
	bodies := 2 + run.IntN(70)
	for range bodies {
		s.disc(1, 0, 0, 0)
	}
	draw := func(c []float32) {
		run.Fill(c, classes...)
		for i := range c {
			if run.IntN(8) == 0 {
				c[i] = 0
			}
		}
	}
	for _, c := range s.columns() {
		draw(*c)
	}
	for i := range s.Bodies.InvMass {
		if run.IntN(4) == 0 {
			s.Bodies.InvMass[i] = 0
		}
	}
	for _, c := range [][]float32{s.Materials.Friction, s.Materials.Restitution, s.Materials.RollingResistance, s.Materials.TangentSpeed} {
		draw(c)
		if run.IntN(3) == 0 {
			clear(c)
		}
	}
	s.Gravity = rigid.Vec{X: run.Float(classes[0]), Y: run.Float(classes[0])}
	s.FrictionMix, s.RestitutionMix = material.Mix(run.IntN(6)), material.Mix(run.IntN(6))
	s.MaxSpeed = []float32{0, 1, 1e30}[run.IntN(3)]
	hub := run.IntN(4) == 0 // of more contacts than there are colours
	for a := range bodies {
		for b := a + 1; b < bodies; b++ {
			if run.IntN(bodies) < 5 || hub && a == 0 {
				addContact(run, s, a, b, draw)
			}
		}
	}
	s.Hits, s.Bases = make([]rigid.Hit, len(s.Contacts)), make([]rigid.BaseManifold, len(s.Contacts))
	s.BaseMarks = make([]uint8, len(s.Contacts))
	return &s.System
}

func addContact(run *paritytest.Run, s *heap, a, b int, draw func([]float32)) {
	m, c := make([]rigid.Manifold, 1), make([]rigid.Contact, 1)
	draw(words(m))
	draw(words(c))
	m[0].Count, m[0].Source = uint32(run.IntN(3)), rigid.Source(run.IntN(2))
	c[0].A, c[0].B = uint32(a), uint32(b)
	s.Manifolds, s.Contacts = append(s.Manifolds, m...), append(s.Contacts, c...)
}

// heapGuard holds the slices of a System against guard pages.
type heapGuard struct {
	t    *testing.T
	bufs map[string]*paritytest.Buffer[float32]
	side paritytest.Side
	gap  int
}

func (g *heapGuard) copy(name string, w []float32) []float32 {
	if g.bufs[name] == nil {
		g.bufs[name] = paritytest.NewBuffer[float32](g.t, 1<<17)
	}
	return g.bufs[name].PlaceCopy(w, g.side, g.gap)
}

// system returns a copy of s, whose blocks have been dealt out, before Begin.
func (g *heapGuard) system(s *rigid.System) *rigid.System {
	r := *s
	wrap := &heap{System: r}
	for i, c := range wrap.columns() {
		*c = g.copy(fmt.Sprint("column ", i), *c)
	}
	r = wrap.System
	m := &r.Materials
	for i, c := range []*[]float32{&m.Friction, &m.Restitution, &m.RollingResistance, &m.TangentSpeed} {
		*c = g.copy(fmt.Sprint("material ", i), *c)
	}
	r.States = structs[rigid.State](g.copy("states", words(s.States)))
	r.BodyOf = structs[uint32](g.copy("body", words(s.BodyOf)))
	r.Contacts = structs[rigid.Contact](g.copy("contacts", words(s.Contacts)))
	r.Manifolds = structs[rigid.Manifold](g.copy("manifolds", words(s.Manifolds)))
	r.Hits = structs[rigid.Hit](g.copy("hits", words(s.Hits)))
	r.Bases, r.BaseMarks = structs[rigid.BaseManifold](g.copy("bases", words(s.Bases))), slices.Clone(s.BaseMarks)
	r.Blocks = structs[rigid.ContactBlock](g.copy("blocks", words(make([]rigid.ContactBlock, len(s.Blocks)))))[:0:len(s.Blocks)]
	r.Colours = graph.Colours{Edge: structs[uint32](g.copy("lanes", words(s.Colours.Edge)))}
	return &r
}

func (g *heapGuard) check() error {
	for name, b := range g.bufs {
		if err := b.Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// compare compares all that stages write.
func compare(stage string, got, want *rigid.System) error {
	for _, s := range []*rigid.System{got, want} {
		for i := range s.Blocks {
			b := &s.Blocks[i]
			if b.PointsEach == 1 {
				b.Points[1], b.Coupling = rigid.ContactBlockPoint{}, [rigid.Lanes]float32{}
			}
			for lane := b.Contacts; lane < rigid.Lanes; lane++ { // -0 from the vectors, or NaN
				b.RollingImpulse[lane] = 0
				for k := range b.Points {
					p := &b.Points[k]
					p.NormalImpulse[lane], p.TangentImpulse[lane], p.TotalNormalImpulse[lane] = 0, 0, 0
				}
			}
		}
	}
	check := func(what string, got, want []float32) error { return paritytest.Floats(stage+": "+what, got, want) }
	gotColumns, wantColumns := (&heap{System: *got}).columns(), (&heap{System: *want}).columns()
	for i := range gotColumns {
		if err := check(fmt.Sprint("column ", i), *gotColumns[i], *wantColumns[i]); err != nil {
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
	if !slices.Equal(got.BaseMarks, want.BaseMarks) {
		return fmt.Errorf("marks of bases: %v, want %v", got.BaseMarks, want.BaseMarks)
	}
	for i := range got.Bases {
		if err := check(fmt.Sprint("base ", i), words(got.Bases[i:i+1]), words(want.Bases[i:i+1])); err != nil {
			return err
		}
	}
	return check("hits", words(got.Hits), words(want.Hits))
}

// stages are the stages of a step of two sub-steps, and whether they work on blocks.
var stages = []struct {
	name   string
	blocks bool
	run    func(s *rigid.System, l native.Level, lo, hi int)
}{
	{"Start", false, (*rigid.System).LoadStates},
	{"Prepare", true, (*rigid.System).PrepareContacts},
	{"IntegrateVelocities", false, func(s *rigid.System, l native.Level, lo, hi int) { s.IntegrateVelocities(l, 0, lo, hi) }},
	{"WarmStart", true, (*rigid.System).WarmStartContacts},
	{"Solve", true, func(s *rigid.System, l native.Level, lo, hi int) { s.SolveContacts(l, true, lo, hi) }},
	{"IntegratePositions", false, (*rigid.System).IntegratePositions},
	{"relax", true, func(s *rigid.System, l native.Level, lo, hi int) { s.SolveContacts(l, false, lo, hi) }},
	{"IntegrateVelocities again", false, func(s *rigid.System, l native.Level, lo, hi int) { s.IntegrateVelocities(l, 1, lo, hi) }},
	{"Solve again", true, func(s *rigid.System, l native.Level, lo, hi int) { s.SolveContacts(l, true, lo, hi) }},
	{"IntegratePositions again", false, (*rigid.System).IntegratePositions},
	{"relax again", true, func(s *rigid.System, l native.Level, lo, hi int) { s.SolveContacts(l, false, lo, hi) }},
	{"Restitution", true, (*rigid.System).ApplyRestitution},
	{"Store", true, (*rigid.System).StoreContactImpulses},
	{"Finish", false, (*rigid.System).StoreStates},
}

// Each stage on each level, split anywhere, against the whole stage in Go.
func TestParityStages(t *testing.T) {
	run := paritytest.Start(t, "Stages")
	g := &heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}}
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}
	for round := range paritytest.Rounds(100) {
		begin := randomSystem(run, classes[round%3])
		begin.BuildConstraints(dt)
		for _, level := range native.Levels() {
			run.Case(level)
			g.side, g.gap = paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			want, got := cloned(begin), g.system(begin)
			want.BuildConstraints(dt)
			got.BuildConstraints(dt)
			for _, stage := range stages {
				n := len(got.States)
				if stage.blocks {
					n = len(got.Blocks)
				}
				stage.run(want, native.Go, 0, n)
				for lo := 0; lo < n; {
					hi := lo + 1 + run.IntN(n-lo)
					stage.run(got, level, lo, hi)
					lo = hi
				}
				run.Check(compare(stage.name, got, want), g.check(),
					paritytest.Bits("manifolds", words(got.Manifolds), words(want.Manifolds)),
					paritytest.Bits("lanes", got.Colours.Edge, want.Colours.Edge))
			}
			checkKeptBlocks(run, level, got, want)
		}
	}
}

// checkKeptBlocks prepares the next step, of which some manifolds are recycled, with blocks that were kept and anew.
func checkKeptBlocks(run *paritytest.Run, level native.Level, got, want *rigid.System) {
	for i := range want.Manifolds {
		g, w := &got.Manifolds[i], &want.Manifolds[i]
		if g.Source = rigid.Collided; g.Count == 2 && run.IntN(40) > 0 { // of most blocks, all
			g.Source = rigid.Recycled
		}
		w.Source = g.Source
		for k := range g.Points {
			g.Points[k].Separation = run.Float(paritytest.Uniform)
			w.Points[k].Separation = g.Points[k].Separation
		}
	}
	for i := range got.Bodies.W {
		got.Bodies.InvInertia[i] = run.Float(paritytest.Uniform)
		want.Bodies.InvInertia[i] = got.Bodies.InvInertia[i]
	}
	got.SameBlocks = true
	for _, s := range []*rigid.System{got, want} {
		s.LoadStates(native.Go, 0, len(s.States))
	}
	want.PrepareContacts(native.Go, 0, len(want.Blocks))
	got.PrepareContacts(level, 0, len(got.Blocks))
	run.Check(compare("kept blocks", got, want))
}

// cloned returns a copy of a System that shares what stages do not write.
func cloned(s *rigid.System) *rigid.System {
	wrap := &heap{System: *s}
	for _, c := range wrap.columns() {
		*c = slices.Clone(*c)
	}
	r := wrap.System
	r.States, r.Contacts, r.Hits = slices.Clone(s.States), slices.Clone(s.Contacts), slices.Clone(s.Hits)
	r.Manifolds, r.Bases, r.BaseMarks = slices.Clone(s.Manifolds), slices.Clone(s.Bases), slices.Clone(s.BaseMarks)
	r.Blocks, r.Colours = nil, graph.Colours{}
	return &r
}

// Scenes say the same bits after many steps on every level.
func TestParityScenes(t *testing.T) {
	for _, level := range native.Levels() {
		want, got := heapPyramid(8), heapPyramid(8)
		for i := range want.half {
			for _, s := range []*heap{want, got} {
				s.Bodies.VX[i] = float32(i%5) * 0.5 * min(1, 1000*s.Bodies.InvMass[i])
				s.Materials.Restitution[i], s.Materials.RollingResistance[i] = float32(i%3)*0.3, float32(i%4)*0.01
				s.Materials.TangentSpeed[i] = float32(i % 2)
			}
		}
		for step := range 60 {
			want.advance(native.Go)
			got.advance(level)
			if err := compare(fmt.Sprint("step ", step), &got.System, &want.System); err != nil {
				t.Fatalf("level %s: %v", level, err)
			}
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, level := range native.Levels() {
		s := heapPyramid(6)
		s.collide()
		if n := testing.AllocsPerRun(10, func() { s.Step(level, dt) }); n != 0 {
			t.Errorf("level %s: %g allocations", level, n)
		}
	}
}

func TestSystemMisuse(t *testing.T) {
	expectPanic := func(want string, f func()) {
		t.Helper()
		defer func() {
			t.Helper()
			if got := recover(); got != want {
				t.Errorf("panic %v, want %q", got, want)
			}
		}()
		f()
	}
	expectPanic("rigid: System: columns of bodies differ in length", func() {
		s := heapPyramid(2)
		s.Angle = s.Angle[1:]
		s.BuildConstraints(dt)
	})
	expectPanic("rigid: System: columns of shapes differ in length", func() {
		s := heapPyramid(2)
		s.Materials.Friction = nil
		s.BuildConstraints(dt)
	})
	expectPanic("rigid: System: Contacts, Manifolds, Hits, Bases and BaseMarks differ in length", func() {
		s := heapPyramid(2)
		s.Hits = make([]rigid.Hit, 1)
		s.BuildConstraints(dt)
	})
	expectPanic("rigid: Angles: cos, sin and out differ in length", func() { rigid.Angles(native.Auto, nil, nil, make([]float32, 1)) })
	expectPanic("rigid: the level cannot run here; see native.Resolve", func() { heapPyramid(1).LoadStates(native.Level(99), 0, 1) })
}
