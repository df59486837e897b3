package evertick_test

import (
	"strings"
	"testing"

	"github.com/evertick/evertick"
)

// Two simulations that are equal have no difference, and the first difference of two that
// are not is named.
func TestDiff(t *testing.T) {
	build := func() *park {
		p := newPark(t, parkConfig())
		step(t, p.sim, 20)
		return p
	}
	if d, found := evertick.Diff(build().sim, build().sim); found {
		t.Fatalf("equal, but %v", d)
	}
	for _, c := range []struct {
		what   string
		change func(p *park)
		says   []string
	}{
		{"ticks", func(p *park) { step(t, p.sim, 1) }, []string{"ticks", "20 (0x14)", "21 (0x15)"}},
		{"entity", func(p *park) { spawn(t, p.sim) }, []string{"entities"}},
		{"column", func(p *park) { p.heat[3] += 1 }, []string{"entities", "heat"}},
		{"body", func(p *park) {
			id, _ := p.sim.World.ID(0)
			b, ok := p.sim.Body(id)
			if !ok {
				t.Fatal("no body")
			}
			if err := p.sim.Physics.SetVelocity(b, [2]float32{7, 0}, 0); err != nil {
				t.Fatal(err)
			}
		}, []string{"body.", "7 (0x40e00000)", "of body "}},
	} {
		a, b := build(), build()
		c.change(b)
		d, found := evertick.Diff(a.sim, b.sim)
		if !found {
			t.Errorf("%s: no difference", c.what)
		}
		for _, s := range c.says {
			if !strings.Contains(d.String(), s) {
				t.Errorf("%s: %q does not say %q", c.what, d, s)
			}
		}
	}
	// What has no columns is told by its hash, as of the last tick.
	a, b := build(), build()
	b.told++
	step(t, a.sim, 1)
	step(t, b.sim, 1)
	if d, found := evertick.Diff(a.sim, b.sim); !found || d.Column != "state.park" || d.Row != -1 {
		t.Errorf("state: %v", d)
	}
}
