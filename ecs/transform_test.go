package ecs

import (
	"errors"
	"testing"

	"github.com/evertick/evertick/native"
)

func TestPrevious(t *testing.T) {
	if w := newWorld(t, 10); w.Previous() != nil || w.Jumped() != nil || !w.Jump(spawn(t, w)) {
		t.Fatal("a previous state without Config.Previous")
	} else {
		w.KeepPrevious()
	}
	w, err := New(Config{Capacity: 200, Previous: true})
	if err != nil {
		t.Fatal(err)
	}
	bare := newWorld(t, 200)
	ids := make([]ID, 150)
	w.SpawnN(ids[:100])
	jumped := func() int { return native.CountRows(w.Jumped()) }
	if jumped() != 100 {
		t.Fatalf("%d of 100 new ones have jumped", jumped())
	}
	w.SetPosition(ids[7], 1, 2, 3)
	w.SetRotation(ids[7], 0, 0, 1, 0)
	w.SetScale(ids[7], 4, 5, 6)
	w.KeepPrevious()
	w.SetPosition(ids[7], 7, 8, 9)
	p := w.Previous()
	if p.Position.X[7] != 1 || p.Position.Z[7] != 3 || p.Rotation.Z[7] != 1 || p.Scale.Y[7] != 5 || p.Rotation.W[8] != 1 {
		t.Fatal("the previous state differs")
	}
	if jumped() != 0 || len(p.Position.X) != w.Cap() {
		t.Fatal(jumped())
	}
	w.Jump(ids[7])
	ids[99], _ = w.Spawn() // in slot 100
	w.SpawnN(ids[100:150])
	if w.Jump(9999) || w.Jumped()[0] != 1<<7 || jumped() != 52 {
		t.Fatalf("%x", w.Jumped())
	}
	bare.SpawnN(make([]ID, 151))
	bare.SetPosition(ids[7], 7, 8, 9)
	bare.SetRotation(ids[7], 0, 0, 1, 0)
	bare.SetScale(ids[7], 4, 5, 6)
	if w.Hash() != bare.Hash() {
		t.Fatal("the previous state is hashed")
	}
	w.KeepPrevious()
	if err := w.Restore(bare.Snapshot(nil)); err != nil || native.CountRows(w.Jumped()[:3]) != 192 {
		t.Fatal("not all have jumped after a Restore", err)
	}
	n := testing.AllocsPerRun(20, func() { w.KeepPrevious(); w.Jump(ids[7]) })
	if n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestInterpolate(t *testing.T) {
	w, err := New(Config{Capacity: 200, Previous: true})
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]ID, 150)
	w.SpawnN(ids)
	w.KeepPrevious()
	w.SetPosition(ids[7], 4, 8, -2)
	w.SetScale(ids[8], 3, 1, 1)
	w.SetRotation(ids[9], 0, 0, 1, 0) // half a turn: in between, a quarter
	w.SetPosition(ids[10], 4, 8, -2)
	w.Jump(ids[10])
	out, ops := NewTransforms(200), &native.Ops{}
	if err := w.Interpolate(ops, 0.25, out); err != nil {
		t.Fatal(err)
	}
	p, r := out.Position, out.Rotation
	if p.X[7] != 1 || p.Y[7] != 2 || p.Z[7] != -0.5 || out.Scale.X[8] != 1.5 || out.Scale.X[7] != 1 || p.X[10] != 4 {
		t.Error(p.X[7], p.Y[7], p.Z[7], out.Scale.X[8], out.Scale.X[7], p.X[10])
	}
	if r.W[7] != 1 || r.Z[9] <= 0 || r.Z[9] >= r.W[9] || r.W[160] != 0 {
		t.Error(r.W[7], r.Z[9], r.W[9], r.W[160])
	}
	if n := testing.AllocsPerRun(20, func() { w.Interpolate(ops, 0.5, out) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
	out.Rotation.W = out.Rotation.W[:149]
	wantPanic(t, "ecs: Interpolate: the result has fewer rows than now", func() { w.Interpolate(ops, 0.5, out) })
	if err := newWorld(t, 10).Interpolate(ops, 0.5, out); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}
