package bumper

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

func start(t *testing.T) *evertick.Sim {
	t.Helper()
	sim, err := Scenario.New(1)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// A player joins, drives and leaves.
func TestPlayer(t *testing.T) {
	sim := start(t)
	push := func(seq uint64, kind uint32, data ...byte) {
		t.Helper()
		if err := sim.Push(evertick.Input{Source: 7, Seq: seq, Kind: kind, Data: data}); err != nil {
			t.Fatal(err)
		}
		if err := sim.StepN(30); err != nil {
			t.Fatal(err)
		}
	}
	owner, _ := ecs.FindColumn[uint32](sim.World, "owner")
	g := game{sim: sim, Owner: owner}
	push(0, Join)
	slot, there := g.disc(7)
	if !there {
		t.Fatal("the player has no disc")
	}
	x := sim.World.Position.X[slot]
	push(1, Thrust, 127, 0)
	if now := sim.World.Position.X[slot]; now == x {
		t.Errorf("x = %v, and was the same before the push", now)
	}
	push(2, Leave)
	if _, there := g.disc(7); there || sim.World.Len() != discs {
		t.Errorf("the disc is still there, among %d", sim.World.Len())
	}
}

// Inputs that make no sense change nothing.
func TestNonsense(t *testing.T) {
	calm, wild := start(t), start(t)
	for i, in := range []evertick.Input{
		{Source: 0, Kind: Join}, {Source: 9, Kind: Thrust, Data: []byte{1, 2}}, {Source: 9, Kind: Leave},
		{Source: 3, Kind: 77}, {Source: 3, Kind: Thrust, Data: []byte{1, 2, 3}},
		{Source: 4, Kind: Join, Data: []byte(Watch)},
	} {
		in.Seq = uint64(i)
		if err := wild.Push(in); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		if err := calm.Step(); err != nil {
			t.Fatal(err)
		}
		if err := wild.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if d, differ := evertick.Diff(calm, wild); differ {
		t.Error(d)
	}
}
