package history

import "github.com/evertick/evertick/internal/wire"

// Input is evertick.Input, with the same fields in the same order, so that pointers to one convert to pointers to the other.
type Input struct {
	Tick     uint64
	Source   uint32
	Seq      uint64
	At       uint64
	Fraction uint32
	Kind     uint32
	Data     []byte
}

// MaxData is the most bytes that Data may have: AppendInput needs the bit above.
const MaxData = 1<<31 - 1

// stamped is the bit of the length of the data that says that At and Fraction follow.
const stamped = 1 << 31

// AppendInput appends an input, all little-endian: uint64 tick, uint32 source, uint64 seq, uint32 kind, uint32 length of the
// data, and the data. If the highest bit of the length is set, uint64 At and uint32 Fraction, not both 0, stand before the
// data.
func AppendInput(dst []byte, in *Input) []byte {
	dst = wire.AppendU64s(dst, in.Tick)
	dst = wire.AppendU32s(dst, in.Source)
	dst = wire.AppendU64s(dst, in.Seq)
	if in.At == 0 && in.Fraction == 0 {
		dst = wire.AppendU32s(dst, in.Kind, uint32(len(in.Data)))
	} else {
		dst = wire.AppendU32s(dst, in.Kind, uint32(len(in.Data))|stamped)
		dst = wire.AppendU64s(dst, in.At)
		dst = wire.AppendU32s(dst, in.Fraction)
	}
	return append(dst, in.Data...)
}

// ReadInput reads what AppendInput wrote. Data is part of what r reads.
func ReadInput(r *wire.Reader) Input {
	in := Input{Tick: r.U64(), Source: r.U32(), Seq: r.U64(), Kind: r.U32()}
	n := r.U32()
	if n&stamped != 0 {
		in.At, in.Fraction = r.U64(), r.U32()
		if in.At == 0 && in.Fraction == 0 && r.Err() == nil {
			r.Fail("stamp of an input", 0) // AppendInput writes none
		}
	}
	in.Data = r.Bytes(int(n &^ stamped))
	return in
}

// What arrives is a list of records: a byte that says what, and for ArrivedInput the input.
const (
	ArrivedInput      = iota
	ArrivedDrop       // DropInputs between ticks
	ArrivedDropWithin // DropInputs within a tick
)

// AppendArrival appends the record of an input.
func AppendArrival(dst []byte, in *Input) []byte { return AppendInput(append(dst, ArrivedInput), in) }

// ReadArrival reads a record.
func ReadArrival(r *wire.Reader) (kind byte, in Input) {
	if kind = r.U8(); kind == ArrivedInput {
		in = ReadInput(r)
	}
	return kind, in
}

// Pushed reports whether an input was pushed while the tick ran.
func (l *Log) Pushed(source uint32, seq uint64) bool {
	for r := wire.NewReader(l.Data[l.Split:]); r.Len() > 0; {
		if kind, was := ReadArrival(&r); kind == ArrivedInput && was.Source == source && was.Seq == seq {
			return true
		}
	}
	return false
}
