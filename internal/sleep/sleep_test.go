package sleep

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
)

// islandOf returns which bodies are connected to one by dynamic bodies, by brute force.
func islandOf(e *fake, edges []Edge, row int) []bool {
	in := make([]bool, len(e.kinds))
	in[row] = true
	for again := true; again; {
		again = false
		for _, c := range edges {
			if e.kinds[c.A] == Dynamic && e.kinds[c.B] == Dynamic && in[c.A] != in[c.B] {
				in[c.A], in[c.B], again = true, true, true
			}
		}
	}
	return in
}

// ground is a world of n bodies of random kinds, of which some touch.
func ground(rng *rand.Rand, n int) (*fake, []Edge) {
	e := newFake(n, true)
	for range n {
		e.add([]uint8{Static, Kinematic, Kinematic, Dynamic, Dynamic, Dynamic, Dynamic, Dynamic}[rng.IntN(8)], false)
	}
	var touch []Edge
	for range n / 2 {
		a := uint32(rng.IntN(n))
		if b := uint32(rng.IntN(n)); a != b && e.kinds[a]|e.kinds[b] != Static {
			touch = append(touch, Edge{A: a, B: b})
		}
	}
	return e, touch
}

// Exactly the islands fall asleep in which nothing moves, or is kept moving.
func TestIslandsFallAsleep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	asleep, awake := 0, 0
	for range 400 {
		e, touch := ground(rng, 40)
		for range 6 {
			i := rng.IntN(40)
			switch rng.IntN(4) {
			case 0:
				e.marks[i] |= Never
			case 1:
				e.carried = append(e.carried, uint32(i))
			case 2:
				if k := rng.IntN(40); k != i {
					e.joints = append(e.joints, Edge{uint32(i), uint32(k)})
				}
			}
			if e.kinds[i] != Static && rng.IntN(2) == 0 {
				e.v[i] = 1
			}
		}
		for n := range uint64(searchEvery + 1) { // what touches a moving body would wake in the next step
			e.step(n, touch)
		}
		edges := append(slices.Clone(touch), e.joints...)
		for i, kind := range e.kinds {
			rests := func(k int) bool {
				return e.v[k] == 0 && e.marks[k]&Never == 0
			}
			want := kind != Static && rests(i)
			if kind == Dynamic {
				for k, in := range islandOf(e, edges, i) {
					want = want && (!in || rests(k) && !slices.Contains(e.carried, uint32(k)))
					for _, c := range edges {
						a, b := int(c.A), int(c.B)
						want = want && !(in && (a == k && e.kinds[b] != Dynamic && e.v[b] != 0 || b == k && e.kinds[a] != Dynamic && e.v[a] != 0))
					}
				}
			}
			if got := e.marks[i]&Asleep != 0; got != want {
				t.Fatalf("body %d of kind %d: asleep %v, want %v", i, kind, got, want)
			}
			if want {
				asleep++
			} else {
				awake++
			}
		}
		if e.Count != count(e) {
			t.Fatalf("Count = %d, want %d", e.Count, count(e))
		}
	}
	if asleep < 1000 || awake < 1000 {
		t.Errorf("%d asleep, %d awake", asleep, awake)
	}
}

func count(e *fake) (n int) {
	for _, f := range e.marks {
		if f&Asleep != 0 {
			n++
		}
	}
	return n
}

// sleeping returns a world in which all but static bodies are asleep.
func sleeping(t *testing.T, rng *rand.Rand) (*fake, []Edge) {
	e, touch := ground(rng, 40)
	for n := range uint64(12) {
		e.step(n, touch)
	}
	for i, kind := range e.kinds {
		if kind != Static && e.Awake(i) {
			t.Fatalf("body %d is awake", i)
		}
	}
	return e, touch
}

