package physics_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// sameFor runs a scene on every level with several numbers of workers, and restores it in the middle.
func sameFor(t *testing.T, ticks int, c physics.Config, lay func(r fixture), stir func(r fixture, tick int)) {
	t.Helper()
	var want []uint64
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 3} {
			c.Level, c.Workers = level, workers
			r := fixture{t, newWorld(t, c)}
			lay(r)
			for tick := range ticks {
				if workers == 3 && tick%7 == 5 {
					data := must[[]byte](t)(r.w.Snapshot(nil))
					r.w = newWorld(t, c)
					r.no(r.w.Restore(data))
					if again := must[[]byte](t)(r.w.Snapshot(nil)); !bytes.Equal(again, data) {
						t.Fatalf("tick %d: another snapshot", tick)
					}
				}
				if stir != nil {
					stir(r, tick)
				}
				r.no(r.w.Step(dt))
				sound(t, r.w, tick)
				if h := r.w.Hash(); len(want) <= tick {
					want = append(want, h)
				} else if want[tick] != h {
					t.Fatalf("level %v, %d workers: tick %d differs", level, workers, tick)
				}
			}
		}
	}
}

// sound fails for values that are out of range.
func sound(t testing.TB, w *physics.World, tick int) {
	t.Helper()
	names, columns := floatColumns(w.Columns())
	for k, column := range columns {
		for i, v := range column[:w.Rows()] {
			if !(v < 0x1p63 && v > -0x1p63) {
				t.Fatalf("tick %d: %s of body %d is %v", tick, names[k], i, v)
			}
		}
	}
}

// Two thousand joints hold one body: most of them find no colour.
func TestManyJointsOnOneBody(t *testing.T) {
	const n = 2000
	lay := func(r fixture) {
		hub := r.dynamic(0, 0)
		r.circle(hub, plain, 2)
		for i := range n {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / n)
			b := r.dynamic(float32(300*cos), float32(300*sin))
			r.circle(b, plain, 0.4)
			d := physics.DefaultDistanceJointDef()
			d.BodyA, d.BodyB, d.Length = hub, b, 300
			if i%2 == 0 {
				d.EnableSpring, d.Hertz, d.Damping = true, 2, 0.5
			}
			if i%50 == 0 {
				d.BreakForce = 10
			}
			r.join(r.w.CreateDistanceJoint(d))
		}
	}
	sameFor(t, 12, physics.Config{Capacity: n + 1, Gravity: [2]float32{0, -10}}, lay, func(r fixture, tick int) {
		if tick == 4 {
			b, _ := r.w.BodyAt(7)
			r.no(r.w.SetTransform(b, [2]float32{5, 5}, 1))
		}
		if tick == 9 {
			b, _ := r.w.BodyAt(0)
			r.no(r.w.DestroyBody(b))
			if r.w.JointCount() != 0 {
				t.Fatalf("%d joints are left", r.w.JointCount())
			}
		}
	})
}

// A chain of a thousand points carries three hundred bodies, until it is destroyed.
func TestLongChainUnderMany(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	lay := func(r fixture) {
		d := physics.ChainDef{Shape: plain}
		for i := range 1000 {
			d.Points = append(d.Points, [2]float32{250 - float32(i)/2, float32(math.Sin(float64(i) / 5))})
		}
		r.chain(r.body(physics.StaticBody, 0, 0), d)
		for i := range 300 {
			b := r.dynamic(float32(i)-150, 2.2, sleepy)
			switch i % 3 {
			case 0:
				r.circle(b, plain, 0.4)
			case 1:
				r.box(b, plain, 0.4, 0.3)
			default:
				r.capsule(b, plain, -0.2, 0, 0.2, 0, 0.3)
			}
		}
	}
	sameFor(t, 60, physics.Config{Capacity: 301, Gravity: [2]float32{0, -10}}, lay, func(r fixture, tick int) {
		if tick == 50 {
			b, _ := r.w.BodyAt(0)
			r.no(r.w.DestroyBody(b))
		}
	})
}

