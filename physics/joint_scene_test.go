package physics_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// bridge hangs n planks of a metre between two posts, and returns them with their joints.
func (r fixture) bridge(n int) (planks []physics.Body, joints []physics.Joint) {
	r.Helper()
	post := r.body(physics.StaticBody, 0, 0)
	before, x := post, float32(0)
	for range n {
		b := r.dynamic(x+0.5, 0, func(d *physics.BodyDef) { d.LinearDamping, d.AngularDamping = 0.5, 0.5 })
		r.box(b, plain, 0.5, 0.1)
		joints = append(joints, r.hinge(before, b, x, 0))
		planks, before, x = append(planks, b), b, x+1
	}
	return planks, append(joints, r.hinge(before, post, x, 0))
}

// A bridge sags, bears a load, holds together and comes to rest.
func TestBridge(t *testing.T) {
	r := newFixture(t, -10)
	planks, joints := r.bridge(20)
	for i := range 5 {
		b := r.dynamic(8+float32(i), 3)
		r.box(b, plain, 0.4, 0.4)
	}
	widest := 0.0
	for range 1200 {
		r.steps(1)
		for _, j := range joints {
			widest = max(widest, r.apart(j))
		}
	}
	t.Logf("joints are %.4f m apart at most", widest)
	if widest > 0.05 {
		t.Errorf("joints are %v m apart", widest)
	}
	for i, b := range planks {
		vx, vy, _ := r.velocity(b)
		r.near(fmt.Sprintf("speed of plank %d", i), math.Hypot(vx, vy), 0, 0.05)
	}
	if _, y := r.at(planks[10]); y > -0.2 || y < -4 {
		t.Errorf("the middle is at %v", y)
	}
	r.near("force at the posts", float64(must[[2]float32](t)(r.w.JointForce(joints[0]))[1])-
		float64(must[[2]float32](t)(r.w.JointForce(joints[20]))[1]), 10*(20*0.2+5*0.64), 1.5)
}

// ragdoll makes a figure of six capsules, whose joints have limits and a little friction, and
// returns its joints.
func (r fixture) ragdoll(x, y float32) (joints []physics.Joint) {
	r.Helper()
	limb := func(x1, y1, x2, y2, radius float32) physics.Body {
		b := r.dynamic(x+(x1+x2)/2, y+(y1+y2)/2)
		dx, dy := (x2-x1)/2, (y2-y1)/2
		r.capsule(b, plain, -dx, -dy, dx, dy, radius)
		return b
	}
	knot := func(a, b physics.Body, px, py, lower, upper float32) {
		joints = append(joints, r.hinge(a, b, x+px, y+py, func(d *physics.RevoluteJointDef) {
			d.EnableLimit, d.LowerAngle, d.UpperAngle = true, lower, upper
			d.EnableMotor, d.MaxMotorTorque = true, 0.03
		}))
	}
	trunk := limb(0, 0, 0, 0.5, 0.12)
	head := limb(0, 0.75, 0, 0.8, 0.1)
	knot(trunk, head, 0, 0.65, -0.5, 0.5)
	for _, side := range []float32{-1, 1} {
		thigh := limb(side*0.1, -0.1, side*0.1, -0.4, 0.08)
		knot(trunk, thigh, side*0.1, -0.05, -1, 1)
		shin := limb(side*0.1, -0.55, side*0.1, -0.85, 0.06)
		knot(thigh, shin, side*0.1, -0.48, -1.5, 0.1)
		arm := limb(side*0.2, 0.45, side*0.2, 0.1, 0.05)
		knot(trunk, arm, side*0.15, 0.48, -1.5, 1.5)
	}
	return joints
}