// Each way to change a body wakes its island, and no other.
func TestIslandsWake(t *testing.T) {
	changes := map[string]func(e *fake, i int){
		"a call":             func(e *fake, i int) { e.Wake(i) },
		"a force":            func(e *fake, i int) { e.WakeDynamic(i) },
		"a new shape":        func(e *fake, i int) { e.WakeUnlessNew(i) },
		"a teleport":         func(e *fake, i int) { e.x[i]++; e.WakeTeleported(i) },
		"a written position": func(e *fake, i int) { e.x[i]++ },
		"a written velocity": func(e *fake, i int) { e.v[i] = 1 },
		"a written force":    func(e *fake, i int) { e.f[i] = 1 },
	}
	for name, change := range changes {
		rng := rand.New(rand.NewPCG(2, uint64(len(name))))
		for range 50 {
			e, touch := sleeping(t, rng)
			i := rng.IntN(40)
			for e.kinds[i] != Dynamic {
				i = rng.IntN(40)
			}
			change(e, i)
			e.step(1, touch)
			for k, in := range islandOf(e, touch, i) {
				if e.kinds[k] == Dynamic && e.Awake(k) != in {
					t.Fatalf("%s: body %d is awake: %v", name, k, e.Awake(k))
				}
			}
			for k := range e.kinds {
				if e.Active.Has(k) != e.Awake(k) {
					t.Fatalf("%s: body %d is active: %v", name, k, e.Active.Has(k))
				}
			}
			if len(e.gained) == 0 || e.Count != count(e) {
				t.Fatalf("%s: %d woke, Count %d", name, len(e.gained), e.Count)
			}
		}
	}
}

// A static body that is moved wakes what touches it, and so does one that is destroyed.
func TestFloorWakesWhatRestsOnIt(t *testing.T) {
	for name, change := range map[string]func(e *fake, floor int){
		"moved":      func(e *fake, floor int) { e.x[floor]++ },
		"moved away": func(e *fake, floor int) { e.x[floor]++ },
		"destroyed": func(e *fake, floor int) {
			e.remove(floor)
			for _, list := range [][]Edge{e.contacts, e.still} {
				for i := range list {
					if list[i].A == uint32(floor) {
						list[i].A = Gone
					}
				}
			}
		},
	} {
		e := newFake(4, true)
		floor, box, other := e.add(Static, false), e.add(Dynamic, false), e.add(Dynamic, false)
		touch := []Edge{{uint32(floor), uint32(box)}}
		for n := range uint64(12) {
			e.step(n, touch)
		}
		if e.Count != 2 {
			t.Fatalf("%d asleep", e.Count)
		}
		change(e, floor)
		if name == "moved away" {
			touch = nil
		}
		e.step(1, touch)
		if !e.Awake(box) || e.Awake(other) {
			t.Errorf("%s: box %v, other %v", name, e.Awake(box), e.Awake(other))
		}
	}
}

// A body that moves wakes the sleepers that it touches, one after the other; one that leaves a sleeper wakes it too.
func TestTouchWakes(t *testing.T) {
	e := newFake(3, true)
	for range 3 {
		e.add(Dynamic, true)
	}
	e.step(0, nil)
	if e.Count != 3 {
		t.Fatalf("%d asleep", e.Count)
	}
	e.v[0] = 1
	touch := []Edge{{0, 1}, {1, 2}}
	e.step(1, touch)
	if e.Count != 0 || len(e.gained) != 3 {
		t.Errorf("%d asleep, %v woke", e.Count, e.gained)
	}
	e.v[0] = 0
	for n := range uint64(12) {
		e.step(n, touch)
	}
	e.PutToSleep(0) // asleep already, or with the others
	if e.Count != 3 {
		t.Fatalf("%d asleep", e.Count)
	}
	e.x[1] = 5
	e.step(1, nil) // what it touched is gone
	e.step(2, nil)
	if e.Count != 0 {
		t.Errorf("%d asleep after the others have left", e.Count)
	}
}

// Bodies that are created asleep stay so, however they are built.
func TestCreatedAsleep(t *testing.T) {
	e := newFake(4, true)
	a, b, floor := e.add(Dynamic, true), e.add(Dynamic, true), e.add(Static, false)
	for _, i := range []int{a, b, floor} {
		e.WakeUnlessNew(i)
	}
	touch := []Edge{{uint32(a), uint32(b)}, {uint32(b), uint32(floor)}}
	for n := range uint64(3) {
		e.step(n, touch)
	}
	if e.Count != 2 || e.CreatedAsleep(a) {
		t.Fatalf("%d asleep", e.Count)
	}
	e.Wake(a)
	if e.step(4, touch); e.Count != 0 {
		t.Errorf("%d asleep: they are no island", e.Count)
	}
}

