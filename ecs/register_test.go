package ecs

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type spin struct{ X, Y *Column[float32] }

func TestRegister(t *testing.T) {
	type kinds uint8
	var c struct {
		Speed *Column[float32]
		MaxHP *Column[int16]
		HP    *Column[int16]
		XPos  *Column[[2]float64]
		Kind  *Column[kinds] `json:"kind"`
		Ball  Tag
		Mesh  *Blobs
		Spin  spin
		spin           // adds no name
		Turn  spin     `ecs:"turn rate"`
		Other chan int `ecs:"-"`
		Top   Tag      `ecs:"is.top"`
		Ärger *Column[int8]
		world *World // nothing that could be registered
		n     int
	}
	w := newWorld(t, 3)
	top := tag(t, w, "is.top")
	if err := w.Register(&c); err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, d := range w.Describe().Columns[10:] {
		columns = append(columns, d.Name+" "+d.Type)
	}
	if want := []string{
		"speed float32", "maxHP int16", "hp int16", "xPos [2]float64", "kind uint8", "spin.x float32", "spin.y float32", "x float32",
		"y float32", "turn rate.x float32", "turn rate.y float32", "ärger int8",
	}; !slices.Equal(columns, want) {
		t.Errorf("columns\n%q, want\n%q", columns, want)
	}
	if c.Ball.Name() != "ball" || c.Top != top || len(w.tags) != 2 {
		t.Error("tags", c.Ball.Name(), c.Top.Name(), len(w.tags))
	}
	id, slot, err := w.SpawnSlot()
	if err != nil {
		t.Fatal(err)
	}
	c.Y.Values()[slot], c.XPos.Values()[slot] = 4, [2]float64{1, 2}
	c.Y.Touch()
	c.Ball.Set(id)
	if y, found := FindColumn[float32](w, "y"); !found || y.Values()[slot] != 4 || y.Version() != c.Y.Version() || c.Y.Name() != "y" {
		t.Error("the handle is that of another column")
	}
	if mesh, err := w.Blobs("mesh"); err != nil || c.Mesh != mesh || len(w.blobs) != 1 {
		t.Error("not the blobs of that name", err)
	}
	before, was := c, w.Snapshot(nil)
	wantError(t, w.Register(&c), ErrRange, "field Speed name already used = speed", "field Spin.X name already used = spin.x", "spin.X")
	if c != before || !bytes.Equal(w.Snapshot(nil), was) {
		t.Error("Register changed something although it failed")
	}
}

// Each fault names its field, and nothing is registered.
func TestRegisterFaults(t *testing.T) {
	long := reflect.StructOf([]reflect.StructField{{
		Name: "Long", Type: reflect.TypeFor[*Column[int8]](), Tag: reflect.StructTag(`ecs:"` + strings.Repeat("n", 256) + `"`),
	}})
	for _, c := range []struct {
		into any
		kind error
		says string
	}{
		{new(struct{ owner *Column[uint16] }), ErrUnsupported, "field owner, which is not exported: type = *ecs.Column[uint16]: unsupported"},
		{new(struct{ ball Tag }), ErrUnsupported, "field ball, which is not exported: type = ecs.Tag: unsupported"},
		{new(struct{ spin spin }), ErrUnsupported, "field spin, which is not exported: type = ecs.spin: unsupported"},
		{new(struct{ speed Column[int8] }), ErrUnsupported, "field speed, which is not exported: type = ecs.Column[int8]: unsupported"},
		{new(struct{ In struct{ y Tag } }), ErrUnsupported, "field In.y, which is not exported: type = ecs.Tag: unsupported"},
		{new(struct{ N int }), ErrUnsupported, "field N type = int: unsupported"},
		{new(struct{ Speed []float32 }), ErrUnsupported, "field Speed type = []float32: unsupported"},
		{new(struct{ Speed Column[float32] }), ErrUnsupported, "field Speed type = ecs.Column[float32]: unsupported"},
		{new(struct{ Mesh Blobs }), ErrUnsupported, "field Mesh type = ecs.Blobs: unsupported"},
		{new(struct {
			Mesh *Blobs `ecs:""`
		}), ErrRange, `field Mesh name = "": out of range`},
		{new(struct{ Ball *Tag }), ErrUnsupported, "field Ball type = *ecs.Tag: unsupported"},
		{new(struct{ *spin }), ErrUnsupported, "field spin, which is not exported: type = *ecs.spin: unsupported"},
		{new(struct{ Spin *spin }), ErrUnsupported, "field Spin type = *ecs.spin: unsupported"},
		{new(struct{ Any any }), ErrUnsupported, "field Any type = interface {}: unsupported"},
		{new(struct{ Name *Column[string] }), ErrUnsupported, "field Name type = string: unsupported"},
		{new(struct{ Row *Column[[1025]int8] }), ErrUnsupported, "field Row type = [1025]int8: unsupported"},
		{new(struct{ N *Column[int] }), ErrUnsupported, "field N type = int: unsupported"},
		{new(struct {
			Empty *Column[int8] `ecs:""`
		}), ErrRange, `field Empty name = "": out of range`},
		{new(struct {
			Empty Tag `ecs:""`
		}), ErrRange, `field Empty name = "": out of range`},
		{reflect.New(long).Interface(), ErrRange, "field Long name = \"nnn"},
		{new(struct {
			Identity *Column[int8]
		}), ErrRange, "field Identity name already used = identity: out of range"},
		{new(struct{ Position spin }), ErrRange, "field Position.X name already used = position.x: out of range"},
		{new(struct{ Taken *Column[int8] }), ErrRange, "field Taken name already used = taken: out of range"},
		{new(struct {
			Twice *Column[int8]
			Again *Column[int16] `ecs:"twice"`
		}), ErrRange, "field Again name already used = twice: out of range"},
		{new(struct{ Huge *Column[[1024]float64] }), ErrCapacity, "field Huge bytes = 4294967296: capacity exceeded"},
	} {
		w := newWorld(t, 1<<19) // 8 KiB a row do not fit
		addColumn[int8](t, w, "taken")
		wantFault(t, w, c.into, c.kind, "ecs: Register: "+c.says)
	}
}

