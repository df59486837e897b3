package replay

import (
	"fmt"
	"iter"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/worldlog"
)

// ErrDiverged is wrapped by the errors for a run that did not repeat itself.
var ErrDiverged = fault.ErrDiverged

// Scenario describes how a run begins.
type Scenario struct {
	// Name identifies the scenario. The log contains it, and only a scenario of the same
	// name replays the log. At most 255 bytes.
	Name string
	// New builds the Sim at tick 0: world, bodies, systems. What it builds depends on
	// seed alone.
	New func(seed uint64) (*evertick.Sim, error)
	// MaxSnapshot is the size in bytes up to which Seek, Resume and the others restore a snapshot
	// of a log: a small file can unpack to any size. They skip a larger one, and run ticks from an
	// earlier one, or from tick 0. 0: the sum of the columns of the world, 1 KiB for each entity of
	// its capacity, twice the snapshot of the Sim as New builds it, and 64 MiB. That is enough for
	// bodies of entities with a few shapes, contacts and joints, and for the content of tick 0 if
	// it at most doubles. Set it if a run adds more than that: bodies without an entity, bodies of
	// many shapes, chains, inputs that wait, states of AddState, blobs. worldlog.MaxSnapshot bounds it.
	MaxSnapshot int
}

// rowBytes bounds what a snapshot holds of an entity besides the columns of the world: a
// body with three shapes, three contacts and a joint has fewer than 800 bytes.
const rowBytes = 1 << 10

// maxSnapshot returns the limit for snapshots that a Sim of this scenario is to restore. sim is one
// in which nothing has run yet.
func (sc Scenario) maxSnapshot(sim *evertick.Sim) int {
	if sc.MaxSnapshot > 0 {
		return sc.MaxSnapshot
	}
	most := int64(worldlog.DefaultSnapshot) + int64(sim.World.Describe().TotalBytes) + rowBytes*int64(sim.World.Cap())
	if own, err := sim.Snapshot(nil); err == nil { // otherwise none of its snapshots can be restored
		most += 2 * int64(len(own))
	}
	return int(min(most, worldlog.MaxSnapshot))
}

// build builds the Sim and checks that nothing has run yet.
func (sc Scenario) build(seed uint64) (*evertick.Sim, error) {
	if sc.MaxSnapshot < 0 {
		return nil, fault.Field(fault.ErrRange, "replay: Scenario.MaxSnapshot", sc.MaxSnapshot)
	}
	sim, err := sc.New(seed)
	if err != nil {
		return nil, fmt.Errorf("replay: scenario %q: %w", sc.Name, err)
	}
	if sim.Ticks() != 0 {
		return nil, fault.Field(fault.ErrRange, fmt.Sprintf("replay: scenario %q: ticks of a new Sim", sc.Name), sim.Ticks())
	}
	return sim, nil
}

// appendConfig appends what a Sim must have in common with its log besides columns.
func appendConfig(dst []byte, sim *evertick.Sim) []byte {
	return wire.AppendU64s(wire.AppendF32s(dst, sim.Dt()), uint64(sim.World.Cap()))
}

// ParseConfig reads the data of a worldlog.Config record, which begins a log: the seconds of a tick and the
// capacity of the world. The error wraps ErrCorrupt.
func ParseConfig(data []byte) (dt float32, capacity uint64, err error) {
	r := wire.NewReader(data)
	dt, capacity = r.F32(), r.U64()
	if r.Done() != nil {
		err = fault.Field(fault.ErrCorrupt, "replay: length of the Config record", len(data))
	}
	return dt, capacity, err
}

// appendSchema appends the names of the world's columns, each with its length.
func appendSchema(dst []byte, sim *evertick.Sim) []byte {
	for _, c := range sim.World.AppendColumnHashes(nil) {
		dst = wire.AppendPrefixed(dst, c.Name)
	}
	return dst
}

// checkFirst compares the records of Config and Schema with a Sim at tick 0.
func checkFirst(sim *evertick.Sim, first *worldlog.Tick) error {
	var err error
	for i := 0; i < len(first.Records) && err == nil; i++ {
		switch r := &first.Records[i]; r.Type {
		case worldlog.Config:
			err = checkConfig(sim, r.Data)
		case worldlog.Schema:
			err = checkSchema(sim, r.Data)
		}
	}
	return err
}

func checkConfig(sim *evertick.Sim, data []byte) error {
	dt, capacity, err := ParseConfig(data)
	if err != nil {
		return err
	}
	if math.Float32bits(dt) != math.Float32bits(sim.Dt()) {
		return fmt.Errorf("%w, that of the scenario %v", fault.Field(fault.ErrUnsupported, "replay: log: seconds of a tick", dt), sim.Dt())
	}
	if capacity != uint64(sim.World.Cap()) {
		return fmt.Errorf("%w, that of the scenario %d", fault.Field(fault.ErrUnsupported, "replay: log: capacity", capacity), sim.World.Cap())
	}
	return nil
}

