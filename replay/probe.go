package replay

import (
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/spatial"
)

// QueryProbe makes the results of queries part of the state hash, with their order, as the
// column "state.queries": a replay whose queries return something else differs in that
// tick, and not only when the difference reaches the world. It is for debugging: a scenario
// with a probe has other hashes than one without, so both the recording and the replay
// need it.
//
// It is for one goroutine; a nil probe does nothing.
type QueryProbe struct{ hash uint64 }

// queriesState is its name among the states of the Sim.
const queriesState = "queries"

// NewQueryProbe adds a probe to a Sim. The error is that of evertick.Sim.AddState if
// there is one already.
func NewQueryProbe(sim *evertick.Sim) (*QueryProbe, error) {
	p := new(QueryProbe)
	if err := sim.AddState(queriesState, p); err != nil {
		return nil, err
	}
	return p, nil
}

// Result adds the results of a batch: rows, slots and squared distances.
func (p *QueryProbe) Result(r *spatial.Result) {
	if p == nil {
		return
	}
	p.Slots(r.Offsets)
	p.Slots(r.Slots)
	p.Slots(r.Of)
	p.Floats(r.Dist2)
}

// Slots adds slots, counts, or other whole numbers.
func (p *QueryProbe) Slots(v []uint32) {
	if p == nil {
		return
	}
	h := mix(p.hash, uint64(len(v)))
	for _, x := range v {
		h = mix(h, uint64(x))
	}
	p.hash = h
}

// Floats adds distances or coordinates. All NaN are equal.
func (p *QueryProbe) Floats(v []float32) {
	if p == nil {
		return
	}
	h := mix(p.hash, uint64(len(v)))
	for _, x := range v {
		if x != x {
			h = mix(h, math.MaxUint64)
			continue
		}
		h = mix(h, uint64(math.Float32bits(x)))
	}
	p.hash = h
}

// mix is one-to-one in h for each v, and in v for each h, so that a single difference is
// never lost.
func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15 // 2^64 over the golden ratio, odd
	return h ^ h>>29
}

// AppendState implements evertick.State.
func (p *QueryProbe) AppendState(dst []byte) []byte {
	return wire.AppendU64s(dst, p.hash)
}

// RestoreState implements evertick.State.
func (p *QueryProbe) RestoreState(src []byte) error {
	if len(src) != 8 {
		return fault.Field(fault.ErrCorrupt, "replay: state of queries: bytes", len(src))
	}
	p.hash = wire.U64At(src, 0)
	return nil
}
