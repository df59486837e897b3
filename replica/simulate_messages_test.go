package replica

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

func randomApplied(seed uint64) applied {
	r := loop.NewRand(seed, 0, 0, 0)
	a := applied{tick: r.Uint64n(1 << 20), hash: r.Uint64n(1<<64 - 1), at: r.Uint64n(1 << 50)}
	if r.Uint64n(4) == 0 {
		a.tick = 0
	}
	for range r.Uint64n(5) {
		in := evertick.Input{Tick: a.tick, Source: uint32(r.Uint64n(1 << 32)), Seq: r.Uint64n(1 << 60), Kind: uint32(r.Uint64n(3)), Data: make([]byte, r.Uint64n(4))}
		switch r.Uint64n(4) {
		case 0:
			in.Tick = 0
		case 1:
			in.Tick = r.Uint64n(1<<64 - 1)
		}
		if r.Uint64n(2) == 0 {
			in.At, in.Fraction = r.Uint64n(3), uint32(r.Uint64n(3))
		}
		a.inputs = append(a.inputs, in)
	}
	return a
}

// What is appended is read again.
func TestInputsFrame(t *testing.T) {
	var got applied
	for seed := range uint64(3000) {
		want := randomApplied(seed)
		message := want.append(nil)
		if err := got.parse(message); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) && len(want.inputs) > 0 {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
		for n := range message {
			if err := got.parse(message[:n]); !errors.Is(err, fault.ErrCorrupt) || len(got.inputs) > 0 {
				t.Fatalf("seed %d, %d bytes: %v", seed, n, err)
			}
		}
	}
}

// The bytes of a message are those that the test of the client in JavaScript has.
func TestInputsFrameBytes(t *testing.T) {
	a := applied{tick: 9, hash: 2, at: 100, inputs: []evertick.Input{
		{Tick: 9, Source: 7, Seq: 3, Kind: 5, At: 99, Fraction: 1 << 31, Data: []byte{1, 2}}, {Source: 1, Seq: 4, Kind: 5}, {Tick: 8, Source: 128, Seq: 5, Data: []byte{9}},
	}}
	want := []byte{6, 9, 2, 0, 0, 0, 0, 0, 0, 0, 100, 3, 12, 7, 3, 5, 99, 128, 128, 128, 128, 8, 2, 1, 2, 1, 1, 4, 0, 6, 128, 1, 5, 1, 0, 1, 9}
	if got := a.append(nil); !bytes.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
}

// A message that is read has one encoding.
func FuzzInputsFrame(f *testing.F) {
	for seed := range uint64(20) {
		a := randomApplied(seed)
		f.Add(a.append(nil))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		var a applied
		if err := a.parse(message); err != nil {
			if !errors.Is(err, fault.ErrCorrupt) || len(a.inputs) > 0 {
				t.Fatal(err)
			}
			return
		}
		if again := a.append(nil); string(again) != string(message) {
			t.Fatalf("%x becomes %x", message, again)
		}
	})
}

// No Snapshot message brings a Simulator into a state that it does not report.
func FuzzSnapshotFrame(f *testing.F) {
	a := newAuthority(f, 2, 1)
	c, fo := lane{room: 100}, follower{}
	a.stream.join(&fo, 0)
	a.step(f)
	a.stream.send(&fo, &c)
	f.Add(c.messages[0])
	f.Add([]byte{kindSnapshot, 0})
	d := newDuel(f, duelSeed, 2)
	s := newSimulator(f, d, SimulatorConfig{})
	f.Fuzz(func(t *testing.T, message []byte) {
		if len(message) == 0 || message[0] != kindSnapshot {
			return
		}
		if err := s.receive(message); err != nil {
			return
		}
		tick, hash, _, err := parseSnapshot(message)
		if err != nil || s.held() != tick || d.sim.Hash() != hash {
			t.Fatalf("held %d, hash %x: %v", s.held(), d.sim.Hash(), err)
		}
	})
}
