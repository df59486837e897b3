package rigid3

import (
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// A step allocates nothing once it has seen as many contacts.
func TestStepAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, level := range native.Levels() {
		s := newScene()
		s.Level = level
		s.floor(material)
		for k := range 40 {
			s.Add(box(.5, .5, .5), 1000, material, *at(float32(k%8)*1.01, .5+float32(k/8), 0))
		}
		s.run(.1)
		s.collide()
		if n := testing.AllocsPerRun(10, func() { s.Step(dt) }); n != 0 {
			t.Errorf("level %s: %g allocations", level, n)
		}
	}
}

func TestSystemMisuse(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(s *scene)
	}{
		{"rigid3: System: columns of bodies differ in length", func(s *scene) { s.Bodies.V[1] = nil }},
		{"rigid3: System: columns of bodies differ in length", func(s *scene) { s.Bodies.InvMass = s.Bodies.InvMass[:1] }},
		{"rigid3: System: columns of bodies differ in length", func(s *scene) { s.Bodies.Locks = nil }},
		{"rigid3: System: BodyOf, Materials and Mixed do not agree", func(s *scene) { s.Materials = nil }},
		{"rigid3: System: Contacts, Manifolds and Hits differ in length", func(s *scene) { s.Hits = make([]Hit, 7) }},
		{"rigid3: the level cannot run here; see native.Resolve", func(s *scene) { s.Level = 99 }},
	} {
		s := newScene()
		s.floor(material)
		s.Add(box(.5, .5, .5), 1, material, *at(0, .5, 0))
		s.collide()
		c.spoil(s)
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %q", got, c.want)
				}
			}()
			s.Step(dt)
		}()
	}
}

// A world without bodies or contacts steps too.
func TestEmptySystem(t *testing.T) {
	for _, level := range native.Levels() {
		s := newScene()
		s.Level = level
		s.Step(dt)
		b := s.Add(box(.5, .5, .5), 1, material, *at(0, .5, 0))
		s.Step(dt)
		if v := vecAt(&s.Bodies.V, b); v.Y >= 0 {
			t.Errorf("level %s: a body in the air has %v", level, v)
		}
	}
}
