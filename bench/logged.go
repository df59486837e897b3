package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/loop/replay"
	"github.com/evertick/evertick/loop/train/worlds"
	"github.com/evertick/evertick/physics"
)

// queuedActions is what the systems of a scene keep from one tick to the next.
type queuedActions struct{ s *scene }

const actionBytes = 4 + 4*4 + 8 + 1

func (q queuedActions) AppendState(dst []byte) []byte {
	le := binary.LittleEndian
	for i := range q.s.actions {
		a := &q.s.actions[i]
		dst = le.AppendUint32(dst, a.agent)
		for _, v := range [...]float32{a.ax, a.az, a.pushX, a.pushZ} {
			dst = le.AppendUint32(dst, math.Float32bits(v))
		}
		dst = le.AppendUint64(dst, a.shoved.Bits())
		wants := byte(0)
		if a.wantsShove {
			wants = 1
		}
		dst = append(dst, wants)
	}
	return dst
}

func (q queuedActions) RestoreState(src []byte) error {
	if len(src)%actionBytes != 0 {
		return errors.New("length of the actions")
	}
	le := binary.LittleEndian
	q.s.actions = q.s.actions[:0]
	for ; len(src) > 0; src = src[actionBytes:] {
		q.s.actions = append(q.s.actions, action{
			agent: ecs.Slot(le.Uint32(src)), ax: floatOf(src[4:]), az: floatOf(src[8:]),
			pushX: floatOf(src[12:]), pushZ: floatOf(src[16:]),
			shoved: physics.BodyOfBits(le.Uint64(src[20:])), wantsShove: src[28] == 1,
		})
	}
	return nil
}

func floatOf(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// Kinds of commands from outside.
const (
	shoveBody uint32 = 1 + iota // of a body, by an impulse
	sendAgent                   // of an agent, to another velocity
)

// A command's data are uint16 which body or agent, and two float32 in N·s or m/s,
// little-endian.
const commandBytes = 2 + 2*4

// loggedScene returns the scene as a scenario for logs: what its systems keep is in
// snapshots, and commands from outside act on bodies and agents. Training worlds are scenarios
// as they are, for the logs that train.Batch.Export writes.
func loggedScene(name string, cfg evertick.Config) (replay.Scenario, error) {
	for _, sc := range worlds.Scenarios(cfg) {
		if sc.Name == name {
			return sc, nil
		}
	}
	p, err := sceneParams(name)
	if err != nil {
		return replay.Scenario{}, err
	}
	return replay.Scenario{Name: name, New: func(seed uint64) (*evertick.Sim, error) {
		cfg := cfg
		cfg.Seed = seed
		s, err := newScene(p, cfg)
		if err != nil {
			return nil, err
		}
		return s.sim, errors.Join(s.sim.AddState("actions", queuedActions{s}), s.sim.Add(evertick.BeforePhysics, "obey", s.obey))
	}}, nil
}

// obey does what commands say.
func (s *scene) obey(t *evertick.Tick) error {
	for _, in := range t.Inputs() {
		if len(in.Data) != commandBytes {
			return fmt.Errorf("command %d of source %d: %d bytes", in.Seq, in.Source, len(in.Data))
		}
		i, x, z := int(binary.LittleEndian.Uint16(in.Data)), floatOf(in.Data[2:]), floatOf(in.Data[6:])
		switch in.Kind {
		case shoveBody:
			slot, _ := s.sim.World.Slot(s.bodyIDs[i%len(s.bodyIDs)])
			if err := s.sim.Physics.ApplyLinearImpulseToCenter(s.bodyOf[slot], [2]float32{x, z}); err != nil {
				return err
			}
		case sendAgent:
			slot := s.agentAt[i%len(s.agentAt)]
			s.velX[slot], s.velZ[slot] = clampLength(x, z, maxSpeed)
		}
	}
	return nil
}

const streamCommands = 100 // of random numbers

// pushCommands pushes those of the next tick, of which there are as many in all ticks
// as asked for.
func pushCommands(sim *evertick.Sim, ticks, commands uint64, data *[commandBytes]byte) error {
	n := sim.Ticks()
	for seq := n * commands / ticks; seq < (n+1)*commands/ticks; seq++ {
		in := commandAt(sim.Seed(), n, seq, data)
		if err := sim.Push(in); err != nil {
			return err
		}
	}
	return nil
}

// commandAt returns a command, whose Data is data.
func commandAt(seed, tick, seq uint64, data *[commandBytes]byte) evertick.Input {
	r := loop.NewRand(seed, tick, seq, streamCommands)
	binary.LittleEndian.PutUint16(data[:], uint16(r.Uint64()))
	binary.LittleEndian.PutUint32(data[2:], math.Float32bits(r.Range(-2, 2)))
	binary.LittleEndian.PutUint32(data[6:], math.Float32bits(r.Range(-2, 2)))
	return evertick.Input{Tick: tick, Source: 1, Seq: seq, Kind: shoveBody + uint32(r.Uint64n(2)), Data: data[:]}
}
