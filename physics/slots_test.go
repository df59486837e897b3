package physics

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// Bodies follow rows that move: Sync writes to the new ones, and Pull sees only what a program has written.
func TestMoveSlots(t *testing.T) {
	w := must[*World](t)(New(Config{Capacity: 8, Slots: 6}))
	tr := newTransforms(6)
	var bodies []Body
	for i, slot := range []uint32{4, 0, 2, NoSlot, 5, 2} {
		d := DefaultBodyDef()
		d.Type, d.HasSlot, d.Position = DynamicBody, slot != NoSlot, [2]float32{float32(10 * i), 1}
		if d.HasSlot {
			d.Slot = slot
		}
		bodies = append(bodies, must[Body](t)(w.CreateBody(d)))
	}
	if err := w.Sync(tr); err != nil {
		t.Fatal(err)
	}
	before := w.Hash()
	err := w.MoveSlots([]uint32{3, NoSlot, 6})
	if !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), "physics: MoveSlots to[2] = 6") || w.Hash() != before {
		t.Fatalf("a slot beyond Config.Slots: %v", err)
	}

	to := []uint32{3, 0, 1, NoSlot, 2} // no element for slot 5
	if err := w.MoveSlots(to); err != nil {
		t.Fatal(err)
	}
	if got, want := w.Columns().Slot[:6], []uint32{2, 3, 1, NoSlot, NoSlot, 1}; !slices.Equal(got, want) {
		t.Errorf("slots %v, want %v", got, want)
	}
	if got, want := w.TakeTeleported(nil), []uint32{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("teleported %v, want %v", got, want)
	}
	rows := newTransforms(6)
	for was, slot := range to {
		if slot != NoSlot {
			rows.X[slot], rows.Y[slot], rows.QW[slot] = tr.X[was], tr.Y[was], tr.QW[was]
		}
	}
	moved := w.Hash()
	if err := w.Pull(rows); err != nil || w.Hash() != moved {
		t.Fatalf("Pull of rows that nobody has written moves a body, or %v", err)
	}
	rows.X[3] = 77
	if err := w.Pull(rows); err != nil {
		t.Fatal(err)
	}
	if x := w.Columns().X[bodies[1].Index()]; x != 77 {
		t.Errorf("the body of slot 3 is at %v", x)
	}
	twin := must[*World](t)(w.Clone())
	for range 10 {
		for _, w := range []*World{w, twin} {
			if err := errors.Join(w.Step(1.0/60), w.Sync(rows)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if w.Hash() != twin.Hash() || math.IsNaN(float64(rows.X[2])) || rows.X[1] != 50 {
		t.Errorf("the clone differs, or the body with the higher index does not win: %v", rows.X)
	}
}

func TestMoveSlotsAllocatesNothing(t *testing.T) {
	w := must[*World](t)(New(Config{Capacity: 300, Slots: 300}))
	to := make([]uint32, 300)
	for i := range to {
		d := DefaultBodyDef()
		d.HasSlot, d.Slot = true, uint32(i)
		w.CreateBody(d)
		to[i] = uint32(299 - i)
	}
	move := func() {
		if err := w.MoveSlots(to); err != nil {
			t.Fatal(err)
		}
	}
	move()
	if n := testing.AllocsPerRun(10, move); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
