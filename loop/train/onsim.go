package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop/replay"
)

// Game is one world on a Sim.
//
// Its systems learn by Orders of the inputs of a tick when an episode begins, and what the
// player does. In the tick that begins one the world is empty: a system makes it, with random
// numbers from Order.Seed. All that decides what the game will do is in the Sim: in its
// columns, its bodies, and in states of AddState.
type Game interface {
	// Sim returns the Sim, always the same one.
	Sim() *evertick.Sim
	// Outcome returns what the last tick has earned, and whether it has ended the episode.
	Outcome() (reward float32, terminated bool)
	// Observe writes what the player sees.
	Observe(row Row)
}

// SimDefinition describes worlds that are games.
type SimDefinition struct {
	// Name, Obs, Action and MaxSteps are those of Definition.
	Name        string
	Obs, Action Space
	MaxSteps    int
	// Scenario names the scenario in the logs of Export. Empty: Name.
	Scenario string
	// New returns the game with its systems, and nothing in its world, at tick 0.
	// The Config holds the seed, and a clock that stands still, for Sims that nobody
	// measures; the game adds capacity and rules.
	New func(evertick.Config) (Game, error)
}

// Kinds of inputs that games are given.
const (
	// KindBegin begins an episode: Data is the seed, a little-endian uint64.
	KindBegin uint32 = 1 + iota
	// KindAction is what the player does: Data is little-endian, a float32 for each number of
	// the space, or an int32.
	KindAction
)

// Order is what the inputs of a tick say.
type Order struct {
	// Begin says that an episode begins in this tick, with this seed.
	Begin bool
	Seed  uint64
	// Data is what the player does; empty: nothing.
	Data []byte
}

// Orders reads the inputs of a tick. A run without a Batch, such as a show, begins in tick 0
// with the seed of the Sim. An input of another kind or length is ErrRange.
func Orders(t *evertick.Tick, action Space) (o Order, err error) {
	o.Begin, o.Seed = t.N == 0, t.Sim.Seed()
	ins := t.Inputs()
	for i := range ins {
		in := &ins[i]
		switch {
		case in.Kind == KindBegin && len(in.Data) == 8 && t.N == 0:
			o.Seed = wire.U64At(in.Data, 0)
		case in.Kind == KindAction && len(in.Data) == 4*action.Size():
			o.Data = in.Data
		default:
			return o, fmt.Errorf("train: input %d of %d bytes, tick %d: %w", in.Seq, len(in.Data), t.N, fault.Field(fault.ErrRange, "Kind", in.Kind))
		}
	}
	return o, nil
}

// Float returns number k of what the player does, 0 if he does nothing. One that is not
// finite, as a forged log may have it, is 0 as well.
func (o *Order) Float(k int) float32 {
	if 4*k+4 > len(o.Data) {
		return 0
	}
	if v := wire.F32At(o.Data, k); fault.Finite(v) {
		return v
	}
	return 0
}

// Choice returns what the player chooses, 0 if nothing.
func (o *Order) Choice() int32 {
	if len(o.Data) < 4 {
		return 0
	}
	return int32(wire.U32At(o.Data, 0))
}

// Definition returns the definition, for New.
func (d SimDefinition) Definition() Definition {
	return Definition{
		Name: d.Name, Obs: d.Obs, Action: d.Action, MaxSteps: d.MaxSteps, Chunk: simChunk,
		New: func(n int, recording bool) (Worlds, error) { return d.games(n, recording) },
	}
}

// simChunk worlds on a Sim take tens of microseconds.
const simChunk = 8

// ReplayScenario returns the scenario by which package replay runs what Export has written,
// and by which the world is shown: a run without inputs begins with the seed of the Sim. Of
// cfg count what changes no result: Level, Workers, Clock, BudgetNs and the like.
func (d SimDefinition) ReplayScenario(cfg evertick.Config) replay.Scenario {
	return replay.Scenario{Name: d.scenario(), New: func(seed uint64) (*evertick.Sim, error) {
		cfg := cfg
		cfg.Seed = seed
		g, err := d.New(cfg)
		if err != nil {
			return nil, err
		}
		return g.Sim(), nil
	}}
}

