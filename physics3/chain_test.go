package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// energyOf returns the energy of bodies without the rotation of links about their own axes.
func energyOf(t testing.TB, w *physics3.World, bodies []physics3.Body) (sum float64) {
	t.Helper()
	for _, b := range bodies {
		v, a := velocityOf(t, w, b)
		m := must[physics3.MassData](t)(w.MassData(b))
		sum += float64(m.Mass)*(dot(v, v)/2+9.81*positionOf(t, w, b)[1]) + float64(max(m.Inertia[0], m.Inertia[1]))*dot(a, a)/2
	}
	return sum
}

// A chain of ten links holds a load of up to ten thousand links: hanging, released from its side, and dropped from above, so that it jerks.
func TestChainsHoldHeavyLoads(t *testing.T) {
	for _, c := range []struct {
		load  float32
		along vec
		open  float64 // the most at a joint, metres
	}{
		{1000, vec{0, -1, 0}, 0.001}, {1000, vec{1, 0, 0}, 0.002}, {1000, vec{0.6, 0.8, 0}, 0.5},
		{10000, vec{0, -1, 0}, 0.003}, {10000, vec{1, 0, 0}, 0.01}, {10000, vec{0.6, 0.8, 0}, 0.5},
	} {
		what := fmt.Sprintf("%v kg, along %v", c.load, c.along)
		w, bodies, joints := heavyChain(t, physics3.Config{DisableSleep: c.along[1] >= 0}, c.along, c.load)
		ticks := 1200
		if testing.Short() {
			ticks = 300
		}
		first, high, open := energyOf(t, w, bodies), 0., 0.
		for range ticks {
			steps(t, w, 1)
			high = max(high, energyOf(t, w, bodies)-first)
			for _, j := range joints {
				open = max(open, float64(stateOf(t, w, j).Length))
			}
		}
		checkAllFinite(t, w)
		t.Logf("%s: a joint opens by %.2f mm, %.3f %% more energy than at first", what, 1000*open, 100*high/(9.81*5.5*float64(c.load)))
		if open > c.open || high > 0.01*9.81*5.5*float64(c.load) {
			t.Errorf("%s: a joint opens by %v m, %v J more than at first", what, open, high)
		}
		if c.along[1] < 0 {
			if w.AwakeCount() != 0 {
				t.Errorf("%s: %d awake", what, w.AwakeCount())
			}
			below := float64(c.load)
			for i := len(joints) - 1; i >= 0; i-- {
				near(t, fmt.Sprintf("%s: the force of joint %d", what, i), float64(stateOf(t, w, joints[i]).Force[1]), 9.81*below, 0.01*9.81*below)
				below++
			}
		}
	}
}

// chains is a world with chains of all kinds of joints that carry heavy loads, and a heap beside them.
func chains(t testing.TB, c physics3.Config, backward bool) (w *physics3.World, bodies []physics3.Body) {
	t.Helper()
	c.Capacity, c.Gravity = 100, vec{0, -9.81, 0}
	w = newWorld(t, c)
	var defs []physics3.AnyJointDef
	for k := range 5 {
		x := float32(4 * k)
		last, at := bodyAt(t, w, physics3.StaticBody, x, 8, 0), vec{}
		if k == 4 {
			last = addSphereOf(t, w, dynamicAt(x, 8, 0), 0.4, plain) // a light body that another one carries
		}
		for i := range 6 {
			heavy := plain
			heavy.Density = 2
			half := vec{0.15, 0.03, 0.03}
			if i == 5 {
				heavy.Density, half = 500*float32(k+1), vec{0.25, 0.25, 0.25}
			}
			b := addBoxOf(t, w, dynamicAt(x+0.2+0.4*float32(i), 8, 0), half, heavy)
			common := commonDef(last, b, at, vec{-0.2, 0, 0})
			bodies, last, at = append(bodies, b), b, vec{0.2, 0, 0}
			kinds := []physics3.AnyJointDef{
				&physics3.SphericalJointDef{JointDef: common}, &physics3.RevoluteJointDef{JointDef: rotatedFrames(common, alongZ)},
				&physics3.WeldJointDef{JointDef: common}, &physics3.SphericalJointDef{JointDef: common, EnableConeLimit: true, ConeAngle: 0.5},
				&physics3.RevoluteJointDef{JointDef: rotatedFrames(common, alongZ), EnableMotor: true, MotorSpeed: 1, MaxMotorTorque: 3},
			}
			defs = append(defs, kinds[(k+i/2)%len(kinds)])
		}
		if k == 2 {
			loop := commonDef(bodies[len(bodies)-1], bodies[len(bodies)-3], vec{0.3, 0, 0}, vec{0.5, 0, 0})
			defs = append(defs, &physics3.DistanceJointDef{JointDef: loop, Length: 1, EnableSpring: true, Hertz: 2})
			loop.FrameA.Point, loop.FrameB.Point = vec{}, vec{0.8, 0, 0}
			defs = append(defs, &physics3.SphericalJointDef{JointDef: loop})
		}
	}
	for i := range defs {
		if backward {
			i = len(defs) - 1 - i
		}
		joined(t, w, defs[i])
	}
	for k := range 12 {
		addBox(t, w, dynamicAt(float32(k%4)*2, 0.6+float32(k/4), 0.3*float32(k%3)), vec{0.3, 0.3, 0.3})
	}
	return w, bodies
}