// Ragdolls that fall on a heap come to rest in one piece, within their limits.
func TestRagdollsComeToRest(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	var joints []physics.Joint
	for i := range 6 {
		joints = append(joints, r.ragdoll(float32(i%3)*0.4, 1.5+2*float32(i/3))...)
	}
	r.seconds(15)
	c := r.w.Columns()
	for i := range r.w.Rows() {
		if v := math.Hypot(float64(c.VX[i]), float64(c.VY[i])); v > 0.05 || math.Abs(float64(c.W[i])) > 0.3 {
			t.Errorf("body %d moves with %v m/s and %v rad/s", i, v, c.W[i])
		}
	}
	for _, j := range joints {
		d := defOf[physics.RevoluteJointDef](t, r.w, j)
		r.near("apart", r.apart(j), 0, 0.015)
		if a := float32(r.read(r.w.JointAngle, j)); a < d.LowerAngle-0.08 || a > d.UpperAngle+0.08 {
			t.Errorf("%v is at %v of %v to %v", j, a, d.LowerAngle, d.UpperAngle)
		}
	}
	if e := r.w.Events().Disabled; len(e) != 0 {
		t.Error(e)
	}
}

// car makes a chassis on two wheels.
func (r fixture) car(x, y float32) (chassis physics.Body, wheels [2]physics.Joint) {
	r.Helper()
	chassis = r.dynamic(x, y)
	r.box(chassis, plain, 1.2, 0.25)
	for i, side := range []float32{-0.8, 0.8} {
		wheel := r.dynamic(x+side, y-0.4)
		r.circle(wheel, material(1.5, 0), 0.35)
		d := physics.DefaultWheelJointDef()
		d.JointDef = r.between(chassis, wheel, x+side, y-0.4)
		d.FrameA.Angle = math.Pi / 2
		d.Hertz, d.Damping = 5, 0.7
		d.EnableLimit, d.LowerTranslation, d.UpperTranslation = true, -0.2, 0.2
		d.EnableMotor, d.MaxMotorTorque = true, 3
		wheels[i] = r.join(r.w.CreateWheelJoint(d))
	}
	return chassis, wheels
}

// A car drives over bumps: its motor reaches the speed, its springs give way, and it stays upright.
func TestCarOverBumps(t *testing.T) {
	r := newFixture(t, -10)
	ground := r.floor(material(1, 0))
	for i := range 20 {
		x := float32(5 + 2*i)
		r.no(func() error {
			_, err := r.w.CreateCircle(ground, material(1, 0), physics.Circle{Center: [2]float32{x, 0.65}, Radius: 0.5})
			return err
		}())
	}
	chassis, wheels := r.car(0, 0.8)
	for _, j := range wheels {
		r.no(r.w.SetMotorSpeed(j, -12)) // to the right
	}
	least, most := 0.0, 0.0
	for range 1200 {
		r.steps(1)
		for _, j := range wheels {
			s := r.read(r.w.JointTranslation, j)
			least, most = min(least, s), max(most, s)
			if a := r.apart(j); a > 0.25 {
				t.Fatalf("a wheel is %v m off", a)
			}
		}
		if a := math.Abs(r.angle(chassis)); a > 1 {
			t.Fatalf("the car leans by %v", a)
		}
	}
	x, _ := r.at(chassis)
	t.Logf("at %.1f m; suspension from %.3f to %.3f m", x, least, most)
	if x < 35 {
		t.Errorf("the car came to %v m only", x)
	}
	if most-least < 0.03 {
		t.Errorf("the suspension moved from %v to %v m only", least, most)
	}
}

// A chain of light links bears a body a hundred times as heavy.
func TestChainUnderAHeavyLoad(t *testing.T) {
	r := newFixture(t, -10)
	before := r.body(physics.StaticBody, 0, 0)
	var joints []physics.Joint
	for i := range 10 {
		b := r.dynamic(0.5+float32(i), 0)
		r.box(b, plain, 0.5, 0.125) // 0.25 kg
		joints = append(joints, r.hinge(before, b, float32(i), 0))
		before = b
	}
	load := r.dynamic(10+2.5, 0)
	d := plain
	d.Density = 1 // 25 kg
	r.box(load, d, 2.5, 2.5)
	joints = append(joints, r.hinge(before, load, 10, 0))
	widest := 0.0
	for range 1200 {
		r.steps(1)
		for _, j := range joints {
			widest = max(widest, r.apart(j))
		}
	}
	t.Logf("joints are %.3f m apart at most", widest)
	if widest > 0.05 {
		t.Errorf("joints are %v m apart", widest)
	}
	x, y := r.at(load)
	if math.Hypot(x, y) > 12.6 {
		t.Errorf("the load is %v m away, not 12.5", math.Hypot(x, y))
	}
}

