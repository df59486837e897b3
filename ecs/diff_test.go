package ecs

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiffSays(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		change func(w *World)
		want   string
	}{
		"nothing":       {func(*World) {}, "no difference"},
		"payload":       {func(w *World) { w.Position.Z[3] = nan }, "no difference"},
		"new tag":       {func(w *World) { tag(t, w, "new") }, "no difference"},
		"version":       {func(w *World) { w.Scale.Touch() }, "no difference"},
		"unused row":    {func(w *World) { w.Scale.X[5] = 7 }, "no difference"},
		"spawn":         {func(w *World) { spawn(t, w) }, "next id: ent_6 and ent_7"},
		"despawn":       {func(w *World) { w.Despawn(3) }, "id, slot 2: ent_3 and no entity"},
		"tag":           {func(w *World) { tag(t, w, "ally").Set(4) }, "tag of ally, slot 3 (ent_4): false and true"},
		"tag of others": {func(w *World) { tag(t, w, "a b").Set(1) }, `tag of "a b", slot 0 (ent_1): false and true`},
		"column":        {func(w *World) { addColumn[int16](t, w, "bone") }, "column of bone: none and int16"},
		"number": {func(w *World) { w.Position.X[2] = 3; w.Position.Y[0] = 1 },
			"value of position.x, slot 2 (ent_3): 2 (0x40000000) and 3 (0x40400000)"},
		"free row":        {func(w *World) { w.Rotation.W[1] = 2 }, "value of rotation.w, slot 1 (free): 1 (0x3f800000) and 2 (0x40000000)"},
		"sign of 0":       {func(w *World) { w.Position.Y[3] = 0 }, "value of position.y, slot 3 (ent_4): -0 (0x80000000) and 0 (0x00000000)"},
		"integer":         {func(w *World) { c, _ := FindColumn[int32](w, "hp"); c.Values()[1] = 7 }, "value of hp, slot 1 (free): -1 (0xffffffff) and 7 (0x7)"},
		"blob":            {func(w *World) { setBlob(t, w, "mesh", 1, "tree.glb") }, `blob of mesh, slot 0 (ent_1): none and "tree.glb"`},
		"blob of nothing": {func(w *World) { setBlob(t, w, "a b", 1, "") }, `blob of "a b", slot 0 (ent_1): none and ""`},
		"no blob":         {func(w *World) { setBlob(t, w, "mesh", 1, "").Unset(1) }, "no difference"},
		"double": {func(w *World) { c, _ := FindColumn[float64](w, "heat"); c.Values()[0] = 1 },
			"value of heat, slot 0 (ent_1): 0 (0x0000000000000000) and 1 (0x3ff0000000000000)"},
	} {
		a, b := sample(t), sample(t)
		c.change(b)
		d, found := Diff(a, b)
		if got := d.String(); got != c.want || found != (a.Hash() != b.Hash()) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}

	long := strings.Repeat("0123456789", 10)
	a, b := sample(t), sample(t)
	for i, name := range []string{"tree.glb", long, "same", "gone"} {
		setBlob(t, a, "mesh", []ID{1, 3, 4, 5}[i], name)
		setBlob(t, b, "mesh", []ID{1, 3, 4, 5}[i], name)
	}
	for _, c := range []struct {
		id         ID
		text, want string
	}{
		{5, "gone!", `blob of mesh, slot 4 (ent_5), byte 4: "gone" and "gone!"`},
		{3, long[:50] + "x" + long[51:], `blob of mesh, slot 2 (ent_3), byte 50: …"8901234567890123456789012345678901234567"… and …"890123456789x123456789012345678901234567"…`},
		{1, "tree.gltf", `blob of mesh, slot 0 (ent_1), byte 7: "tree.glb" and "tree.gltf"`},
	} {
		setBlob(t, b, "mesh", c.id, c.text)
		if d, _ := Diff(a, b); d.String() != c.want {
			t.Errorf("%s, want %s", d, c.want)
		}
	}

	a, b = newWorld(t, 3), newWorld(t, 4)
	spawn(t, a)
	spawn(t, b)
	quad, err := AddArrayColumn[[4]uint8](a, "quad")
	if err != nil {
		t.Fatal(err)
	}
	other, _ := AddArrayColumn[[4]uint8](b, "quad")
	other.Values()[0][2] = 9
	if d, _ := Diff(a, b); d.String() != "value of quad, slot 0 (ent_1), element 2: 0 (0x0) and 9 (0x9)" {
		t.Error(d)
	}
	quad.Values()[0] = other.Values()[0]
	c := newWorld(t, 1)
	spawn(t, c)
	wide := addColumn[uint32](t, c, "quad")
	if d, _ := Diff(a, c); d.String() != "column of quad: [4]uint8 and uint32" {
		t.Error(d)
	}
	copy(a.columns[10].mem, c.columns[10].mem)
	if d, found := Diff(a, c); found || wide[0] != 0 {
		t.Errorf("the hash knows bytes, not types: %v", d)
	}
	a.Despawn(1)
	id := spawn(t, a)
	a.Despawn(id)
	c2 := newWorld(t, 3)
	AddArrayColumn[[4]uint8](c2, "quad")
	c2.SpawnN(make([]ID, 2))
	c2.DespawnWhere()
	if d, _ := Diff(a, c2); d.String() != "high water: 1 and 2" {
		t.Error(d)
	}
}

