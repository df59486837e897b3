package loop

import (
	"testing"

	"pgregory.net/rapid"
)

// A value that was given out or replaced must not stay reachable.
func TestQueueLetsGo(t *testing.T) {
	q, err := NewQueue(QueueConfig[*int]{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(9) {
		if err := q.Push(Entry[*int]{Tick: i, Seq: i, Value: new(int)}); err != nil {
			t.Fatal(err)
		}
	}
	q.Due(3, nil)
	saved := q.AppendWaiting(nil)
	if err := q.Restore(saved[:2]); err != nil {
		t.Fatal(err)
	}
	if err := q.Restore([]Entry[*int]{saved[0], saved[1], saved[1]}); err == nil {
		t.Fatal("a pair twice is accepted")
	}
	held := 0
	for _, w := range []entryHeap[*int]{q.waiting, q.restoring} {
		for _, e := range w.heap[:cap(w.heap)] {
			if e.Value != nil {
				held++
			}
		}
	}
	if held != 2 || q.Len() != 2 {
		t.Errorf("%d values held, %d waiting; want 2", held, q.Len())
	}
}

// The queue keeps nothing of a source whose entries were all refused or taken.
func TestQueueForgetsSources(t *testing.T) {
	q, err := NewQueue(QueueConfig[int]{MaxBytes: 100, PerSourceBytes: 1, Size: func(n int) int { return n }})
	if err != nil {
		t.Fatal(err)
	}
	for source := range uint32(1000) {
		if err := q.Push(Entry[int]{Source: source, Value: 2}); err == nil {
			t.Fatal("not refused")
		}
		if err := q.Push(Entry[int]{Source: 1 << 20, Value: 1}); err != nil {
			t.Fatal(err)
		}
		q.Due(0, nil)
	}
	if s := &q.waiting.sources; s.used != 0 || len(s.slots) > 16 {
		t.Errorf("%d sources in %d slots", s.used, len(s.slots))
	}
}

// Numbers that all begin their search at the same place, in random order, so
// that removals close gaps around the end of the table too.
func TestTableCollisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s keyTable[struct{}]
		model := map[uint64]bool{}
		// mix undone: the low bits of the hash are 14 or 15, those above differ.
		key := func(n uint64) uint64 { return unmix(n>>1<<20 | 14 | n&1) }
		t.Repeat(map[string]func(*rapid.T){
			"flip": func(t *rapid.T) {
				k := key(rapid.Uint64Range(0, 60).Draw(t, "n"))
				if model[k] {
					s.remove(0, k)
					delete(model, k)
				} else {
					s.add(0, k)
					model[k] = true
				}
			},
			"": func(t *rapid.T) {
				if s.used != len(model) {
					t.Fatalf("%d used, want %d", s.used, len(model))
				}
				for n := range uint64(61) {
					if s.has(0, key(n)) != model[key(n)] || s.has(1, key(n)) {
						t.Fatalf("has(%d) = %v", n, s.has(0, key(n)))
					}
				}
			},
		})
	})
}
