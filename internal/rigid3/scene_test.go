package rigid3

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/hull"
	"github.com/evertick/evertick/native"
)

// scene is a world for tests: every pair of shapes is tried, and a body has one shape, whose origin is the centre of mass.
type scene struct {
	System
	shapes    []Shape
	extents   []float32
	bases     []BaseManifold
	marks     []uint8
	recycling Recycling
}

const dt = 1. / 60

func newScene() *scene {
	s := &scene{}
	s.Gravity = Vec{0, -9.81, 0}
	return s
}

// material is that of the cases: friction 0.6.
var material = Material{Friction: 0.6}

// Add adds a body of a mass at a place; mass 0 is static.
func (s *scene) Add(shape *Shape, mass float64, m Material, pose Pose) int {
	b := &s.Bodies
	i := len(s.States)
	s.States = append(s.States, State{})
	inertia := shape.Mass(&testHulls)
	inv, invI, principal := float32(0), Vec{}, Identity
	if mass > 0 {
		scaled := inertia.Times(mass / inertia.Mass)
		p, axes := scaled.Principal()
		inv = float32(1 / mass)
		invI = Vec{float32(1 / p[0]), float32(1 / p[1]), float32(1 / p[2])}
		principal = Quat{float32(axes[0]), float32(axes[1]), float32(axes[2]), float32(axes[3])}
	}
	for k := range 3 {
		for _, c := range []*[]float32{&b.V[k], &b.W[k], &b.InvInertia[k], &b.Force[k], &b.Torque[k]} {
			*c = append(*c, 0)
		}
	}
	setVec(&b.InvInertia, i, invI)
	b.Poses, b.InvMass, b.Principal = append(b.Poses, pose), append(b.InvMass, inv), append(b.Principal, principal)
	b.GravityScale, b.LinearDamping, b.AngularDamping = append(b.GravityScale, 1), append(b.LinearDamping, 0), append(b.AngularDamping, 0)
	b.Locks = append(b.Locks, 0)
	s.BodyOf, s.Materials, s.shapes = append(s.BodyOf, uint32(i)), append(s.Materials, m), append(s.shapes, *shape)
	s.extents = append(s.extents, shape.MaxExtent(&testHulls))
	return i
}

// step moves the bodies by 1/60 s.
func (s *scene) step() { s.stepBy(dt) }

func (s *scene) stepBy(dt float32) {
	s.collide()
	s.Step(dt)
}

// collide finds the contacts and manifolds.
func (s *scene) collide() {
	var pairs, began, ended broad.Pairs
	for a := range s.shapes {
		for b := a + 1; b < len(s.shapes); b++ {
			if (s.Bodies.InvMass[a] > 0 || s.Bodies.InvMass[b] > 0) && s.near(a, b) {
				pairs.Add(uint32(a), uint32(b))
			}
		}
	}
	n := len(pairs.A)
	from, contacts, bases, marks := make([]int32, n), make([]Contact, n), make([]BaseManifold, n), make([]uint8, n)
	s.Manifolds, s.Hits = make([]Manifold, n), make([]Hit, n)
	r, b := &s.recycling, &s.Bodies
	r.Old, r.Bases, r.Marks, r.BodyOf, r.Poses = s.Contacts, s.bases, s.marks, s.BodyOf, b.Poses
	if r.Recycle(native.Go, &pairs, from, s.Manifolds) == 0 {
		from = nil
	}
	CollidePairs(native.Go, s.shapes, &testHulls, s.BodyOf, b.Poses, &pairs, from, s.Manifolds)
	MatchContacts(s.Contacts, from, &pairs, s.Manifolds, contacts, &began, &ended)
	for i, old := range from {
		if old >= 0 {
			bases[i], marks[i] = s.bases[old], 1
		}
	}
	KeepBases(contacts, s.Manifolds, s.BodyOf, b.Poses, &b.V, &b.W, dt, bases, marks)
	s.Contacts, s.bases, s.marks = contacts, bases, marks
}

func columns(vs []Vec) (out [3][]float32) {
	for _, v := range vs {
		out[0], out[1], out[2] = append(out[0], v.X), append(out[1], v.Y), append(out[2], v.Z)
	}
	return out
}

