package jetstream

import (
	"math/rand/v2"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/worldlog"
)

// manyTicks writes a log of ticks without records, whose hashes change with salt from a tick on, and returns the rolling checksum
// before each.
func manyTicks(t *testing.T, ticks, from, salt uint64) (dir string, before []sum) {
	t.Helper()
	dir = t.TempDir()
	id := worldlog.Identity{Scenario: "field", Seed: 7}
	log, err := worldlog.Create(dir, id, worldlog.Options{SegmentTicks: 1000})
	if err != nil {
		t.Fatal(err)
	}
	s := newSums(nil)
	at := s.start(&id)
	before = append(before, at)
	for tick := range ticks {
		rec := worldlog.Tick{Tick: tick, Hash: tick}
		if tick >= from {
			rec.Hash += salt << 32
		}
		if err := log.Commit(tick, rec.Hash, rec.Counts); err != nil {
			t.Fatal(err)
		}
		at = s.tick(at, tick, appendTick(nil, &rec))
		before = append(before, at)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, before
}

// A summer goes to any tick, in any order, with the checksum before it, and reads no more than from the nearest mark.
func TestSummerSeek(t *testing.T) {
	seed := paritytest.Seed()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 6))
	const ticks = 3 * maxMarks
	dir, before := manyTicks(t, ticks, 0, 0)
	whole, err := newSummer(dir, newSums(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := whole.until(ticks + 1); err != nil || whole.next != ticks {
		t.Fatal(whole.next, err)
	}
	start := r.Uint64N(ticks)
	within, err := summerAt(dir, newSums(nil), start, before[start])
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range []*summer{whole, within} {
		for range shortened(100, 20) {
			to := r.Uint64N(ticks + 10)
			count := s.count
			if err := s.seek(to); err != nil {
				t.Fatal(err)
			}
			if s.next != min(to, ticks) || s.sum != before[s.next] {
				t.Fatalf("at tick %d of %d with another checksum", s.next, to)
			}
			if n := s.count - count; i == 0 && n > 16 {
				t.Fatalf("%d ticks were read to go to tick %d", n, to)
			}
			if len(s.marks) >= maxMarks {
				t.Fatalf("%d marks", len(s.marks))
			}
		}
		if err := s.reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The ticks that a log and a stream have both are counted without reading the log again, wherever they part, and where the stream
// begins.
func TestCommon(t *testing.T) {
	seed := paritytest.Seed()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	nc := served(t)
	ctx := background(t)
	ticks := uint64(maxMarks + 500)
	for round := range shortened(20, 6) {
		part := []uint64{0, ticks, ticks - 1, 1, r.Uint64N(ticks), r.Uint64N(ticks)}[round%6]
		longer := r.Uint64N(500) * uint64(round%2) // the log ends before the stream, or after
		dir, _ := manyTicks(t, ticks-longer, part, 1)
		_, other := manyTicks(t, ticks, part, 2)
		l, err := newLink(nc, "field", nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &Shipper{link: *l, id: worldlog.Identity{Scenario: "field", Seed: 7}}
		if err := s.ensure(ctx); err != nil {
			t.Fatal(err)
		}
		for first := uint64(0); first < ticks; {
			m := s.message(kindTicks, first, 0, other[first], other[first], nil)
			for range 1 + r.IntN(200) {
				if m.next() == ticks {
					break
				}
				rec := worldlog.Tick{Tick: m.next(), Hash: m.next()}
				if rec.Tick >= part {
					rec.Hash += 2 << 32
				}
				m.body = appendToBody(m.body, appendTick(nil, &rec))
				m.count++
			}
			m.after = other[m.next()]
			if _, err := l.js.Publish(ctx, l.ticks, m.append(nil, newSums(nil))); err != nil {
				t.Fatal(err)
			}
			first = m.next()
		}
		in, err := newSummer(dir, newSums(nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := in.until(ticks); err != nil {
			t.Fatal(err)
		}
		trim := func(messages uint64) {
			if err := s.stream.Purge(ctx, jetstream.WithPurgeSequence(messages)); err != nil {
				t.Fatal(err)
			}
		}
		for _, trimmed := range []bool{false, true} {
			e, err := s.end(ctx)
			if err != nil {
				t.Fatal(err)
			}
			want := min(part, ticks-longer)
			if trimmed {
				trim(3)
				if e, err = s.end(ctx); err != nil {
					t.Fatal(err)
				}
				if m, err := s.get(ctx, e.first); err != nil {
					t.Fatal(err)
				} else if m.first > want {
					want = 0 // nothing is known
				}
			}
			count := in.count
			both, err := s.common(ctx, in, e)
			if err != nil || both != want {
				t.Fatalf("round %d: they part at tick %d, the log has %d: %d in both, want %d, %v", round, part, ticks-longer, both, want, err)
			}
			if n := in.count - count; n > 16 && !trimmed {
				t.Fatalf("%d ticks of the log were read again", n)
			}
		}
		if err := in.reader.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.js.DeleteStream(ctx, s.name); err != nil {
			t.Fatal(err)
		}
	}
}
