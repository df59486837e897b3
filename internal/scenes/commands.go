package scenes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

// queuedActions is the state that the systems keep from one tick to the next.
type queuedActions struct{ s *agents }

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
	shoveBody uint32 = 1 + iota // applies an impulse to a body
	sendAgent                   // sets the velocity of an agent
)

// CommandBytes is the size of the data of a command: uint16, which body or agent, and two float32
// in N·s or m/s, little-endian.
const CommandBytes = 2 + 2*4

// AcceptCommands makes the scene ready for logs, where it is one of agents: snapshots include what
// its systems keep, and commands from outside act on bodies and agents.
func (s *Sim) AcceptCommands() error {
	return errors.Join(s.AddState("actions", queuedActions{s.agents}), s.Add(evertick.BeforePhysics, "obey", s.agents.obey))
}

// obey executes the commands of a tick.
func (s *agents) obey(t *evertick.Tick) error {
	for _, in := range t.Inputs() {
		if len(in.Data) != CommandBytes {
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

// CommandAt returns a random command, whose Data is data.
func CommandAt(seed, tick, seq uint64, data *[CommandBytes]byte) evertick.Input {
	r := loop.NewRand(seed, tick, seq, streamCommands)
	binary.LittleEndian.PutUint16(data[:], uint16(r.Uint64()))
	binary.LittleEndian.PutUint32(data[2:], math.Float32bits(r.Range(-2, 2)))
	binary.LittleEndian.PutUint32(data[6:], math.Float32bits(r.Range(-2, 2)))
	return evertick.Input{Tick: tick, Source: 1, Seq: seq, Kind: shoveBody + uint32(r.Uint64n(2)), Data: data[:]}
}
