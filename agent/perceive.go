package agent

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/spatial"
)

// Perception is what an agent knows when it is asked.
type Perception struct {
	Decision uint64 // the number of the requested decision
	Tick     uint64
	Agent    ecs.ID
	Turn     uint64 // number of decisions requested for the agent before
	Position [3]float32
	Radius   float32
	Tags     uint64 // of the agent; bit i is TagNames[i]
	// Neighbours within Radius, nearest first; at equal distance by slot. The agent is not among
	// them.
	Neighbours []Neighbour
	// Unseen is the number of farther neighbours that Config.MaxNeighbours leaves out.
	Unseen int
	// Events that the agent can perceive, oldest first: see Agents.Notify.
	Events []Event
	// Last is the outcome of the agent's last decision.
	Last Outcome
	// Hash of all of the above but Decision: XXH3 of its encoding. It is in the records, and in the
	// state.
	Hash uint64

	// TagNames and Actions come from Config; they must not be changed.
	TagNames []string
	Actions  []ActionDef
}

// Neighbour is another entity.
type Neighbour struct {
	ID       ecs.ID
	Position [3]float32
	Distance float32 // metres
	Tags     uint64
}

// Event is something that nearby agents can perceive.
type Event struct {
	Tick uint64
	Kind uint32 // its meaning is up to the systems
	// Subject and Object perceive it wherever they are. 0: none.
	Subject, Object ecs.ID
	// Position is where it happened. Agents perceive it if that is within their radius.
	Position [3]float32
	Value    float32
}

// Outcome is how a decision ended.
type Outcome struct {
	Decision uint64 // 0: there was none yet
	Tick     uint64
	Type     RecordType
	Reason   Reason
}

func hashOf(b []byte) uint64 { return statehash.Bytes(b, 1, false) }

// Notify keeps an event of the running tick for perceptions; the last Config.Events events are
// kept. It is for systems. Agents that are due later in this tick perceive it. Notify sets
// Event.Tick. A position or a value that is NaN or infinite is ErrNotFinite.
func (a *Agents) Notify(t *evertick.Tick, e Event) error {
	for i, v := range e.Position {
		if !fault.Finite(v) {
			return fault.Element(fault.ErrNotFinite, "agent: Event.Position", i, v)
		}
	}
	if !fault.Finite(e.Value) {
		return fault.Field(fault.ErrNotFinite, "agent: Event.Value", e.Value)
	}
	e.Tick = t.N
	if len(a.events) == a.cfg.Events {
		copy(a.events, a.events[1:])
		a.events = a.events[:len(a.events)-1]
	}
	a.events = append(a.events, e)
	return nil
}

// turn is an agent that is due, and what it perceives: row i of the batch belongs to turn i.
type turn struct {
	at   int // in list
	slot ecs.Slot
	hash uint64
}

// buildPerceptions builds the perceptions of all agents that are due, by one query.
func (a *Agents) buildPerceptions() error {
	q, w := &a.queries, a.sim.World
	q.X, q.Y, q.Z, q.Radius, q.Exclude = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0], q.Exclude[:0]
	q.Order = spatial.ByDistance
	for i := range a.turns {
		slot := a.turns[i].slot
		q.X, q.Y, q.Z = append(q.X, w.Position.X[slot]), append(q.Y, w.Position.Y[slot]), append(q.Z, w.Position.Z[slot])
		q.Radius, q.Exclude = append(q.Radius, a.list[a.turns[i].at].spec.Radius), append(q.Exclude, slot)
	}
	if err := a.sim.Index.Radius(q, &a.found); err != nil {
		return err
	}
	for i := range a.turns {
		a.turns[i].hash = hashOf(a.encodePerception(i))
		a.perceived = a.perceived*0x9e3779b97f4a7c15 ^ a.turns[i].hash
	}
	return nil
}

// neighboursOf returns the neighbours of turn i up to the limit, and how many are left out.
func (a *Agents) neighboursOf(i int) (slots []uint32, dist2 []float32, unseen int) {
	slots, dist2 = a.found.Row(i), a.found.Dist2Row(i)
	if n := a.cfg.MaxNeighbours; len(slots) > n {
		return slots[:n], dist2[:n], len(slots) - n
	}
	return slots, dist2, 0
}

// tagsOf returns the tags of a slot, in the order of Config.Tags.
func (a *Agents) tagsOf(slot ecs.Slot) (bits uint64) {
	for i, mask := range a.tagMasks {
		bits |= mask[slot>>6] >> (slot & 63) & 1 << i
	}
	return bits
}