// near reports whether the balls around two bodies meet.
func (s *scene) near(a, b int) bool {
	d := s.Bodies.Poses[a].P.Sub(s.Bodies.Poses[b].P)
	r := s.extents[a] + s.extents[b] + SpeculativeDistance
	return d.Dot(d) <= r*r
}

func (s *scene) run(seconds float64) {
	for range int(math.Round(seconds * 60)) {
		s.step()
	}
}

func (s *scene) floor(m Material) { s.Add(box(50, 1, 50), 0, m, *at(0, -1, 0)) }

// atRest reports whether all bodies are slow.
func (s *scene) atRest() bool {
	for i := range s.States {
		if vecAt(&s.Bodies.V, i).length() > 0.02 || vecAt(&s.Bodies.W, i).length() > 0.05 {
			return false
		}
	}
	return true
}

// A box that is thrown slides by the mixed friction, in each direction alike.
func TestFrictionInAllDirections(t *testing.T) {
	least, most := math.Inf(1), math.Inf(-1)
	for heading := 0; heading < 360; heading += 30 {
		s := newScene()
		s.floor(Material{Friction: .8})
		b := s.Add(box(1, 1, 1), 8000, Material{Friction: .9}, *at(0, 1, 0))
		sin, cos := math.Sincos(float64(heading) * math.Pi / 180)
		setVec(&s.Bodies.V, b, Vec{20 * float32(cos), 0, 20 * float32(sin)})
		s.run(1)
		p, v := s.Bodies.Poses[b].P, vecAt(&s.Bodies.V, b)
		way, speed := float64(p.X)*cos+float64(p.Z)*sin, float64(v.X)*cos+float64(v.Z)*sin
		side := float64(p.Z)*cos - float64(p.X)*sin
		yaw := 2 * math.Asin(float64(s.Bodies.Poses[b].Q.Y)) * 180 / math.Pi
		if math.Abs(speed-11.6759) > .05 || math.Abs(side) > .01 || math.Abs(yaw) > .5 || way < 15.77-.05 || way > 15.84+.05 {
			t.Errorf("heading %d: speed %.4f, way %.3f, side %.4f, yaw %.3f°", heading, speed, way, side, yaw)
		}
		least, most = min(least, way), max(most, way)
	}
	t.Logf("ways of %.4f to %.4f m", least, most)
	if most/least > 1.005 {
		t.Errorf("ways of %g to %g m", least, most)
	}
}

// A heavy cube on a light one.
func TestHeavyOnLight(t *testing.T) {
	s := newScene()
	s.floor(material)
	light := s.Add(box(.5, .5, .5), 1, material, *at(0, .5, 0))
	heavy := s.Add(box(.5, .5, .5), 100, material, *at(0, 1.7, 0))
	s.run(5)
	y1, y2 := s.Bodies.Poses[light].P.Y, s.Bodies.Poses[heavy].P.Y
	t.Logf("at %.4f and %.4f", y1, y2)
	if abs(y1-.5) > .05 || abs(y2-1.5) > .05 || vecAt(&s.Bodies.V, light).length() > 1e-3 || vecAt(&s.Bodies.V, heavy).length() > 1e-3 {
		t.Errorf("at %g and %g, speeds %g and %g", y1, y2, vecAt(&s.Bodies.V, light).length(), vecAt(&s.Bodies.V, heavy).length())
	}
}

// Towers stand.
func TestTowers(t *testing.T) {
	var prism [][3]float32
	for k := range 8 {
		sin, cos := math.Sincos(2 * math.Pi * (float64(k) + .5) / 8)
		for _, y := range []float32{-.05, .05} {
			prism = append(prism, [3]float32{float32(.1 * cos), y, float32(.1 * sin)})
		}
	}
	p, err := hull.Build(prism, 64)
	if err != nil {
		t.Fatal(err)
	}
	seconds := 60.
	if testing.Short() {
		seconds = 8
	}
	for _, c := range []struct {
		name      string
		shape     *Shape
		n         int
		half, gap float32
		mass      float64
	}{
		{"20 small cubes", box(.05, .05, .05), 20, .05, .001, 1},
		{"5 cubes", box(.5, .5, .5), 5, .5, 0, 1000},
		{"10 cubes", box(.5, .5, .5), 10, .5, 0, 1000},
		{"20 prisms", hullShape(p), 20, .05, 0, 1},
	} {
		s := newScene()
		s.floor(material)
		for k := range c.n {
			s.Add(c.shape, c.mass, material, *at(0, c.half+float32(k)*(2*c.half+c.gap), 0))
		}
		s.run(2)
		fastest := float32(0)
		for range int((seconds - 2) * 60) {
			s.step()
			for i := range s.States {
				fastest = max(fastest, vecAt(&s.Bodies.V, i).length())
			}
		}
		shift := float32(0)
		for _, pose := range s.Bodies.Poses[1:] {
			shift = max(shift, Vec{pose.P.X, 0, pose.P.Z}.length())
		}
		top := s.Bodies.Poses[c.n].P.Y
		want := c.half * float32(2*c.n-1)
		t.Logf("%s: top at %.4f of %.4f, shift %.2g, fastest %.2g", c.name, top, want, shift, fastest)
		if shift > .005 || fastest > .01 || top < want-.02*float32(c.n) {
			t.Errorf("%s: top at %g, shift %g, fastest %g", c.name, top, shift, fastest)
		}
	}
}

