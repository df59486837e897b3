package physics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// contactsOf returns the contacts of a body.
func (r fixture) contactsOf(b physics.Body) []physics.ContactData {
	r.Helper()
	all, err := r.w.AppendContactData(nil, b)
	r.no(err)
	return all
}

// forces returns the force in N that the contacts of a body exert on it, and on the shape of lower index if low.
func forces(all []physics.ContactData, subStep float64, low bool) (x, y float64) {
	sign := 1 / subStep
	if low {
		sign = -sign
	}
	for _, c := range all {
		nx, ny := float64(c.Normal[0]), float64(c.Normal[1])
		for _, p := range c.Points[:c.Count] {
			n, t := float64(p.NormalImpulse), float64(p.TangentImpulse)
			x, y = x+sign*(n*nx+t*ny), y+sign*(n*ny-t*nx)
		}
	}
	return x, y
}

// Contacts carry what rests on a slope, along the normal and by friction, awake and asleep.
func TestContactDataOfSlope(t *testing.T) {
	for _, angle := range []float64{0, 0.3, -0.4} {
		r := newFixture(t, -10)
		ground := r.body(physics.StaticBody, 0, 0, turned(angle))
		floor := r.box(ground, material(0.9, 0), 20, 1)
		sin, cos := math.Sincos(angle)
		b := r.dynamic(float32(-1.5*sin), float32(1.5*cos), turned(angle), func(d *physics.BodyDef) { d.DisableSleep = false })
		box := r.box(b, material(0.9, 0), 1, 0.5) // 2 kg
		r.seconds(0.4)
		for _, asleep := range []bool{false, true} {
			all := r.contactsOf(b)
			if len(all) != 1 || all[0].A != floor || all[0].B != box || all[0].Count != 2 {
				t.Fatalf("angle %g: contacts %+v", angle, all)
			}
			c := all[0]
			r.near("normal x", float64(c.Normal[0]), -sin, 1e-4)
			r.near("normal y", float64(c.Normal[1]), cos, 1e-4)
			x, y := forces(all, 1./240, false)
			r.near("force x", x, 0, 0.1)
			r.near("force y", y, 20, 0.1)
			for _, p := range c.Points {
				px, py := float64(p.Point[0]), float64(p.Point[1])
				r.near("along the slope", math.Abs(px*cos+py*sin), 1, 0.01)
				r.near("height", py*cos-px*sin, 1, 0.01)
				r.near("separation", float64(p.Separation), -0.003, 0.004)
			}
			if asleep == r.w.Awake(b) {
				t.Fatalf("angle %g: awake %v", angle, r.w.Awake(b))
			}
			if asleep {
				r.near("total of a sleeper", float64(c.TotalImpulse), 0, 0)
			} else {
				r.near("total", float64(c.TotalImpulse), 20*cos/60, 0.01)
				r.seconds(2)
			}
		}
	}
}

// The total impulse is the change of momentum, also of a contact that lasts for one sub-step.
func TestContactDataOfImpact(t *testing.T) {
	r := newFixture(t, 0)
	r.floor(material(0, 1))
	b := r.dynamic(0, 2, moving(0, -7, 0))
	r.circle(b, material(0, 1), 0.5)
	mass := math.Pi / 4
	hit := false
	for range 60 {
		_, before, _ := r.velocity(b)
		r.steps(1)
		_, after, _ := r.velocity(b)
		total := 0.0
		for _, c := range r.contactsOf(b) {
			total += float64(c.TotalImpulse)
		}
		r.near("impulse", total, mass*(after-before), 1e-4)
		hit = hit || total > mass*13
	}
	if !hit {
		t.Error("no impact")
	}
}

