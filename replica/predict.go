package replica

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// PredictorConfig of a Predictor. Confirmed, Predicted and Spawn are needed.
type PredictorConfig struct {
	// Confirmed and Predicted are two Sims, built alike: small ones, with the systems that move the
	// entities of the client, and with the rate of the server. Predicted is what the client draws.
	Confirmed, Predicted *evertick.Sim
	// Spawn makes an entity in Confirmed for an entity of the server that the session owns, and returns its
	// id there. Its columns are then set to the values of the server. Id 0: it is not predicted.
	Spawn func(sim *evertick.Sim, server ecs.ID) (ecs.ID, error)
	// Corrected is called after the columns of an entity of Confirmed were set, also after Spawn, to set
	// what follows from them outside of columns, such as the velocity of a body. nil: nothing.
	Corrected func(sim *evertick.Sim, id ecs.ID) error
	// Ahead is the largest number of ticks by which Predicted runs ahead, 1 to 1024. 0: 60.
	Ahead int
}

// PredictorStats are counts since NewPredictor.
type PredictorStats struct {
	Updates     uint64 // states of the server that were compared
	Corrections uint64 // entities whose values differed from the server's
	Rolled      uint64 // ticks that the prediction has run again
}

// Predictor shows a client in mode View the effect of its inputs before the server has applied them: see
// ClientConfig.Predictor. It runs the entities that the session owns in two small Sims. Confirmed is at
// the tick of the last state from the server. Predicted runs ahead of it, with the inputs that the server
// has not applied yet.
//
// For each state of the server, Confirmed runs up to its tick with the inputs that the server has
// applied by then. The Predictor then compares, bit for bit, the columns that the server sends as Exact
// and that the Sims have under the same name and of the same kind. If all values are equal, Predicted
// goes on. Otherwise the Predictor sets the server's values in Confirmed, and Predicted begins anew from
// there with the remaining inputs. A correction is exact. There is none as long as the systems, the
// client's inputs and these columns alone determine what happens.
//
// Other causes lead to corrections: contacts with bodies that only the server has, inputs of other
// sessions, random numbers (those of Tick.Rand depend on ids and ticks, which differ here), and inputs
// that came late, so that the server applied them in another tick. State that the Sims keep outside of
// the Exact columns is not corrected, so send all state that matters as Exact. Quantised columns are not
// compared.
//
// A Predictor is for the goroutine of its Client, whose inputs must have ascending ticks. After warm-up it
// allocates nothing beyond what Sim.Step does.
type Predictor struct {
	config     PredictorConfig
	prediction prediction
	source     uint32 // of the session
	running    bool   // update runs Confirmed
	start      uint64 // ticks of the server between which it runs
	end        uint64
	applied    uint64 // number of the last input that the server has applied
	layout     *layout
	columns    []exactColumn
	entities   []predicted // by server id
	stats      PredictorStats

	unkept [3]float64 // of the shifts of Confirmed: what its Origin does not show
}

// predicted is an entity of the server and its copy in the Sims.
type predicted struct {
	server, local ecs.ID
	owned         bool // in the state that is compared
}

// NewPredictor takes over the inputs of both Sims. The error wraps evertick.ErrRange. It panics without two different
// Sims, and without Spawn.
func NewPredictor(c PredictorConfig) (*Predictor, error) {
	if c.Confirmed == nil || c.Predicted == nil || c.Confirmed == c.Predicted || c.Spawn == nil {
		panic("replica: NewPredictor without two Sims and PredictorConfig.Spawn")
	}
	if err := fault.Between("replica: PredictorConfig.Ahead", c.Ahead, 0, mostAhead); err != nil {
		return nil, err
	}
	p := &Predictor{config: c}
	p.prediction.init(c.Confirmed, c.Predicted, c.Ahead)
	c.Confirmed.SetInputs(p.feed)
	return p, nil
}

// Stats returns the counts.
func (p *Predictor) Stats() PredictorStats {
	p.stats.Rolled = p.prediction.rolled
	return p.stats
}