func (d SimDefinition) scenario() string {
	if d.Scenario != "" {
		return d.Scenario
	}
	return d.Name
}

// still is the clock of Sims that nobody measures.
type still struct{}

func (still) Now() int64 { return 0 }

func (still) Sleep(context.Context, int64) error {
	return errors.New("train: the Sim of a batch does not run by itself")
}

// games are Worlds of which each is a Sim.
type games struct {
	def       SimDefinition
	recording bool
	one       []game
}

// game is a world and what it takes to begin it again.
type game struct {
	Game
	sim   *evertick.Sim
	blank []byte // the Sim at tick 0, shared by all
	data  []byte // of an input
	now   episode
	last  episode // the one before
}

// episode is what Export needs to know of one.
type episode struct {
	seed    uint64
	tape    []byte // actions, one behind the other
	hash    uint64 // of the Sim behind the last
	partial bool   // the tape does not begin with the episode
	begun   bool
}

func (d SimDefinition) games(n int, recording bool) (*games, error) {
	gs := &games{def: d, recording: recording, one: make([]game, n)}
	var blank []byte
	for i := range gs.one {
		made, err := d.New(evertick.Config{Clock: still{}, Untimed: true})
		if err != nil {
			return nil, err
		}
		sim := made.Sim()
		if sim.Ticks() != 0 || sim.World.Len() != 0 {
			return nil, fault.Field(fault.ErrRange, "ticks of a new game, or entities", max(sim.Ticks(), uint64(sim.World.Len())))
		}
		if blank == nil {
			if blank, err = sim.Snapshot(nil); err != nil {
				return nil, err
			}
		}
		gs.one[i] = game{Game: made, sim: sim, blank: blank, data: make([]byte, 0, max(8, 4*d.Action.Size()))}
		if recording && d.MaxSteps > 0 {
			room := 4 * d.Action.Size() * min(d.MaxSteps, 1<<12)
			gs.one[i].now.tape, gs.one[i].last.tape = make([]byte, 0, room), make([]byte, 0, room)
		}
	}
	return gs, nil
}

func (gs *games) Begin(i int, seed uint64) error {
	g := &gs.one[i]
	if gs.recording {
		if len(g.now.tape) > 0 || g.now.partial { // one without a step is not worth keeping
			g.now, g.last = g.last, g.now
		}
		g.now = episode{seed: seed, tape: g.now.tape[:0], begun: true}
	}
	if err := g.begin(seed); err != nil {
		return err
	}
	g.now.hash = g.sim.Hash()
	return nil
}

// begin brings the Sim to tick 0 and runs the tick that makes the world.
func (g *game) begin(seed uint64) error {
	if err := g.sim.Restore(g.blank); err != nil {
		return err
	}
	g.data = wire.AppendU64s(g.data[:0], seed)
	return g.tick(g.sim, KindBegin, g.data)
}

// tick runs one tick with one input.
func (g *game) tick(sim *evertick.Sim, kind uint32, data []byte) error {
	n := sim.Ticks()
	if err := sim.Push(evertick.Input{Tick: n, Seq: n, Kind: kind, Data: data}); err != nil {
		return err
	}
	return sim.Step()
}

func (gs *games) Step(lo, hi int, in *Actions, out *Outcomes) error {
	for i := lo; i < hi; i++ {
		if out.Skip[i] {
			continue
		}
		g := &gs.one[i]
		g.data = appendAction(g.data[:0], in, i, gs.def.Action.Kind)
		if err := g.tick(g.sim, KindAction, g.data); err != nil {
			return fmt.Errorf("world %d: %w", i, err)
		}
		if gs.recording {
			g.now.tape = append(g.now.tape, g.data...)
			g.now.hash = g.sim.Hash()
		}
		out.Reward[i], out.Terminated[i] = g.Outcome()
	}
	return nil
}