// Islands merge and split while commands destroy their bodies.
func TestIslandsWhoseMembersGo(t *testing.T) {
	lay := func(r fixture) {
		r.box(r.body(physics.StaticBody, 0, -1), plain, 60, 1)
		for i := range 20 {
			for k := range 4 {
				r.box(r.dynamic(float32(i)*1.02-10, 0.5+float32(k), sleepy), plain, 0.5, 0.5)
			}
		}
	}
	sameFor(t, 200, physics.Config{Capacity: 200, Gravity: [2]float32{0, -10}}, lay, func(r fixture, tick int) {
		if tick < 60 || tick%3 != 0 {
			return
		}
		c := r.w.NewCommands()
		b, ok := r.w.BodyAt(1 + tick*7%(r.w.Rows()-1))
		if !ok {
			return
		}
		switch tick % 4 {
		case 0:
			c.ApplyLinearImpulseToCenter(b, [2]float32{2, 1})
			c.DestroyBody(b)
		case 1:
			c.ApplyLinearImpulseToCenter(b, [2]float32{-3, 1})
		case 2:
			d := physics.DefaultRevoluteJointDef()
			other, ok := r.w.BodyAt(1 + tick*5%(r.w.Rows()-1))
			if !ok || other == b {
				return
			}
			d.BodyA, d.BodyB, d.BreakForce = b, other, 500
			c.CreateRevoluteJoint(d)
			c.SetVelocity(other, [2]float32{1, 4}, 1)
			c.DestroyBody(other)
		default:
			c.Disable(b)
		}
		r.no(r.w.Apply(c))
	})
}

// A list that wakes a sleeping body and destroys it wakes the bodies on top of it.
func TestSleeperThatIsWokenAndDestroyed(t *testing.T) {
	for _, kick := range []bool{true, false} {
		b := newBedroom(t, physics.Config{})
		b.asleep()
		c := b.w.NewCommands()
		if kick {
			c.ApplyLinearImpulseToCenter(b.stacks[0][0], [2]float32{0, 3})
		}
		c.DestroyBody(b.stacks[0][0])
		b.no(b.w.Step(dt, c))
		if b.w.Valid(b.stacks[0][0]) || !b.w.Awake(b.stacks[0][1]) || !b.w.Awake(b.stacks[0][2]) {
			t.Errorf("kicked %v: the rest of the stack sleeps in the air", kick)
		}
		if b.w.Awake(b.stacks[1][0]) {
			t.Errorf("kicked %v: the other stack is awake", kick)
		}
		for _, i := range b.w.Events().Woke {
			if _, ok := b.w.BodyAt(int(i)); !ok {
				t.Errorf("kicked %v: %d woke, and is gone", kick, i)
			}
		}
	}
}

// Creating or destroying a joint of a sleeping body wakes it.
func TestJointsWakeSleepers(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	b.asleep()
	d := physics.DefaultRevoluteJointDef()
	d.BodyA, d.BodyB = b.stacks[0][2], b.stacks[1][2]
	a := must[[2]float32](t)(b.w.Position(d.BodyA))
	p := must[[2]float32](t)(b.w.Position(d.BodyB))
	d.FrameA.Point, d.FrameB.Point = [2]float32{(p[0] - a[0]) / 2, 0}, [2]float32{(a[0] - p[0]) / 2, 0}
	j := b.join(b.w.CreateRevoluteJoint(d))
	b.steps(1)
	if !b.isAwake(0) || !b.isAwake(1) {
		t.Fatal("a new joint wakes nobody")
	}
	b.asleep()
	b.no(b.w.DestroyJoint(j))
	b.steps(1)
	if !b.isAwake(0) || !b.isAwake(1) {
		t.Fatal("a joint that goes wakes nobody")
	}
}