// The encoding of a perception, all little-endian: uint64 tick, agent, turn, tags; float32
// position and radius; Last as uint64 decision, tick, and bytes type and reason; uint32
// neighbours, unseen, events; for each neighbour uint64 id and tags, float32 position and squared
// distance; for each event uint64 tick, subject, object, uint32 kind, float32 position and value.
const (
	perceptionHead = 6*8 + 4*4 + 2 + 3*4
	neighbourBytes = 2*8 + 4*4
	eventBytes     = 3*8 + 4 + 4*4
)

// encodePerception writes the perception of turn i into scratch memory.
func (a *Agents) encodePerception(i int) []byte {
	m, slot := &a.list[a.turns[i].at], a.turns[i].slot
	slots, dist2, unseen := a.neighboursOf(i)
	a.eventsFor(i)
	w, le := a.sim.World, binary.LittleEndian
	b := slices.Grow(a.buf[:0], perceptionHead+len(slots)*neighbourBytes+len(a.visible)*eventBytes)
	b = wire.AppendU64s(b, a.now, uint64(m.id), m.turns, a.tagsOf(slot))
	b = wire.AppendF32s(b, w.Position.X[slot], w.Position.Y[slot], w.Position.Z[slot], m.spec.Radius)
	b = appendOutcome(b, &m.last)
	b = wire.AppendU32s(b, uint32(len(slots)), uint32(unseen), uint32(len(a.visible)))
	at := len(b)
	b = b[:at+len(slots)*neighbourBytes]
	for j, s := range slots {
		id, _ := w.ID(s)
		n := b[at : at+neighbourBytes : at+neighbourBytes]
		le.PutUint64(n, uint64(id))
		le.PutUint64(n[8:], a.tagsOf(s))
		le.PutUint32(n[16:], math.Float32bits(w.Position.X[s]))
		le.PutUint32(n[20:], math.Float32bits(w.Position.Y[s]))
		le.PutUint32(n[24:], math.Float32bits(w.Position.Z[s]))
		le.PutUint32(n[28:], math.Float32bits(dist2[j]))
		at += neighbourBytes
	}
	for _, e := range a.visible {
		b = appendEvent(b, &a.events[e])
	}
	a.buf = b
	return b
}

func appendOutcome(b []byte, o *Outcome) []byte {
	b = wire.AppendU64s(b, o.Decision, o.Tick)
	return append(b, byte(o.Type), byte(o.Reason))
}

func appendEvent(b []byte, e *Event) []byte {
	b = wire.AppendU64s(b, e.Tick, uint64(e.Subject), uint64(e.Object))
	b = wire.AppendU32s(b, e.Kind)
	return wire.AppendF32s(b, e.Position[0], e.Position[1], e.Position[2], e.Value)
}

// eventsFor lists the events that the agent of turn i can perceive, only the latest of them.
func (a *Agents) eventsFor(i int) {
	a.visible = a.visible[:0]
	if len(a.events) == 0 {
		return
	}
	id := a.list[a.turns[i].at].id
	x, y, z, r := a.queries.X[i], a.queries.Y[i], a.queries.Z[i], a.queries.Radius[i]
	for j := len(a.events) - 1; j >= 0 && len(a.visible) < a.cfg.MaxEvents; j-- {
		e := &a.events[j]
		dx, dy, dz := e.Position[0]-x, e.Position[1]-y, e.Position[2]-z
		d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
		if e.Subject == id || e.Object == id || d2 <= float32(r*r) {
			a.visible = append(a.visible, j)
		}
	}
	slices.Reverse(a.visible)
}

// fillPerception makes p the perception of turn i, in the memory that p has.
func (a *Agents) fillPerception(p *Perception, i int) {
	m, slot, w := &a.list[a.turns[i].at], a.turns[i].slot, a.sim.World
	slots, dist2, unseen := a.neighboursOf(i)
	a.eventsFor(i)
	*p = Perception{
		Decision: a.next, Tick: a.now, Agent: m.id, Turn: m.turns, Position: positionOf(w, slot), Radius: m.spec.Radius,
		Tags: a.tagsOf(slot), Neighbours: slices.Grow(p.Neighbours[:0], len(slots)), Unseen: unseen,
		Events: slices.Grow(p.Events[:0], len(a.visible)), Last: m.last, Hash: a.turns[i].hash,
		TagNames: a.cfg.Tags, Actions: a.cfg.Actions,
	}
	for j, s := range slots {
		id, _ := w.ID(s)
		distance := float32(math.Sqrt(float64(dist2[j]))) // the nearest float32, since float64 has more than twice its digits
		p.Neighbours = append(p.Neighbours, Neighbour{id, positionOf(w, s), distance, a.tagsOf(s)})
	}
	for _, e := range a.visible {
		p.Events = append(p.Events, a.events[e])
	}
}

func positionOf(w *ecs.World, s ecs.Slot) [3]float32 {
	return [3]float32{w.Position.X[s], w.Position.Y[s], w.Position.Z[s]}
}