func frameAt(x float32) physics.JointFrame { return physics.JointFrame{Point: [2]float32{x, 0}} }

// swing lets a disc of so many times the mass of a link fall on a straight chain that is turned by an angle, and returns by how
// much a joint parts at most.
func swing(t *testing.T, links int, ratio float32, turn float64) (widest float64) {
	t.Helper()
	r := newFixture(t, -10)
	sin, cos := math.Sincos(turn)
	at := func(d float64) (x, y float32) { return float32(d * cos), float32(d * sin) }
	before := r.body(physics.StaticBody, 0, 0)
	var joints []physics.Joint
	end := float32(0)
	next := func(b physics.Body, half float32) {
		d := physics.DefaultRevoluteJointDef()
		d.JointDef = physics.JointDef{BodyA: before, BodyB: b, FrameA: frameAt(end), FrameB: frameAt(-half)}
		joints = append(joints, r.join(r.w.CreateRevoluteJoint(d)))
		before, end = b, half
	}
	for i := range links {
		x, y := at(0.5 + float64(i))
		b := r.dynamic(x, y, turned(turn))
		r.box(b, plain, 0.5, 0.125)
		next(b, 0.5)
	}
	x, y := at(float64(links))
	d, load := plain, r.dynamic(x, y, turned(turn))
	d.Density = float32(float64(0.25*ratio) / (0.25 * math.Pi))
	r.circle(load, d, 0.5)
	next(load, 0)
	for range 700 {
		r.steps(1)
		for _, j := range joints {
			widest = max(widest, r.apart(j))
		}
	}
	return widest
}

// With 500 times the mass of a link at their ends, chains of 10 and 20 links that fall from any angle hold. From above the horizontal the chain
// snaps tight, and its joints part for a moment; those swings are chaotic, so the mean of many has a bound.
func TestChainsSwingHeavyLoads(t *testing.T) {
	run, n := paritytest.Start(t, "chains"), max(16, paritytest.Rounds(40))
	worst, sum := 0.0, 0.0
	for i := range n {
		widest := swing(t, 10+10*(i%2), 500, 0.3-1.5*run.Float64())
		worst, sum = max(worst, widest), sum+widest
	}
	t.Logf("by %.4f m in the mean, by %.4f m at most", sum/float64(n), worst)
	if sum > 0.01*float64(n) || worst > 0.1 {
		t.Errorf("joints part by %.4f m in the mean, by %.4f m at most", sum/float64(n), worst)
	}
	for _, ratio := range []float32{500, 1000, 10000} {
		for _, links := range []int{10, 20} {
			if widest := swing(t, links, ratio, 0); widest > 0.005 {
				t.Errorf("%v to 1: joints of a chain of %d links that falls from the horizontal part by %.4f m", ratio, links, widest)
			}
		}
	}
}

// jointWorld returns a world with the scenes of all these tests.
func jointWorld(t testing.TB, c physics.Config) *physics.World {
	c.Gravity, c.Capacity = [2]float32{0, -10}, 2048
	r := fixture{t, newWorld(t, c)}
	r.floor(plain)
	for i := range 8 {
		r.ragdoll(float32(i)*0.7-20, 1.5+float32(i%3))
	}
	_, wheels := r.car(-30, 0.8)
	r.no(r.w.SetMotorSpeed(wheels[0], -10))
	r.grid(24)
	return r.w
}

// grid connects n² discs by joints.
func (r fixture) grid(n int) {
	r.Helper()
	hook := r.body(physics.StaticBody, 0, float32(n)+5)
	bodies := make([]physics.Body, n*n)
	for i := range bodies {
		x, y := float32(i%n), float32(n-i/n)+4
		bodies[i] = r.dynamic(x, y)
		r.circle(bodies[i], plain, 0.4)
		if i%n > 0 {
			r.hinge(bodies[i-1], bodies[i], x-0.5, y)
		}
		if i >= n {
			r.hinge(bodies[i-n], bodies[i], x, y+0.5)
		} else if i%4 == 0 {
			r.hinge(hook, bodies[i], x, y+0.5)
		}
	}
}