// numbers adds an array column of T with a smallest and a largest value.
func numbers[T Number](t *testing.T, w *World, low, high T) {
	name := reflect.TypeFor[T]().Name()
	c, err := AddArrayColumn[[2]T](w, name)
	if err != nil {
		t.Fatal(err)
	}
	c.Values()[0] = [2]T{low, high}
}

// TestNumbersAsText: every kind of number, in a difference and in a table.
func TestNumbersAsText(t *testing.T) {
	a, b := newWorld(t, 1), newWorld(t, 1)
	spawn(t, a)
	spawn(t, b)
	for _, w := range []*World{a, b} {
		numbers[int8](t, w, math.MinInt8, math.MaxInt8)
		numbers[int16](t, w, math.MinInt16, math.MaxInt16)
		numbers[int32](t, w, math.MinInt32, math.MaxInt32)
		numbers[int64](t, w, math.MinInt64, math.MaxInt64)
		numbers[uint8](t, w, 0, math.MaxUint8)
		numbers[uint16](t, w, 0, math.MaxUint16)
		numbers[uint32](t, w, 0, math.MaxUint32)
		numbers[uint64](t, w, 0, math.MaxUint64)
		numbers[float32](t, w, -1.5, math.MaxFloat32)
		numbers[float64](t, w, -1.5, math.SmallestNonzeroFloat64)
	}
	var table bytes.Buffer
	if err := a.Dump(&table); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ row, low string }{
		"int8":    {"[-128 127]", "-128 (0x80)"},
		"int16":   {"[-32768 32767]", "-32768 (0x8000)"},
		"int32":   {"[-2147483648 2147483647]", "-2147483648 (0x80000000)"},
		"int64":   {"[-9223372036854775808 9223372036854775807]", "-9223372036854775808 (0x8000000000000000)"},
		"uint8":   {"[0 255]", "0 (0x0)"},
		"uint16":  {"[0 65535]", "0 (0x0)"},
		"uint32":  {"[0 4294967295]", "0 (0x0)"},
		"uint64":  {"[0 18446744073709551615]", "0 (0x0)"},
		"float32": {"[-1.5 3.4028235e+38]", "-1.5 (0xbfc00000)"},
		"float64": {"[-1.5 5e-324]", "-1.5 (0xbff8000000000000)"},
	} {
		if !strings.Contains(table.String(), " "+want.row) {
			t.Errorf("%s: no %s in\n%s", name, want.row, table.String())
		}
		i, _ := search(b.byName, name)
		saved := slices.Clone(b.byName[i].mem)
		copy(b.byName[i].mem, saved[len(saved)/2:]) // low becomes high
		d, _ := Diff(a, b)
		if got := fmt.Sprintf("value of %s, slot 0 (ent_1): %s and ", name, want.low); !strings.HasPrefix(d.String(), got) || d.Name != name {
			t.Errorf("%v, want %s", d, got)
		}
		copy(b.byName[i].mem, saved)
	}
}

// mutate makes one small change to a world, or none.
func mutate(t *rapid.T, w *World) {
	slot := rapid.IntRange(0, max(0, w.high-1)).Draw(t, "slot")
	switch rapid.IntRange(0, 7).Draw(t, "what") {
	case 0:
		w.Spawn()
	case 1:
		w.Despawn(w.ids[slot])
	case 2:
		name, _ := w.Tag(rapid.SampledFrom(modelTags).Draw(t, "tag"))
		if w.high > 0 && !name.Has(w.ids[slot]) {
			name.Set(w.ids[slot])
		} else {
			name.Clear()
		}
	case 3:
		AddColumn[float64](w, rapid.SampledFrom(modelTags).Draw(t, "column"))
	case 4:
		AddArrayColumn[[3]int16](w, rapid.SampledFrom(modelTags).Draw(t, "column"))
	case 5:
		c := w.columns[rapid.IntRange(0, len(w.columns)-1).Draw(t, "column")]
		if w.high == 0 {
			return
		}
		row := c.rows(slot, slot+1)
		i := rapid.IntRange(0, len(row)-1).Draw(t, "byte")
		row[i] = rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff, 0xf0, 0xf8}).Draw(t, "value")
	case 6, 7:
		blobs, _ := w.Blobs(rapid.SampledFrom(modelTags).Draw(t, "blobs"))
		if w.high == 0 {
			return
		}
		if data := rapid.SampledFrom([]string{"", "a", "b", "ab", "none"}).Draw(t, "blob"); data != "none" {
			_ = blobs.Set(w.ids[slot], []byte(data))
		} else {
			blobs.Unset(w.ids[slot])
		}
	}
}

// TestDiffIsTheHash: there is a difference if and only if the hashes differ.
func TestDiffIsTheHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, err := New(Config{Capacity: 70})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 20).Draw(t, "history") {
			mutate(t, a)
		}
		b := a.Clone()
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			mutate(t, rapid.SampledFrom([]*World{a, b}).Draw(t, "whose"))
		}
		d, found := Diff(a, b)
		if found != (a.Hash() != b.Hash()) {
			t.Fatalf("Diff says %v, hashes %#x and %#x", d, a.Hash(), b.Hash())
		}
		back, also := Diff(b, a)
		if also != found || back.Part != d.Part || back.Name != d.Name || back.Slot != d.Slot {
			t.Fatalf("%v, the other way round %v", d, back)
		}
		if found == strings.Contains(d.String(), "no difference") {
			t.Fatal(d)
		}
	})
}