// A rope of rods gives way under a load as the stiffness of joints says, since trees solve no distance joints.
func TestRopesOfRodsGiveWay(t *testing.T) {
	for _, load := range []float32{100, 1000} {
		w := weightlessWorld(t, physics3.Config{Gravity: vec{0, -9.81, 0}, DisableSleep: true})
		last := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
		var joints []physics3.Joint
		for i := range 10 {
			radius, mass := float32(0.05), float32(1)
			if i == 9 {
				radius, mass = 0.5, load
			}
			b := addSphereOf(t, w, dynamicAt(0, -0.5*float32(i+1), 0), radius, density(mass/(4./3*math.Pi*radius*radius*radius)))
			joints = append(joints, joined(t, w, &physics3.DistanceJointDef{JointDef: commonDef(last, b, vec{}, vec{}), Length: 0.5}))
			last = b
		}
		steps(t, w, 900)
		// The reduced mass of two links is half of that of one, and the frequency is that of JointHertz.
		const omega = 2 * math.Pi * 60
		want := 9.81 * float64(load) / (0.5 * omega * omega)
		for _, j := range joints[2:8] {
			near(t, "a rod is longer by", float64(stateOf(t, w, j).Length)-0.5, want, 0.12*want)
		}
	}
}

// Chains with heavy loads have the same bits on all levels, with any number of workers and groups, and after a restore. The order in which
// the joints were made does not matter.
func TestChainsAreTheSameEverywhere(t *testing.T) {
	ticks := 180
	if testing.Short() {
		ticks = 40
	}
	base, bodies := chains(t, physics3.Config{}, false)
	other, _ := chains(t, physics3.Config{}, true)
	var worlds []*physics3.World
	for i, level := range native.Levels() {
		w, _ := chains(t, physics3.Config{Level: level, Workers: 1 + i%2}, false)
		worlds = append(worlds, w, restored(t, snapshotOf(t, w), physics3.Config{Capacity: 100, Level: level, Workers: 1 + (i+1)%3}).SetGroupBytes(20000))
	}
	groups := 0
	for tick := range ticks {
		steps(t, base, 1)
		for i, w := range worlds {
			steps(t, w, 1)
			groups += w.Groups()
			if w.Hash() != base.Hash() {
				t.Fatalf("tick %d, world %d: the hash differs", tick, i)
			}
		}
		steps(t, other, 1)
		for i, b := range bodies {
			if positionOf(t, base, b) != positionOf(t, other, b) {
				t.Fatalf("tick %d, body %d: the order of the joints matters", tick, i)
			}
		}
		if tick%20 == 10 {
			i := tick / 20 % len(worlds)
			worlds[i] = restored(t, snapshotOf(t, worlds[i]), physics3.Config{Capacity: 100})
		}
	}
	if groups == 0 {
		t.Error("no groups")
	}
	checkAllFinite(t, base)
}

func snapshotOf(t testing.TB, w *physics3.World) []byte {
	t.Helper()
	return must[[]byte](t)(w.Snapshot(nil))
}

// A chain breaks at the load that its joints bear, and not before.
func TestHeavyChainBreaks(t *testing.T) {
	for _, share := range []float64{0.99, 1.02} {
		w, _, joints := heavyChain(t, physics3.Config{DisableSleep: true}, vec{0, -1, 0}, 1000)
		steps(t, w, 120)
		def := physics3.SphericalJointDef{}
		no(t, w.JointDef(joints[0], &def))
		def.BreakForce = float32(share * 9.81 * 1010)
		no(t, w.SetJointDef(joints[0], &def))
		steps(t, w, 60)
		if broken := !w.ValidJoint(joints[0]); broken != (share < 1) {
			t.Errorf("at %v of the load: broken %v", share, broken)
		}
	}
}

// Joints that contradict each other stay bounded: a chain with a load between two hooks that are too far apart.
func TestChainsThatCannotHold(t *testing.T) {
	w, bodies, _ := heavyChain(t, physics3.Config{DisableSleep: true}, vec{1, 0, 0}, 1000)
	hook := bodyAt(t, w, physics3.StaticBody, 8, 0, 0)
	joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(bodies[len(bodies)-1], hook, vec{}, vec{})})
	steps(t, w, 600)
	checkAllFinite(t, w)
	for i, b := range bodies {
		v, _ := velocityOf(t, w, b)
		if at := positionOf(t, w, b); length(v) > 1 || math.Abs(at[1]) > 1 || at[0] < 0 || at[0] > 8 {
			t.Errorf("body %d is at %v, with %v m/s", i, at, v)
		}
	}
}

// A step of chains allocates nothing.
func TestChainsAllocateNothing(t *testing.T) {
	w, _, _ := heavyChain(t, physics3.Config{DisableSleep: true}, vec{1, 0, 0}, 1000)
	steps(t, w, 10)
	if n := testing.AllocsPerRun(10, func() { steps(t, w, 1) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// BenchmarkHeavyChain measures a step of a chain that is solved directly, and of one that is not, by joint.
func BenchmarkHeavyChain(b *testing.B) {
	for _, load := range []float32{5, 1000} {
		b.Run(fmt.Sprintf("load=%v", load), func(b *testing.B) {
			w, _, joints := heavyChain(b, physics3.Config{DisableSleep: true}, vec{1, 0, 0}, load)
			for b.Loop() {
				steps(b, w, 1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(joints)), "ns/joint")
		})
	}
}
