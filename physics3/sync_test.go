package physics3_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// driving returns a world with a body that drives slot 2 of 4, and the entities.
func driving(t testing.TB) (*physics3.World, physics3.Body, physics3.Transforms) {
	w, d := emptyWorld(t, physics3.Config{Capacity: 8}), dynamicAt(1, 2, 3)
	d.HasSlot, d.Slot, d.LinearVelocity = true, 2, vec{6, 0, 0}
	f := func() []float32 { return make([]float32, 4) }
	return w, addBox(t, w, d, vec{0.5, 0.5, 0.5}), physics3.Transforms{X: f(), Y: f(), Z: f(), QX: f(), QY: f(), QZ: f(), QW: f()}
}

// Pull puts a body where its entity was moved, keeps what was not written, and leaves bodies whose entity has not changed.
func TestPullPutsTheBodyWhereItsEntityIs(t *testing.T) {
	w, b, e := driving(t)
	if err := w.Pull(e); err != nil || position(t, w, b) != (vec{1, 2, 3}) {
		t.Fatalf("Pull before Sync: %v, body at %v", err, position(t, w, b))
	}
	no(t, w.Sync(e))
	no(t, w.SetTransform(b, vec{7, 7, 7}, unit))
	no(t, w.Pull(e))
	if p := position(t, w, b); p != (vec{7, 7, 7}) {
		t.Errorf("Pull has undone a teleport: %v", p)
	}
	no(t, w.Sync(e))
	e.Y[2] = 5
	if got := w.AppendWritten(nil, e); !slices.Equal(got, []uint32{2}) {
		t.Errorf("AppendWritten: %v", got)
	}
	no(t, w.Pull(e))
	v, _, _ := w.Velocity(b)
	if p := position(t, w, b); p != (vec{7, 5, 7}) || v != (vec{6, 0, 0}) || must[quat](t)(w.Rotation(b)) != unit {
		t.Errorf("the body is at %v with velocity %v", p, v)
	}
	if got := w.AppendWritten(nil, e); len(got) > 0 {
		t.Errorf("AppendWritten after Pull: %v", got)
	}
	e.QX[2], e.QW[2] = 3, 4 // of length 5
	no(t, w.Pull(e))
	if q := must[quat](t)(w.Rotation(b)); math.Abs(float64(q[0]-0.6)) > 1e-6 || math.Abs(float64(q[3]-0.8)) > 1e-6 {
		t.Errorf("the rotation is %v", q)
	}
	before := must[quat](t)(w.Rotation(b))
	e.QX[2], e.QY[2], e.QZ[2], e.QW[2], e.Z[2] = 0, 0, 0, 0, -1
	no(t, w.Pull(e))
	if p := position(t, w, b); p[2] != -1 || must[quat](t)(w.Rotation(b)) != before {
		t.Errorf("after the rotation zero: %v", p)
	}
	no(t, w.Sync(e))
	other := must[*physics3.World](t)(w.Clone()) // what Sync has written is state
	e.X[2] = 90
	no(t, other.Pull(e))
	if p := position(t, other, b); p[0] != 90 {
		t.Errorf("a clone has the body at %v", p)
	}
}

