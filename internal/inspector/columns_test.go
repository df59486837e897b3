package inspector

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

type columnsAnswer struct {
	Tick    uint64
	Columns []struct {
		Name, Owner, Kind, Hash string
		Component, Count        int
		Min, Max, Mean          json.RawMessage
		NaN, Inf                int
		Version                 uint64
	}
	Stale bool
}

func TestColumns(t *testing.T) {
	r := seeded(t)
	for round := range 6 {
		z := newZoo(t, r, 300*min(round, 1))
		if err := z.sim.StepN(3); err != nil {
			t.Fatal(err)
		}
		if round%2 == 1 {
			z.poison(r)
		}
		z.hp.Touch()
		in := newInspector(t, z.sim, Config{})
		a := decode[columnsAnswer](t, get(t, in, "columns"))
		hashes := map[string]string{}
		for _, h := range z.sim.AppendColumnHashes(nil) {
			hashes[h.Name] = HashText(h.Hash)
		}
		seen := map[string]int{}
		for _, c := range a.Columns {
			seen[c.Name]++
			if want, ok := hashes[c.Name]; ok && c.Hash != want || !ok && (c.Hash != "" || c.Name != "blob.none" && c.Name != "blob.name") {
				t.Errorf("hash of %s is %q, want %q", c.Name, c.Hash, want)
			}
			switch c.Owner {
			case "world":
				if v, ok := z.sim.World.ColumnNamed(c.Name); ok {
					z.checkStats(t, c.Name, v, c.Component, z.slots(), c.Count, c.NaN, c.Inf, c.Min, c.Max, c.Mean)
					if c.Version != v.Version() {
						t.Errorf("version of %s is %d, want %d", c.Name, c.Version, v.Version())
					}
				} else if c.Name != "identity" {
					t.Errorf("the world has no %s", c.Name)
				}
			case "bodies":
				if v, ok := z.sim.Physics.ColumnNamed(c.Name[len("body."):]); ok {
					z.checkStats(t, c.Name, v, c.Component, z.bodyRows(), c.Count, c.NaN, c.Inf, c.Min, c.Max, c.Mean)
				}
			}
		}
		for name := range hashes {
			if seen[name] == 0 && name != "seed" && name != "ticks" {
				t.Errorf("no column %s", name)
			}
		}
		for name, n := range map[string]int{"vel": 3, "hp": 1, "blob.name": 1, "blob.none": 1, "state.memo": 1, "body.X": 1, "body.Owner": 1, "identity": 1} {
			if seen[name] != n {
				t.Errorf("%d components of %s, want %d", seen[name], name, n)
			}
		}
	}
}