// Points, normals and separations are those of float64 arithmetic for the present poses, which a call may have changed
// since the step.
func TestContactDataOfDiscs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	touched, apart := 0, 0
	r := newFixture(t, 0)
	for range 400 {
		for i := range r.w.Rows() { // those of the last round
			if b, ok := r.w.BodyAt(i); ok {
				r.no(r.w.DestroyBody(b))
			}
		}
		f := func(low, high float64) float32 { return float32(low + rng.Float64()*(high-low)) }
		ra, rb, gap, angle := f(0.1, 2), f(0.1, 2), f(-0.1, 0.04), rng.Float64()*2*math.Pi
		reach := float64(ra + rb + gap)
		ax, ay := f(-50, 50), f(-50, 50)
		a := r.dynamic(ax, ay, moving(f(-1, 1), f(-1, 1), f(-1, 1)), turned(float64(f(-3, 3))))
		b := r.dynamic(ax+float32(reach*math.Cos(angle)), ay+float32(reach*math.Sin(angle)), moving(f(-1, 1), f(-1, 1), f(-1, 1)))
		sa, sb := r.circle(a, plain, ra), r.circle(b, plain, rb)
		r.steps(1)
		if rng.IntN(2) == 0 { // a call moves one of them
			x, y := r.at(a)
			r.no(r.w.SetTransform(a, [2]float32{float32(x) + f(-0.03, 0.03), float32(y)}, f(-3, 3)))
		}
		c, err := r.w.ContactData(physics.Touch{A: sb, B: sa})
		if gap > 0.021 {
			if !errors.Is(err, physics.ErrStale) {
				t.Fatalf("gap %g: %v", gap, err)
			}
			continue
		}
		if gap > 0.019 {
			continue
		}
		r.no(err)
		xa, ya := r.at(a)
		xb, yb := r.at(b)
		d := math.Hypot(xb-xa, yb-ya)
		separation := d - float64(ra) - float64(rb)
		if c.Count == 0 {
			apart++
			if separation < 0.0195 {
				t.Errorf("no points at a separation of %g", separation)
			}
			continue
		}
		touched++
		nx, ny := (xb-xa)/d, (yb-ya)/d
		r.near("normal x", float64(c.Normal[0]), nx, 1e-3)
		r.near("normal y", float64(c.Normal[1]), ny, 1e-3)
		middle := float64(ra) + separation/2
		r.near("x", float64(c.Points[0].Point[0]), xa+nx*middle, 1e-4)
		r.near("y", float64(c.Points[0].Point[1]), ya+ny*middle, 1e-4)
		r.near("separation", float64(c.Points[0].Separation), separation, 1e-4)
		if c.A != sa || c.B != sb {
			t.Errorf("shapes %v and %v", c.A, c.B)
		}
	}
	if touched < 50 || apart < 5 {
		t.Errorf("%d touched, %d were moved apart", touched, apart)
	}
}

// pile is a heap of discs and boxes on a chain and a box, with sensors, part of which sleeps.
func pile(t testing.TB) (fixture, []physics.Body) {
	r := newFixture(t, -10)
	ground := r.body(physics.StaticBody, 0, 0)
	points := [][2]float32{{30, 0}}
	for x := float32(10); x >= -10; x -= 0.7 {
		points = append(points, [2]float32{x, 0})
	}
	_, err := r.w.CreateChain(ground, physics.ChainDef{Points: append(points, [2]float32{-30, 0}), Shape: plain})
	r.no(err)
	r.box(r.body(physics.StaticBody, 30, -1), plain, 8, 1)
	area := plain
	area.Sensor = true
	bodies := []physics.Body{ground}
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 60 {
		x := float32(rng.Float64()*12 - 6)
		if i%2 == 0 {
			x += 30
		}
		b := r.dynamic(x, 1+float32(i/6)*0.9, func(d *physics.BodyDef) { d.DisableSleep, d.AngularDamping = false, 2 })
		switch i % 5 {
		case 0:
			r.circle(b, plain, 0.4)
		case 1:
			r.box(b, area, 0.9, 0.9)
			r.capsule(b, plain, -0.4, 0, 0.4, 0, 0.2)
		case 2:
			r.box(b, plain, 0.3, 0.2)
			r.circle(b, plain, 0.3)
		default:
			r.box(b, plain, 0.4, 0.3)
		}
		bodies = append(bodies, b)
	}
	return r, bodies
}

