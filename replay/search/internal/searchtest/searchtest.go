// Package searchtest has what tests of searches search in.
package searchtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replay/search"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

// Tally is a scenario in which random numbers and the inputs of kind Bad set bits. It ends in an error when bits
// 2 and 5 are set by inputs, if its name is "tally/error".
func Tally(name string) replay.Scenario {
	return replay.Scenario{Name: name, New: func(seed uint64) (*evertick.Sim, error) {
		sim, err := evertick.New(evertick.Config{Capacity: 8, Seed: seed})
		if err != nil {
			return nil, err
		}
		id, err := sim.World.Spawn()
		if err != nil {
			return nil, err
		}
		drawn, err := ecs.AddColumn[uint64](sim.World, "drawn")
		if err != nil {
			return nil, err
		}
		set, err := ecs.AddColumn[uint64](sim.World, "set")
		if err != nil {
			return nil, err
		}
		return sim, sim.Add(evertick.BeforePhysics, "tally", func(t *evertick.Tick) error {
			r := t.Rand(id, 0)
			drawn.Values()[0] = drawn.Values()[0]*3 + r.Uint64()
			for _, in := range t.Inputs() {
				if in.Kind == Bad {
					set.Values()[0] |= 1 << in.Data[0]
				}
			}
			drawn.Touch()
			set.Touch()
			if name == "tally/error" && both(set.Values()[0]) {
				return errors.New("bits 2 and 5 are set")
			}
			return nil
		})
	}}
}

// Bad is the kind of inputs that set bits.
const Bad = 9

func both(set uint64) bool { return set&(1<<2|1<<5) == 1<<2|1<<5 }

func value(sim *evertick.Sim, column string) uint64 {
	c, ok := ecs.FindColumn[uint64](sim.World, column)
	if !ok {
		panic("searchtest: no column " + column)
	}
	return c.Values()[0]
}

// Set returns the bits that inputs have set.
func Set(sim *evertick.Sim) uint64 { return value(sim, "set") }

// Registry has Tally under two names, the failures "rare" and "never" of seeds, "both" and "error" of inputs, "panics", and
// the function "tag", a Play.
func Registry() *search.Registry {
	return &search.Registry{
		Scenarios: []replay.Scenario{Tally("tally"), Tally("tally/error")},
		Failures: map[string]replay.Failure{
			"rare":   func(sim *evertick.Sim, _ error) bool { return value(sim, "drawn")%1009 == 7 },
			"never":  func(*evertick.Sim, error) bool { return false },
			"both":   func(sim *evertick.Sim, _ error) bool { return both(value(sim, "set")) },
			"error":  func(_ *evertick.Sim, err error) bool { return err != nil },
			"panics": func(sim *evertick.Sim, _ error) bool { panic(fmt.Sprint("at tick ", sim.Ticks())) },
		},
		Functions: map[string]search.Function{"tag": search.Play(tag).Function()},
	}
}

// tag moves the player of each world by the first two numbers of each set, 40 steps long.
func tag(_ context.Context, m search.Match, players [][]float32) ([]float64, error) {
	scores := make([]float64, len(players))
	for k, move := range players {
		b, err := train.New(worlds.Tag().Definition(), train.Config{Worlds: m.Worlds, First: m.World, Seed: m.Seed})
		if err != nil {
			return nil, err
		}
		buf := b.NewBuffers()
		if err := b.Reset(train.Options{}, buf); err != nil {
			return nil, err
		}
		for range 40 {
			for i := range m.Worlds {
				copy(buf.Actions[2*i:], move[:2])
			}
			if err := b.Step(buf); err != nil {
				return nil, err
			}
			for _, r := range buf.Reward {
				scores[k] += float64(r)
			}
		}
	}
	return scores, nil
}

// Record records a run of Tally with many inputs, of which eight are bad, and which does not end in an error.
func Record(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	sim, err := Tally("tally").New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, "tally", sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for tick := range uint64(100) {
		in := evertick.Input{Tick: tick, Source: uint32(tick % 3), Seq: tick, Kind: uint32(tick % 4), At: tick * 5, Data: []byte{byte(tick)}}
		if tick%10 == 0 && tick/10 < 8 {
			in.Kind, in.Data = Bad, []byte{byte(tick / 10)}
		}
		if err := sim.Push(in); err != nil {
			t.Fatal(err)
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
