package handle

import (
	"math/rand/v2"
	"testing"
)

type id struct{ index, generation uint32 }

// A dry run accepts a command exactly if the pool does when the commands are executed one after the other.
func TestDryRunAgreesWithExecution(t *testing.T) {
	const limit = 12
	rng := rand.New(rand.NewPCG(7, 8))
	p := NewPool(limit, 0)
	var stored []id // handles of the world, valid and stale ones
	r := NewRecording(3)
	refused := 0
	for range 3000 {
		var d DryRun
		d.Begin(&p)
		n := 1 + rng.IntN(8)
		d.BeginList(&r, n)
		var objects []id                     // by new object: what was created for it
		pick := func() (handle, object id) { // any handle, and the object for which it stands
			if len(stored) > 0 && rng.IntN(2) == 0 {
				h := stored[rng.IntN(len(stored))]
				return h, h
			}
			i := rng.IntN(n)
			h := id{}
			h.index, h.generation = r.New(i)
			if i < len(objects) {
				return h, objects[i]
			}
			return h, id{}
		}
		for range n {
			if rng.IntN(2) == 0 {
				i, ok := p.Next()
				if d.Full() != !ok {
					t.Fatalf("Full = %v with %d live", d.Full(), p.Live())
				}
				if ok {
					d.Create()
					objects = append(objects, id{uint32(i), p.Claim(i)})
				}
				continue
			}
			h, object := pick()
			lives := p.Holds(object.index, object.generation)
			if got := d.Lives(h.index, h.generation); got != lives {
				t.Fatalf("Lives(%v) = %v, want %v", h, got, lives)
			}
			if lives {
				d.Destroy(h.index)
				d.Free(h.index)
				p.Release(int(object.index))
			} else {
				refused++
			}
		}
		if d.Created() != len(objects) {
			t.Fatalf("Created %d, want %d", d.Created(), len(objects))
		}
		r.Apply()
		old := r
		for i := range objects {
			index, generation := r.New(i)
			if got, ok := Created(&r, objects, index, generation); !ok || got != objects[i] {
				t.Fatalf("Created(%d) = %v, %v", i, got, ok)
			}
		}
		r.Restart()
		if index, generation := r.New(0); d.Lives(index, generation) && generation == old.number {
			t.Fatal("a restarted recording has the old number")
		} else if _, ok := Created(&r, objects, index, generation); ok {
			t.Fatal("a handle of the next recording is valid")
		}
		if stored = append(stored, objects...); len(stored) > 30 {
			stored = stored[len(stored)-30:]
		}
	}
	if refused < 100 {
		t.Errorf("only %d handles were stale", refused)
	}
}

func TestDryRunOfARetiredIndex(t *testing.T) {
	p := NewPool(1, 0)
	p.Claim(0)
	p.Generation[0] = ^uint32(0)
	var d DryRun
	d.Begin(&p)
	d.Destroy(0)
	if d.Free(0); !d.Full() || !d.Destroyed(0) {
		t.Error("a retired index is free")
	}
}

func TestRecordingsOfListsDiffer(t *testing.T) {
	a, b := NewRecording(1), NewRecording(2)
	for range 1 << 16 {
		a.Restart()
	}
	if a != NewRecording(1) || a == b {
		t.Errorf("recordings %v and %v", a, b)
	}
}

func TestName(t *testing.T) {
	r := NewRecording(1)
	index, generation := r.New(4)
	if got := Name("body", index, generation); got != "new body 4" {
		t.Error(got)
	}
	if got := Name("body", 3, 2); got != "body_3.2" {
		t.Error(got)
	}
}

// A shape lives in a dry run as long as it does when the commands are executed one after the other.
func TestShapesLiveAsTheirBodies(t *testing.T) {
	const limit = 6
	rng := rand.New(rand.NewPCG(3, 1))
	seen := [2]int{}
	for range 300 {
		bodies, shapes := NewPool(limit, 0), NewShapes(100, limit)
		var known, knownShapes []id // handles, and what they stand for
		var real, realShapes []id
		addShape := func(b id) id {
			i, _ := shapes.IDs.Next()
			return id{uint32(i), shapes.Add(i, int(b.index), 1)}
		}
		for i := range 3 {
			b := id{uint32(i), bodies.Claim(i)}
			s := addShape(b)
			known, real, knownShapes, realShapes = append(known, b), append(real, b), append(knownShapes, s), append(realShapes, s)
		}
		var d DryRun
		var ds ShapeDryRun
		d.Begin(&bodies)
		ds.Begin(&shapes, &d)
		for list := range 2 {
			r := NewRecording(uint64(list))
			d.BeginList(&r, 20)
			ds.BeginList(&r, 20)
			for range 20 {
				k := rng.IntN(len(known))
				switch lives := bodies.Holds(real[k].index, real[k].generation); rng.IntN(4) {
				case 0:
					if i, ok := bodies.Next(); ok && !d.Full() {
						index, generation := r.New(d.Created())
						d.Create()
						known, real = append(known, id{index, generation}), append(real, id{uint32(i), bodies.Claim(i)})
					}
				case 1:
					if lives && d.Lives(known[k].index, known[k].generation) {
						index, generation := r.New(ds.Created())
						ds.Create(known[k].index, known[k].generation)
						knownShapes, realShapes = append(knownShapes, id{index, generation}), append(realShapes, addShape(real[k]))
					}
				case 2:
					if lives && d.Lives(known[k].index, known[k].generation) {
						d.Destroy(known[k].index)
						d.Free(known[k].index)
						shapes.ReleaseAll(int(real[k].index))
						bodies.Release(int(real[k].index))
					}
				default:
					k = rng.IntN(len(knownShapes))
					h := knownShapes[k]
					lives := shapes.IDs.Holds(realShapes[k].index, realShapes[k].generation) && (h.index < Provisional || h.generation == r.number)
					if got := ds.Lives(h.index, h.generation); got != lives {
						t.Fatalf("Lives(%v) = %v, want %v", h, got, lives)
					}
					if lives {
						ds.Destroy(h.index)
						shapes.Release(int(realShapes[k].index))
						seen[1]++
					} else {
						seen[0]++
					}
				}
			}
		}
	}
	if min(seen[0], seen[1]) < 100 {
		t.Errorf("stale and live shapes: %v", seen)
	}
}

func TestRecordingIsTakenOnce(t *testing.T) {
	r := NewRecording(1)
	if !r.Take(1) || r.Take(1) || !r.Take(2) {
		t.Error("taken by a call twice, or not by the next one")
	}
}
