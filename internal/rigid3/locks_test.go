package rigid3

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// A stack rests on a slab that locks hold in the air, light as it is, as on a floor.
func TestStackOnLockedBody(t *testing.T) {
	for _, locks := range []uint8{LockY | lockRotation, LockY | LockRotationX | LockRotationZ, lockTranslation | lockRotation} {
		s := newScene()
		slab := s.Add(box(2, .1, 2), 1, material, *at(.5, 3, 0))
		s.Bodies.Locks[slab] = locks
		for k := range 4 {
			s.Add(box(.5, .5, .5), 1000, material, *at(.5, 3.6+float32(k), 0))
		}
		for range 60 {
			s.step()
			if y, v, w := s.Bodies.Poses[slab].P.Y, vecAt(&s.Bodies.V, slab), vecAt(&s.Bodies.W, slab); y != 3 || v.unlocked(uint32(locks)) != v || w.unlocked(uint32(locks/LockRotationX)) != w {
				t.Fatalf("locks %b: the slab is at %g, with %v and %v", locks, y, v, w)
			}
		}
		s.run(3)
		top := s.Bodies.Poses[4].P.Y
		for i := range s.States {
			if v, w := vecAt(&s.Bodies.V, i).length(), vecAt(&s.Bodies.W, i).length(); v > 1e-3 || w > 1e-3 {
				t.Errorf("locks %b: body %d has speed %g and turns with %g", locks, i, v, w)
			}
		}
		if top < 6.6-4*LinearSlop || top > 6.6+1e-3 {
			t.Errorf("locks %b: the top is at %g, want 6.6", locks, top)
		}
	}
}

// Bodies that can only move in a plane, and turn in it or not, stay there and have the friction of all others.
func TestBodiesInPlane(t *testing.T) {
	for _, c := range []struct {
		heading float64
		locks   uint8
	}{{0, LockZ | LockRotationX | LockRotationY}, {0, LockZ | lockRotation}, {0, LockX | lockRotation}, {33, LockZ | lockRotation}, {33, 0}} {
		s := newScene()
		sin, cos := math.Sincos(c.heading * math.Pi / 360)
		q := Quat{0, float32(sin), 0, float32(cos)}
		s.Add(box(50, 1, 50), 0, material, Pose{Vec{0, -1, 0}, q})
		b := s.Add(box(.5, .5, .5), 1000, material, Pose{Vec{.25, .5, .75}, q})
		s.Bodies.Locks[b] = c.locks
		s.run(.5)
		v := Vec{5, 0, 5}.unlocked(uint32(c.locks))
		speed := float64(v.length())
		setVec(&s.Bodies.V, b, v)
		s.run(.5)
		p := s.Bodies.Poses[b].P
		if c.locks&LockZ != 0 && p.Z != .75 || c.locks&LockX != 0 && p.X != .25 {
			t.Errorf("%+v: at %v", c, p)
		}
		if got, want := float64(vecAt(&s.Bodies.V, b).length()), speed-.5*.6*9.81; math.Abs(got-want) > .02 {
			t.Errorf("%+v: speed %.3f, want %.3f", c, got, want)
		}
	}
}

// A body that is hinged about one axis by locks turns about it with the moment that it has there.
func TestLockedRotation(t *testing.T) {
	seed := paritytest.Seed()
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 100 {
		m := randomQuat(rng).Matrix()
		d := Vec{.1 + rng.Float32(), .1 + rng.Float32(), .1 + rng.Float32()}
		inertia, inverse := m.RotateDiagonal(Vec{1 / d.X, 1 / d.Y, 1 / d.Z}), m.RotateDiagonal(d)
		for axes := range uint32(8) {
			got := inverse
			got.lock(axes)
			for k := range 3 {
				// Of a velocity w along the free axes, the inertia makes a momentum, of which got makes w again.
				var w Vec
				*[]*float32{&w.X, &w.Y, &w.Z}[k] = 1
				w = w.unlocked(axes)
				if back := got.Mul(inertia.Mul(w).unlocked(axes)); back.Sub(w).length() > 1e-4 || back.unlocked(axes) != back {
					t.Errorf("seed %d, axes %b: %v became %v", seed, axes, w, back)
				}
				if pushed := got.Mul(Vec{1, 1, 1}); pushed.unlocked(axes) != pushed {
					t.Errorf("seed %d, axes %b: a torque makes %v", seed, axes, pushed)
				}
			}
		}
	}
	s := newScene()
	b := s.Add(box(.2, .5, .9), 12, material, Pose{Q: randomQuat(rng)})
	s.Bodies.Locks[b] = lockTranslation | LockRotationX | LockRotationY
	m := s.Bodies.Poses[b].Q.Mul(s.Bodies.Principal[b]).Matrix()
	inv := vecAt(&s.Bodies.InvInertia, b)
	inertia := m.RotateDiagonal(Vec{1 / inv.X, 1 / inv.Y, 1 / inv.Z})
	setVec(&s.Bodies.Torque, b, Vec{3, 2, 1})
	s.step()
	if got, want := vecAt(&s.Bodies.W, b), dt/inertia.ZZ; got.X != 0 || got.Y != 0 || abs(got.Z/want-1) > 1e-4 || s.Bodies.Poses[b].P != (Vec{}) {
		t.Errorf("seed %d: w is %v, want %g about z", seed, got, want)
	}
}

// A body that is not a number keeps that to itself.
func TestNaNStays(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), -math.MaxFloat32} {
		for _, angular := range []bool{false, true} {
			s := newScene()
			s.floor(material)
			m := Material{Friction: .6, Restitution: .5, RollingResistance: .1, TwistResistance: .1}
			for k := range 3 {
				s.Add(box(.5, .5, .5), 1000, m, *at(0, .5+float32(k), 0))
			}
			s.step()
			s.collide()
			c := &s.Bodies.V
			if angular {
				c = &s.Bodies.W
			}
			setVec(c, 2, Vec{bad, 1, bad})
			s.Step(dt)
			for _, i := range []int{1, 3} {
				v, w := vecAt(&s.Bodies.V, i), vecAt(&s.Bodies.W, i)
				if x := v.Dot(v) + w.Dot(w) + s.Bodies.Poses[i].P.length(); x-x != 0 {
					t.Errorf("%g: body %d has %v and %v", bad, i, v, w)
				}
			}
		}
	}
}

// A fall from a height hits at its speed, with an impulse that stops it; what rests is hit at no speed.
func TestHits(t *testing.T) {
	s := newScene()
	s.floor(material)
	s.Add(box(.5, .5, .5), 10, material, *at(0, 2.5, 0))
	hits := 0
	for range 240 {
		before := vecAt(&s.Bodies.V, 1).Y
		s.step()
		if len(s.Hits) == 0 || s.Hits[0].Impulse == 0 || before > -1 {
			continue
		}
		hits++
		if h := s.Hits[0]; abs(h.Speed+before) > 1e-3 || h.Impulse < -10*before || h.Impulse > -10*before+3 {
			t.Errorf("speed %g before, %+v", before, h)
		}
	}
	if h := s.Hits[0]; hits != 1 || h.Speed > 1e-3 || abs(h.Impulse-10*9.81*dt) > .1 {
		t.Errorf("%d hits, at rest %+v", hits, h)
	}
}
