package physics3_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// heaps is a world of small heaps, beside each other and on platforms that move, with bodies of all kinds in the order of the heaps, or of
// the layers of all heaps.
func heaps(t testing.TB, c physics3.Config, byLayers bool) *physics3.World {
	const sides, layers, most = 6, 4, 34 // of the widest one
	c.Capacity = sides*sides*layers + most + 10
	w := newWorld(t, c)
	r := rand.New(rand.NewPCG(3, 4))
	platform := bodyAt(t, w, physics3.KinematicBody, 0, 0.4, 0)
	box(t, w, platform, plain, 3, 0.2, 3)
	no(t, w.SetVelocity(platform, vec{0.5, 0.1, 0}, vec{}))
	last := map[int]physics3.Body{}
	place := func(heap, layer int) {
		d := dynamicAt(3*float32(heap%sides)-4+0.1*r.Float32(), 1.2+1.1*float32(layer), 3*float32(heap/sides)-4)
		d.LinearVelocity = vec{r.Float32() - 0.5, -2 * r.Float32(), r.Float32() - 0.5}
		d.LockX, d.LockRotationX = heap%7 == 0, heap%7 == 0
		s := plain
		if heap%3 == 1 {
			s.Restitution = 0.3 * float32(layer%3)
		}
		if heap%4 == 1 {
			s.RollingResistance = 0.02 * float32(layer%2)
		}
		b := bodyOf(t, w, d)
		if (heap+layer)%3 == 0 {
			sphere(t, w, b, s, 0.5)
		} else {
			box(t, w, b, s, 0.5, 0.5, 0.5)
		}
		under, has := last[heap]
		switch {
		case heap%5 == 2 && has:
			joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(under, b, vec{0, 0.5, 0}, vec{0, -0.6, 0}), EnableConeLimit: true, ConeAngle: 0.3})
		case heap%5 == 3 && has:
			joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(under, b, vec{0, 0.5, 0}, vec{0, -0.6, 0})})
		case heap%5 == 4 && !has:
			joined(t, w, &physics3.DistanceJointDef{JointDef: commonDef(platform, b, vec{}, vec{}), Length: 3, EnableSpring: true, Hertz: 2})
		}
		last[heap] = b
	}
	for k := range sides * sides * layers {
		if byLayers {
			place(k%(sides*sides), k/(sides*sides))
		} else {
			place(k/layers, k%layers)
		}
	}
	plate := bodyAt(t, w, physics3.DynamicBody, 20, 1.2, 0) // of more contacts than there are colours
	box(t, w, plate, plain, 4, 0.2, 4)
	for k := range most {
		sphere(t, w, bodyAt(t, w, physics3.DynamicBody, 17+float32(k%6), 1.7, -3+float32(k/6)), plain, 0.3)
	}
	return w
}

// Groups of islands change no bit of a step, however small they are, on any level, with any number of workers.
func TestGroupsChangeNothing(t *testing.T) {
	ticks := 45
	if testing.Short() {
		ticks = 25
		if paritytest.Instrumented {
			ticks = 10
		}
	}
	for _, byLayers := range []bool{false, true} {
		for _, sleepless := range []bool{false, true} {
			base := heaps(t, physics3.Config{DisableSleep: sleepless}, byLayers)
			var worlds []*physics3.World
			for i, level := range native.Levels() {
				for workers := 1; workers <= 8; workers += 2 + i%2 {
					w := heaps(t, physics3.Config{DisableSleep: sleepless, Level: level, Workers: workers}, byLayers)
					worlds = append(worlds, w.SetGroupBytes(3000+4000*len(worlds)))
				}
			}
			groups := 0
			for tick := range ticks {
				steps(t, base, 1)
				if base.Groups() > 0 {
					t.Fatal("a small world has groups")
				}
				for i, w := range worlds {
					steps(t, w, 1)
					groups += w.Groups()
					sameState(t, fmt.Sprintf("by layers %v, without sleep %v, tick %d, world %d", byLayers, sleepless, tick, i), base, w)
				}
			}
			if groups < 3*len(worlds)*ticks {
				t.Errorf("%d groups", groups)
			}
			sound(t, "heaps", base)
		}
	}
}

// A world of many stacks has groups on its own, and steps of it allocate nothing.
func TestManyStacksHaveGroups(t *testing.T) {
	const stacks, height = 500, 4
	for _, workers := range []int{1, 3} {
		w := newWorld(t, physics3.Config{Capacity: stacks*height + 1, DisableSleep: true, Workers: workers})
		for k := range stacks * height {
			addBox(t, w, dynamicAt(3*float32(k/height%25)-37, 0.5+float32(k%height), 3*float32(k/height/25)-30), vec{0.5, 0.5, 0.5})
		}
		steps(t, w, 5)
		if n := w.Groups(); n < 2 {
			t.Errorf("%d workers: %d groups", workers, n)
		}
		if n := testing.AllocsPerRun(10, func() { steps(t, w, 1) }); n != 0 {
			t.Errorf("%d workers: %g allocations", workers, n)
		}
	}
}