func wantFault(t *testing.T, w *World, into any, kind error, says ...string) {
	t.Helper()
	before := w.Snapshot(nil)
	wantError(t, w.Register(into), kind, says...)
	if !bytes.Equal(w.Snapshot(nil), before) || !reflect.ValueOf(into).Elem().IsZero() {
		t.Errorf("%v: something was registered", says)
	}
}

// A column that a snapshot brought becomes that of the field, unless it has another type.
func TestRegisterAdoptsKept(t *testing.T) {
	from, _, pack := knowing(t, 9)
	w := restored(t, newWorld(t, 9), from)
	var other struct {
		Mana *Column[int32]
		Pack *Column[[3]int16]
	}
	wantFault(t, w, &other, ErrUnsupported, "ecs: Register: field Mana type of the kept column mana = float32: unsupported")
	var twice struct {
		Mana  *Column[float32]
		Again *Column[int32] `ecs:"mana"`
	}
	wantFault(t, w, &twice, ErrRange, "ecs: Register: field Again name already used = mana: out of range")
	if len(w.kept) != 3 {
		t.Fatal("adopted by a Register that failed")
	}
	var c struct {
		Pack *Column[[3]int16]
		Mana *Column[float32]
	}
	if err := w.Register(&c); err != nil {
		t.Fatal(err)
	}
	if c.Mana.Values()[4] != 4.5 || c.Pack.Values()[4] != pack.Values()[4] || c.Pack.Version() != pack.Version() || len(w.kept) != 1 {
		t.Error("not the kept columns")
	}
	if w.Hash() != from.Hash() {
		t.Error("another hash")
	}
}

// One bad field, and no field is registered; the error has all faults.
func TestRegisterAllOrNothing(t *testing.T) {
	w := newWorld(t, 4)
	var c struct {
		Good  *Column[float32]
		Ball  Tag
		First *Column[string]
		Spin  struct{ second Tag }
		Third *Column[int8] `ecs:"good"`
	}
	wantFault(t, w, &c, ErrUnsupported, "field First type", "\necs: Register: field Spin.second, which", "\necs: Register: field Third name already used = good")
	if len(w.tags) != 0 || len(w.columns) != 10 {
		t.Error("something was registered")
	}
	addColumn[float32](t, w, "good") // the names are free
	tag(t, w, "ball")
}

// A struct may use all columns and tags that are left, and not one more.
func TestRegisterToCapacity(t *testing.T) {
	fields := func(n int, of reflect.Type) reflect.Type {
		var list []reflect.StructField
		for i := range n {
			list = append(list, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: of})
		}
		return reflect.StructOf(list)
	}
	for _, c := range []struct {
		of   reflect.Type
		left int
		says string
	}{
		{reflect.TypeFor[*Column[int8]](), maxColumns - 10, "columns = 1024: capacity exceeded"},
		{tagType, MaxTags, "tags = 256: capacity exceeded"},
		{blobsType, MaxBlobs, "names = 256: capacity exceeded"},
	} {
		w := newWorld(t, 1)
		wantFault(t, w, reflect.New(fields(c.left+2, c.of)).Interface(), ErrCapacity,
			fmt.Sprintf("field F%d %s", c.left, c.says), fmt.Sprintf("field F%d %s", c.left+1, c.says))
		if err := w.Register(reflect.New(fields(c.left, c.of)).Interface()); err != nil {
			t.Error(err)
		}
	}
}

