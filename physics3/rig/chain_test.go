package rig_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

// A chain that hangs between two points takes the form of a catenary's arc: as deep as its length says, and as high at both ends.
func TestChainHangs(t *testing.T) {
	w := newWorld(t, 0)
	ground, _ := w.BodyAt(0)
	chain, err := rig.NewChain(w, rig.ChainDef{From: [3]float32{-3, 5, 1}, To: [3]float32{3, 5, 1}, Links: 24, Radius: 0.08, BodyA: ground,
		Shape: physics3.DefaultShapeDef()})
	check(t, err)
	if len(chain.Bodies) != 24 || len(chain.Joints) != 25 || chain.Joints[24] != (physics3.Joint{}) {
		t.Fatalf("%d links, %d joints", len(chain.Bodies), len(chain.Joints))
	}
	for range 1200 {
		check(t, w.Step(dt))
	}
	for i, b := range chain.Bodies { // it hangs from its first end, on which all others lie straight below, or on the ground
		p := position(t, w, b)
		if want := 5 - 0.25*(float32(i)+0.5); want > 0.6 && math.Abs(float64(p[1]-want)) > 0.05 {
			t.Errorf("link %d is %v m high, not %v", i, p[1], want)
		}
	}
	for _, j := range chain.Joints[:24] {
		state, err := w.JointState(j)
		check(t, err)
		if state.Length > 0.01 {
			t.Errorf("links are %v m apart", state.Length)
		}
	}
}

// A rope that falls, held at one end, bends at its joints: less with springs, and hardly beyond MaxBend.
func TestRopeBends(t *testing.T) {
	bend := func(hertz, most float32) (bend float32) {
		w := newWorld(t, 0)
		ground, _ := w.BodyAt(0)
		rope, err := rig.NewChain(w, rig.ChainDef{From: [3]float32{0, 5, 0}, To: [3]float32{2, 5, 0}, Links: 5, Radius: 0.05, BodyA: ground,
			Shape: physics3.DefaultShapeDef(), BendHertz: hertz, BendDamping: 1, MaxBend: most})
		check(t, err)
		for range 300 {
			check(t, w.Step(dt))
			for _, j := range rope.Joints[1:5] {
				state, err := w.JointState(j)
				check(t, err)
				bend = max(bend, state.Cone)
			}
		}
		return bend
	}
	loose, stiff, limited := bend(0, 0), bend(20, 0), bend(0, 0.1)
	if loose < 1 || stiff > 0.3*loose {
		t.Errorf("a loose rope bends by %v rad, and a stiff one by %v", loose, stiff)
	}
	if limited < 0.09 || limited > 0.2 {
		t.Errorf("links bend by %v rad; the limit is 0.1, and the rope lashes", limited)
	}
}

// A bridge carries a load with little sag sideways, and breaks under one that is too much.
func TestBridgeCarriesAndBreaks(t *testing.T) {
	w := newWorld(t, 0)
	ground, _ := w.BodyAt(0)
	def := rig.BridgeDef{From: [3]float32{-5, 6, 0}, To: [3]float32{5, 6, 0}, Planks: 20, Width: 2, Thickness: 0.1, BodyA: ground, BodyB: ground,
		Shape: physics3.DefaultShapeDef(), Friction: 5}
	def.Shape.Density = 50
	bridge, err := rig.NewBridge(w, def)
	check(t, err)
	load := physics3.DefaultBodyDef()
	load.Type, load.Position = physics3.DynamicBody, [3]float32{0, 7, 0}
	box, err := w.CreateBody(load)
	check(t, err)
	shape := physics3.DefaultShapeDef()
	shape.Density = 100
	_, err = w.CreateBox(box, shape, physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}})
	check(t, err)
	for range 600 {
		check(t, w.Step(dt))
	}
	if p := position(t, w, box); p[1] < 4.5 || p[1] > 6.5 || math.Abs(float64(p[2])) > 0.1 {
		t.Errorf("the load is at %v", p)
	}
	for i, j := range bridge.Joints {
		state, err := w.JointState(j)
		check(t, err)
		if state.Length > 0.05 {
			t.Errorf("hinge %d is %v m apart", i, state.Length)
		}
	}
	check(t, bridge.Destroy(w))

	def.BreakForce = 2000
	_, err = rig.NewBridge(w, def)
	check(t, err)
	check(t, w.SetTransform(box, [3]float32{0, 7, 0}, [4]float32{0, 0, 0, 1}))
	check(t, w.SetVelocity(box, [3]float32{0, -20, 0}, [3]float32{}))
	broken := 0
	for range 120 {
		check(t, w.Step(dt))
		broken += len(w.Events().Broken)
	}
	if broken == 0 || position(t, w, box)[1] > 3 {
		t.Errorf("%d hinges broke, and the load is at %v", broken, position(t, w, box))
	}
}

func TestRowRefuses(t *testing.T) {
	w := newWorld(t, 0)
	up := [3]float32{0, 1, 0}
	nan := float32(math.NaN())
	for name, f := range map[string]func() error{
		"no length": func() error {
			_, err := rig.NewChain(w, rig.ChainDef{From: up, To: up, Links: 1, Radius: 1, Shape: physics3.DefaultShapeDef()})
			return err
		},
		"no links": func() error {
			_, err := rig.NewChain(w, rig.ChainDef{To: up, Radius: 1, Shape: physics3.DefaultShapeDef()})
			return err
		},
		"NaN": func() error {
			_, err := rig.NewChain(w, rig.ChainDef{To: [3]float32{nan}, Links: 1, Radius: 1, Shape: physics3.DefaultShapeDef()})
			return err
		},
		"no material": func() error {
			_, err := rig.NewChain(w, rig.ChainDef{To: up, Links: 3, Radius: 1, Shape: physics3.ShapeDef{Density: 1, Friction: -1}})
			return err
		},
		"spring": func() error {
			_, err := rig.NewChain(w, rig.ChainDef{To: up, Links: 3, Radius: 1, Shape: physics3.DefaultShapeDef(), BendHertz: 1, BendDamping: nan})
			return err
		},
		"upright": func() error {
			_, err := rig.NewBridge(w, rig.BridgeDef{To: up, Planks: 1, Width: 1, Thickness: 1, Shape: physics3.DefaultShapeDef()})
			return err
		},
		"no width": func() error {
			_, err := rig.NewBridge(w, rig.BridgeDef{To: [3]float32{1}, Planks: 1, Thickness: 1, Shape: physics3.DefaultShapeDef()})
			return err
		},
		"end": func() error {
			_, err := rig.NewChain(w, rig.ChainDef{To: up, Links: 1, Radius: 1, Shape: physics3.DefaultShapeDef(), BodyB: physics3.BodyOfBits(1 << 40)})
			return err
		},
	} {
		if err := f(); err == nil || w.Len() != 1 || w.JointCount() != 0 {
			t.Errorf("%s: %v; %d bodies, %d joints", name, err, w.Len(), w.JointCount())
		}
	}
}
