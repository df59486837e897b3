package scenes_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

// limits are what a scene must look like at its end, if the solver works at all. They leave room for another solver.
type limits struct {
	name     string
	n, ticks int
	contacts int        // at least, between boxes of bodies
	bodies   int        // that are dynamic, awake as all others that move
	height   [2]float64 // of the bodies on average, m
	energy   [2]float64 // of their motion along a line, J/kg on average
	reach    [2]float64 // |x| and |y| that no body exceeds, m
	rotor    int        // kinematic bodies, which are awake as well
}

var crowded = []limits{
	{name: "rain", n: 60, ticks: 520, contacts: 400, bodies: 660, height: [2]float64{12, 14}, energy: [2]float64{0.7, 5}, reach: [2]float64{7.7, 29}},
	{name: "spinner", n: 600, ticks: 300, contacts: 1000, bodies: 600, height: [2]float64{-8, -2}, energy: [2]float64{0.5, 25}, reach: [2]float64{12.3, 12.3}, rotor: 1},
	{name: "washer", n: 600, ticks: 300, contacts: 900, bodies: 600, height: [2]float64{-7, 2}, energy: [2]float64{1, 30}, reach: [2]float64{12.4, 12.4}, rotor: 1},
	{name: "pile", n: 500, ticks: 300, contacts: 800, bodies: 500, height: [2]float64{2.2, 2.9}, energy: [2]float64{0, 0.2}, reach: [2]float64{16.9, 7}},
	{name: "compounds", n: 160, ticks: 300, contacts: 500, bodies: 160, height: [2]float64{2.5, 8}, energy: [2]float64{0, 8}, reach: [2]float64{9, 18}},
	{name: "junkyard", n: 240, ticks: 640, contacts: 700, bodies: 240, height: [2]float64{2.2, 3.5}, energy: [2]float64{0.01, 3}, reach: [2]float64{22.3, 10}, rotor: 1},
}

// At the end of a crowded scene the bodies are where they should be, touch each other and move: its steps have work to do.
func TestCrowdedScenes(t *testing.T) {
	for _, want := range crowded {
		s, err := scenes.New(want.name, want.n, 1, physics.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for range want.ticks {
			if err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
		want.check(t, s)
	}
}

func (want *limits) check(t *testing.T, s *scenes.Scene) {
	t.Helper()
	c := s.World.Columns()
	height, energy := 0., 0.
	for _, b := range s.Bodies {
		i := b.Index()
		x, y := float64(c.X[i]), float64(c.Y[i])
		if !(math.Abs(x) <= want.reach[0] && math.Abs(y) <= want.reach[1]) || s.World.Disabled(b) {
			t.Errorf("%s: body %d is at (%g, %g) or disabled", want.name, i, x, y)
		}
		height += y / float64(len(s.Bodies))
		energy += float64(c.VX[i]*c.VX[i]+c.VY[i]*c.VY[i]) / 2 / float64(len(s.Bodies))
	}
	if height < want.height[0] || height > want.height[1] || energy < want.energy[0] || energy > want.energy[1] {
		t.Errorf("%s: a mean height of %g m, want %v, and energy of %g J/kg, want %v", want.name, height, want.height, energy, want.energy)
	}
	contacts, awake := s.World.ContactCount(), s.World.AwakeCount()
	if contacts < want.contacts || s.World.OmittedContacts() != 0 || len(s.Bodies) != want.bodies || awake != want.bodies+want.rotor {
		t.Errorf("%s: %d contacts, %d omitted, %d bodies, of all bodies %d awake", want.name, contacts, s.World.OmittedContacts(), len(s.Bodies), awake)
	}
}

// In the rain each doll exists once from its first fall on, and 256 steps later it is another one.
func TestRain(t *testing.T) {
	const n, limbs, period = 7, 11, 256
	s, err := scenes.New("rain", n, 1, physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var last []physics.Body
	replaced := 0
	for tick := range 2*period + 40 {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		fallen := (min(tick+1, period)*n + period - 1) / period // doll i falls when i/n of the period are over
		if len(s.Bodies) != fallen*limbs || s.Joints != fallen*(limbs-1) || s.World.JointCount() != s.Joints {
			t.Fatalf("tick %d: %d bodies, %d joints, %d of them alive", tick, len(s.Bodies), s.Joints, s.World.JointCount())
		}
		for i, b := range s.Bodies {
			if !s.World.Valid(b) {
				t.Fatalf("tick %d: body %d is dead", tick, i)
			}
			if i < len(last) && last[i] != b {
				replaced++
			}
		}
		last = append(last[:0], s.Bodies...)
	}
	if falls := n + (40*n+period-1)/period; replaced != falls*limbs {
		t.Errorf("%d bodies were replaced, want %d dolls of %d", replaced, falls, limbs)
	}
}

// The dolls of a Sim are destroyed with their entities.
func TestRainOfASim(t *testing.T) {
	sim, err := scenes.NewSim("rain", 3, evertick.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if want := 3*11 + 1; sim.Physics.Len() != want || sim.World.Len() != want {
		t.Errorf("%d bodies and %d entities, want %d", sim.Physics.Len(), sim.World.Len(), want)
	}
}
