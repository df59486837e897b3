package ecs

import "testing"

func TestHandle(t *testing.T) {
	w := newWorld(t, 3)
	if _, ok := w.Handle(1); ok || w.Valid(Handle{}) || w.Valid(Handle{Slot: 99, Gen: 1}) {
		t.Fatal("a handle of nobody")
	}
	a, b := spawn(t, w), spawn(t, w)
	ha, _ := w.Handle(a)
	hb, _ := w.Handle(b)
	if ha != (Handle{0, a}) || hb != (Handle{1, b}) || !w.Valid(ha) || !w.Valid(hb) || w.Valid(Handle{}) {
		t.Fatal(ha, hb)
	}
	w.Despawn(a)
	if w.Valid(ha) || w.Valid(Handle{Slot: ha.Slot}) {
		t.Fatal("the handle of a dead entity is valid")
	}
	c := spawn(t, w)
	hc, _ := w.Handle(c)
	if hc.Slot != ha.Slot || w.Valid(ha) || !w.Valid(hc) {
		t.Fatal("a reused slot makes an old handle valid")
	}
}