// Entity returns the entity of the Sims that stands for an entity of the server, and false if it is not predicted.
func (p *Predictor) Entity(server ecs.ID) (ecs.ID, bool) {
	i, ok := p.find(server)
	if !ok || p.entities[i].local == 0 {
		return 0, false
	}
	return p.entities[i].local, true
}

func (p *Predictor) find(server ecs.ID) (int, bool) {
	return slices.BinarySearchFunc(p.entities, server, func(e predicted, id ecs.ID) int { return cmp.Compare(e.server, id) })
}

// Tick returns the number of ticks, as the server counts them, that Predicted has completed: 0 before
// the first state.
func (p *Predictor) Tick() uint64 {
	if p.end == 0 {
		return 0
	}
	return p.prediction.sim.Ticks() + p.prediction.offset
}

// welcome is for a new connection.
func (p *Predictor) welcome(w *welcome) {
	if !w.resumed || w.session != p.source {
		p.source, p.applied, p.prediction.pending, p.prediction.stale = w.session, 0, nil, true
	}
}

// input adds an input of the client.
func (p *Predictor) input(kind uint32, data []byte, tick, seq uint64) error {
	return p.prediction.add(evertick.Input{Tick: tick, Source: p.source, Seq: seq, Kind: kind, Data: data})
}

// Predict runs Predicted until it has completed tick ticks, as the server counts them, but at most
// PredictorConfig.Ahead ticks ahead of the last state of the server. It applies the inputs of Client.Input
// that the server has not applied: each in its tick, in the first tick if its own has passed, and for tick
// 0 in the tick that Predicted runs next. It drops an input when a state shows that this or a later one
// was applied, or 240 ticks after its tick. Predict does not go back. Before the first state it does
// nothing. Errors are those of Sim.CopyFrom and Sim.Step.
func (p *Predictor) Predict(tick uint64) error {
	if p.end == 0 {
		return nil
	}
	return p.prediction.runTo(max(tick, p.Tick()) - p.prediction.offset)
}

// update compares a state of the server with the prediction. applied is the number of the last input of
// the client that the server has applied by then. If the server has gone back, or forward by more
// than 240 ticks, Confirmed keeps its state and takes the tick and the values of the server.
//
// The error is evertick.ErrUnsupported if the schema has no Exact column that the Sims have, or that of Spawn,
// Corrected or Sim.Step.
func (p *Predictor) update(s *State, applied uint64) error {
	if err := p.bind(s.layout); err != nil {
		return err
	}
	p.applied = max(p.applied, applied)
	if err := p.run(s.Tick()); err != nil {
		return err
	}
	if err := p.shift(s.origin); err != nil {
		return err
	}
	p.prediction.drop(p.isApplied)
	p.prediction.confirm()
	p.stats.Updates++
	return p.compare(s)
}

func (p *Predictor) isApplied(in *pendingInput) bool { return in.Seq <= p.applied }

// run runs Confirmed up to a tick of the server.
func (p *Predictor) run(tick uint64) error {
	sim := p.config.Confirmed
	if p.end == 0 || tick < p.end || tick-p.end > lateTicks {
		p.prediction.offset, p.prediction.stale = tick-sim.Ticks(), true
	}
	p.start, p.end = sim.Ticks()+p.prediction.offset, tick
	p.running = true
	defer func() { p.running = false }()
	for sim.Ticks()+p.prediction.offset < tick {
		if err := step(sim); err != nil {
			return err
		}
	}
	return nil
}

// shift moves the origin of Confirmed to that of the server, unless the systems of Confirmed have done so.
func (p *Predictor) shift(to [3]float64) error {
	sim, by := p.config.Confirmed, to
	for k, v := range sim.Origin() {
		by[k] -= v + p.unkept[k]
	}
	if by == [3]float64{} {
		return nil
	}
	p.prediction.stale = true
	if err := shiftSim(sim, by); err != nil {
		return err
	}
	for k, v := range sim.Origin() {
		p.unkept[k] = to[k] - v
	}
	return nil
}

