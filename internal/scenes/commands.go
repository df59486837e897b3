package scenes

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// Kinds of commands from outside.
const (
	shoveBody uint32 = 1 + iota // applies an impulse to a body
	sendAgent                   // sets the velocity of an agent
)

// CommandBytes is the size of the data of a command: uint16, which body or agent, and two float32
// in N·s or m/s, little-endian.
const CommandBytes = 2 + 2*4

// AcceptCommands makes the scene ready for logs, where it is one of agents: commands from outside act on
// bodies and agents.
func (s *Sim) AcceptCommands() error { return s.Add(evertick.BeforePhysics, "obey", s.agents.obey) }

// obey executes the commands of a tick.
func (s *agents) obey(t *evertick.Tick) error {
	for _, in := range t.Inputs() {
		if len(in.Data) != CommandBytes {
			return fmt.Errorf("command %d of source %d: %d bytes", in.Seq, in.Source, len(in.Data))
		}
		r := wire.NewReader(in.Data)
		i, x, z := int(r.U16()), r.F32(), r.F32()
		switch in.Kind {
		case shoveBody:
			if err := s.movers.Push(i%len(s.bodyIDs), [2]float32{x, z}); err != nil {
				return err
			}
		case sendAgent:
			slot := s.agentAt[i%len(s.agentAt)]
			s.velX[slot], s.velZ[slot] = clampLength(x, z, maxSpeed)
		}
	}
	return nil
}

// CommandAt returns a random command, whose Data is data.
func CommandAt(seed, tick, seq uint64, data *[CommandBytes]byte) evertick.Input {
	r := loop.NewRand(seed, tick, seq, streamCommands)
	binary.LittleEndian.PutUint16(data[:], uint16(r.Uint64()))
	binary.LittleEndian.PutUint32(data[2:], math.Float32bits(r.Range(-2, 2)))
	binary.LittleEndian.PutUint32(data[6:], math.Float32bits(r.Range(-2, 2)))
	return evertick.Input{Tick: tick, Source: 1, Seq: seq, Kind: shoveBody + uint32(r.Uint64n(2)), Data: data[:]}
}
