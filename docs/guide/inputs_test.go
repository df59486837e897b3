package guide_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/replay"
)

// guide:begin scenario

// coins is a game that depends on its seed and its inputs alone: each input rolls a die, and
// the player gets that many coins.
var coins = replay.Scenario{Name: "coins", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 10, Seed: seed})
	if err != nil {
		return nil, err
	}
	purse, err := ecs.AddColumn[int64](sim.World, "purse") // state lives in columns
	if err != nil {
		return nil, err
	}
	players := make([]ecs.ID, 4)
	if err := sim.World.SpawnN(players); err != nil {
		return nil, err
	}
	return sim, sim.Add(evertick.BeforePhysics, "roll", func(t *evertick.Tick) error {
		for _, in := range t.Inputs() { // by tick, source and seq, not by arrival
			if in.Source >= 4 {
				continue // never trust what comes from outside
			}
			dice := t.Rand(players[in.Source], 0) // depends on this tick and player alone
			purse.Values()[in.Source] += int64(dice.IntRange(1, 6))
		}
		purse.Touch()
		return nil
	})
}}

// guide:end

func Example_inputs() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	// guide:begin record
	dir, err := os.MkdirTemp("", "coins")
	check(err)
	defer os.RemoveAll(dir)
	sim, err := coins.New(2026)
	check(err)
	rec, err := replay.Record(dir, coins.Name, sim, replay.Options{SnapshotTicks: 100})
	check(err)
	for tick := range uint64(300) {
		// From any goroutine: a connection, a queue, a test.
		check(sim.Push(evertick.Input{Tick: tick, Source: uint32(tick % 4), Seq: tick}))
		check(sim.Step())
	}
	check(rec.Close())
	purse, _ := ecs.FindColumn[int64](sim.World, "purse")
	fmt.Println(sim.Ticks(), "ticks,", purse.Values()[:4])
	// guide:end

	// guide:begin verify
	report, err := replay.Verify(dir, coins, replay.VerifyOptions{})
	check(err)
	fmt.Println("verified:", report.Ticks, "ticks and", report.Inputs, "inputs, the same hash:", report.Hash == sim.Hash())

	then, err := replay.Seek(dir, coins, 120, nil) // from the nearest snapshot
	check(err)
	purse, _ = ecs.FindColumn[int64](then.World, "purse")
	fmt.Println("after", then.Ticks(), "ticks it was", purse.Values()[:4])
	// guide:end

	// guide:begin cheat
	cheat := coins
	cheat.New = func(seed uint64) (*evertick.Sim, error) {
		sim, err := coins.New(seed)
		if err != nil {
			return nil, err
		}
		return sim, sim.Add(evertick.AfterIndex, "cheat", func(t *evertick.Tick) error {
			if t.N == 77 {
				purse, _ := ecs.FindColumn[int64](t.Sim.World, "purse")
				purse.Values()[3] += 100
			}
			return nil
		})
	}
	_, err = replay.Verify(dir, cheat, replay.VerifyOptions{})
	var diverged *replay.DivergedError
	fmt.Println("detected:", errors.As(err, &diverged), "in tick", diverged.Tick)
	// guide:end

	// Output:
	// 300 ticks, [282 266 275 283]
	// verified: 300 ticks and 300 inputs, the same hash: true
	// after 121 ticks it was [118 106 106 122]
	// detected: true in tick 77
}