// By body, by shape and by pair the contacts are the same: those of AppendContacts. A restored world and a copy have
// the same ones, except for total impulses.
func TestContactDataAgrees(t *testing.T) {
	r, bodies := pile(t)
	found, sleepers, none := 0, 0, 0
	for tick := range 400 {
		r.steps(1)
		if tick%57 != 3 {
			continue
		}
		other := newFixture(t, 0)
		snapshot, err := r.w.Snapshot(nil)
		r.no(err)
		r.no(other.w.Restore(snapshot))
		copied := newFixture(t, 0)
		r.no(copied.w.CopyFrom(r.w))
		for _, b := range bodies {
			all := r.contactsOf(b)
			touches, err := r.w.AppendContacts(nil, b)
			r.no(err)
			if len(all) != len(touches) {
				t.Fatalf("%d contacts, %d touches", len(all), len(touches))
			}
			shapes, err := r.w.AppendShapes(nil, b)
			r.no(err)
			byShape := 0
			for _, s := range shapes {
				some, err := r.w.AppendShapeContactData(nil, s)
				r.no(err)
				byShape += len(some)
				for _, c := range some {
					if c.A != s && c.B != s {
						t.Fatalf("%v among the contacts of %v", c, s)
					}
				}
			}
			if byShape != len(all) { // shapes of one body do not touch
				t.Fatalf("%d contacts by shape, %d by body", byShape, len(all))
			}
			for i, c := range all {
				found++
				if !r.w.Awake(bodyOf(r, c.A)) && !r.w.Awake(bodyOf(r, c.B)) {
					sleepers++
				}
				if c.Count == 0 {
					none++
				}
				if (physics.Touch{A: c.A, B: c.B}) != touches[i] {
					t.Fatalf("contact %d is %v, want %v", i, c, touches[i])
				}
				one, err := r.w.ContactData(physics.Touch{A: c.B, B: c.A})
				r.no(err)
				if one != c {
					t.Fatalf("%v, by pair %v", c, one)
				}
			}
			for i := range all {
				all[i].TotalImpulse = 0
			}
			if again := other.contactsOf(b); !reflect.DeepEqual(again, all) {
				t.Fatalf("tick %d: restored %+v, want %+v", tick, again, all)
			}
			if again := copied.contactsOf(b); !reflect.DeepEqual(again, all) {
				t.Fatalf("tick %d: copied %+v, want %+v", tick, again, all)
			}
		}
	}
	r.no(r.w.SetTransform(bodies[1], [2]float32{0, 9}, 0))
	r.steps(90)
	r.no(r.w.Restore(must[[]byte](t)(r.w.Snapshot(nil))))
	for _, b := range bodies {
		for _, c := range r.contactsOf(b) {
			if c.TotalImpulse != 0 {
				t.Fatalf("a total impulse after Restore: %+v", c)
			}
		}
	}
	if found < 500 || sleepers < 50 || none*20 > found {
		t.Errorf("%d contacts, %d of sleepers, %d without points", found, sleepers, none)
	}
}

// On a chain a contact has the normal that the solver uses, also where a box is deeper in a segment than it is past
// its vertex.
func TestContactDataOfChain(t *testing.T) {
	r := newFixture(t, 0)
	ground := r.body(physics.StaticBody, 0, 0)
	_, err := r.w.CreateChain(ground, physics.ChainDef{Points: [][2]float32{{30, 0}, {4, 0}, {0.5, 0}, {-0.5, 0}, {-4, 0}, {-30, 0}}, Shape: material(0, 0)})
	r.no(err)
	b := r.dynamic(0.151, 0.346)
	r.box(b, material(0, 0), 0.35, 0.35) // to x = 0.501
	r.steps(1)
	all := r.contactsOf(b)
	if len(all) != 2 {
		t.Errorf("%d contacts", len(all))
	}
	for _, c := range all {
		if c.Count == 0 {
			t.Errorf("no points: %+v", c)
		}
		r.near("normal x", float64(c.Normal[0]), 0, 1e-3)
		r.near("normal y", float64(c.Normal[1]), 1, 1e-3)
	}
}