// Joints have the same bits on every level with any number of workers, with and without stage hashes.
func TestLevelsAndWorkersAgreeOnJoints(t *testing.T) {
	ticks := paritytest.Rounds(40)
	for _, traced := range []bool{false, true} {
		compareRuns(t, func(level native.Level, workers int) (all [][]physics.ColumnHash) {
			w := jointWorld(t, physics.Config{Level: level, Workers: workers, StageHashes: traced})
			for range ticks {
				steps(t, w, 1)
				all = append(all, w.AppendColumnHashes(append([]physics.ColumnHash{eventHash(w)}, w.StageHashes()...)))
			}
			return all
		})
	}
}

// The same holds where a colour of joints has several chunks.
func TestLevelsAndWorkersAgreeOnALargeGrid(t *testing.T) {
	ticks := 6
	if paritytest.Instrumented {
		ticks = 1
	}
	start := newFixture(t, -10)
	start.w = newWorld(t, physics.Config{Capacity: 4000, Gravity: [2]float32{0, -10}})
	start.grid(56)
	compareRuns(t, func(level native.Level, workers int) (all [][]physics.ColumnHash) {
		w := newWorld(t, physics.Config{Capacity: 4000, Level: level, Workers: workers})
		if err := w.CopyFrom(start.w); err != nil {
			t.Fatal(err)
		}
		for range ticks {
			steps(t, w, 1)
			all = append(all, w.AppendColumnHashes([]physics.ColumnHash{eventHash(w)}))
		}
		return all
	})
}

// A world of joints that is restored at every 50th tick continues with the same bits.
func TestJointsAfterRestore(t *testing.T) {
	ticks := 300
	if paritytest.Instrumented || testing.Short() {
		ticks = 100
	}
	w, through := jointWorld(t, physics.Config{}), jointWorld(t, physics.Config{Workers: 2})
	for tick := range ticks {
		if tick%50 == 25 {
			snap := snapshot(t, through)
			through = newWorld(t, physics.Config{Capacity: 3000, Gravity: [2]float32{0, 3}, Level: native.Go})
			restore(t, through, snap)
			if again := snapshot(t, through); string(again) != string(snap) {
				t.Fatalf("tick %d: the snapshot of a restored world differs", tick)
			}
			for i := range 100 {
				j, ok := w.JointAt(i)
				if !ok {
					continue
				}
				if f, g := must[[2]float32](t)(w.JointForce(j)), must[[2]float32](t)(through.JointForce(j)); f != g {
					t.Fatalf("tick %d: force %v, %v when restored", tick, f, g)
				}
			}
		}
		steps(t, w, 1)
		steps(t, through, 1)
		sameState(t, fmt.Sprintf("tick %d", tick), w, through)
	}
}

func TestJointsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, workers := range []int{1, 2} {
		w := jointWorld(t, physics.Config{Workers: workers})
		b, _ := w.BodyAt(1)
		c, _ := w.BodyAt(7)
		list, buf := make([]physics.Joint, 0, 10), snapshot(t, w)
		other := must[*physics.World](t)(w.Clone())
		busy := func() {
			d := physics.RevoluteJointDef{JointDef: common(b, c), EnableMotor: true, MaxMotorTorque: 1}
			d.FrameA.Point[0], d.BreakForce = 0.1, 1e6
			j, err := w.CreateRevoluteJoint(d)
			for _, err := range []error{err, w.SetJointDef(j, &d), w.SetMotorSpeed(j, 3), w.Step(1. / 60)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			list, _ = w.AppendJoints(list[:0], b)
			buf, _ = w.Snapshot(buf[:0])
			w.Hash()
			if _, err := w.JointForce(j); err != nil || other.CopyFrom(w) != nil || w.DestroyJoint(j) != nil {
				t.Fatal("refused")
			}
		}
		for range 200 { // until all bodies rest
			busy()
		}
		if n := testing.AllocsPerRun(20, busy); n != 0 {
			t.Errorf("%d workers: %g allocations a step", workers, n)
		}
	}
}
