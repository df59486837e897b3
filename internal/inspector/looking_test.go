package inspector

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick/worldlog"
)

// panelQueries ask for everything that the panels show.
var panelQueries = []string{
	"columns", "entities?columns=position.x&sort=position.y&descending=1&where=position.x>0", "entities?offset=3&count=5", "entity?id=ent_3", "entity?slot=7",
	"pick?x=0&y=1&r=50", "pick?x=3&y=3", "systems", "events", "trace", "queues",
}

// The hashes of a run do not depend on pages that ask for panels, also with the race detector; nor does a tick allocate
// after the last one has gone.
func TestPanelsChangeNothing(t *testing.T) {
	const frames = 150
	run := func(look bool) (hashes []uint64) {
		sim := rain(t, 60)
		agents := thinkers(t, sim, 5)
		if look {
			in := newInspector(t, sim, Config{Trace: []interface{ LogTo(worldlog.Appender) }{agents}})
			ctx, cancel := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			defer wg.Wait()
			defer cancel()
			for i := range 3 {
				wg.Go(func() {
					for n := i; ctx.Err() == nil; n++ {
						if a := in.Answer(ctx, request(t, panelQueries[n%len(panelQueries)])); a.Status != 200 && a.Status != 503 {
							t.Errorf("%s: status %d: %s", panelQueries[n%len(panelQueries)], a.Status, a.Body)
						}
					}
				})
			}
		}
		for range frames {
			if _, err := sim.Advance(int64(time.Second) / 60); err != nil {
				t.Fatal(err)
			}
			for _, h := range sim.ColumnHashes() {
				if h.Name != "state.agents" && h.Name != "state.agent" { // answers of providers come when they come
					hashes = append(hashes, h.Hash)
				}
			}
			time.Sleep(50 * time.Microsecond)
		}
		return hashes
	}
	if plain, seen := run(false), run(true); !slices.Equal(plain, seen) {
		t.Error("pages have changed the state")
	}
}

func TestTicksAllocateNothingAfterPanels(t *testing.T) {
	sim := rain(t, 40)
	in := newInspector(t, sim, Config{})
	for _, query := range panelQueries {
		get(t, in, query)
	}
	in.live.events.asked.Store(1 - int64(recordFor)) // the page has gone
	step := func() {
		if _, err := sim.Advance(int64(time.Second) / 60); err != nil {
			t.Fatal(err)
		}
	}
	for range 300 {
		step()
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
