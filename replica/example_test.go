package replica_test

import (
	"context"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replica"
)

// A server with one entity for each client, and a client that moves its own.
func Example() {
	const joined, left, walk = 1, 2, 10
	clock := new(loop.ManualClock)
	sim, _ := evertick.New(evertick.Config{Clock: clock})
	owner, _ := ecs.AddColumn[uint32](sim.World, "owner")
	sim.Add(evertick.BeforePhysics, "players", func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			switch in.Kind {
			case joined:
				_, slot, err := t.Sim.World.SpawnSlot()
				if err != nil {
					return err
				}
				owner.Values()[slot] = in.Source
				owner.Touch()
			case walk:
				for slot := range t.Sim.World.Query() {
					if owner.Values()[slot] == in.Source {
						t.Sim.World.Position.X[slot] += 0.5
						t.Sim.World.Position.Touch()
					}
				}
			}
		}
		return nil
	})
	server, err := replica.New(sim, replica.Config{Owner: "owner", Joined: joined, Left: left, Inline: true})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	pipe, _ := replica.NewPipe(replica.PipeConfig{Ordered: true}) // package ws has one over the network
	client, _ := replica.NewClient(replica.ClientConfig{Send: pipe.ToServer, Ordered: true, Clock: clock})
	var session *replica.Session
	toServer := func(message []byte) {
		if session == nil {
			session, err = server.Join(context.Background(), pipe, message)
		} else {
			err = session.Receive(message)
		}
	}
	toClient := func(message []byte) { _ = client.Receive(message) }

	_ = client.Connect()
	for tick := range 5 {
		pipe.Deliver(int64(tick), toClient, toServer)
		if _, ok := client.Welcome(); ok {
			_, _ = client.Input(walk, nil, 0)
		}
		_ = sim.Step()
	}
	pipe.Deliver(5, toClient, toServer)
	state := client.State()
	x, _ := replica.AppendValues[float32](nil, state, "position.x", 0)
	fmt.Println(err, "session", session.ID(), "tick", state.Tick(), "entities", state.IDs(), "x", x)
	// Output: <nil> session 1 tick 5 entities [ent_1] x [2]
}
