package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop/replay"
)

func start(t *testing.T) *server {
	t.Helper()
	sim, err := bumper.New(1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newServer(sim)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Two players meet over the network; the log reproduces the run.
func TestServe(t *testing.T) {
	s, dir := start(t), t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("not run: no network: ", err)
	}
	playing, enough := context.WithTimeout(t.Context(), time.Minute)
	defer enough()
	served := make(chan error, 1)
	go func() { served <- s.serve(playing, l, dir) }()

	met, left := make(chan bool, 2), make(chan error, 2)
	for range 2 { // each plays until both have seen each other
		seen := false
		go func() {
			left <- bot(playing, l.Addr().String(), func(me uint16, v *view) bool {
				owners := map[uint16]bool{}
				for _, disc := range v.discs {
					owners[disc.owner] = true
				}
				if !seen && owners[1] && owners[2] {
					seen = true
					met <- true
				}
				return false
			})
		}()
	}
	for range 2 {
		select {
		case <-met:
		case err := <-left:
			t.Errorf("a player left without having met the other: %v", err)
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
	if report.Ticks != s.sim.Ticks() || report.Hash != s.sim.Hash() {
		t.Errorf("played %d ticks to %x, replayed %d to %x", s.sim.Ticks(), s.sim.Hash(), report.Ticks, report.Hash)
	}
	if report.Inputs == 0 {
		t.Error("nobody did anything")
	}
}

// A player's view is up to date after every message, whether it got all of them or the
// whole picture later.
func TestDeltas(t *testing.T) {
	s := start(t)
	var sent picture
	always, late := view{}, view{}
	if always.apply(sent.whole(0)[4:]) != nil {
		t.Fatal("an empty picture is refused")
	}
	for tick := range uint64(240) {
		s.play(t, tick)
		if err := s.sim.Step(); err != nil {
			t.Fatal(err)
		}
		if tick%ticksPerMessage != 0 {
			continue
		}
		var fresh picture
		want := view{}
		fresh.update(s.sim, s.owner)
		if err := want.apply(fresh.whole(tick)[4:]); err != nil {
			t.Fatal(err)
		}
		if err := always.apply(sent.update(s.sim, s.owner)[4:]); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(always.discs, want.discs) {
			t.Fatalf("tick %d: %d discs, want %d", tick, len(always.discs), len(want.discs))
		}
		if tick%60 == 0 {
			if err := late.apply(sent.whole(tick)[4:]); err != nil || !maps.Equal(late.discs, want.discs) {
				t.Fatalf("tick %d: the whole picture: %v", tick, err)
			}
		}
	}
}

// play has players come, push and go.
func (s *server) play(t *testing.T, tick uint64) {
	player := uint32(1 + tick%7)
	kind := uint32(thrust)
	switch tick / 7 % 10 {
	case 0:
		kind = join
	case 8:
		kind = leave
	}
	if err := s.sim.Push(evertick.Input{Source: player, Seq: tick, Kind: kind, Data: []byte{byte(tick), 0x81}}); err != nil {
		t.Fatal(err)
	}
}

// Inputs that make no sense change nothing.
func TestNonsense(t *testing.T) {
	calm, wild := start(t), start(t)
	for i, in := range []evertick.Input{
		{Source: 0, Kind: join}, {Source: 9, Kind: thrust, Data: []byte{1, 2}}, {Source: 9, Kind: leave},
		{Source: 1 << 16, Kind: join}, {Source: 3, Kind: 77}, {Source: 3, Kind: thrust, Data: []byte{1, 2, 3}},
	} {
		in.Seq = uint64(i)
		if err := wild.sim.Push(in); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		if err := calm.sim.Step(); err != nil {
			t.Fatal(err)
		}
		if err := wild.sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if d, differ := evertick.Diff(calm.sim, wild.sim); differ {
		t.Error(d)
	}
}

// A player with a slow connection misses messages, and then gets the whole picture.
func TestSlowLine(t *testing.T) {
	s := start(t)
	slow := &player{out: make(chan []byte, 1), behind: true}
	s.players[1] = slow
	v := view{}
	for range 3 {
		if err := s.sim.StepN(3 * ticksPerMessage); err != nil { // three messages, room for one
			t.Fatal(err)
		}
		if !slow.behind {
			t.Error("a message was lost, and nobody knows")
		}
		if err := v.apply((<-slow.out)[4:]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.sim.StepN(ticksPerMessage); err != nil {
		t.Fatal(err)
	}
	if err := v.apply((<-slow.out)[4:]); err != nil {
		t.Fatal(err)
	}
	var now view
	if err := now.apply(s.sent.whole(0)[4:]); err != nil || !maps.Equal(v.discs, now.discs) {
		t.Errorf("the view of a slow player is not the present: %v", err)
	}
}

func FuzzApply(f *testing.F) {
	sim, err := bumper.New(1)
	if err != nil {
		f.Fatal(err)
	}
	owner, _ := ecs.FindColumn[uint16](sim.World, "owner")
	var sent picture
	f.Add(sent.update(sim, owner)[4:])
	f.Add(sent.encode(7, 0, nil, []ecs.ID{3, 4})[4:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		v := view{tick: 5, discs: map[ecs.ID]spot{1: {}}}
		if err := v.apply(b); err != nil && (v.tick != 5 || len(v.discs) != 1) {
			t.Error("a message was refused, and half of it applied")
		}
	})
}

// Messages are framed by their length.
func TestFrame(t *testing.T) {
	s := start(t)
	stream := bytes.NewBuffer(s.sent.update(s.sim, s.owner))
	head := make([]byte, 4)
	if _, err := io.ReadFull(stream, head); err != nil || int(binary.LittleEndian.Uint32(head)) != stream.Len() {
		t.Errorf("%d bytes follow a head that says %d, %v", stream.Len(), binary.LittleEndian.Uint32(head), err)
	}
}
