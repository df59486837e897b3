package replica_test

import (
	"context"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/replica"
)

// newLane returns a Sim in which the input walk moves all entities of its source. Server and clients
// build it alike.
func newLane() (*evertick.Sim, *ecs.Column[uint32]) {
	sim, _ := evertick.New(evertick.Config{Capacity: 8, Seed: 1})
	owner, _ := ecs.AddColumn[uint32](sim.World, "owner")
	_ = sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			for slot := range t.Sim.World.Query() {
				if owner.Values()[slot] == in.Source {
					t.Sim.World.Position.X[slot] += 0.25
					t.Sim.World.Position.Touch()
				}
			}
		}
		return nil
	})
	return sim, owner
}

// connect returns a client of a server, and a function that runs a tick of the server and delivers what
// was sent before.
func connect(sim *evertick.Sim, server *replica.Server, c replica.ClientConfig) (*replica.Client, func()) {
	pipe, _ := replica.NewPipe(replica.PipeConfig{Ordered: true})
	c.Ordered, c.Send = true, pipe.ToServer
	client, err := replica.NewClient(c)
	if err != nil {
		panic(err)
	}
	_ = client.Connect()
	var session *replica.Session
	return client, func() {
		pipe.Deliver(0, func(message []byte) {
			if err := client.Receive(message); err != nil {
				fmt.Println(err)
			}
		}, func(message []byte) {
			if session == nil {
				session, _ = server.Join(context.Background(), pipe, message)
			} else {
				_ = session.Receive(message)
			}
		})
		_ = sim.Step()
	}
}

// A client runs the whole Sim in step with the server, and is ahead of it with its own inputs.
func ExampleSimulator() {
	sim, owner := newLane()
	_, slot, _ := sim.World.SpawnSlot()
	owner.Values()[slot] = 1 // the first session
	server, _ := replica.New(sim, replica.Config{Inline: true, Authorize: func(context.Context, replica.Hello) (replica.Grant, error) {
		return replica.Grant{Simulate: true}, nil // the client may know everything
	}})
	defer server.Close()

	mine, _ := newLane()
	ahead, _ := newLane()
	simulator, _ := replica.NewSimulator(mine, replica.SimulatorConfig{Predicted: ahead})
	client, tick := connect(sim, server, replica.ClientConfig{Mode: replica.Simulate, Simulator: simulator})
	for range 5 {
		tick()
	}
	_, _ = client.Input(1, nil, 6)
	_ = simulator.Predict(7)
	fmt.Println("predicted", ahead.World.Position.X[0], "server", sim.World.Position.X[0])
	for range 4 {
		tick()
	}
	fmt.Println("predicted", ahead.World.Position.X[0], "server", sim.World.Position.X[0], "same", mine.World.Position.X[0])
	fmt.Println(simulator.Stats().Diverged, "differences,", simulator.Stats().Rolled, "ticks again")
	// Output:
	// predicted 0.25 server 0
	// predicted 0.25 server 0.25 same 0.25
	// 0 differences, 0 ticks again
}

// A client sees only a part of the world, and predicts its own entity.
func ExamplePredictor() {
	sim, owner := newLane()
	server, _ := replica.New(sim, replica.Config{Inline: true, Owner: "owner", Columns: []replica.Column{{Name: "position.x"}}})
	defer server.Close()
	_, slot, _ := sim.World.SpawnSlot()
	owner.Values()[slot] = 1 // the first session
	owner.Touch()

	confirmed, _ := newLane()
	ahead, mine := newLane()
	predictor, _ := replica.NewPredictor(replica.PredictorConfig{
		Confirmed: confirmed, Predicted: ahead,
		Spawn: func(sim *evertick.Sim, _ ecs.ID) (ecs.ID, error) {
			id, slot, err := sim.World.SpawnSlot()
			if c, ok := ecs.FindColumn[uint32](sim.World, "owner"); ok && err == nil {
				c.Values()[slot] = 1
			}
			return id, err
		},
	})
	client, tick := connect(sim, server, replica.ClientConfig{Predictor: predictor})
	for range 5 {
		tick()
	}
	_, _ = client.Input(1, nil, 6)
	_ = predictor.Predict(7)
	fmt.Println("owner", mine.Values()[0], "predicted", ahead.World.Position.X[0], "server", sim.World.Position.X[0])
	for range 4 {
		tick()
	}
	_ = predictor.Predict(10)
	fmt.Println("predicted", ahead.World.Position.X[0], "server", sim.World.Position.X[0])
	fmt.Println(predictor.Stats().Corrections, "corrections,", predictor.Stats().Rolled, "ticks again")
	// Output:
	// owner 1 predicted 0.25 server 0
	// predicted 0.25 server 0.25
	// 0 corrections, 0 ticks again
}