// Balls and cubes bounce as high as their restitution says.
func TestBounces(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape *Shape
		e     float32
	}{{"ball", ball(.5), 1}, {"cube", box(.5, .5, .5), 1}, {"ball", ball(.5), .5}, {"cube", box(.5, .5, .5), .5}, {"ball", ball(.5), 0}, {"cube", box(.5, .5, .5), 0}} {
		s := newScene()
		m := Material{Friction: .6, Restitution: c.e}
		s.floor(Material{Friction: .6})
		b := s.Add(c.shape, 1000, m, *at(0, 2.5, 0))
		var tops []float32
		last, rising, tilt := float32(2.5), false, float32(0)
		for range 60 * 20 {
			s.step()
			y := s.Bodies.Poses[b].P.Y
			if rising && y < last {
				tops = append(tops, last-.5)
			}
			rising, last = y > last, y
			if len(tops) < 3 {
				tilt = max(tilt, abs(s.Bodies.Poses[b].Q.X)+abs(s.Bodies.Poses[b].Q.Z))
			}
		}
		t.Logf("%s, e %g: tops %.3f, tilt %g", c.name, c.e, tops[:min(len(tops), 10)], tilt)
		highest := float32(0)
		for _, h := range tops {
			highest = max(highest, h)
		}
		switch c.e {
		case 1:
			if len(tops) < 10 || tops[0] < .97*2 || tops[9] < .9*2 || highest > 1.01*2 {
				t.Errorf("%s: tops %.3f", c.name, tops[:min(len(tops), 10)])
			}
		case .5:
			if len(tops) < 1 || abs(tops[0]/2-.25) > .02 {
				t.Errorf("%s: tops %.3f", c.name, tops)
			}
		case 0:
			if highest > .001 {
				t.Errorf("%s: tops %.4f", c.name, tops)
			}
		}
		if 2*tilt > .5*math.Pi/180 {
			t.Errorf("%s, e %g: tilt %g", c.name, c.e, tilt)
		}
	}
}

// On a slope a box slides by g(sin α - μ cos α), or rests; a ball rolls by 5/7·g·sin α.
func TestSlopes(t *testing.T) {
	for _, heading := range []float64{0, 17, 45, 90} {
		slope := slopeOf(30, heading)
		down := slope.Rotate(Vec{1, 0, 0})
		for _, c := range []struct{ friction, want float64 }{{0, 4.905}, {.2, 3.2059}, {.4, 1.5067}, {.6, 0}, {1, 0}} {
			s := newScene()
			m := Material{Friction: float32(c.friction)}
			s.Add(box(50, 1, 50), 0, m, Pose{slope.Rotate(Vec{0, -1, 0}), slope})
			b := s.Add(box(.5, .5, .5), 1000, m, Pose{slope.Rotate(Vec{-20, .5, 0}), slope})
			s.run(.5)
			start, from := float64(vecAt(&s.Bodies.V, b).Dot(down)), s.Bodies.Poses[b].P
			s.run(1)
			got := float64(vecAt(&s.Bodies.V, b).Dot(down)) - start
			if math.Abs(got-c.want) > max(.01*c.want, .01) {
				t.Errorf("heading %g, friction %g: acceleration %.4f, want %.4f", heading, c.friction, got, c.want)
			}
			if c.want == 0 {
				s.run(3)
				if d := s.Bodies.Poses[b].P.Sub(from).length(); d > .001 {
					t.Errorf("heading %g, friction %g: crept by %g", heading, c.friction, d)
				}
			}
		}
		s := newScene()
		s.Add(box(50, 1, 50), 0, Material{Friction: 1}, Pose{slope.Rotate(Vec{0, -1, 0}), slope})
		b := s.Add(ball(.5), 500, Material{Friction: 1}, Pose{slope.Rotate(Vec{-20, .5, 0}), slope})
		s.run(.5)
		start := float64(vecAt(&s.Bodies.V, b).Dot(down))
		s.run(1)
		if got, want := float64(vecAt(&s.Bodies.V, b).Dot(down))-start, 5./7*4.905; math.Abs(got/want-1) > .01 {
			t.Errorf("heading %g: a ball rolls with %.4f, want %.4f", heading, got, want)
		}
	}
}

