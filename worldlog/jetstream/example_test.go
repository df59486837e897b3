package jetstream_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog/jetstream"
	"github.com/evertick/evertick/worldlog/jetstream/embedded"
)

// A run is shipped, followed by another Sim, and taken over when its master has gone.
func Example() {
	ctx := context.Background()
	tmp, err := os.MkdirTemp("", "jetstream")
	must(err)
	defer os.RemoveAll(tmp)
	server, err := embedded.Start(embedded.Config{Dir: filepath.Join(tmp, "store")})
	must(err)
	defer server.Close()
	nc, err := nats.Connect(server.URL(), nats.MaxReconnects(-1))
	must(err)
	defer nc.Close()

	walk := replay.Scenario{Name: "walk", New: func(seed uint64) (*evertick.Sim, error) {
		sim, err := evertick.New(evertick.Config{Capacity: 1, Seed: seed})
		if err == nil {
			_, err = sim.World.Spawn()
		}
		if err != nil {
			return nil, err
		}
		return sim, sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
			t.Sim.World.Position.X[0] += float32(len(t.Inputs()))
			t.Sim.World.Position.Touch()
			return nil
		})
	}}

	// On the first machine:
	sim, err := walk.New(1)
	must(err)
	rec, err := replay.Record(filepath.Join(tmp, "master"), walk.Name, sim, replay.Options{})
	must(err)
	ship, err := jetstream.Ship(ctx, nc, rec, jetstream.ShipConfig{})
	must(err)
	for tick := range uint64(10) {
		must(sim.Push(evertick.Input{Tick: tick, Source: 1, Seq: tick, Kind: 1}))
		must(sim.Step())
	}

	// On the second machine:
	follower, err := jetstream.Follow(ctx, nc, walk, jetstream.FollowConfig{Dir: filepath.Join(tmp, "follower")})
	must(err)
	for follower.Sim().Ticks() < 10 {
		must(follower.Step(ctx))
	}
	fmt.Println("follower: same state", follower.Sim().Hash() == sim.Hash())

	must(ship.Close(ctx)) // the master goes
	must(rec.Close())
	rec, ship, err = follower.Standby(ctx, time.Second, jetstream.ShipConfig{})
	must(err)
	must(rec.Sim().Push(evertick.Input{Tick: 10, Source: 1, Seq: 10, Kind: 1}))
	must(rec.Sim().Step())
	must(ship.Close(ctx))
	must(rec.Close())
	st := ship.Stats()
	fmt.Println("term", st.Term, "ticks", st.Shipped, "x", rec.Sim().World.Position.X[0])
	// Output:
	// follower: same state true
	// term 2 ticks 11 x 11
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
