package replica

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/wire"
)

// The flags of an input in an Inputs message.
const (
	tickMask  = 3 // how Input.Tick is written
	hasKind   = 4 // otherwise the input has the kind of the one before, or 0
	hasStamp  = 8 // At and Fraction, not both 0
	tickSame  = 0 // the tick of the message
	tickZero  = 1 // 0: as soon as possible
	tickOther = 2 // a signed difference to the tick of the message

	leastInput = 4 // bytes of an input: flags, source, sequence number, length of the data
)

// appendSnapshotHead appends what stands before the state in a Snapshot message.
func appendSnapshotHead(dst []byte, tick, hash uint64) []byte {
	return wire.AppendU64s(appendTick(dst, kindSnapshot, tick), hash)
}

// parseSnapshot reads a Snapshot message. state is part of the message.
func parseSnapshot(message []byte) (tick, hash uint64, state []byte, err error) {
	r := messageReader(message, kindSnapshot)
	tick, hash, state = readUint(&r), r.U64(), r.Rest()
	if err := r.Done(); err != nil {
		return 0, 0, nil, fmt.Errorf("replica: Snapshot: %w", err)
	}
	return tick, hash, state, nil
}

// applied is an Inputs message: what a tick has applied, and the hash of the state after it.
type applied struct {
	tick, hash, at uint64
	inputs         []evertick.Input // in the order in which the tick applied them
}

func (a *applied) append(dst []byte) []byte {
	dst = wire.AppendU64s(appendTick(dst, kindInputs, a.tick), a.hash)
	dst = wire.AppendUvarints(dst, a.at, uint64(len(a.inputs)))
	kind := uint32(0)
	for i := range a.inputs {
		dst = appendApplied(dst, &a.inputs[i], a.tick, kind)
		kind = a.inputs[i].Kind
	}
	return dst
}

// inputFlags returns the flags of an input of a tick. kind is the kind of the input before.
func inputFlags(in *evertick.Input, tick uint64, kind uint32) byte {
	flags := byte(tickOther)
	switch in.Tick {
	case tick:
		flags = tickSame
	case 0:
		flags = tickZero
	}
	if in.Kind != kind {
		flags |= hasKind
	}
	if in.At != 0 || in.Fraction != 0 {
		flags |= hasStamp
	}
	return flags
}

func appendApplied(dst []byte, in *evertick.Input, tick uint64, kind uint32) []byte {
	flags := inputFlags(in, tick, kind)
	dst = wire.AppendUvarints(append(dst, flags), uint64(in.Source), in.Seq)
	if flags&tickMask == tickOther {
		dst = binary.AppendVarint(dst, int64(in.Tick-tick))
	}
	if flags&hasKind != 0 {
		dst = wire.AppendUvarints(dst, uint64(in.Kind))
	}
	if flags&hasStamp != 0 {
		dst = wire.AppendUvarints(dst, in.At, uint64(in.Fraction))
	}
	return appendBytes(dst, in.Data)
}

// parse reads an Inputs message. The data of the inputs are part of the message. After an error a has no
// inputs.
func (a *applied) parse(message []byte) error {
	r := messageReader(message, kindInputs)
	a.tick, a.hash, a.at, a.inputs = readUint(&r), r.U64(), readUint(&r), a.inputs[:0]
	kind := uint32(0)
	for range r.Count(readUint(&r), math.MaxInt32, leastInput) {
		in := readApplied(&r, a.tick, kind)
		if r.Err() != nil {
			break
		}
		kind = in.Kind
		a.inputs = append(a.inputs, in)
	}
	if err := r.Done(); err != nil {
		a.inputs = a.inputs[:0]
		return fmt.Errorf("replica: Inputs: %w", err)
	}
	return nil
}

// readApplied reads what appendApplied appends, and refuses what it never does.
func readApplied(r *wire.Reader, tick uint64, kind uint32) evertick.Input {
	flags := r.U8()
	in := evertick.Input{Source: uint32(r.Canonical(0, math.MaxUint32)), Seq: readUint(r), Tick: tick, Kind: kind}
	switch flags & tickMask {
	case tickZero:
		in.Tick = 0
	case tickOther:
		u := readUint(r)
		in.Tick = tick + (u>>1 ^ -(u & 1))
	}
	if flags&hasKind != 0 {
		in.Kind = uint32(r.Canonical(0, math.MaxUint32))
	}
	if flags&hasStamp != 0 {
		in.At, in.Fraction = readUint(r), uint32(r.Canonical(0, math.MaxUint32))
	}
	in.Data = readBytes(r, math.MaxInt32)
	if r.Err() == nil && flags != inputFlags(&in, tick, kind) { // so that an input has one encoding
		r.Fail("flags of an input", flags)
	}
	return in
}