// slopeOf is inclined by degrees, with its x axis downhill, turned about the upright axis.
func slopeOf(degrees, heading float64) Quat {
	sin, cos := math.Sincos(-degrees * math.Pi / 360)
	tilt := Quat{0, 0, float32(sin), float32(cos)}
	sin, cos = math.Sincos(heading * math.Pi / 360)
	return Quat{0, float32(sin), 0, float32(cos)}.Mul(tilt).Normalize()
}

// A box that spins on a plane stops by the friction of its points about the normal; a ball with one point goes on.
func TestTwist(t *testing.T) {
	s := newScene()
	s.floor(material)
	b := s.Add(box(.5, .5, .5), 1000, material, *at(0, .5, 0))
	o := s.Add(ball(.5), 500, material, *at(5, .5, 0))
	s.run(1)
	setVec(&s.Bodies.W, b, Vec{0, 10, 0})
	setVec(&s.Bodies.W, o, Vec{0, 10, 0})
	s.run(.2)
	// The torque is μ·m·g times the lever arm of the corners, √2/2; the inertia is m/6.
	want := 10 - .2*.6*9.81*math.Sqrt2/2*6
	if got := float64(vecAt(&s.Bodies.W, b).Y); math.Abs(got-want) > .02*10 {
		t.Errorf("the box turns with %.3f, want %.3f", got, want)
	}
	if got := vecAt(&s.Bodies.W, o).Y; got < 9.99 {
		t.Errorf("the ball turns with %g", got)
	}
	s.run(1)
	if got := vecAt(&s.Bodies.W, b).length(); got > 1e-3 {
		t.Errorf("the box still turns with %g", got)
	}
}

// Things that fall come to rest on the floor: a wedge, a coin, a capsule that lies, a heap of boxes.
func TestThingsComeToRest(t *testing.T) {
	var coin [][3]float32
	for k := range 32 {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / 32)
		for _, y := range []float32{-.001, .001} {
			coin = append(coin, [3]float32{float32(.01 * cos), y, float32(.01 * sin)})
		}
	}
	wedge := [][3]float32{{-1, -1 + 1./3, -1 - 1./3}, {1, -1 + 1./3, -1 - 1./3}, {-1, -1 + 1./3, 1 - 1./3}, {1, -1 + 1./3, 1 - 1./3}, {1, 1 + 1./3, 1 - 1./3}, {-1, 1 + 1./3, 1 - 1./3}}
	for _, c := range []struct {
		name    string
		points  [][3]float32
		mass    float64
		height  float32
		spin    Vec
		seconds float64
	}{{"wedge", wedge, 4000, 1.2, Vec{}, 5}, {"coin", coin, 4.8694e-3, .05, Vec{3, 0, 2}, 3}} {
		p, err := hull.Build(c.points, 64)
		if err != nil {
			t.Fatal(err)
		}
		shape := hullShape(p)
		s := newScene()
		s.floor(material)
		b := s.Add(shape, c.mass, material, *at(0, c.height, 0))
		setVec(&s.Bodies.W, b, c.spin)
		s.run(c.seconds)
		lowest := float32(math.Inf(1))
		for _, v := range shape.core().Vertices {
			lowest = min(lowest, s.Bodies.Poses[b].Transform(v).Y)
		}
		if !s.atRest() || abs(lowest) > LinearSlop {
			t.Errorf("%s: v %v, w %v, lowest %g", c.name, vecAt(&s.Bodies.V, b), vecAt(&s.Bodies.W, b), lowest)
		}
	}
}
