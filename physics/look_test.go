package physics_test

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/physics"
)

// The contacts of each body are those that have begun and not ended, while bodies fall, rest and sleep.
func TestAppendContacts(t *testing.T) {
	r := newFixture(t, -10)
	floor := r.body(physics.StaticBody, 0, -1)
	r.box(floor, plain, 50, 1)
	bodies := []physics.Body{floor}
	for i := range 24 {
		b := r.dynamic(float32(i%6)*0.9, 1+float32(i/6)*1.3, func(d *physics.BodyDef) { d.DisableSleep = false })
		if i%3 == 0 {
			r.circle(b, plain, 0.5)
		} else {
			r.box(b, plain, 0.4, 0.4)
		}
		bodies = append(bodies, b)
	}
	touching := map[physics.Touch]bool{}
	most, slept := 0, false
	for tick := range 400 {
		r.no(r.w.Step(dt))
		for _, e := range r.w.Events().End {
			delete(touching, e)
		}
		for _, e := range r.w.Events().Begin {
			touching[e] = true
		}
		slept = slept || len(r.w.Events().Slept) > 0
		most = max(most, len(touching))
		for _, b := range bodies {
			got, err := r.w.AppendContacts([]physics.Touch{{}}, b)
			r.no(err)
			want := []physics.Touch{{}}
			for e := range touching {
				if bodyOf(r, e.A) == b || bodyOf(r, e.B) == b {
					want = append(want, e)
				}
			}
			slices.SortFunc(want[1:], func(x, y physics.Touch) int {
				return cmp.Or(cmp.Compare(x.A.Index(), y.A.Index()), cmp.Compare(x.B.Index(), y.B.Index()))
			})
			if !slices.Equal(got, want) {
				t.Fatalf("tick %d: contacts of %v are %v, want %v", tick, b, got, want)
			}
		}
	}
	if most < 24 || !slept {
		t.Errorf("%d contacts at most, slept: %v", most, slept)
	}
}

// A sensor overlaps the shapes for which it had a SensorBegin and no SensorEnd, awake and asleep.
func TestAppendSensorOverlaps(t *testing.T) {
	r, bodies := pile(t)
	area := plain
	area.Sensor = true
	zone := r.box(bodies[0], area, 3, 1)
	inside := map[physics.Sensed]bool{}
	most, sleepers := 0, 0
	for tick := range 400 {
		r.steps(1)
		for _, e := range r.w.Events().SensorEnd {
			delete(inside, e)
		}
		for _, e := range r.w.Events().SensorBegin {
			inside[e] = true
		}
		if tick%9 != 0 {
			continue
		}
		want := map[physics.Sensed]bool{}
		for _, b := range bodies {
			for _, s := range must[[]physics.Shape](t)(r.w.AppendShapes(nil, b)) {
				got, err := r.w.AppendSensorOverlaps([]physics.Shape{{}}, s)
				if def := must[physics.ShapeDef](t)(r.w.ShapeDef(s)); !def.Sensor {
					if !errors.Is(err, physics.ErrUnsupported) {
						t.Fatalf("of a solid shape: %v", err)
					}
					continue
				}
				r.no(err)
				for i, v := range got[1:] {
					want[physics.Sensed{Sensor: s, Visitor: v}] = true
					if i > 0 && v.Index() <= got[i].Index() {
						t.Fatalf("not ascending: %v", got)
					}
					if !r.w.Awake(bodyOf(r, v)) && !r.w.Awake(bodyOf(r, s)) && bodyOf(r, v) != bodies[0] {
						sleepers++
					}
				}
			}
		}
		if !maps.Equal(inside, want) {
			t.Fatalf("tick %d: %d overlaps, %d by events", tick, len(want), len(inside))
		}
		most = max(most, len(inside))
	}
	if most < 20 || sleepers < 20 {
		t.Errorf("%d overlaps at most, %d of sleepers", most, sleepers)
	}
	overlaps := must[[]physics.Shape](t)(r.w.AppendSensorOverlaps(nil, zone))
	if len(overlaps) < 2 {
		t.Fatalf("%d in the zone", len(overlaps))
	}
	r.no(r.w.DestroyShape(overlaps[0]))
	if left := must[[]physics.Shape](t)(r.w.AppendSensorOverlaps(nil, zone)); !slices.Equal(left, overlaps[1:]) {
		t.Errorf("%v are left of %v", left, overlaps)
	}
}

func bodyOf(r fixture, s physics.Shape) physics.Body {
	b, err := r.w.ShapeBody(s)
	r.no(err)
	return b
}

func TestAppendShapesAndBounds(t *testing.T) {
	r := newFixture(t, 0)
	b, other := r.dynamic(3, 4, turned(math.Pi/4)), r.dynamic(0, 0)
	first := r.circle(b, plain, 0.5)
	gone := r.circle(b, plain, 1)
	foreign := r.circle(other, plain, 2)
	r.no(r.w.DestroyShape(gone))
	box, line := r.box(b, plain, 1, 1), r.segment(b, plain, -1, 0, 1, 0)
	chain, err := r.w.CreateChain(b, physics.ChainDef{Points: [][2]float32{{0, 0}, {1, 0}, {2, 0}, {3, 0}}})
	r.no(err)
	want := []physics.Shape{{}, first, box, line}
	want, err = r.w.AppendChainShapes(want, chain)
	r.no(err)
	slices.SortFunc(want[1:], func(a, b physics.Shape) int { return cmp.Compare(a.Index(), b.Index()) })
	if got, err := r.w.AppendShapes([]physics.Shape{{}}, b); err != nil || !slices.Equal(got, want) {
		t.Errorf("shapes %v, %v; want %v", got, err, want)
	}
	half := float32(math.Sqrt2)
	for _, c := range []struct {
		s          physics.Shape
		x, y, w, h float32
	}{{first, 3, 4, 0.5, 0.5}, {box, 3, 4, half, half}, {line, 3, 4, half / 2, half / 2}, {foreign, 0, 0, 2, 2}} {
		got, err := r.w.ShapeBounds(c.s)
		r.no(err)
		for k, v := range [...]float32{got.Min[0], got.Min[1], got.Max[0], got.Max[1]} {
			r.near("bound", float64(v), float64([...]float32{c.x - c.w, c.y - c.h, c.x + c.w, c.y + c.h}[k]), 1e-5)
		}
	}
	around, empty := r.dynamic(0, 0), r.dynamic(7, 8)
	r.no(r.w.SetTransform(around, [2]float32{1, 2}, 0))
	r.circle(around, plain, 0.5)
	r.segment(around, plain, 0, 0, 3, -1)
	for _, c := range []struct {
		b    physics.Body
		want physics.DrawnBox
	}{
		{around, physics.DrawnBox{Min: [2]float32{0.5, 1}, Max: [2]float32{4, 2.5}}},
		{empty, physics.DrawnBox{Min: [2]float32{7, 8}, Max: [2]float32{7, 8}}},
	} {
		if got, err := r.w.BodyBounds(c.b); err != nil || got != c.want {
			t.Errorf("bounds %v, %v; want %v", got, err, c.want)
		}
	}
	r.no(r.w.DestroyBody(b))
	_, errShapes := r.w.AppendShapes(nil, b)
	_, errContacts := r.w.AppendContacts(nil, b)
	_, errBounds := r.w.ShapeBounds(box)
	for _, err := range []error{errShapes, errContacts, errBounds} {
		if !errors.Is(err, physics.ErrStale) {
			t.Error(err)
		}
	}
}
