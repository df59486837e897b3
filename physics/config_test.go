package physics

import (
	"errors"
	"go/parser"
	"go/token"
	"math"
	"os"
	"strings"
	"testing"
)

func TestConfigDefaults(t *testing.T) {
	w, f := newFakeWorld(t, Config{})
	if w.Cap() != DefaultCapacity || w.Len() != 0 || w.Rows() != 0 {
		t.Errorf("Cap %d, Len %d, Rows %d", w.Cap(), w.Len(), w.Rows())
	}
	if f.config.Capacity != DefaultCapacity || f.config.Workers != 1 {
		t.Errorf("the engine was opened with %+v", f.config)
	}
	if c := w.Columns(); len(c.X) != DefaultCapacity || len(c.Slot) != DefaultCapacity {
		t.Errorf("columns of %d and %d rows", len(c.X), len(c.Slot))
	}
}

func TestConfigReportsEveryFaultAtOnce(t *testing.T) {
	c := Config{
		Capacity: -1,
		Gravity:  [2]float32{0, float32(math.Inf(-1))},
		Plane:    7,
		SubSteps: MaxSubSteps + 1,
		Workers:  -3,
		Level:    99,
	}
	_, err := New(c)
	for _, part := range []string{
		"physics: Config.Capacity = -1: out of range",
		"physics: Config.Gravity[1] = -Inf: not finite",
		"physics: Config.Plane = Plane(7): out of range",
		"physics: Config.SubSteps = 65: out of range",
		"physics: Config.Workers = -3: out of range",
		"level Level(99)",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in %v", part, err)
		}
	}
	for _, sentinel := range []error{ErrRange, ErrNotFinite, ErrUnsupported} {
		if !errors.Is(err, sentinel) {
			t.Errorf("%v does not wrap %v", err, sentinel)
		}
	}
	if err := (Config{Engine: &fakeEngine{}, Capacity: MaxCapacity + 1}).Validate(); !errors.Is(err, ErrRange) {
		t.Errorf("capacity above the limit: %v", err)
	}
}

func TestEngineRefusesToOpen(t *testing.T) {
	if _, err := New(Config{Engine: &fakeEngine{next: ErrUnsupported}}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// A program that imports physics must not link the engine of another package.
func TestFrontImportsNoEngine(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if strings.Contains(strings.ToLower(spec.Path.Value), "box2d") {
				t.Errorf("%s imports %s", f.Name(), spec.Path.Value)
			}
		}
	}
}

func TestSlotsBound(t *testing.T) {
	slotted := func(slot uint32) BodyDef {
		d := DefaultBodyDef()
		d.HasSlot, d.Slot = true, slot
		return d
	}
	w, small := must[*World](t)(New(Config{Slots: 3})), must[*World](t)(New(Config{Slots: 2}))
	if _, err := w.CreateBody(slotted(3)); !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), "BodyDef.Slot = 3") {
		t.Errorf("slot 3 of 3: %v", err)
	}
	c := w.NewCommands()
	c.CreateBody(slotted(3))
	if err := w.Apply(c); !errors.Is(err, ErrRange) || w.Len() != 0 {
		t.Errorf("slot 3 of 3 by a command: %v, %d bodies", err, w.Len())
	}
	must[Body](t)(w.CreateBody(slotted(2)))
	before := small.Hash()
	if err := small.Restore(must[[]byte](t)(w.Snapshot(nil))); !errors.Is(err, ErrCapacity) {
		t.Errorf("restored slot 2 of 2: %v", err)
	}
	if err := small.CopyFrom(w); !errors.Is(err, ErrCapacity) {
		t.Errorf("copied slot 2 of 2: %v", err)
	}
	if small.Hash() != before {
		t.Error("an error has changed the world")
	}
	if err := (Config{Slots: -1}).Validate(); !errors.Is(err, ErrRange) {
		t.Errorf("Slots: -1: %v", err)
	}
}
