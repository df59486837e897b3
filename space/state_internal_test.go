package space

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/physics3"
)

// Whatever is cut from a state, or says a length that is not there, is refused, and changes nothing.
func TestPrepareRefusesDamage(t *testing.T) {
	s := simtest.New(t, simtest.Small())
	b, err := Attach(s, physics3.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		def := physics3.DefaultBodyDef()
		def.Type, def.Position[0] = physics3.DynamicBody, float32(i)/2
		body, err := b.Create(simtest.Spawn(t, s), def)
		if err == nil {
			_, err = b.World().CreateSphere(body, physics3.DefaultShapeDef(), physics3.Sphere{Radius: 0.5})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	simtest.Step(t, s, 1) // with events
	if len(b.World().Events().Begin) == 0 {
		t.Fatal("no events")
	}
	data, err := b.snapshot([]byte("before"))
	if err != nil || string(data[:6]) != "before" {
		t.Fatal(err)
	}
	data = data[6:]
	hash := b.world.Hash()
	for n := range data {
		simtest.WantError(t, b.prepare(data[:n]), evertick.ErrCorrupt)
		b.world.Discard()
	}
	length := wire.U64At(data, 0)
	for _, wrong := range []uint64{0, length - 1, length + 1, 1 << 63, ^uint64(0)} {
		simtest.WantError(t, b.prepare(append(wire.AppendU64s(nil, wrong), data[lengthBytes:]...)), evertick.ErrCorrupt)
		b.world.Discard()
	}
	if b.world.Hash() != hash {
		t.Error("what was refused has changed the bodies")
	}
	if err := b.prepare(data); err != nil {
		t.Fatal(err)
	}
	b.world.Commit()
	if b.world.Hash() != hash || len(b.World().Events().Begin) == 0 {
		t.Error("the state is another one after a Commit of its own")
	}
	simtest.WantError(t, b.prepareCopy(&evertick.Solver{}), evertick.ErrUnsupported)
	if _, found := b.diff(&evertick.Solver{}); found {
		t.Error("a difference from a solver of another kind")
	}
}