func checkSchema(sim *evertick.Sim, data []byte) error {
	r := wire.NewReader(data)
	for _, c := range sim.World.AppendColumnHashes(nil) {
		name := r.Prefixed(math.MaxInt)
		if r.Err() != nil {
			return fmt.Errorf("replay: log has no column where the scenario has %q: %w", c.Name, fault.ErrUnsupported)
		}
		if string(name) != c.Name {
			return fmt.Errorf("replay: log has column %q where the scenario has %q: %w", name, c.Name, fault.ErrUnsupported)
		}
	}
	if r.Len() > 0 {
		return fmt.Errorf("replay: log has more columns than the scenario: %w", fault.ErrUnsupported)
	}
	return nil
}

// checkIdentity compares the identity in each segment with the scenario.
func checkIdentity(sc Scenario, id worldlog.Identity) error {
	switch {
	case id.Scenario != sc.Name:
		return fmt.Errorf("replay: the log is of scenario %q, not of %q: replay it with a Scenario whose Name is %q: %w",
			id.Scenario, sc.Name, id.Scenario, fault.ErrUnsupported)
	case id.SimVersion != evertick.SimVersion:
		return fmt.Errorf("%w, this is %d", fault.Field(fault.ErrUnsupported, "replay: SimVersion of the log", id.SimVersion), evertick.SimVersion)
	case id.FirstTick != 0:
		return fault.Field(fault.ErrUnsupported, "replay: first tick of the log", id.FirstTick)
	}
	return nil
}

// An Input record holds Source, Seq and Kind in its fields. Its data begin with a uvarint, the number
// of ticks by which the input was late, and continue with Data of the input. If the input has At or
// Fraction, the number is larger by tick + 1, which no other record has, since no input is late
// by more than tick; At and Fraction follow it as uvarints. A tick of a log is below 2^63.
func appendInput(dst []byte, tick uint64, in *evertick.Input) []byte {
	late := tick - min(in.Tick, tick)
	if in.At == 0 && in.Fraction == 0 {
		dst = wire.AppendUvarints(dst, late)
	} else {
		dst = wire.AppendUvarints(dst, tick+1+late, in.At, uint64(in.Fraction))
	}
	return append(dst, in.Data...)
}

// ParseInput reads a worldlog.Input record of a tick. Data of the input is a part of rec.Data. The error wraps
// ErrCorrupt.
func ParseInput(tick uint64, rec *worldlog.Record) (evertick.Input, error) {
	r := wire.NewReader(rec.Data)
	late, at, fraction := r.Uvarint(), uint64(0), uint64(0)
	stamped := late > tick
	if stamped {
		late, at, fraction = late-tick-1, r.Uvarint(), r.Uvarint()
	}
	if r.Err() != nil || late > tick || fraction > math.MaxUint32 || stamped && at == 0 && fraction == 0 {
		return evertick.Input{}, fault.Field(fault.ErrCorrupt, fmt.Sprintf("replay: tick %d: Input record of source %d, seq", tick, rec.Source), rec.Seq)
	}
	return evertick.Input{
		Tick: tick - late, Source: rec.Source, Seq: rec.Seq, At: at, Fraction: uint32(fraction), Kind: rec.Kind, Data: r.Rest(),
	}, nil
}

// inputsOf yields the inputs of a tick.
func inputsOf(t *worldlog.Tick) iter.Seq2[evertick.Input, error] {
	return func(yield func(evertick.Input, error) bool) {
		for i := range t.Records {
			if r := &t.Records[i]; r.Type == worldlog.Input && !yield(ParseInput(t.Tick, r)) {
				return
			}
		}
	}
}

// appendColumns appends the hashes of all columns: a Columns record.
func appendColumns(dst []byte, columns []ecs.ColumnHash) []byte {
	for i := range columns {
		dst = wire.AppendU64s(wire.AppendPrefixed(dst, columns[i].Name), columns[i].Hash)
	}
	return dst
}

// parseColumns reads what appendColumns wrote.
func parseColumns(data []byte) ([]ecs.ColumnHash, error) {
	var columns []ecs.ColumnHash
	for r := wire.NewReader(data); r.Len() > 0; {
		c := ecs.ColumnHash{Name: r.String(math.MaxInt), Hash: r.U64()}
		if r.Err() != nil {
			return nil, fault.Field(fault.ErrCorrupt, "replay: Columns record: column", len(columns))
		}
		columns = append(columns, c)
	}
	return columns, nil
}
