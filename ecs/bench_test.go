package ecs

import (
	"math/rand/v2"
	"testing"
)

// benchWorld is full: 16,384 entities, 14 columns, a tag on one in ten.
func benchWorld(b *testing.B) (*World, []ID, Tag) {
	w := newWorld(b, DefaultCapacity)
	for _, name := range []string{"vx", "vy", "vz", "mass"} {
		addColumn[float32](b, w, name)
	}
	ids := make([]ID, w.Cap())
	if err := w.SpawnN(ids); err != nil {
		b.Fatal(err)
	}
	marked := tag(b, w, "marked")
	for i := 0; i < len(ids); i += 10 {
		marked.Set(ids[i])
	}
	rng := rand.New(rand.NewPCG(3, 5))
	for i := range w.Position.X {
		w.Position.X[i] = rng.Float32()
	}
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return w, ids, marked
}

// perEntity reports the time of one of n parts of an iteration.
func perEntity(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entity")
}

// BenchmarkSpawnDespawn spawns and despawns, one by one in random order, or by batch.
func BenchmarkSpawnDespawn(b *testing.B) {
	w, ids, _ := benchWorld(b)
	order := make([]int, len(ids))
	for i, id := range ids {
		order[i] = int(id) - 1
	}
	despawn := func() {
		for _, i := range order {
			w.Despawn(ids[i])
		}
	}
	b.Run("op=spawn", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			despawn()
			b.StartTimer()
			for i := range ids {
				ids[i], _ = w.Spawn()
			}
		}
		perEntity(b, len(ids))
	})
	b.Run("op=spawnSlot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			despawn()
			b.StartTimer()
			for i := range ids {
				ids[i], _, _ = w.SpawnSlot()
			}
		}
		perEntity(b, len(ids))
	})
	b.Run("op=spawnN", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			despawn()
			b.StartTimer()
			w.SpawnN(ids)
		}
		perEntity(b, len(ids))
	})
	b.Run("op=despawn", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			despawn()
			b.StopTimer()
			w.SpawnN(ids)
			b.StartTimer()
		}
		perEntity(b, len(ids))
	})
	b.Run("op=despawnN", func(b *testing.B) {
		b.ReportAllocs()
		batch := make([]ID, len(ids))
		for b.Loop() {
			b.StopTimer()
			for i, at := range order {
				batch[i] = ids[at]
			}
			b.StartTimer()
			w.DespawnN(batch)
			b.StopTimer()
			w.SpawnN(ids)
			b.StartTimer()
		}
		perEntity(b, len(ids))
	})
	b.Run("op=despawn/order=slot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, id := range ids {
				w.Despawn(id)
			}
			b.StopTimer()
			w.SpawnN(ids)
			b.StartTimer()
		}
		perEntity(b, len(ids))
	})
}

var sink int

// BenchmarkSlot resolves ids in random order, from numbers and from text.
func BenchmarkSlot(b *testing.B) {
	w, ids, _ := benchWorld(b)
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	b.Run("by=id", func(b *testing.B) {
		for b.Loop() {
			for _, id := range ids {
				s, _ := w.Slot(id)
				sink += int(s)
			}
		}
		perEntity(b, len(ids))
	})
	b.Run("by=text", func(b *testing.B) {
		for b.Loop() {
			for _, name := range names {
				id, _ := ParseID(name)
				s, _ := w.Slot(id)
				sink += int(s)
			}
		}
		perEntity(b, len(ids))
	})
}

// BenchmarkTag sets and unsets in random order, and visits one in ten.
func BenchmarkTag(b *testing.B) {
	w, ids, marked := benchWorld(b)
	other := tag(b, w, "other")
	b.Run("op=set+unset", func(b *testing.B) {
		for b.Loop() {
			for _, id := range ids {
				other.Set(id)
			}
			for _, id := range ids {
				other.Unset(id)
			}
		}
		perEntity(b, 2*len(ids))
	})
	b.Run("op=setAll+unsetAll", func(b *testing.B) {
		for b.Loop() {
			other.SetAll(ids)
			other.UnsetAll(ids)
		}
		perEntity(b, 2*len(ids))
	})
	b.Run("op=query", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for s := range w.Query(With(marked)) {
				sink += int(s)
			}
		}
		perEntity(b, marked.Count())
	})
}

func BenchmarkHash(b *testing.B) {
	w, _, _ := benchWorld(b)
	b.SetBytes(int64(w.snapshotBytes()))
	b.ReportAllocs()
	for b.Loop() {
		sink += int(w.Hash())
	}
}

func BenchmarkSnapshot(b *testing.B) {
	w, _, _ := benchWorld(b)
	snap := w.Snapshot(nil)
	b.Run("op=snapshot", func(b *testing.B) {
		b.SetBytes(int64(len(snap)))
		b.ReportAllocs()
		for b.Loop() {
			snap = w.Snapshot(snap[:0])
		}
	})
	b.Run("op=restore", func(b *testing.B) {
		b.SetBytes(int64(len(snap)))
		b.ReportAllocs()
		for b.Loop() {
			if err := w.Restore(snap); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCommands: for each entity a position and a tag, recorded, recorded and
// applied, and written directly.
func BenchmarkCommands(b *testing.B) {
	w, ids, marked := benchWorld(b)
	c := w.NewCommands()
	record := func() {
		for _, id := range ids {
			_ = c.SetPosition(id, 1, 2, 3)
			c.Set(marked, id)
		}
	}
	for _, bench := range []struct {
		name string
		run  func()
	}{
		{"op=record", func() { record(); c.Reset() }},
		{"op=apply", func() { record(); w.Apply(c) }},
		{"op=direct", func() {
			for _, id := range ids {
				_ = w.SetPosition(id, 1, 2, 3)
				marked.Set(id)
			}
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bench.run()
			}
			perEntity(b, len(ids))
		})
	}
}

// BenchmarkCopyFrom copies a world, and for comparison the same bytes alone.
func BenchmarkCopyFrom(b *testing.B) {
	w, _, _ := benchWorld(b)
	c := w.Clone()
	bytes := int64(w.snapshotBytes())
	b.Run("op=world", func(b *testing.B) {
		b.SetBytes(bytes)
		b.ReportAllocs()
		for b.Loop() {
			if err := c.CopyFrom(w); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("op=bytes", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			for i, col := range w.columns {
				copy(c.columns[i].mem, col.mem)
			}
			copy(c.ids, w.ids)
		}
	})
}

// BenchmarkColumnView reads a column of 16,384 rows without its type.
func BenchmarkColumnView(b *testing.B) {
	w := newWorld(b, 16384)
	w.SpawnN(make([]ID, 16384))
	rows := w.LiveSlots(nil)
	c, _ := w.ColumnNamed("position.x")
	var raw []byte
	var floats []float64
	for name, read := range map[string]func(){
		"bytes":    func() { raw = c.AppendBytes(raw[:0], 0, c.Len()) },
		"bytesAt":  func() { raw = c.AppendBytesAt(raw[:0], rows) },
		"floats":   func() { floats = c.AppendFloats(floats[:0], 0, c.Len()) },
		"floatsAt": func() { floats = c.AppendFloatsAt(floats[:0], rows) },
		"Float64": func() {
			for _, row := range rows {
				floats[row] = c.Float64(row, 0)
			}
		},
	} {
		floats = append(floats[:0], make([]float64, len(rows))...)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				read()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
		})
	}
}