// feed returns the inputs that the server has applied in a tick. It has not said in which one of those
// since the last state: it is the tick of the input, unless that has passed.
func (p *Predictor) feed(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
	if !p.running {
		return dst, fault.Field(fault.ErrRange, "replica: PredictorConfig.Confirmed not stepped by its Predictor: tick", tick)
	}
	for i := range p.prediction.pending {
		in := &p.prediction.pending[i]
		if p.isApplied(in) && min(max(in.at, p.start), p.end-1) == tick+p.prediction.offset {
			dst = append(dst, in.Input)
		}
	}
	return dst, nil
}

// compare makes Confirmed have the entities of a state, with its values.
func (p *Predictor) compare(s *State) error {
	for i := range p.entities {
		p.entities[i].owned = false
	}
	for i, place := range s.Own() {
		if err := p.compareEntity(s, s.IDs()[place], int(place), i); err != nil {
			return err
		}
	}
	p.entities = slices.DeleteFunc(p.entities, func(e predicted) bool {
		if !e.owned && e.local != 0 {
			p.config.Confirmed.World.Despawn(e.local)
			p.prediction.stale = true
		}
		return !e.owned
	})
	return nil
}

// compareEntity compares the entity at a place, which is own in the list of those that the session owns.
func (p *Predictor) compareEntity(s *State, server ecs.ID, place, own int) error {
	sim := p.config.Confirmed
	i, known := p.find(server)
	if !known {
		p.entities = slices.Insert(p.entities, i, predicted{server: server})
	}
	e := &p.entities[i]
	e.owned = true
	if known && e.local == 0 {
		return nil
	}
	slot, alive := sim.World.Slot(e.local)
	switch {
	case alive && p.equal(s, slot, place, own):
		return nil
	case known:
		p.stats.Corrections++
	}
	p.prediction.stale = true
	if !alive {
		local, err := p.config.Spawn(sim, server)
		if e.local = local; err != nil || local == 0 {
			return err
		}
		if slot, alive = sim.World.Slot(local); !alive {
			return fault.Field(fault.ErrStale, "replica: PredictorConfig.Spawn: id", local)
		}
	}
	for i := range p.columns {
		c := &p.columns[i]
		c.set(slot, c.lanes(s), c.index(place, own))
	}
	if p.config.Corrected == nil {
		return nil
	}
	return p.config.Corrected(sim, e.local)
}

func (p *Predictor) equal(s *State, slot ecs.Slot, place, own int) bool {
	for i := range p.columns {
		if c := &p.columns[i]; !c.equal(slot, c.lanes(s), c.index(place, own)) {
			return false
		}
	}
	return true
}