func (z *zoo) bodyRows() (rows []uint32) {
	for i := range z.sim.Physics.Rows() {
		if _, ok := z.sim.Physics.BodyAt(i); ok {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// checkStats computes statistics one value at a time.
func (z *zoo) checkStats(t *testing.T, name string, v ecs.ColumnView, component int, rows []uint32, count, nan, inf int, least, greatest, mean json.RawMessage) {
	t.Helper()
	var finite []any
	wantNaN, wantInf, sum := 0, 0, 0.0
	for _, row := range rows {
		x := v.Value(row, component)
		switch f := v.Float64(row, component); {
		case f != f:
			wantNaN++
		case math.IsInf(f, 0):
			wantInf++
		default:
			finite = append(finite, x)
			sum += f
		}
	}
	wantLeast, wantGreatest, wantMean := "null", "null", "null"
	if len(finite) > 0 {
		byValue := func(a, b any) int { return exactOrder(a, fmt.Sprint(b)) }
		least := slices.MinFunc(finite, byValue)
		greatest := slices.MaxFunc(finite, byValue)
		for _, x := range finite { // of equal ones, -0 and 0, the first
			if byValue(x, greatest) == 0 {
				greatest = x
				break
			}
		}
		wantLeast, wantGreatest, wantMean = text(least), text(greatest), text(sum/float64(len(finite)))
	}
	if count != len(rows) || nan != wantNaN || inf != wantInf || string(least) != wantLeast || string(greatest) != wantGreatest || string(mean) != wantMean {
		t.Errorf("%s[%d]: count %d, NaN %d, inf %d, %s to %s, mean %s; want %d, %d, %d, %s to %s, mean %s", name, component,
			count, nan, inf, least, greatest, mean, len(rows), wantNaN, wantInf, wantLeast, wantGreatest, wantMean)
	}
}

// Many pages that ask at once get the same answer, and the state is copied once for each safe point.
func TestColumnsAreShared(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 64}, 64)
	in := newInspector(t, sim, Config{})
	const pages = 10
	var wg sync.WaitGroup
	answers := make([]Answer, pages)
	for i := range pages {
		wg.Go(func() { answers[i] = in.Answer(context.Background(), request(t, "columns")) })
	}
	for {
		in.live.mu.Lock()
		j := in.live.byKey["columns"]
		waiting := j != nil && j.waiters == pages
		in.live.mu.Unlock()
		if waiting {
			break
		}
	}
	in.Between()
	wg.Wait()
	for i := range pages {
		if answers[i].Status != 200 || &answers[i].Body[0] != &answers[0].Body[0] {
			t.Errorf("page %d has an answer of its own, status %d", i, answers[i].Status)
		}
	}
}

func TestLiveBodies(t *testing.T) {
	z := newZoo(t, seeded(t), 300)
	var rows []uint32
	for at, word := range bodiesOf(z.sim)[0].live() {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, uint32(64*at+bits.TrailingZeros64(word)))
		}
	}
	if !slices.Equal(rows, z.bodyRows()) || len(rows) != z.sim.Physics.Len() {
		t.Errorf("rows %v, want %v", rows, z.bodyRows())
	}
}

// crowd has 100,000 entities with 12 columns of float32.
func crowd(t testing.TB) *evertick.Sim {
	sim := must(evertick.New(evertick.Config{Capacity: 100_000}))
	hp := must(ecs.AddColumn[float32](sim.World, "hp"))
	must(ecs.AddColumn[float32](sim.World, "speed"))
	red := must(sim.World.Tag("red"))
	r := loop.NewRand(1, 2, 3, 4)
	for i := range hp.Values() {
		id := must(sim.World.Spawn())
		if err := sim.World.SetPosition(id, r.Float32(), r.Float32(), r.Float32()); err != nil {
			t.Fatal(err)
		}
		hp.Values()[i] = r.Float32()
		if i%2 == 0 {
			red.Set(id)
		}
	}
	return sim
}

// BenchmarkColumns measures what the answer to "columns" takes on the goroutine of the Sim, copy, and on that of the page,
// answer: 100,000 entities with 12 columns of float32.
func BenchmarkColumns(b *testing.B) {
	sim := crowd(b)
	measureCopy(b, sim, func() copying { return new(columnsCopy).copy })
}

// measureCopy measures what a request takes on the goroutine of the Sim, copy, and what both parts take.
func measureCopy(b *testing.B, sim *evertick.Sim, request func() copying) {
	for _, all := range []bool{false, true} {
		b.Run(map[bool]string{false: "copy", true: "all"}[all], func(b *testing.B) {
			h := newHub()
			h.unbounded = true
			for b.Loop() {
				p := &point{sim: sim, hub: h}
				finish := must(request()(p))
				if all {
					must(finish())
				}
				if p.release != nil {
					p.release()
				}
				if p.copied != nil {
					h.drop(p.copied)
				}
			}
		})
	}
}

// BenchmarkEntities measures pages of 100,000 entities.
func BenchmarkEntities(b *testing.B) {
	sim := crowd(b)
	for _, query := range []string{"offset=50000&columns=hp&columns=speed&columns=position.x", "tag=red&where=hp>0.5&columns=hp", "where=hp>0.5&sort=hp&descending=1&columns=hp", "sort=position.x&offset=50000&count=500&columns=hp&columns=position.x"} {
		b.Run(query, func(b *testing.B) {
			e := must(parseEntitiesQuery(request(b, "entities?"+query).Query))
			measureCopy(b, sim, func() copying { return e.copy })
		})
	}
}
