package modules

import (
	"reflect"
	"testing"

	"github.com/evertick/evertick/loop"
)

// The context of Update gives access to no clock, through exported or unexported
// fields.
func TestUpdateContextHasNoClock(t *testing.T) {
	context := reflect.TypeFor[UpdateContext]()
	if path := clockIn(context, map[reflect.Type]bool{}); path != "" {
		t.Errorf("%s", path)
	}
	if path := clockInFields(context, map[reflect.Type]bool{}); path != "" {
		t.Errorf("%s", path)
	}
	// Both checks find clocks in the context of Render.
	render := reflect.TypeFor[RenderContext]()
	if clockInMethods(render, map[reflect.Type]bool{}) == "" || clockInFields(render, map[reflect.Type]bool{}) == "" {
		t.Error("no clock is found where there is one")
	}
	if clockIn(reflect.TypeFor[struct{ E *Engine }](), map[reflect.Type]bool{}) == "" {
		t.Error("an engine passes")
	}
}

// clockInFields checks all fields, exported or not, and their values.
func clockInFields(t reflect.Type, seen map[reflect.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan, reflect.Map:
		return clockInFields(t.Elem(), seen)
	case reflect.Func, reflect.UnsafePointer:
		return t.String()
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if path := clockIn(f.Type, map[reflect.Type]bool{}); path != "" {
				return f.Name + ": " + path
			}
			if path := clockInFields(f.Type, seen); path != "" {
				return f.Name + ": " + path
			}
		}
	}
	return ""
}

// recorder keeps the values that it gets in updates.
type recorder struct{ values []any }

func (r *recorder) Update(c *UpdateContext, dt float32) error {
	random := c.Rand(3, 4)
	r.values = append(r.values, c.Tick(), dt, c.Dt(), c.Time(), random.Uint64(), len(c.Services().byKey))
	return nil
}

func (r *recorder) Render(*RenderContext, float64) error { return nil }

// Updates get the same values for any distribution of ticks over frames, with the engine or a
// token, and at any speed of time.
func TestUpdatesDoNotSeeFrames(t *testing.T) {
	run := func(seed uint64, frames func(e *Engine, r *recorder)) []any {
		e, err := New(Config{Seed: seed, Clock: new(FakeTime)})
		if err != nil {
			t.Fatal(err)
		}
		r := new(recorder)
		if err := e.Add("recorder", r); err != nil {
			t.Fatal(err)
		}
		if err := e.Start(); err != nil {
			t.Fatal(err)
		}
		frames(e, r)
		if e.tick != 100 {
			t.Fatalf("%d ticks", e.tick)
		}
		return r.values
	}
	every := func(ns int64) func(e *Engine, r *recorder) {
		return func(e *Engine, _ *recorder) {
			for e.tick < 100 {
				if _, err := e.Advance(ns); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	want := run(1, every(16_666_667))
	for name, frames := range map[string]func(e *Engine, r *recorder){
		"a millisecond a frame": every(1_000_000),
		"five ticks a frame":    every(83_333_334),
		"half speed": func(e *Engine, r *recorder) {
			if err := e.loop.SetScale(loop.Speed, "test", 0.5, loop.Forever); err != nil {
				t.Fatal(err)
			}
			every(7_000_000)(e, r)
		},
		"the token steps": func(e *Engine, _ *recorder) {
			token, err := e.takeStep(e.modules[0])
			if err != nil {
				t.Fatal(err)
			}
			for range 100 {
				if err := token.Step(); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		if got := run(1, frames); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: updates get other values", name)
		}
	}
	if reflect.DeepEqual(run(2, every(16_666_667)), want) {
		t.Error("another seed makes no difference")
	}
}
