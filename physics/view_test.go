package physics

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
)

// TestBodyColumns: the views are all fields of Columns, in their order, with their values.
func TestBodyColumns(t *testing.T) {
	w := must[*World](t)(New(Config{Capacity: 64, Gravity: [2]float32{0, -10}}))
	populate(t, w, 40)
	for range 3 {
		if err := w.Step(1.0 / 60); err != nil {
			t.Fatal(err)
		}
	}
	checkBodyColumns(t, w)
	c := must[*World](t)(w.Clone())
	populate(t, c, 10)
	checkBodyColumns(t, c)
	checkBodyColumns(t, w)

	fake, _ := newFakeWorld(t, Config{Capacity: 16})
	populate(t, fake, 7)
	checkBodyColumns(t, fake)
}

func checkBodyColumns(t *testing.T, w *World) {
	t.Helper()
	fields, n := reflect.ValueOf(w.Columns()), 0
	for i := range fields.NumField() {
		field := fields.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		c := w.BodyColumns()[n]
		n++
		named, ok := w.ColumnNamed(field.Name)
		if c.Name() != field.Name || !ok || named.Name() != field.Name || c.Len() != w.Rows() || c.Components() != 1 || c.Version() != 0 {
			t.Fatalf("view %s of %d rows, want %s of %d", c.Name(), c.Len(), field.Name, w.Rows())
		}
		if c.Kind().String() != field.Type.Elem().Kind().String() {
			t.Fatalf("%s has kind %v", field.Name, c.Kind())
		}
		var little bytes.Buffer
		if err := binary.Write(&little, binary.LittleEndian, fields.Field(i).Slice(0, w.Rows()).Interface()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(c.AppendBytes(nil, 0, c.Len()), little.Bytes()) {
			t.Fatalf("%s has other bytes", field.Name)
		}
		for row, f := range c.AppendFloats(nil, 0, c.Len()) {
			v := fields.Field(i).Index(row)
			want := 0.0
			if v.CanFloat() {
				want = v.Float()
			} else {
				want = float64(v.Uint())
			}
			if f != want || c.Float64(uint32(row), 0) != want {
				t.Fatalf("%s of row %d is %v, want %v", field.Name, row, f, want)
			}
		}
	}
	if n != len(w.BodyColumns()) || n != 22 {
		t.Fatalf("%d views of %d columns", len(w.BodyColumns()), n)
	}
	if _, ok := w.ColumnNamed("Mass"); ok {
		t.Fatal("a column that does not exist is found")
	}
	data, err := w.Snapshot(nil)
	if err != nil {
		return // another engine
	}
	var floats []byte
	for _, c := range w.BodyColumns()[:18] {
		floats = c.AppendBytes(floats, 0, c.Len())
	}
	if bodies := frametest.Split(data)[1]; !bytes.HasPrefix(bodies, floats) {
		t.Fatal("the float32 columns of the snapshot have other bytes")
	}
}

func TestBodyColumnsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented code allocates")
	}
	w := must[*World](t)(New(Config{Capacity: 64}))
	populate(t, w, 40)
	var b []byte
	if n := testing.AllocsPerRun(20, func() {
		b = b[:0]
		for _, c := range w.BodyColumns() {
			b = c.AppendBytes(b, 0, c.Len())
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
