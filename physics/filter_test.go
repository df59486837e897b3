package physics_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick/physics"
)

// A pair that is ignored passes, others do not; what touches ends to touch, and begins again.
func TestIgnorePair(t *testing.T) {
	r := newFixture(t, -10)
	ground := r.floor(plain)
	a, b := r.dynamic(0, 0.5), r.dynamic(0, 1.5)
	r.box(a, plain, 0.5, 0.5)
	r.box(b, plain, 0.5, 0.5)
	sensor := plain
	sensor.Sensor = true
	r.circle(b, sensor, 1)
	r.steps(30)
	r.no(r.w.IgnorePair(b, a))
	r.no(r.w.IgnorePair(a, b))
	for _, pair := range [][2]physics.Body{{a, b}, {b, a}} {
		if is, err := r.w.PairIgnored(pair[0], pair[1]); !is || err != nil {
			t.Errorf("ignored: %v, %v", is, err)
		}
	}
	if is, err := r.w.PairIgnored(a, ground); is || err != nil {
		t.Errorf("ignored with the ground: %v, %v", is, err)
	}
	r.steps(1)
	if e := r.w.Events(); len(e.End) != 1 || len(e.SensorEnd) != 1 {
		t.Errorf("ended: %v, %v", e.End, e.SensorEnd)
	}
	r.seconds(2)
	_, y := r.at(b)
	r.near("falls through, to the ground", y, 0.5, 0.02)
	other := must[*physics.World](t)(r.w.Clone())
	sameState(t, "clone", r.w, other)

	r.no(r.w.UnignorePair(a, b))
	r.no(r.w.UnignorePair(a, b))
	if r.w.Hash() == other.Hash() {
		t.Error("the hash does not know of the pair")
	}
	begin, _ := r.touched(1)
	if begin != 1 || len(r.w.Events().SensorBegin) != 1 {
		t.Errorf("%d touches began", begin)
	}
}

func TestIgnoredPairDiesWithItsBodies(t *testing.T) {
	r := newFixture(t, 0)
	var bodies []physics.Body
	for i := range 6 {
		bodies = append(bodies, r.dynamic(0.1*float32(i), 0))
		r.circle(bodies[i], plain, 0.5)
	}
	for i := range bodies {
		for _, b := range bodies[:i] {
			r.no(r.w.IgnorePair(bodies[i], b))
		}
	}
	if begin, _ := r.touched(1); begin != 0 {
		t.Fatalf("%d touches", begin)
	}
	r.no(r.w.DestroyBody(bodies[2]))
	again := r.dynamic(0.2, 0)
	r.circle(again, plain, 0.5)
	if begin, _ := r.touched(1); again.Index() != bodies[2].Index() || begin != 5 {
		t.Errorf("%v after %v: %d touches, want 5", again, bodies[2], begin)
	}
	if is, err := r.w.PairIgnored(bodies[1], bodies[3]); !is || err != nil {
		t.Errorf("ignored: %v, %v", is, err)
	}
}

func TestIgnorePairErrors(t *testing.T) {
	r := newFixture(t, 0)
	a, b := r.dynamic(0, 0), r.dynamic(1, 0)
	r.no(r.w.DestroyBody(b))
	for name, f := range map[string]func(a, b physics.Body) error{
		"IgnorePair": r.w.IgnorePair, "UnignorePair": r.w.UnignorePair,
		"PairIgnored": func(a, b physics.Body) error { _, err := r.w.PairIgnored(a, b); return err },
	} {
		for _, err := range []error{f(a, b), f(b, a)} {
			if !errors.Is(err, physics.ErrStale) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := f(a, a); !errors.Is(err, physics.ErrRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