func appendAction(dst []byte, in *Actions, i int, kind Kind) []byte {
	if kind == Int32 {
		return wire.AppendU32s(dst, uint32(in.Choice(i)))
	}
	return wire.AppendF32s(dst, in.Row(i)...)
}

func (gs *games) Observe(i int, row Row) { gs.one[i].Observe(row) }

func (gs *games) Hash(i int) uint64 { return gs.one[i].sim.Hash() }

// Mask asks the game, if it has an opinion.
func (gs *games) Mask(i int, of []bool) {
	if m, ok := gs.one[i].Game.(interface{ Mask([]bool) }); ok {
		m.Mask(of)
		return
	}
	for c := range of {
		of[c] = true
	}
}

// The state of a game is, little-endian: a byte, 1 if there is a tape; then uint64 seed of the
// episode, uint32 length of the tape, and the tape; and the snapshot of the Sim.

func (gs *games) AppendState(i int, dst []byte) ([]byte, error) {
	g := &gs.one[i]
	taped := gs.recording && !g.now.partial
	if dst = wire.AppendBool(dst, taped); taped {
		dst = wire.AppendU64s(dst, g.now.seed)
		dst = wire.AppendU32s(dst, uint32(len(g.now.tape)))
		dst = append(dst, g.now.tape...)
	}
	return g.sim.Snapshot(dst)
}

func (gs *games) RestoreState(i int, src []byte) error {
	g := &gs.one[i]
	seed, tape, snapshot, err := gs.split(src)
	if err != nil {
		return err
	}
	if err := g.sim.Restore(snapshot); err != nil {
		return err
	}
	if gs.recording {
		g.now = episode{seed: seed, tape: append(g.now.tape[:0], tape...), hash: g.sim.Hash(), partial: src[0] == 0, begun: true}
		g.last = episode{tape: g.last.tape[:0]}
	}
	return nil
}

// split parts what AppendState has written.
func (gs *games) split(src []byte) (seed uint64, tape, snapshot []byte, err error) {
	r := wire.NewReader(src)
	if r.Bool() {
		seed, tape = r.U64(), r.Bytes(int(r.U32()))
	}
	if r.Err() != nil || len(tape)%(4*gs.def.Action.Size()) != 0 {
		return 0, nil, nil, fault.Field(fault.ErrCorrupt, "length of the state", len(src))
	}
	return seed, tape, r.Rest(), nil
}

// Export runs the running episode, or if that has only begun the one before, in a Sim of its
// own.
func (gs *games) Export(i int, dir string) (Exported, error) {
	g := &gs.one[i]
	e := &g.now
	if len(e.tape) == 0 && !e.partial && g.last.begun {
		e = &g.last
	}
	if e.partial {
		return Exported{}, fault.Field(fault.ErrUnsupported, "what came before Load is not recorded of the episode, whose seed is", e.seed)
	}
	sc := gs.def.ReplayScenario(evertick.Config{Clock: still{}, Untimed: true})
	sim, err := sc.New(0)
	if err != nil {
		return Exported{}, err
	}
	rec, err := replay.Record(dir, sc.Name, sim, replay.Options{})
	if err != nil {
		return Exported{}, err
	}
	err = errors.Join(g.again(sim, e, 4*gs.def.Action.Size()), rec.Close())
	if err == nil && sim.Hash() != e.hash {
		err = fmt.Errorf("%w: hash %016x, in the batch %016x", replay.ErrDiverged, sim.Hash(), e.hash)
	}
	return Exported{Scenario: sc.Name, Seed: e.seed, Steps: len(e.tape) / (4 * gs.def.Action.Size()), Ticks: sim.Ticks(), Hash: sim.Hash()}, err
}

// again runs an episode.
func (g *game) again(sim *evertick.Sim, e *episode, size int) error {
	err := g.tick(sim, KindBegin, wire.AppendU64s(nil, e.seed))
	for tape := e.tape; err == nil && len(tape) > 0; tape = tape[size:] {
		err = g.tick(sim, KindAction, tape[:size])
	}
	return err
}
