package netcode_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// replicaBench is a world of which clients see a part: two positions and an angle an entity.
type replicaBench struct {
	columns      [][]float32
	arena        []int32 // two states of three lanes
	stride       int
	shape        netcode.DeltaLanes
	source       netcode.Source
	clients      []mergeCase
	knownEntries int
	merged       netcode.Merged
	gathered     netcode.Gathered
}

const (
	replicaSeen  = 100 // entities that a client sees
	replicaScale = 256
)

// newReplicaBench makes two states of which each entity moves a little, and clients that see 100 random entities. For each of
// them three leave and three enter, and one of a thousand entities has died.
func newReplicaBench(tb testing.TB, entities, clients int) *replicaBench {
	run := paritytest.Start(tb, "replication")
	b := &replicaBench{columns: staggered(3, entities), stride: entities, arena: make([]int32, 6*entities)}
	b.shape = netcode.DeltaLanes{Lanes: 3, Bits: [8]uint8{25, 25, 12}, Width: [8]uint8{8, 8, 8}}
	words := (entities + 63) / 64
	b.source = netcode.Source{Records: make([]uint32, entities), Changed: make([]uint64, words), Wide: make([]uint64, words)}
	for k := range b.columns {
		run.Fill(b.columns[k], paritytest.Uniform)
	}
	b.quantise(native.Go)
	copy(b.arena[3*entities:], b.arena)
	for _, column := range b.columns {
		for i := range column {
			column[i] += run.Float32()*0.2 - 0.1
		}
	}
	gone := make([]uint64, words)
	for range entities / 1000 {
		dead := run.IntN(entities)
		gone[dead/64] |= 1 << (dead % 64)
	}
	for range clients {
		c := mergeCase{known: drawSlots(run, replicaSeen, entities), gone: gone}
		set := map[uint32]bool{}
		for _, slot := range c.known {
			set[slot] = true
		}
		for range 3 {
			delete(set, c.known[run.IntN(len(c.known))])
			set[run.Uint32N(uint32(entities))] = true
		}
		c.view = slices.Sorted(maps.Keys(set))
		b.knownEntries += len(c.known)
		b.clients = append(b.clients, c)
	}
	b.merged.Reserve(replicaSeen, replicaSeen+3)
	b.gathered.Reserve(replicaSeen, 24)
	b.quantise(native.Go)
	b.delta(native.Go)
	return b
}

func (b *replicaBench) quantise(level native.Level) {
	n := b.stride
	netcode.Quantise(level, b.arena[:n], b.columns[0], replicaScale, 25)
	netcode.Quantise(level, b.arena[n:2*n], b.columns[1], replicaScale, 25)
	netcode.QuantiseAngle(level, b.arena[2*n:3*n], b.columns[2], 12)
}

func (b *replicaBench) delta(level native.Level) {
	netcode.Delta(level, b.arena, b.stride, 0, 3*b.stride, -1, &b.shape, b.source.Records, b.source.Changed, b.source.Wide)
}

func (b *replicaBench) merge(level native.Level, client int) {
	c := &b.clients[client]
	netcode.Merge(level, c.known, c.view, c.gone, &b.merged)
}

func (b *replicaBench) gather(level native.Level, _ int) {
	netcode.Gather(level, b.merged.Stays, b.source, b.source, 24, &b.gathered)
}

func (b *replicaBench) mergeAndGather(level native.Level, client int) {
	b.merge(level, client)
	b.gather(level, client)
}

// What a send tick costs for each entity, once for all clients.
func BenchmarkQuantiseDelta(b *testing.B) {
	const entities = 10000
	for _, level := range native.Levels() {
		b.Run("level="+level.String(), func(b *testing.B) {
			w := newReplicaBench(b, entities, 0)
			for b.Loop() {
				w.quantise(level)
				w.delta(level)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/entities, "ns/entity")
		})
	}
}

// What a send tick costs for each entity that a client knows.
func BenchmarkMergeGather(b *testing.B) {
	for _, c := range []struct {
		op  string
		run func(w *replicaBench, level native.Level, client int)
	}{
		{"both", (*replicaBench).mergeAndGather},
		{"merge", (*replicaBench).merge},
		{"gather", (*replicaBench).gather},
	} {
		for _, level := range native.Levels() {
			b.Run("op="+c.op+"/level="+level.String(), func(b *testing.B) {
				w := newReplicaBench(b, 10000, 1000)
				w.merge(level, 0)
				for b.Loop() {
					for client := range w.clients {
						c.run(w, level, client)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w.knownEntries), "ns/entry")
			})
		}
	}
}