func TestSyncAndPullRefuse(t *testing.T) {
	w, b, e := driving(t)
	no(t, w.Sync(e))
	hash := w.Hash()
	for words, v := range map[string]float32{"Transforms.QY[2] = NaN": nan, "Transforms.QY[2] = -Inf": -inf, "Transforms.QY[2] = 1e+20": 1e20} {
		e.QY[2], e.X[2] = v, 50
		if err := w.Pull(e); err == nil || !strings.Contains(err.Error(), "physics3: Pull: "+b.String()+": "+words) || w.Hash() != hash {
			t.Errorf("%s: %v", words, err)
		}
	}
	short := physics3.Transforms{X: e.X[:2], Y: e.Y[:2], Z: e.Z[:2], QX: e.QX[:2], QY: e.QY[:2], QZ: e.QZ[:2], QW: e.QW[:2]}
	for name, err := range map[string]error{"Sync": w.Sync(short), "Pull": w.Pull(short)} {
		if !errors.Is(err, physics3.ErrRange) || !strings.Contains(err.Error(), "body 0 drives slot 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	short.QW = e.QW
	for name, call := range map[string]func(){"Sync": func() { _ = w.Sync(short) }, "Pull": func() { _ = w.Pull(short) }} {
		if got := panicOf(call); got != "physics3: "+name+": slices of unequal length" {
			t.Errorf("%s: panic %v", name, got)
		}
	}
	e.QY[2], e.X[2] = 0, 1
	if n := testing.AllocsPerRun(10, func() {
		no(t, w.Sync(e))
		e.X[2]++
		no(t, w.Pull(e))
	}); n != 0 && !paritytest.Instrumented {
		t.Errorf("%g allocations", n)
	}
}

// Bodies follow rows that move, and of two bodies that drive one slot the one with the higher index wins.
func TestSlots(t *testing.T) {
	w, b, e := driving(t)
	no(t, w.Sync(e))
	w.TakeTeleported(nil)
	no(t, w.SetTransform(b, vec{4, 4, 4}, unit))
	no(t, w.MoveSlots([]uint32{3, 2, 1, 0}))
	if got := w.TakeTeleported(nil); !slices.Equal(got, []uint32{1}) {
		t.Errorf("teleported: %v", got)
	}
	for _, c := range [][]float32{e.X, e.Y, e.Z, e.QX, e.QY, e.QZ, e.QW} {
		slices.Reverse(c)
	}
	if got := w.AppendWritten(nil, e); len(got) > 0 {
		t.Errorf("written: %v", got)
	}
	no(t, w.Sync(e))
	if e.X[1] != 4 || e.X[2] != 0 {
		t.Errorf("entities at %v", e.X)
	}
	d := dynamicAt(9, 9, 9)
	d.HasSlot, d.Slot = true, 1
	bodyOf(t, w, d)
	no(t, w.Sync(e))
	e.X[1] = 11
	no(t, w.Pull(e))
	if second, _ := w.BodyAt(1); position(t, w, second)[0] != 11 || position(t, w, b)[0] != 4 {
		t.Errorf("the bodies are at %v and %v", position(t, w, b), position(t, w, second))
	}
	small := emptyWorld(t, physics3.Config{Slots: 2})
	d.Slot = 1
	bodyOf(t, small, d)
	if err := small.MoveSlots([]uint32{0, 2}); !errors.Is(err, physics3.ErrRange) {
		t.Errorf("MoveSlots beyond Config.Slots: %v", err)
	}
	no(t, small.MoveSlots(nil))
	if got := small.Columns().Slot[0]; got != physics3.NoSlot {
		t.Errorf("a row that is gone: slot %d", got)
	}
}

// The bodies of an ignored pair pass through each other; their contact ends, and begins again later. Pairs go with their bodies.
func TestIgnorePair(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	b := addBox(t, w, dynamicAt(0, 0.5, 0), vec{0.5, 0.5, 0.5})
	floor, _ := w.BodyAt(0)
	steps(t, w, 60)
	no(t, w.IgnorePair(b, floor))
	no(t, w.IgnorePair(floor, b))
	steps(t, w, 1)
	if len(w.Events().End) != 1 || !must[bool](t)(w.PairIgnored(floor, b)) {
		t.Fatalf("events %+v", w.Events())
	}
	steps(t, w, 10)
	if p := position(t, w, b); p[1] > 0.45 {
		t.Errorf("the box is at %v", p)
	}
	no(t, w.UnignorePair(b, floor))
	steps(t, w, 1)
	if len(w.Events().Begin) != 1 {
		t.Error("the contact does not begin again")
	}
	no(t, w.IgnorePair(b, floor))
	no(t, w.DestroyBody(b))
	again := addBox(t, w, dynamicAt(0, 0.5, 0), vec{0.5, 0.5, 0.5})
	if again.Index() != b.Index() || must[bool](t)(w.PairIgnored(again, floor)) {
		t.Error("a new body has the pair of an old one")
	}
	for err, is := range map[error]error{w.IgnorePair(b, floor): physics3.ErrStale, w.UnignorePair(floor, floor): physics3.ErrRange} {
		if !errors.Is(err, is) {
			t.Errorf("got %v, want %v", err, is)
		}
	}
}
