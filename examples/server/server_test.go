package main

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick/examples/server/bumper"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
)

// Two players meet over the network, one of them leaves, and the log reproduces the run.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	sim, rec, err := record(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("not run: no network: ", err)
	}
	playing, enough := context.WithTimeout(t.Context(), time.Minute)
	defer enough()
	served := make(chan error, 1)
	go func() { served <- serve(playing, sim, l, settings{}) }()

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
	if err := errors.Join(<-served, rec.Close()); err != nil {
		t.Fatal(err)
	}
	report, err := replay.Verify(dir, bumper.Scenario, replay.VerifyOptions{})
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
