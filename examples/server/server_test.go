package main

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop/replay"
	"github.com/evertick/evertick/loop/replica"
)

func start(t *testing.T) *evertick.Sim {
	t.Helper()
	sim, err := bumper.New(1)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// Two players meet over the network, one of them leaves, and the log reproduces the run.
func TestServe(t *testing.T) {
	sim, dir := start(t), t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("not run: no network: ", err)
	}
	playing, enough := context.WithTimeout(t.Context(), time.Minute)
	defer enough()
	served := make(chan error, 1)
	go func() { served <- serve(playing, sim, l, dir) }()

	met, left := make(chan bool, 2), make(chan error, 2)
	for range 2 { // each plays until both have seen each other for half a second
		ticks := 0
		go func() {
			left <- bot(playing, l.Addr().String(), func(me uint32, s *replica.State) {
				owners, _ := replica.AppendValues[uint32](nil, s, "owner", 0)
				if len(s.Own()) == 1 && owners[s.Own()[0]] == me && slices.Contains(owners, 1) && slices.Contains(owners, 2) {
					if ticks++; ticks == 30 {
						met <- true
					}
				}
			})
		}()
	}
	for range 2 {
		select {
		case <-met:
		case err := <-left:
			t.Fatalf("a player left without having met the other: %v", err)
		}
	}
	enough()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	report, err := replay.Verify(dir, bumper, replay.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Ticks != sim.Ticks() || report.Hash != sim.Hash() {
		t.Errorf("played %d ticks to %x, replayed %d to %x", sim.Ticks(), sim.Hash(), report.Ticks, report.Hash)
	}
	if report.Inputs < 20 {
		t.Errorf("the log has %d inputs, want the two players and what they did", report.Inputs)
	}
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
	push(0, join)
	slot, there := g.disc(7)
	if !there {
		t.Fatal("the player has no disc")
	}
	x := sim.World.Position.X[slot]
	push(1, thrust, 127, 0)
	if now := sim.World.Position.X[slot]; now == x {
		t.Errorf("x = %v, and was the same before the push", now)
	}
	push(2, leave)
	if _, there := g.disc(7); there || sim.World.Len() != discs {
		t.Errorf("the disc is still there, among %d", sim.World.Len())
	}
}

// Inputs that make no sense change nothing.
func TestNonsense(t *testing.T) {
	calm, wild := start(t), start(t)
	for i, in := range []evertick.Input{
		{Source: 0, Kind: join}, {Source: 9, Kind: thrust, Data: []byte{1, 2}}, {Source: 9, Kind: leave},
		{Source: 3, Kind: 77}, {Source: 3, Kind: thrust, Data: []byte{1, 2, 3}},
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
