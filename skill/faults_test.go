package skill_test

import (
	"context"
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
)

// The same calls give the same state on every level.
func TestLevels(t *testing.T) {
	var want uint64
	for i, level := range native.Levels() {
		y := newYard(t, yardConfig{sim: evertick.Config{Level: level}})
		drive(t, y, 15)
		if i == 0 {
			want = y.sim.Hash()
		} else if got := y.sim.Hash(); got != want {
			t.Errorf("level %v: hash %#x, on %v %#x", level, got, native.Levels()[0], want)
		}
	}
}

// The answers do not depend on the index that is used: that of the Sim, or that of the registry.
func TestSpatialConfig(t *testing.T) {
	var want uint64
	for i, cell := range []float32{0, 0.5, 1000} {
		c := yardConfig{}
		c.sim.Spatial.CellSize = cell
		y := newYard(t, c)
		drive(t, y, 15)
		if i == 0 {
			want = y.sim.Hash()
		} else if got := y.sim.Hash(); got != want {
			t.Errorf("cells of %v m: hash %#x, not %#x", cell, got, want)
		}
	}
}

type brokenLog struct{ err error }

func (b brokenLog) Append(*worldlog.Record) error { return b.err }

// A log that fails to append an event ends the Sim: nothing happens without being logged.
func TestLogFails(t *testing.T) {
	y := newYard(t, yardConfig{})
	full := errors.New("disk full")
	y.r.LogTo(brokenLog{full})
	y.step(t, 1) // nobody calls
	p := y.submit(t, builder, "world.stats", ``)
	if err := y.sim.Step(); !errors.Is(err, full) {
		t.Fatalf("%v is not %v", err, full)
	}
	y.r.Close(y.sim.Step())
	if err := p.Result().Err; !errors.Is(err, skill.ErrClosed) || !errors.Is(err, full) {
		t.Errorf("the call: %v", err)
	}
}

// The panic of a handler is a panic of its system.
func TestHandlerPanics(t *testing.T) {
	y := newYard(t, yardConfig{sim: evertick.Config{Recover: true}, more: func(r *skill.Registry) error {
		return skill.Register(r, skill.Def{Name: "test.panic", Permission: "test"}, func(*skill.Call, struct{}) (struct{}, error) {
			panic("ouch")
		})
	}})
	c, err := y.r.Caller(admin)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Submit("test.panic", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var panicked *loop.PanicError
	if err := y.sim.Step(); !errors.As(err, &panicked) {
		t.Fatalf("%v is no panic", err)
	}
	select {
	case <-p.Done():
		t.Error("a call has a result of a tick that did not happen")
	default:
	}
	y.r.Close(nil)
	if _, err := c.Call(context.Background(), "world.stats", nil, 0); !errors.Is(err, skill.ErrClosed) {
		t.Error(err)
	}
}

// What another engine lacks is an error, and changes nothing.
func TestOtherEngine(t *testing.T) {
	y := newYard(t, yardConfig{sim: evertick.Config{Physics: physics.Config{Engine: box2d.NewEngine(box2d.Options{})}}})
	out := must[skill.Created](t, y, builder, "scene.createEntity",
		`{"position":{"x":1,"y":9,"z":0},"body":{"type":"dynamic","shape":{"type":"box","size":{"x":1,"y":1,"z":1}}}}`)
	must[skill.Pushed](t, y, builder, "physics.applyImpulse", `{"id":"`+out.ID+`","impulse":{"x":1,"y":0,"z":0}}`)
	for name, input := range map[string]string{
		"world.snapshot": `{}`, "physics.raycast": `{"from":{"x":-5,"y":0,"z":0},"to":{"x":15,"y":0,"z":0}}`,
	} {
		err := y.do(t, admin, name, input).Err
		if codeOf(err) != skill.HandlerError || !errors.Is(err, evertick.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := y.do(t, builder, "scene.createEntity", `{"position":{"x":1,"y":9,"z":0},"body":{"type":"dynamic","shape":{"type":"capsule","radius":1,"length":1}}}`).Err
	if codeOf(err) != skill.HandlerError || !errors.Is(err, evertick.ErrUnsupported) || y.sim.Physics.Len() != 4 {
		t.Errorf("a capsule: %v, %d bodies", err, y.sim.Physics.Len())
	}
	if got := y.sim.World.Len(); got != 7 {
		t.Errorf("%d entities, not 7", got)
	}
}
