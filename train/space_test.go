package train_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/train"
)

// What each space looks like, flat.
func TestSpaces(t *testing.T) {
	dict := train.Dict(train.Part{Name: "position", Space: train.Box(2, -1, 1)}, train.Part{Name: "speed", Space: train.Box(1, 0, 9)})
	if !slices.Equal(dict.Shape, []int{3}) || !slices.Equal(dict.Low, []float32{-1, -1, 0}) || !slices.Equal(dict.High, []float32{1, 1, 9}) {
		t.Errorf("a Dict of boxes: %+v", dict)
	}
	orders := train.Dict(train.Part{Name: "move", Space: train.Choice(5)}, train.Part{Name: "build", Space: train.Choices(3, 2)})
	if !slices.Equal(orders.Each, []int{5, 3, 2}) {
		t.Errorf("a Dict of choices: %+v", orders)
	}
	for _, c := range []struct {
		s          train.Space
		size, mask int
	}{
		{train.Box(4, 0, 1), 4, 0}, {train.Bytes(3, 2, 2), 12, 0}, {train.Choice(7), 1, 7}, {train.Choices(3, 4), 2, 7},
		{dict, 3, 0}, {orders, 3, 10},
	} {
		if c.s.Size() != c.size || c.s.MaskSize() != c.mask {
			t.Errorf("%+v: size %d, mask %d, want %d, %d", c.s, c.s.Size(), c.s.MaskSize(), c.size, c.mask)
		}
		def := counter(nil)
		if def.Action = c.s; c.s.Kind == train.Uint8 {
			def.Obs, def.Action = c.s, train.Choice(2)
		}
		if err := def.Validate(); err != nil {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
}

// A fault names the field, and the index where there is one.
func TestSpacesRefused(t *testing.T) {
	box := train.Part{Name: "a", Space: train.Box(2, 0, 1)}
	altered := train.Dict(box)
	altered.Low = []float32{0, -1}
	for _, c := range []struct {
		s     train.Space
		is    error
		words string
	}{
		{train.Choices(), fault.ErrRange, "Action.Choices = 0"},
		{train.Space{Kind: train.Int32, Each: []int{}}, fault.ErrRange, "Action: length of Each = 0"},
		{train.Choices(2, 0), fault.ErrRange, "Action.Each[1] = 0"},
		{train.Choices(1<<24, 1), fault.ErrRange, "Action.Each[1] = 1"},
		{train.Space{Kind: train.Int32, Choices: 2, Each: []int{2}}, fault.ErrRange, "Action.Choices beside Each = 2"},
		{train.Dict(), fault.ErrRange, "Action.Shape"},
		{train.Dict(box, box), fault.ErrRange, `Action.Parts[1].Name = "a"`},
		{train.Dict(train.Part{Name: "a\nb", Space: train.Box(1, 0, 1)}), fault.ErrRange, "Action.Parts[0].Name"},
		{train.Dict(box, train.Part{Name: "b", Space: train.Choice(2)}), fault.ErrUnsupported, "Action.Parts[0].Kind = float32"},
		{train.Dict(train.Part{Name: "b", Space: train.Dict(box)}), fault.ErrUnsupported, "Action.Parts[0]: length of its Parts = 1"},
		{train.Dict(train.Part{Name: "b", Space: train.Box(1, 2, 1)}), fault.ErrRange, "Action.Parts[0].Low, High[0]"},
		{altered, fault.ErrRange, "Action: shape, bounds or choices do not follow from the Parts"},
	} {
		def := counter(nil)
		def.Action = c.s
		wantError(t, def.Validate(), c.is, c.words)
	}
}

// Each number of an action has its own choices.
func TestSeveralChoices(t *testing.T) {
	def := counter(nil)
	def.Action = train.Choices(3, 2)
	b, buf := begun(t, def, train.Config{Worlds: 2})
	if len(buf.Choices) != 4 || len(buf.Mask) != 10 || slices.Contains(buf.Mask, false) {
		t.Fatalf("%d choices, mask %v", len(buf.Choices), buf.Mask)
	}
	copy(buf.Choices, []int32{0, 1, 1, 0})
	if err := b.Step(buf); err != nil || !slices.Equal(buf.Terminated, []bool{false, true}) {
		t.Errorf("ends %v, %v", buf.Terminated, err)
	}
	before := b.AppendHashes(nil)
	copy(buf.Choices, []int32{2, 2, 0, 0})
	wantError(t, b.Step(buf), fault.ErrRange, "choice of world 0[1] = 2", "0 to 1")
	buf.Choices[1] = -1
	wantError(t, b.Step(buf), fault.ErrRange, "choice of world 0[1] = -1")
	if !slices.Equal(before, b.AppendHashes(nil)) {
		t.Error("the refused step has stepped")
	}
}

// Definitions are found by name, sorted; the same name twice and a fault are misuse.
func TestRegister(t *testing.T) {
	for _, name := range []string{"zebra", "ape"} {
		def := counter(nil)
		def.Name = name
		train.Register(def)
	}
	if names := train.Names(); !slices.Equal(names, []string{"ape", "zebra"}) {
		t.Errorf("names %q", names)
	}
	if def, err := train.ByName("ape"); err != nil || def.Name != "ape" {
		t.Errorf("%q, %v", def.Name, err)
	}
	_, err := train.ByName("cow")
	wantError(t, err, fault.ErrRange, `name = "cow"`, "[ape zebra]")
	for _, name := range []string{"ape", "", "two\nlines"} {
		def := counter(nil)
		def.Name = name
		func() {
			defer func() {
				if v := recover(); fmt.Sprint(v)[:6] != "train:" {
					t.Errorf("Register of %q: panic %v", name, v)
				}
			}()
			train.Register(def)
			t.Errorf("Register of %q does not panic", name)
		}()
	}
}
