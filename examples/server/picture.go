package main

import (
	"encoding/binary"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// A message to players, all numbers little-endian:
//
//	4  bytes that follow     8  tick     1  1: all there is, 0: what has changed
//	2  discs, then each:     8  id       2  owner     2+2  x, y in centimetres
//	2  ids that are gone, 8 each
const discBytes, mostMessage = 14, 1 << 16

// spot is a disc as players see it.
type spot struct {
	owner uint16
	x, y  int16
}

// picture is the last state sent to players, by slot.
type picture struct {
	ids   []ecs.ID // 0: a free slot
	spots []spot
}

// guide:begin delta

// update brings the picture up to date and returns the message that does the same for
// players. Columns make that easy: compare row by row.
func (p *picture) update(sim *evertick.Sim, owner *ecs.Column[uint16]) []byte {
	w := sim.World
	var changed []ecs.Slot
	var gone []ecs.ID
	for slot := range ecs.Slot(w.HighWater()) {
		if int(slot) == len(p.ids) {
			p.ids, p.spots = append(p.ids, 0), append(p.spots, spot{})
		}
		id, _ := w.ID(slot) // 0 if the slot is free
		was, is := p.spots[slot], spot{}
		if id != 0 {
			is = spot{owner.Values()[slot], int16(w.Position.X[slot] * 100), int16(w.Position.Y[slot] * 100)}
		}
		if p.ids[slot] != id && p.ids[slot] != 0 {
			gone = append(gone, p.ids[slot])
		}
		if id != 0 && (p.ids[slot] != id || was != is) {
			changed = append(changed, slot)
		}
		p.ids[slot], p.spots[slot] = id, is
	}
	return p.encode(sim.Ticks(), 0, changed, gone)
}

// guide:end

// whole returns the message with all of the picture.
func (p *picture) whole(tick uint64) []byte {
	var all []ecs.Slot
	for slot, id := range p.ids {
		if id != 0 {
			all = append(all, ecs.Slot(slot))
		}
	}
	return p.encode(tick, 1, all, nil)
}

func (p *picture) encode(tick uint64, whole byte, slots []ecs.Slot, gone []ecs.ID) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(make([]byte, 4), tick)
	b = le.AppendUint16(append(b, whole), uint16(len(slots)))
	for _, slot := range slots {
		s := p.spots[slot]
		b = le.AppendUint64(b, uint64(p.ids[slot]))
		b = le.AppendUint16(le.AppendUint16(le.AppendUint16(b, s.owner), uint16(s.x)), uint16(s.y))
	}
	b = le.AppendUint16(b, uint16(len(gone)))
	for _, id := range gone {
		b = le.AppendUint64(b, uint64(id))
	}
	le.PutUint32(b, uint32(len(b)-4))
	return b
}

// view is the world as a player sees it.
type view struct {
	tick  uint64
	discs map[ecs.ID]spot
}

// apply applies a message, without its first four bytes, or refuses all of it.
func (v *view) apply(b []byte) error {
	le := binary.LittleEndian
	bad := fmt.Errorf("a message of %d bytes makes no sense", len(b))
	if len(b) < 13 {
		return bad
	}
	n := int(le.Uint16(b[9:]))
	if len(b) < 13+n*discBytes {
		return bad
	}
	rest := b[11+n*discBytes:]
	if len(rest) != 2+8*int(le.Uint16(rest)) {
		return bad
	}
	if b[8] == 1 || v.discs == nil {
		v.discs = map[ecs.ID]spot{}
	}
	v.tick = le.Uint64(b)
	for gone := rest[2:]; len(gone) > 0; gone = gone[8:] {
		delete(v.discs, ecs.ID(le.Uint64(gone)))
	}
	for d := b[11 : 11+n*discBytes]; len(d) > 0; d = d[discBytes:] {
		v.discs[ecs.ID(le.Uint64(d))] = spot{le.Uint16(d[8:]), int16(le.Uint16(d[10:])), int16(le.Uint16(d[12:]))}
	}
	return nil
}