func TestPutToSleep(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		e, touch := ground(rng, 40)
		e.step(1, touch)
		i := rng.IntN(40)
		for e.kinds[i] != Dynamic {
			i = rng.IntN(40)
		}
		e.v[i] = 9
		in := islandOf(e, touch, i)
		never := rng.IntN(3) == 0
		if never {
			e.marks[slices.Index(in, true)] |= Never
		}
		e.PutToSleep(i)
		for k, f := range e.marks {
			if want := in[k] && !never; want != (f&Asleep != 0) {
				t.Fatalf("body %d: asleep %v, want %v", k, f&Asleep != 0, want)
			}
		}
		if e.step(2, touch); !never && e.v[i] != 0 {
			t.Error("it moves")
		}
	}
}

// A body that was moved and is put to sleep wakes the sleepers on it, which have not fallen asleep with it.
func TestPutToSleepWakesNeighbours(t *testing.T) {
	e := newFake(2, true)
	lift, box := e.add(Kinematic, false), e.add(Dynamic, false)
	touch := []Edge{{uint32(lift), uint32(box)}}
	for n := range uint64(12) {
		e.step(n, touch)
	}
	e.Wake(lift)
	e.x[lift]++
	if e.PutToSleep(lift); e.Awake(lift) || !e.Awake(box) {
		t.Errorf("lift awake %v, box %v", e.Awake(lift), e.Awake(box))
	}
}

// What a step does with single rows.
func TestRows(t *testing.T) {
	e := newFake(3, true)
	floor, box, gone := e.add(Static, false), e.add(Dynamic, false), e.add(Dynamic, false)
	e.step(0, nil)
	e.remove(gone)
	e.x[gone] = 5
	e.x[floor]++
	e.UpdateActive()
	if !e.Active.Has(floor) || e.x[gone] != 0 {
		t.Errorf("a moved floor is active: %v; a row without a body has %g", e.Active.Has(floor), e.x[gone])
	}
	if e.EndStep(0.1); e.Active.Has(floor) {
		t.Error("a floor is active for more than one step")
	}
	for n := range uint64(12) {
		e.step(n, nil)
	}
	e.Separated(uint32(box))
	if e.UpdateActive(); !e.Awake(box) {
		t.Error("what touched it is gone, and it is asleep")
	}
}

func TestEnable(t *testing.T) {
	e := newFake(3, false)
	a := e.add(Dynamic, true)
	floor := e.add(Static, false)
	for n := range uint64(12) {
		e.step(n, nil)
	}
	if e.On || !e.Awake(a) || RowsOf(e.Spans) != 2 || !e.AllActive() || e.BroadVersion() != 0 {
		t.Fatalf("On %v, spans %v", e.On, e.Spans)
	}
	e.Enable(true)
	e.x[floor] = 7
	for n := range uint64(12) {
		e.step(n, nil)
	}
	if e.Awake(a) || e.Count != 1 || e.AllActive() || e.BroadVersion() == 0 {
		t.Fatal("awake after sleep was turned on")
	}
	if e.Enable(false); !e.Awake(a) || e.Count != 0 {
		t.Error("asleep after sleep was turned off")
	}
}

// The spans are the rows of the set and short gaps, in pieces that are not too long.
func TestSpansCoverTheSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		rows := 1 + rng.IntN(5000)
		set := bitset.Make(rows)
		for range rng.IntN(8) {
			lo := rng.IntN(rows)
			for i := lo; i < min(rows, lo+rng.IntN(900)); i++ {
				set.Add(i)
			}
		}
		covered, last := bitset.Make(rows), 0
		for _, s := range appendSpans(nil, set, rows) {
			if s.Lo > last && last > 0 && s.Lo-last <= spanGap || s.Lo < last || s.Hi <= s.Lo || s.Hi-s.Lo > spanRows || s.Hi > rows {
				t.Fatalf("span %v after %d, of %d rows", s, last, rows)
			}
			last = s.Hi
			for i := s.Lo; i < s.Hi; i++ {
				covered.Add(i)
			}
		}
		idle := 0
		for i := range rows {
			switch {
			case set.Has(i) && !covered.Has(i):
				t.Fatalf("row %d of %d is not covered", i, rows)
			case set.Has(i) || !covered.Has(i):
				idle = 0
			default:
				if idle++; idle > spanGap+2*64 {
					t.Fatalf("%d rows at rest are covered", idle)
				}
			}
		}
	}
}