// bind finds the columns of a schema.
func (p *Predictor) bind(l *layout) error {
	if l == p.layout {
		return nil
	}
	var list []exactColumn
	for _, g := range l.Groups {
		for _, f := range g.Fields {
			view, ok := p.config.Confirmed.World.ColumnNamed(f.Name)
			if f.Codec != KindExact || !ok || view.Kind() != f.Kind || view.Components() != int(f.Components) {
				continue
			}
			at, _ := l.find(f.Name)
			if set := setterOf(p.config.Confirmed.World, f); set != nil {
				list = append(list, exactColumn{found: at, view: view, set: set})
			}
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("replica: Predictor: the schema has no Exact column that the Sim has: %w", fault.ErrUnsupported)
	}
	p.layout, p.columns = l, list
	return nil
}

// exactColumn is a column that a server sends as Exact, and that a Sim has.
type exactColumn struct {
	found
	view      ecs.ColumnView
	set       setter
	got, want []byte // scratch of equal
	row       [1]ecs.Slot
}

// setter sets a row of a column from entry i of its lanes.
type setter func(row ecs.Slot, lanes [][]int32, i int)

// lanes returns the lanes of the column in a state.
func (c *exactColumn) lanes(s *State) [][]int32 {
	if c.owner {
		return s.owned[c.lane:][:c.laneCount()]
	}
	return s.lanes[c.lane:][:c.laneCount()]
}

// index returns the entry in these lanes of an entity.
func (c *exactColumn) index(place, own int) int {
	if c.owner {
		return own
	}
	return place
}

// equal compares a row with entry i of lanes by bits.
func (c *exactColumn) equal(row ecs.Slot, lanes [][]int32, i int) bool {
	c.row[0], c.want = row, c.want[:0]
	c.got = c.view.AppendBytesAt(c.got[:0], c.row[:])
	size := min(c.Kind.Size(), 4)
	for _, lane := range lanes {
		c.want = wire.AppendU32s(c.want, uint32(lane[i]))
		c.want = c.want[:len(c.want)-4+size]
	}
	return string(c.got) == string(c.want)
}

// setterOf returns the setter for a column of the kind of a field.
func setterOf(w *ecs.World, f Field) setter {
	switch f.Kind {
	case columns.Int8:
		return setterFor(w, f, narrow[int8])
	case columns.Int16:
		return setterFor(w, f, narrow[int16])
	case columns.Int32:
		return setterFor(w, f, narrow[int32])
	case columns.Int64:
		return setterFor(w, f, wide[int64])
	case columns.Uint8:
		return setterFor(w, f, narrow[uint8])
	case columns.Uint16:
		return setterFor(w, f, narrow[uint16])
	case columns.Uint32:
		return setterFor(w, f, narrow[uint32])
	case columns.Uint64:
		return setterFor(w, f, wide[uint64])
	case columns.Float32:
		return setterFor(w, f, func(low, _ int32) float32 { return math.Float32frombits(uint32(low)) })
	case columns.Float64:
		return setterFor(w, f, func(low, high int32) float64 { return math.Float64frombits(wide[uint64](low, high)) })
	}
	return nil
}

// narrow returns the number of up to 32 bits in a lane.
func narrow[T ecs.Number](low, _ int32) T { return T(low) }

// wide returns the number of 64 bits in two lanes.
func wide[T ecs.Number](low, high int32) T {
	return T(uint64(uint32(low)) | uint64(uint32(high))<<32)
}

// setterFor returns the setter for numbers of type T, or nil if the world has no such column.
func setterFor[T ecs.Number](w *ecs.World, f Field, number func(low, high int32) T) setter {
	row, touch := rowsOf[T](w, f.Name, int(f.Components))
	if row == nil {
		return nil
	}
	each := f.laneCount() / int(f.Components) // 1, or 2 for 64 bits
	return func(slot ecs.Slot, lanes [][]int32, i int) {
		for c, r := 0, row(slot); c < len(r); c++ {
			r[c] = number(lanes[each*c][i], lanes[each*c+each-1][i])
		}
		touch()
	}
}

// rowsOf returns a function for the rows of a column, and one that touches it.
func rowsOf[T ecs.Number](w *ecs.World, name string, components int) (row func(ecs.Slot) []T, touch func()) {
	switch components {
	case 1:
		if c, ok := ecs.FindColumn[T](w, name); ok {
			return func(s ecs.Slot) []T { return c.Values()[s : s+1] }, c.Touch
		}
	case 2:
		return arraysOf(w, name, func(a *[2]T) []T { return a[:] })
	case 3:
		return arraysOf(w, name, func(a *[3]T) []T { return a[:] })
	case 4:
		return arraysOf(w, name, func(a *[4]T) []T { return a[:] })
	case 5:
		return arraysOf(w, name, func(a *[5]T) []T { return a[:] })
	case 6:
		return arraysOf(w, name, func(a *[6]T) []T { return a[:] })
	case 7:
		return arraysOf(w, name, func(a *[7]T) []T { return a[:] })
	case 8:
		return arraysOf(w, name, func(a *[8]T) []T { return a[:] })
	}
	return nil, nil
}

func arraysOf[A any, T ecs.Number](w *ecs.World, name string, slice func(*A) []T) (func(ecs.Slot) []T, func()) {
	c, ok := ecs.FindColumn[A](w, name)
	if !ok {
		return nil, nil
	}
	return func(s ecs.Slot) []T { return slice(&c.Values()[s]) }, c.Touch
}
