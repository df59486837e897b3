package worldlog

import (
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Of a log of which any segments are missing, empty, foreign or in each other's places, packed or not, a reader gives
// every tick of every other segment: it ends at the first damaged segment that it meets, and names it.
func TestReaderBesideGaps(t *testing.T) {
	const each, segments, ticks = 3, 9, 3*9 - 1
	plain, packed := written(t, ticks, Options{SegmentTicks: each}), written(t, ticks, Options{SegmentTicks: each, Compress: true})
	kinds := []func(m *memFS, name string){
		func(m *memFS, name string) { delete(m.names, name) },
		func(m *memFS, name string) { m.names[name] = &memFile{} },
		func(m *memFS, name string) { m.names[name] = m.names["log/"+markName] },
		func(m *memFS, name string) { m.names[name] = m.names["log/"+segmentName(segments-1)] },
	}
	rapid.Check(t, func(rt *rapid.T) {
		m, compress := plain.clone(), rapid.Bool().Draw(rt, "packed")
		if compress {
			m = packed.clone()
		}
		damaged := [segments + 1]bool{segments: true}
		for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(1, segments-2), 0, 4, rapid.ID).Draw(rt, "damaged") {
			f, ok, err := hasSegment(m, "log", uint64(i))
			if !ok || err != nil {
				rt.Fatal(ok, err)
			}
			kinds[rapid.IntRange(0, len(kinds)-1).Draw(rt, "kind")](m, "log/"+f.name())
			damaged[i] = true
		}
		r, err := OpenReader("log", m)
		if err != nil {
			rt.Fatal(err)
		}
		defer r.Close()
		for from := range uint64(ticks) {
			first, want := int(from/each), from // the first damaged segment that is met, and the tick after the last before it
			if damaged[first] {
				for damaged[first-1] {
					first--
				}
			} else {
				for !damaged[first] {
					first++
				}
				want = min(uint64(first)*each, ticks)
			}
			next := from
			if err := r.Seek(from); err != nil {
				rt.Fatalf("Seek to tick %d: %v", from, err)
			}
			tick, err := r.Next()
			for ; err == nil; tick, err = r.Next() {
				if tick.Tick != next {
					rt.Fatalf("from tick %d: %d where %d comes next", from, tick.Tick, next)
				}
				next++
			}
			if next != want {
				rt.Fatalf("from tick %d: ends at %d, want %d: %v", from, next, want, err)
			}
			if first == segments && err == io.EOF {
				continue
			}
			if first == segments || !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTorn) || !strings.Contains(err.Error(), segmentName(uint64(first))) {
				rt.Fatalf("from tick %d to %d: %v, segment %d is damaged", from, next, err, first)
			}
		}
	})
}