// A restored state, and a copied one, go on as the original does, whatever happened before.
func TestRestoredStateGoesOn(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		e, touch := ground(rng, 40)
		e.Threshold[3] = 2
		for n := range uint64(20) {
			e.step(n, touch)
			disturb(e, rng.IntN(6), rng.IntN(40))
		}
		data := e.encode()
		var im Image
		if err := im.Read("", data, 4, 8, e.marks); err != nil {
			t.Fatal(err)
		}
		restored, copied := twin(e), twin(e)
		restored.Restore(&im)
		copied.Copy(&e.State)
		copy(copied.rest, e.rest)
		all := []*fake{e, restored, copied}
		for n := range uint64(12) {
			what, row := rng.IntN(12), rng.IntN(40)
			for k, w := range all {
				w.step(20+n, touch)
				if !slices.Equal(w.marks, e.marks) || !slices.Equal(w.lost, e.lost) || !sameRows(w.gained, e.gained) || !slices.Equal(w.Times, e.Times) {
					t.Fatalf("world %d parts in step %d: %v slept, %v woke; want %v and %v", k, n, w.lost, w.gained, e.lost, e.gained)
				}
				if got, want := w.encode(), e.encode(); !slices.Equal(got, want) {
					t.Fatalf("world %d has another encoding in step %d", k, n)
				}
			}
			for _, w := range all {
				disturb(w, what, row)
			}
		}
	}
}

func sameRows(a, b []uint32) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// disturb does one of several things to a body.
func disturb(e *fake, what, row int) {
	switch what {
	case 0:
		e.Wake(row)
	case 1:
		e.x[row]++
	case 2:
		if e.kinds[row] == Dynamic {
			e.v[row] = 1
		}
	case 3:
		e.v[row] = 0
	case 4:
		if e.Awake(row) {
			e.PutToSleep(row)
		}
	case 5:
		e.WakeWithNeighbours(row)
	}
}

// twin returns a world with the bodies and the contacts of another one, but without its sleep.
func twin(e *fake) *fake {
	w := newFake(len(e.x), true)
	w.pool.CopyFrom(&e.pool)
	for _, c := range [][2][]uint8{{w.kinds, e.kinds}, {w.marks, e.marks}} {
		copy(c[0], c[1])
	}
	for _, c := range [][2][]float32{{w.x, e.x}, {w.v, e.v}, {w.f, e.f}} {
		copy(c[0], c[1])
	}
	w.contacts, w.still, w.joints = slices.Clone(e.contacts), slices.Clone(e.still), e.joints
	return w
}

func TestReadRefusesWhatNoStateHas(t *testing.T) {
	e, _ := sleeping(t, rand.New(rand.NewPCG(6, 6)))
	e.x[5]++
	e.Wake(slices.IndexFunc(e.kinds, func(k uint8) bool { return k == Dynamic }))
	data := e.encode()
	var im Image
	if err := im.Read("", data, 4, 8, e.marks); err != nil || !im.On {
		t.Fatal(err)
	}
	for i := 1; i < len(data); i++ {
		if err := im.Read("", data[:i], 4, 8, e.marks); !errors.Is(err, fault.ErrCorrupt) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
	word := func(at int, v byte) []byte {
		b := slices.Clone(data)
		b[4*at], b[4*at+1], b[4*at+2], b[4*at+3] = v, v, v, v
		return b
	}
	rows := len(e.marks)
	for name, b := range map[string][]byte{
		"time NaN": word(2, 0xff), "threshold NaN": word(2+rows, 0xff), "row": word(2+2*rows, 0x7f), "changes": word(2+2*rows+1, 0x40), "notes": word(0, 0x10),
	} {
		if err := im.Read("", b, 4, 8, e.marks); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := im.Read("", nil, 4, 8, e.marks); err != nil || im.On {
		t.Errorf("no state: %v", err)
	}
}

func TestUsed(t *testing.T) {
	e := newFake(2, true)
	i := e.add(Dynamic, false)
	if e.Used() || e.OwnThresholds() {
		t.Error("a new world has used sleep")
	}
	e.Threshold[i] = 1
	if !e.Used() || !e.OwnThresholds() {
		t.Error("a threshold is not seen")
	}
	hashes := e.Hash(nil)
	e.Times[i] = 1
	if again := e.Hash(nil); hashes[0] == again[0] || hashes[1] != again[1] {
		t.Errorf("hashes %v and %v", hashes, again)
	}
	var enc frame.Encoder
	if e.EncodeThresholds(&enc); len(enc.Buf) != 4 {
		t.Errorf("%d bytes", len(enc.Buf))
	}
}
