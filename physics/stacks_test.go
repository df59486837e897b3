package physics_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// A stack of ten boxes neither sways nor sinks over time, after its soft
// contacts have given way by some millimetres each.
func TestStackOfTenStands(t *testing.T) {
	minutes := 10.
	if testing.Short() || paritytest.Instrumented {
		minutes = 0.5
	}
	r := newFixture(t, -10)
	r.floor(plain)
	var boxes []physics.Body
	for i := range 10 {
		boxes = append(boxes, r.dynamic(0, float32(i)+0.5))
		r.box(boxes[i], plain, 0.5, 0.5)
	}
	r.seconds(5)
	var settled []float64
	for _, b := range boxes {
		_, y := r.at(b)
		settled = append(settled, y)
	}
	r.seconds(60 * minutes)
	for i, b := range boxes {
		x, y := r.at(b)
		r.near(fmt.Sprintf("box %d: x", i), x, 0, 0.002)
		r.near(fmt.Sprintf("box %d: y", i), y, float64(i)+0.5, 0.05)
		r.near(fmt.Sprintf("box %d: sinking", i), y, settled[i], 0.0005)
		r.near(fmt.Sprintf("box %d: angle", i), r.angle(b), 0, 0.001)
	}
	if m := r.total(); m.speed > 0.01 {
		t.Errorf("the boxes move: %+v", m)
	}
}

// A stack with a heavy box on top of light ones stands as well.
func TestMassRatio(t *testing.T) {
	r := newFixture(t, -10)
	r.floor(plain)
	var boxes []physics.Body
	for i := range 4 {
		d := plain
		if i == 3 {
			d.Density = 30
		}
		boxes = append(boxes, r.dynamic(0, float32(i)+0.5))
		r.box(boxes[i], d, 0.5, 0.5)
	}
	r.seconds(20)
	x, y := r.at(boxes[3])
	r.near("x", x, 0, 0.01)
	r.near("y", y, 3.5, 0.1)
	r.near("angle", r.angle(boxes[3]), 0, 0.02)
}

// A pyramid of 100 rows stands.
func TestLargePyramidStands(t *testing.T) {
	rows, seconds := 100, 6
	if testing.Short() || paritytest.Instrumented {
		rows, seconds = 20, 4
	}
	s, err := scenes.New("pyramid", rows, 1, physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := s.World.Columns()
	startX, startY := append([]float32(nil), c.X...), append([]float32(nil), c.Y...)
	for range seconds * 60 {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	sunk, slid, speed, tilt := 0., 0., 0., 0.
	for _, b := range s.Bodies {
		i := b.Index()
		sunk = max(sunk, math.Abs(float64(c.Y[i]-startY[i])))
		slid = max(slid, math.Abs(float64(c.X[i]-startX[i])))
		speed = max(speed, math.Hypot(float64(c.VX[i]), float64(c.VY[i])))
		tilt = max(tilt, math.Abs(float64(c.Angle[i])))
	}
	t.Logf("%d rows after %d s: sunk by up to %.4f m, slid by %.4f m, tilted by %.4f, at up to %.4f m/s", rows, seconds, sunk, slid, tilt, speed)
	// The soft contacts of the lowest row carry 100 boxes and give way by some millimetres each.
	if sunk > 0.01*float64(rows) || slid > 0.15 || speed > 0.1 || tilt > 0.01 {
		t.Error("the pyramid does not stand")
	}
}

// dominoes pushes the first of n dominoes and returns the time at which the last one falls,
// in seconds.
func dominoes(r fixture, n int) float64 {
	r.Helper()
	r.floor(plain)
	var all []physics.Body
	for i := range n {
		all = append(all, r.dynamic(float32(i)*0.5, 0.5))
		r.box(all[i], plain, 0.06, 0.5)
	}
	r.seconds(0.5)
	for i, b := range all {
		x, _ := r.at(b)
		r.near(fmt.Sprintf("domino %d before the push: x", i), x, float64(i)*0.5, 0.001)
	}
	r.no(r.w.ApplyLinearImpulse(all[0], [2]float32{0.12, 0}, [2]float32{0, 1}))
	fell := math.Inf(1)
	for step := range 600 {
		r.steps(1)
		if math.Abs(r.angle(all[n-1])) > 0.8 && math.IsInf(fell, 1) {
			fell = float64(step) / 60
		}
	}
	for i, b := range all {
		if a := r.angle(b); a > -0.8 {
			r.Errorf("domino %d of %d has an angle of %v", i, n, a)
		}
	}
	return fell
}

func TestDominoes(t *testing.T) {
	ours := dominoes(newFixture(t, -10), 15)
	theirs := dominoes(newFixture(t, -10, box2d.NewEngine(box2d.Options{})), 15)
	t.Logf("the last domino falls after %.2f s, that of box2d after %.2f s", ours, theirs)
	if ours < 0.75*theirs || ours > 1.33*theirs {
		t.Errorf("the last domino falls after %v s, that of box2d after %v s", ours, theirs)
	}
}

// mound pours bodies between walls and returns how high the middle of their mass lies
// when they have come to rest.
func mound(r fixture) float64 {
	r.Helper()
	r.floor(plain)
	for _, x := range []float32{-3, 3} {
		r.box(r.body(physics.StaticBody, x, 10), plain, 0.5, 12)
	}
	var all []physics.Body
	for i := range 60 {
		b := r.dynamic(float32(i%5)-2+float32(i%3)*0.1, 1+0.7*float32(i/5), turned(float64(i)))
		all = append(all, b)
		switch i % 3 {
		case 0:
			r.circle(b, plain, 0.3)
		case 1:
			r.box(b, plain, 0.35, 0.2)
		case 2:
			p, err := physics.NewPolygon([2]float32{-0.3, -0.3}, [2]float32{0.3, -0.3}, [2]float32{0, 0.4})
			r.no(err)
			r.polygon(b, plain, p)
		}
	}
	r.seconds(10)
	mean := 0.
	for _, b := range all {
		x, y := r.at(b)
		if math.Abs(x) > 2.5 || y < 0 {
			r.Errorf("a body is at (%v, %v)", x, y)
		}
		mean += y / float64(len(all))
	}
	if m := r.total(); m.energy > 0.1 {
		r.Errorf("not at rest: energy %v", m.energy)
	}
	return mean
}

func TestHeap(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	ours := mound(newFixture(t, -10))
	theirs := mound(newFixture(t, -10, box2d.NewEngine(box2d.Options{})))
	newFixture(t, 0).near("height of the heap, against box2d", ours, theirs, 0.06*theirs)
}
