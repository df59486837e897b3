package replay_test

import (
	"fmt"
	"os"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
)

// walkers is a scenario: one walker, which inputs send to the left or to the right.
var walkers = replay.Scenario{Name: "walkers", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 16, Seed: seed})
	if err != nil {
		return nil, err
	}
	_, slot, err := sim.World.SpawnSlot()
	if err != nil {
		return nil, err
	}
	sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		x := &sim.World.Position.X[slot]
		for _, in := range t.Inputs() {
			*x += float32(int8(in.Data[0]))
		}
		return nil
	})
	return sim, sim.Check()
}}

// A run is recorded, verified, looked at in the middle, and forked.
func Example() {
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	sim, err := walkers.New(1)
	if err != nil {
		panic(err)
	}
	rec, err := replay.Record(dir+"/run", walkers.Name, sim, replay.Options{SnapshotTicks: 60})
	if err != nil {
		panic(err)
	}
	for tick := range uint64(100) {
		if tick%10 == 0 {
			if err := sim.Push(evertick.Input{Tick: tick, Seq: tick, Data: []byte{2}}); err != nil {
				panic(err)
			}
		}
		if err := sim.Step(); err != nil {
			panic(err)
		}
	}
	if err := rec.Close(); err != nil {
		panic(err)
	}

	rep, err := replay.Verify(dir+"/run", walkers, replay.VerifyOptions{})
	fmt.Println(rep.Ticks, "ticks,", rep.Inputs, "inputs,", err)

	then, err := replay.Seek(dir+"/run", walkers, 49, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("after tick 49 at", then.World.Position.X[0])

	branch, other, err := replay.Fork(dir+"/run", walkers, 49, dir+"/branch", replay.Options{})
	if err != nil {
		panic(err)
	}
	if err := other.Push(evertick.Input{Tick: 50, Data: []byte{0x80}}); err != nil {
		panic(err)
	}
	if err := other.StepN(50); err != nil {
		panic(err)
	}
	if err := branch.Close(); err != nil {
		panic(err)
	}
	d, err := replay.Diff(dir+"/run", dir+"/branch", walkers, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("tick", d.Tick, d.Where)
	// Output:
	// 100 ticks, 10 inputs, <nil>
	// after tick 49 at 10
	// tick 50 entities: value of position.x, slot 0 (ent_1): 12 (0x41400000) and -118 (0xc2ec0000)
}

// SyncTest finds the counter that no snapshot has.
func ExampleSyncTest() {
	forgetful := replay.Scenario{Name: "forgetful", New: func(seed uint64) (*evertick.Sim, error) {
		sim, err := evertick.New(evertick.Config{Capacity: 16, Seed: seed})
		if err != nil {
			return nil, err
		}
		if _, err := sim.World.Spawn(); err != nil {
			return nil, err
		}
		steps := 0
		err = sim.Add(evertick.BeforePhysics, "limp", func(t *evertick.Tick) error {
			if steps++; steps%4 == 0 {
				sim.World.Position.X[0]++
			}
			return nil
		})
		return sim, err
	}}
	fmt.Println(replay.SyncTest(forgetful, 1, 10, nil))
	// Output:
	// replay: tick 1, stepped again from a save: system "limp": entities: value of position.x, slot 0 (ent_1): 0 (0x00000000) and 1 (0x3f800000): the run did not repeat itself
}
