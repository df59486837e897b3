package box2d

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

func TestFreeFall(t *testing.T) {
	const g, v0 = -9.81, 3
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, g}})
	d := dynamic(2, 100)
	d.LinearVelocity = [2]float32{1, v0}
	body := addCircle(t, w, d, physics.DefaultShapeDef())
	d = dynamic(10, 100)
	d.GravityScale = 0
	floating := addCircle(t, w, d, physics.DefaultShapeDef())
	const n = 90
	step(t, w, n)

	// Velocities are advanced before positions: the sum of the steps is
	// v0·t + g·h²·n(n+1)/2, and the parabola is half a step of speed away.
	h := float64(dt)
	p := must[[2]float32](t)(w.Position(body))
	if want := 100 + v0*h*n + g*h*h*n*(n+1)/2; math.Abs(float64(p[1])-want) > 1e-4 {
		t.Errorf("fell to %v, the scheme gives %v", p[1], want)
	}
	parabola := 100 + v0*h*n + g*h*n*h*n/2
	if math.Abs(float64(p[1])-parabola) > math.Abs(g*h*n*h/2)+1e-4 {
		t.Errorf("fell to %v, the parabola to %v", p[1], parabola)
	}
	if want := 2 + h*n; math.Abs(float64(p[0])-want) > 1e-5 {
		t.Errorf("drifted to %v, want %v", p[0], want)
	}
	if p := must[[2]float32](t)(w.Position(floating)); p != [2]float32{10, 100} {
		t.Errorf("without gravity: moved to %v", p)
	}
}

func TestBounce(t *testing.T) {
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	addFloor(t, w)
	material := physics.DefaultShapeDef()
	material.Restitution = 0.8
	ball := addCircle(t, w, dynamic(0, 5.5), material)
	var down, up float32
	for range 120 {
		step(t, w, 1)
		v, _, _ := w.Velocity(ball)
		down = min(down, v[1])
		if v[1] > 0 {
			up = v[1]
			break
		}
	}
	if ratio := up / -down; ratio < 0.75 || ratio > 0.82 {
		t.Errorf("came with %v, left with %v: ratio %v", down, up, ratio)
	}
}

func TestMomentumIsConserved(t *testing.T) {
	w := newWorld(t, physics.Config{})
	var bodies []physics.Body
	for i := range 49 { // towards the middle, all of mass π/4 kg
		x, y := float32(i%7)*1.5-4.5, float32(i/7)*1.5-4.5
		d := dynamic(x, y)
		d.LinearVelocity = [2]float32{-x + float32(i%3), -y * 0.7}
		bodies = append(bodies, addCircle(t, w, d, physics.DefaultShapeDef()))
	}
	sum := func() (x, y, speed float64) {
		for _, b := range bodies {
			v, _, _ := w.Velocity(b)
			x += float64(v[0])
			y += float64(v[1])
			speed += math.Hypot(float64(v[0]), float64(v[1]))
		}
		return x, y, speed
	}
	x0, y0, speed0 := sum()
	step(t, w, 240)
	x1, y1, speed1 := sum()
	if math.Abs(x1-x0) > 1e-4 || math.Abs(y1-y0) > 1e-4 {
		t.Errorf("momentum per kg from (%v, %v) to (%v, %v)", x0, y0, x1, y1)
	}
	if speed1 > 0.95*speed0 {
		t.Errorf("speeds sum to %v after %v: nothing collided", speed1, speed0)
	}
}

func TestImpulses(t *testing.T) {
	w := newWorld(t, physics.Config{})
	b := must[physics.Body](t)(w.CreateBody(dynamic(0, 0)))
	must[physics.Shape](t)(w.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(1, 0.5))) // 2 kg
	if err := w.ApplyLinearImpulseToCenter(b, [2]float32{4, 2}); err != nil {
		t.Fatal(err)
	}
	if v, spin, _ := w.Velocity(b); v != [2]float32{2, 1} || spin != 0 {
		t.Errorf("velocity %v, %v at once after the impulse", v, spin)
	}
	// The inertia of a 2 m by 1 m box of 2 kg is 2·(4+1)/12.
	if err := w.ApplyLinearImpulse(b, [2]float32{0, 1}, [2]float32{0.5, 0}); err != nil {
		t.Fatal(err)
	}
	if v, spin, _ := w.Velocity(b); v != [2]float32{2, 1.5} || math.Abs(float64(spin)-0.5/(10.0/12)) > 1e-6 {
		t.Errorf("velocity %v, %v after the second", v, spin)
	}
	if err := w.SetVelocity(b, [2]float32{}, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.ApplyForceToCenter(b, [2]float32{0, 12}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the force acts for one step only
		step(t, w, 1)
		if v, _, _ := w.Velocity(b); math.Abs(float64(v[1]-6*dt)) > 1e-6 {
			t.Errorf("velocity %v after a force of 12 N on 2 kg", v)
		}
	}
}

