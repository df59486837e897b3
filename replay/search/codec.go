package search

import (
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/replay"
)

// shared is what the jobs of FindSeeds and of Shrink have in common. inputs is nil for jobs of FindSeeds.
type shared struct {
	scenario, failure string
	inputs            []replay.Applied
}

// appendShared appends the names, each with its length, whether there are inputs, and for each input uvarints:
// the tick, the ticks by which it was late, Source, Seq, At, Fraction, Kind, and Data with its length.
func appendShared(dst []byte, scenario, failure string, inputs []replay.Applied) []byte {
	dst = wire.AppendPrefixed(wire.AppendPrefixed(dst, scenario), failure)
	dst = wire.AppendBool(dst, inputs != nil)
	for i := range inputs {
		at, in := inputs[i].At, &inputs[i].Input
		dst = wire.AppendUvarints(dst, at, at-in.Tick, uint64(in.Source), in.Seq, in.At, uint64(in.Fraction), uint64(in.Kind))
		dst = wire.AppendPrefixed(dst, in.Data)
	}
	return dst
}

func parseShared(data []byte) (s shared, err error) {
	r := wire.NewReader(data)
	s.scenario, s.failure = r.String(math.MaxInt), r.String(math.MaxInt)
	if r.Bool() {
		s.inputs = []replay.Applied{}
	} else if err := r.Done(); err != nil {
		return shared{}, err
	}
	before := uint64(0)
	for r.Len() > 0 {
		a := replay.Applied{At: r.Canonical(before, math.MaxUint64)}
		before = a.At
		a.Input = evertick.Input{
			Tick: a.At - r.Canonical(0, a.At), Source: uint32(r.Canonical(0, math.MaxUint32)), Seq: r.Uvarint(), At: r.Uvarint(),
			Fraction: uint32(r.Canonical(0, math.MaxUint32)), Kind: uint32(r.Canonical(0, math.MaxUint32)), Data: r.Prefixed(math.MaxInt),
		}
		s.inputs = append(s.inputs, a)
	}
	return s, r.Done()
}

// appendTrial appends a job as uvarints: the seed, the ticks, and what is kept of the inputs: how many are left
// out, how many after them are kept, and so on.
func appendTrial(dst []byte, seed uint64, t replay.Trial) []byte {
	dst = wire.AppendUvarints(dst, seed, t.Ticks)
	next := uint32(0)
	for i := 0; i < len(t.Keep); {
		from := i
		for i++; i < len(t.Keep) && t.Keep[i] == t.Keep[i-1]+1; i++ {
		}
		dst = wire.AppendUvarints(dst, uint64(t.Keep[from]-next), uint64(i-from))
		next = t.Keep[i-1] + 1
	}
	return dst
}

// parseTrial reads what appendTrial wrote of a log with so many inputs.
func parseTrial(data []byte, inputs int) (seed uint64, t replay.Trial, err error) {
	r := wire.NewReader(data)
	seed, t.Ticks = r.Uvarint(), r.Uvarint()
	for next := uint64(0); r.Len() > 0; {
		next += r.Canonical(0, uint64(inputs)-next)
		n := r.Canonical(1, uint64(inputs)-next)
		for end := next + n; next < end; next++ {
			t.Keep = append(t.Keep, uint32(next))
		}
	}
	return seed, t, r.Done()
}

func appendOutcome(dst []byte, out replay.Outcome) []byte {
	dst = wire.AppendUvarints(wire.AppendBool(dst, out.Failed), out.Tick)
	return wire.AppendPrefixed(wire.AppendU64s(dst, out.Hash), out.Err)
}

func parseOutcome(data []byte) (out replay.Outcome, err error) {
	r := wire.NewReader(data)
	out = replay.Outcome{Failed: r.Bool(), Tick: r.Uvarint(), Hash: r.U64(), Err: r.String(math.MaxInt)}
	return out, r.Done()
}