func TestRegisterMisuse(t *testing.T) {
	w, n := newWorld(t, 1), 0
	for _, into := range []any{nil, spin{}, &n, (*spin)(nil)} {
		wantPanic(t, "ecs: Register: not a pointer to a struct", func() { w.Register(into) })
	}
	var c struct{ Owner *Column[uint16] }
	wantPanic(t, "ecs: use of a nil Column: Register or AddColumn has returned an error, or was not called", func() { c.Owner.Values() })
	if err := w.Register(new(struct{})); err != nil {
		t.Error("a struct without fields:", err)
	}
}

func TestLowerBeginning(t *testing.T) {
	for name, want := range map[string]string{
		"Owner": "owner", "MaxHP": "maxHP", "HP": "hp", "HPMax": "hpMax", "X": "x", "XPos": "xPos", "HP2": "hp2", "V2X": "v2X", "Über": "über", "ID": "id",
	} {
		if got := lowerBeginning(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// byHand registers one column or tag under a name.
var byHand = []struct {
	of  reflect.Type
	add func(w *World, name string) error
}{
	{reflect.TypeFor[*Column[float32]](), func(w *World, name string) error { _, err := AddColumn[float32](w, name); return err }},
	{reflect.TypeFor[*Column[int32]](), func(w *World, name string) error { _, err := AddColumn[int32](w, name); return err }},
	{reflect.TypeFor[*Column[uint64]](), func(w *World, name string) error { _, err := AddColumn[uint64](w, name); return err }},
	{reflect.TypeFor[*Column[[3]int16]](), func(w *World, name string) error { _, err := AddArrayColumn[[3]int16](w, name); return err }},
	{reflect.TypeFor[*Column[[2]string]](), func(w *World, name string) error { _, err := AddArrayColumn[[2]string](w, name); return err }},
	{tagType, func(w *World, name string) error { _, err := w.Tag(name); return err }},
	{blobsType, func(w *World, name string) error { _, err := w.Blobs(name); return err }},
}

// Register is AddColumn, AddArrayColumn, Tag and Blobs, one after the other: the same errors, or the same
// world, bit for bit, in worlds with kept columns and without.
func TestRegisterIsAddColumn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := newWorld(t, 7), newWorld(t, 7)
		if rapid.Bool().Draw(rt, "kept") {
			from, _, _ := knowing(t, 7)
			restored(t, a, from)
			restored(t, b, from)
		}
		kept := len(a.kept)
		var fields []reflect.StructField
		var want []string
		caller := strings.NewReplacer("ecs: AddColumn ", "", "ecs: AddArrayColumn ", "", "ecs: Tag ", "", "ecs: Blobs ", "")
		for i := range rapid.IntRange(0, 9).Draw(rt, "fields") {
			of := rapid.SampledFrom(byHand).Draw(rt, "type")
			name := rapid.SampledFrom([]string{"mana", "hp", "pack", "new", "newer", "newest", "position.x", "", "other"}).Draw(rt, "name")
			f := reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: of.of, Tag: reflect.StructTag(fmt.Sprintf("ecs:%q", name))}
			fields = append(fields, f)
			if err := of.add(b, name); err != nil {
				want = append(want, "ecs: Register: field "+f.Name+" "+caller.Replace(err.Error()))
			}
		}
		before := a.Snapshot(nil)
		err := a.Register(reflect.New(reflect.StructOf(fields)).Interface())
		if len(want) > 0 {
			if err == nil || err.Error() != strings.Join(want, "\n") {
				rt.Fatalf("got\n%v\nwant\n%v", err, strings.Join(want, "\n"))
			}
			if !bytes.Equal(a.Snapshot(nil), before) || len(a.kept) != kept {
				rt.Fatal("changed by a Register that failed")
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		for _, w := range []*World{a, b} {
			w.SpawnN(make([]ID, 2))
		}
		if a.Hash() != b.Hash() || !bytes.Equal(a.Snapshot(nil), b.Snapshot(nil)) || len(a.kept) != len(b.kept) {
			rt.Fatal("differs from registration by hand")
		}
	})
}