func TestContactDataRefused(t *testing.T) {
	r := newFixture(t, 0)
	area := plain
	area.Sensor = true
	a, b := r.dynamic(0, 0), r.dynamic(0.9, 0)
	sa, sb := r.circle(a, plain, 0.5), r.circle(b, plain, 0.5)
	sensor := r.circle(a, area, 3)
	far := r.circle(r.dynamic(0, 9), plain, 0.5)
	pair := physics.Touch{A: sa, B: sb}
	is := func(what string, want error, pair physics.Touch) {
		t.Helper()
		if _, err := r.w.ContactData(pair); !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	is("before the first step", physics.ErrStale, pair)
	r.steps(1)
	is("touching", nil, pair)
	is("one shape", physics.ErrStale, physics.Touch{A: sa, B: sa})
	is("far", physics.ErrStale, physics.Touch{A: sa, B: far})
	is("sensor", physics.ErrStale, physics.Touch{A: sensor, B: sb})
	is("none", physics.ErrStale, physics.Touch{})
	if got := r.contactsOf(a); len(got) != 1 || got[0].Count != 1 {
		t.Errorf("%+v", got)
	}
	got, err := r.w.AppendShapeContactData(nil, sensor)
	if err != nil || len(got) != 0 {
		t.Errorf("contacts of a sensor: %v, %v", got, err)
	}
	r.no(r.w.SetTransform(b, [2]float32{5, 0}, 0))
	if c, err := r.w.ContactData(pair); err != nil || c.Count != 0 || c.Normal != [2]float32{} || c.Points != [2]physics.ContactPoint{} {
		t.Errorf("moved apart: %+v, %v", c, err)
	}
	r.no(r.w.SetTransform(b, [2]float32{0.9, 0}, 0))
	r.w.Columns().X[a.Index()] = nan
	if c, err := r.w.ContactData(pair); err != nil || c.Count != 0 {
		t.Errorf("nowhere: %+v, %v", c, err)
	}
	r.w.Columns().X[a.Index()] = 0
	r.no(r.w.Disable(a))
	if c, err := r.w.ContactData(pair); err != nil || c.Count != 0 {
		t.Errorf("disabled: %+v, %v", c, err)
	}
	r.no(r.w.DestroyShape(sb))
	is("destroyed", physics.ErrStale, pair)
	again := r.circle(b, plain, 0.5) // with the index of sb
	is("created since", physics.ErrStale, physics.Touch{A: sa, B: again})
	if got := r.contactsOf(a); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	r.no(r.w.DestroyBody(b))
	_, errBody := r.w.AppendContactData(nil, b)
	_, errShape := r.w.AppendShapeContactData(nil, again)
	for _, err := range []error{errBody, errShape} {
		if !errors.Is(err, physics.ErrStale) {
			t.Error(err)
		}
	}
}

func TestContactDataOfAnotherEngine(t *testing.T) {
	r := newFixture(t, 0, box2d.NewEngine(box2d.Options{}))
	b := r.dynamic(0, 0)
	s := r.circle(b, plain, 1)
	_, errPair := r.w.ContactData(physics.Touch{A: s, B: s})
	_, errBody := r.w.AppendContactData(nil, b)
	_, errShape := r.w.AppendShapeContactData(nil, s)
	for _, err := range []error{errPair, errBody, errShape} {
		if !errors.Is(err, physics.ErrUnsupported) {
			t.Error(err)
		}
	}
}

func TestContactDataAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: an instrumented build allocates")
	}
	r, bodies := pile(t)
	r.seconds(3)
	var all []physics.ContactData
	hash := r.w.Hash()
	read := func() {
		for _, b := range bodies {
			var err error
			all, err = r.w.AppendContactData(all[:0], b)
			r.no(err)
			for _, c := range all {
				_, err = r.w.ContactData(physics.Touch{A: c.A, B: c.B})
				r.no(err)
			}
		}
	}
	read()
	if n := testing.AllocsPerRun(20, read); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if r.w.Hash() != hash {
		t.Error("reading has changed the world")
	}
}