func TestImpulsesLeaveOthersAlone(t *testing.T) {
	w := newWorld(t, physics.Config{})
	floor := addFloor(t, w)
	d := dynamic(0, 5)
	d.Type, d.LinearVelocity = physics.KinematicBody, [2]float32{1, 0}
	lift := addCircle(t, w, d, physics.DefaultShapeDef())
	before := w.Hash()
	for _, b := range []physics.Body{floor, lift} {
		if err := w.ApplyLinearImpulse(b, [2]float32{9, 9}, [2]float32{1, 1}); err != nil {
			t.Fatal(err)
		}
		if err := w.ApplyForceToCenter(b, [2]float32{9, 9}); err != nil {
			t.Fatal(err)
		}
	}
	if w.Hash() != before {
		t.Error("an impulse moved a body without mass")
	}
	step(t, w, 60)
	if p := must[[2]float32](t)(w.Position(lift)); math.Abs(float64(p[0])-1) > 1e-5 || p[1] != 5 {
		t.Errorf("kinematic body at %v", p)
	}
}

func TestTeleportedBodiesWakeAndFall(t *testing.T) {
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	floor := addFloor(t, w)
	d := dynamic(0, 0.6)
	d.DisableSleep = false
	ball := addCircle(t, w, d, physics.DefaultShapeDef())
	step(t, w, 240)
	rest := must[[2]float32](t)(w.Position(ball))
	if math.Abs(float64(rest[1])-0.5) > 0.02 {
		t.Fatalf("the ball rests at %v", rest)
	}
	if err := w.SetTransform(floor, [2]float32{0, -5}, 0); err != nil {
		t.Fatal(err)
	}
	step(t, w, 240)
	if p := must[[2]float32](t)(w.Position(ball)); math.Abs(float64(p[1])+4.5) > 0.02 {
		t.Errorf("the floor went down, the ball is at %v", p)
	}
	if err := w.SetTransform(ball, [2]float32{1, 2}, 7); err != nil {
		t.Fatal(err)
	}
	angle := must[float32](t)(w.Angle(ball))
	if p := must[[2]float32](t)(w.Position(ball)); p != [2]float32{1, 2} || math.Abs(float64(angle)-(7-2*math.Pi)) > 1e-6 {
		t.Errorf("teleported to %v, %v", p, angle)
	}
	step(t, w, 30)
	if p := must[[2]float32](t)(w.Position(ball)); p[1] > 1.5 {
		t.Errorf("after the teleport: hangs at %v", p)
	}
}

func TestAngleStaysWrapped(t *testing.T) {
	w := newWorld(t, physics.Config{})
	d := dynamic(0, 0)
	d.AngularVelocity, d.Angle = 10, 3
	b := addCircle(t, w, d, physics.DefaultShapeDef())
	c := w.Columns()
	for i := range 300 {
		step(t, w, 1)
		angle := float64(c.Angle[b.Index()])
		sin, cos := math.Sincos(3 + 10*float64(dt)*float64(i+1))
		if math.Abs(angle) > float64(float32(math.Pi)) ||
			math.Abs(math.Cos(angle)-cos) > 1e-5 || math.Abs(math.Sin(angle)-sin) > 1e-5 ||
			math.Abs(float64(c.Cos[b.Index()])-cos) > 1e-5 || math.Abs(float64(c.Sin[b.Index()])-sin) > 1e-5 {
			t.Fatalf("step %d: angle %v, cos %v, sin %v", i, angle, c.Cos[b.Index()], c.Sin[b.Index()])
		}
	}
}

func TestFixedRotation(t *testing.T) {
	w := newWorld(t, physics.Config{})
	d := dynamic(0, 0)
	d.FixedRotation = true
	b := addCircle(t, w, d, physics.DefaultShapeDef())
	if err := w.ApplyLinearImpulse(b, [2]float32{0, 1}, [2]float32{0.4, 0}); err != nil {
		t.Fatal(err)
	}
	if _, spin, _ := w.Velocity(b); spin != 0 {
		t.Errorf("spins with %v", spin)
	}
}

func TestSubStepsRefineTheFall(t *testing.T) {
	fall := func(subSteps int) float64 {
		w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}, SubSteps: subSteps})
		b := addCircle(t, w, dynamic(0, 0), physics.DefaultShapeDef())
		if err := w.ApplyForceToCenter(b, [2]float32{1, 0}); err != nil {
			t.Fatal(err)
		}
		step(t, w, 60)
		v, _, _ := w.Velocity(b)
		if want := float64(dt) / (math.Pi / 4); math.Abs(float64(v[0])-want) > 1e-6 {
			t.Errorf("%d sub-steps: a force of 1 N for a step gives %v, want %v", subSteps, v[0], want)
		}
		return float64(must[[2]float32](t)(w.Position(b))[1])
	}
	t1 := 60 * float64(dt)
	exact := -10 * t1 * t1 / 2
	if one, four := math.Abs(fall(1)-exact), math.Abs(fall(4)-exact); four > one/3 {
		t.Errorf("error %v with one sub-step, %v with four", one, four)
	}
}

// A body with BodyDef.Asleep begins asleep unless the world has no sleep.
func TestBeginsAsleep(t *testing.T) {
	for _, without := range []bool{false, true} {
		w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}, DisableSleep: without})
		d := dynamic(0, 5)
		d.DisableSleep, d.Asleep = false, true
		ball := addCircle(t, w, d, physics.DefaultShapeDef())
		step(t, w, 30)
		if p := must[[2]float32](t)(w.Position(ball)); (p[1] < 4.5) != without {
			t.Errorf("DisableSleep %t: the body is at %v", without, p)
		}
	}
}
