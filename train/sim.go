package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/replay"
)

// Game is one world on a Sim.
//
// Its systems read with Orders from the inputs of a tick whether an episode begins, and what the
// player does. In the tick that begins an episode the world is empty: a system fills it, with random
// numbers from Order.Seed. The whole state of the game is in the Sim: in its
// columns, its bodies, and in states of AddState.
type Game interface {
	// Sim returns the Sim, always the same one.
	Sim() *evertick.Sim
	// Outcome returns the reward of the last tick, and whether it ended the episode.
	Outcome() (reward float32, terminated bool)
	// Observe writes what the player sees.
	Observe(row Row)
}

// Team is a Game of several agents, in the order of SimDefinition.Agents. A Batch calls its methods in the place of
// Outcome and Observe.
type Team interface {
	Game
	// OutcomeOf returns the reward of an agent in the last tick, and whether it ended for this agent.
	OutcomeOf(agent int) (reward float32, terminated bool)
	// ObserveOf writes what an agent sees.
	ObserveOf(agent int, row Row)
}

// GameMasker is implemented by a Game that knows which choices make sense, as Masker. New refuses a game that has a
// method with such a name and not this one: its choices would all make sense, silently.
type GameMasker interface {
	Mask(of []bool)
}

// TeamMasker is implemented by a Team in the place of GameMasker.
type TeamMasker interface {
	MaskOf(agent int, of []bool)
}

// SimDefinition describes worlds that are games.
type SimDefinition struct {
	// Name, Obs, Action and MaxSteps are those of Definition.
	Name        string
	Obs, Action Space
	MaxSteps    int
	// Agents are those of Definition. New then returns a Team, also for one agent with a name.
	Agents []string
	// Scenario names the scenario in the logs of Export. Empty: Name.
	Scenario string
	// View is that of Definition, in the plane of the bodies.
	View physics.DrawnBox
	// Rate is that of Definition: of the ticks of the Sim.
	Rate float64
	// Draw adds a picture of a Sim to a drawing, and does not change the Sim. Nil: bodies, joints, and
	// entities without a body, as Sim.AppendDraw draws them.
	Draw func(sim *evertick.Sim, dst *physics.Drawing) error
	// New returns the game with its systems, and nothing in its world, at tick 0.
	// The Config has the seed, and in a Batch a clock that stands still and HashOnDemand, as its Sims are not
	// measured and their hashes rarely read; the game adds capacity and rules.
	New func(evertick.Config) (Game, error)
}

// Kinds of inputs of games.
const (
	// KindBegin begins an episode: Data is the seed, a little-endian uint64.
	KindBegin uint32 = 1 + iota
	// KindAction is what the player does: Data is little-endian, a float32 or an int32 for each number of
	// the space; of several agents one after the other, zeros for an agent that has ended.
	KindAction
)

// Order is the content of the inputs of a tick.
type Order struct {
	// Begin says that an episode begins in this tick, with this seed.
	Begin bool
	Seed  uint64
	// Data is what the player does, or all agents; empty: nothing.
	Data []byte

	agents int
}

// Orders reads the inputs of a tick. A run without a Batch, say for a demonstration, begins in tick 0
// with the seed of the Sim. An input of another kind or length is ErrRange.
func Orders(t *evertick.Tick, action Space) (o Order, err error) { return TeamOrders(t, action, 1) }

// TeamOrders is Orders of so many agents: Of returns the part of each.
func TeamOrders(t *evertick.Tick, action Space, agents int) (o Order, err error) {
	o.Begin, o.Seed, o.agents = t.N == 0, t.Sim.Seed(), agents
	ins := t.Inputs()
	for i := range ins {
		in := &ins[i]
		switch {
		case in.Kind == KindBegin && len(in.Data) == 8 && t.N == 0:
			o.Seed = wire.U64At(in.Data, 0)
		case in.Kind == KindAction && len(in.Data) == 4*action.Size()*agents:
			o.Data = in.Data
		default:
			return o, fmt.Errorf("train: input %d of %d bytes, tick %d: %w", in.Seq, len(in.Data), t.N, fault.Field(fault.ErrRange, "Kind", in.Kind))
		}
	}
	return o, nil
}

// Of returns the part of an agent in the order of a team.
func (o *Order) Of(agent int) Order {
	size := len(o.Data) / max(1, o.agents)
	return Order{Begin: o.Begin, Seed: o.Seed, Data: o.Data[agent*size:][:size:size], agents: 1}
}

// Float returns number k of the action of the player, 0 if there is none. A number that is not
// finite, which a forged log may contain, is 0 as well.
func (o *Order) Float(k int) float32 {
	if 4*k+4 > len(o.Data) {
		return 0
	}
	if v := wire.F32At(o.Data, k); fault.Finite(v) {
		return v
	}
	return 0
}

// Choice returns the choice of the player, 0 if there is none: the first of several.
func (o *Order) Choice() int32 { return o.ChoiceAt(0) }

// ChoiceAt returns number k of the choices of the player, 0 if there is none.
func (o *Order) ChoiceAt(k int) int32 {
	if 4*k+4 > len(o.Data) {
		return 0
	}
	return int32(wire.U32At(o.Data, k))
}

// Definition returns the definition, for New.
func (d SimDefinition) Definition() Definition {
	return Definition{
		Name: d.Name, Obs: d.Obs, Action: d.Action, Agents: d.Agents, MaxSteps: d.MaxSteps, Chunk: simChunk, View: d.View, Rate: d.Rate,
		New: func(n int, record bool) (Worlds, error) { return d.simWorlds(n, record) },
	}
}

// simChunk worlds on a Sim take tens of microseconds.
const simChunk = 8

// ReplayScenario returns the scenario by which package replay runs the logs of Export. It also serves to
// demonstrate the world: a run without inputs begins with the seed of the Sim. Set in cfg only what changes no
// result, such as Level, Workers, Clock and BudgetNs.
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

func (d SimDefinition) scenario() string { return cmp.Or(d.Scenario, d.Name) }

// frozenClock is the clock of Sims that are not measured.
type frozenClock struct{}

func (frozenClock) Now() int64 { return 0 }

func (frozenClock) Sleep(context.Context, int64) error {
	return errors.New("train: the Sim of a batch does not run by itself")
}

// simWorlds are Worlds that are a Sim each.
type simWorlds struct {
	def    SimDefinition
	agents int
	bytes  int // of the actions of a step
	record bool
	list   []simWorld
}

// simWorld is a world and the recordings of its last two episodes.
type simWorld struct {
	Game
	team     Team // nil: one player
	sim      *evertick.Sim
	blank    []byte // the Sim at tick 0, shared by all
	data     []byte // of an input
	current  recording
	previous recording
}

// recording is an episode for Export.
type recording struct {
	seed    uint64
	actions []byte // as in the inputs
	hash    uint64 // of the Sim after the last
	partial bool   // the actions do not begin with the episode
	begun   bool
}

func (d SimDefinition) simWorlds(n int, record bool) (*simWorlds, error) {
	w := &simWorlds{def: d, agents: max(1, len(d.Agents)), record: record, list: make([]simWorld, n)}
	w.bytes = 4 * d.Action.Size() * w.agents
	var blank []byte
	for i := range w.list {
		game, err := d.New(evertick.Config{Clock: frozenClock{}, Untimed: true, HashOnDemand: true})
		if err != nil {
			return nil, err
		}
		team, err := d.teamOf(game)
		if err != nil {
			return nil, err
		}
		sim := game.Sim()
		if sim.Ticks() != 0 || sim.World.Len() != 0 {
			return nil, fault.Field(fault.ErrRange, "ticks or entities of a new game", max(sim.Ticks(), uint64(sim.World.Len())))
		}
		if blank == nil {
			if blank, err = sim.Snapshot(nil); err != nil {
				return nil, err
			}
		}
		w.list[i] = simWorld{Game: game, team: team, sim: sim, blank: blank, data: make([]byte, 0, max(8, w.bytes))}
		if record && d.MaxSteps > 0 {
			room := w.bytes * min(d.MaxSteps, 1<<12)
			w.list[i].current.actions, w.list[i].previous.actions = make([]byte, 0, room), make([]byte, 0, room)
		}
	}
	return w, nil
}

// teamOf returns the game as a Team if its agents have names, otherwise nil, and checks its methods for masks.
func (d *SimDefinition) teamOf(game Game) (Team, error) {
	team, is := game.(Team)
	if len(d.Agents) > 0 && !is {
		return nil, fault.Field(fault.ErrUnsupported, "a game that is no Team, for agents", len(d.Agents))
	}
	if len(d.Agents) > 0 {
		_, masks := game.(TeamMasker)
		return team, checkMaskMethod(game, masks, d.Action.Kind, "MaskOf(agent int, of []bool)")
	}
	_, masks := game.(GameMasker)
	return nil, checkMaskMethod(game, masks, d.Action.Kind, "Mask(of []bool)")
}

func (w *simWorlds) Begin(i int, seed uint64) error {
	g := &w.list[i]
	if w.record {
		if len(g.current.actions) > 0 || g.current.partial { // one without a step is not kept
			g.current, g.previous = g.previous, g.current
		}
		g.current = recording{seed: seed, actions: g.current.actions[:0], begun: true}
	}
	if err := g.begin(seed); err != nil {
		return err
	}
	if w.record {
		g.current.hash = g.sim.Hash()
	}
	return nil
}

// begin brings the Sim to tick 0 and runs the tick that makes the world.
func (g *simWorld) begin(seed uint64) error {
	if err := g.sim.Restore(g.blank); err != nil {
		return err
	}
	g.data = wire.AppendU64s(g.data[:0], seed)
	return g.tick(g.sim, KindBegin, g.data)
}

// tick runs one tick with one input.
func (g *simWorld) tick(sim *evertick.Sim, kind uint32, data []byte) error {
	n := sim.Ticks()
	if err := sim.Push(evertick.Input{Tick: n, Seq: n, Kind: kind, Data: data}); err != nil {
		return err
	}
	return sim.Step()
}

func (w *simWorlds) Step(lo, hi int, in *Actions, out *Outcomes) error {
	for i := lo; i < hi; i++ {
		if !w.stepped(i, out) {
			continue
		}
		g := &w.list[i]
		g.data = w.appendActions(g.data[:0], in, out, i)
		if err := g.tick(g.sim, KindAction, g.data); err != nil {
			return fmt.Errorf("world %d: %w", i, err)
		}
		if w.record {
			g.current.actions = append(g.current.actions, g.data...)
			g.current.hash = g.sim.Hash()
		}
		g.outcomes(out, i, w.agents)
	}
	return nil
}

// stepped reports whether an agent of world i takes part in a step.
func (w *simWorlds) stepped(i int, out *Outcomes) bool {
	return slices.Contains(out.Skip[i*w.agents:][:w.agents], false)
}

// appendActions appends the actions of world i as an input has them.
func (w *simWorlds) appendActions(dst []byte, in *Actions, out *Outcomes, i int) []byte {
	for row := i * w.agents; row < (i+1)*w.agents; row++ {
		switch {
		case out.Skip[row]:
			dst = append(dst, make([]byte, w.bytes/w.agents)...)
		case w.def.Action.Kind == Int32:
			for _, c := range in.Choices(row) {
				dst = wire.AppendU32s(dst, uint32(c))
			}
		default:
			dst = wire.AppendF32s(dst, in.Row(row)...)
		}
	}
	return dst
}

// outcomes writes the results of the last tick of world i.
func (g *simWorld) outcomes(out *Outcomes, i, agents int) {
	if g.team == nil {
		out.Reward[i], out.Terminated[i] = g.Outcome()
		return
	}
	for a := range agents {
		if row := i*agents + a; !out.Skip[row] {
			out.Reward[row], out.Terminated[row] = g.team.OutcomeOf(a)
		}
	}
}

func (w *simWorlds) Observe(row int, to Row) {
	g := &w.list[row/w.agents]
	if g.team == nil {
		g.Observe(to)
		return
	}
	g.team.ObserveOf(row%w.agents, to)
}

func (w *simWorlds) Hash(i int) uint64 { return w.list[i].sim.Hash() }

// masked reports whether a game has masks.
func (w *simWorlds) masked() bool {
	return slices.ContainsFunc(w.list, func(g simWorld) bool {
		_, one := g.Game.(GameMasker)
		_, each := g.Game.(TeamMasker)
		return one && g.team == nil || each && g.team != nil
	})
}

// Mask asks the game, if it has masks.
func (w *simWorlds) Mask(row int, of []bool) {
	g := &w.list[row/w.agents]
	if m, ok := g.Game.(TeamMasker); ok && g.team != nil {
		m.MaskOf(row%w.agents, of)
		return
	}
	if m, ok := g.Game.(GameMasker); ok && g.team == nil {
		m.Mask(of)
		return
	}
	for c := range of {
		of[c] = true
	}
}

// The state of a game, little-endian: a byte, 1 if it has the actions of the episode; then uint64 seed of the
// episode, uint32 length of the actions, and the actions; and the snapshot of the Sim.

func (w *simWorlds) AppendState(i int, dst []byte) ([]byte, error) {
	g := &w.list[i]
	recorded := w.record && !g.current.partial
	if dst = wire.AppendBool(dst, recorded); recorded {
		dst = wire.AppendU64s(dst, g.current.seed)
		dst = wire.AppendU32s(dst, uint32(len(g.current.actions)))
		dst = append(dst, g.current.actions...)
	}
	return g.sim.Snapshot(dst)
}

func (w *simWorlds) RestoreState(i int, src []byte) error {
	g := &w.list[i]
	seed, actions, snapshot, err := w.split(src)
	if err != nil {
		return err
	}
	if err := g.sim.Restore(snapshot); err != nil {
		return err
	}
	if w.record {
		g.current = recording{seed: seed, actions: append(g.current.actions[:0], actions...), hash: g.sim.Hash(), partial: src[0] == 0, begun: true}
		g.previous = recording{actions: g.previous.actions[:0]}
	}
	return nil
}

// split separates the parts that AppendState has written.
func (w *simWorlds) split(src []byte) (seed uint64, actions, snapshot []byte, err error) {
	r := wire.NewReader(src)
	if r.Bool() {
		seed, actions = r.U64(), r.Bytes(int(r.U32()))
	}
	if r.Err() != nil || len(actions)%w.bytes != 0 {
		return 0, nil, nil, fault.Field(fault.ErrCorrupt, "length of the state", len(src))
	}
	return seed, actions, r.Rest(), nil
}

// Export repeats the current episode, or the previous one if the current one has no step, in a Sim of its own.
func (w *simWorlds) Export(i int, dir string) (Exported, error) {
	g := &w.list[i]
	e := &g.current
	if len(e.actions) == 0 && !e.partial && g.previous.begun {
		e = &g.previous
	}
	if e.partial {
		return Exported{}, fault.Field(fault.ErrUnsupported, "the episode was not recorded before Load; its seed", e.seed)
	}
	sc := w.def.ReplayScenario(evertick.Config{Clock: frozenClock{}, Untimed: true})
	sim, err := sc.New(0)
	if err != nil {
		return Exported{}, err
	}
	rec, err := replay.Record(dir, sc.Name, sim, replay.Options{})
	if err != nil {
		return Exported{}, err
	}
	err = errors.Join(g.repeat(sim, e, w.bytes), rec.Close())
	if err == nil && sim.Hash() != e.hash {
		err = fmt.Errorf("%w: hash %016x, in the batch %016x", replay.ErrDiverged, sim.Hash(), e.hash)
	}
	return Exported{Scenario: sc.Name, Seed: e.seed, Steps: len(e.actions) / w.bytes, Ticks: sim.Ticks(), Hash: sim.Hash()}, err
}

// repeat runs an episode again.
func (g *simWorld) repeat(sim *evertick.Sim, e *recording, size int) error {
	err := g.tick(sim, KindBegin, wire.AppendU64s(nil, e.seed))
	for actions := e.actions; err == nil && len(actions) > 0; actions = actions[size:] {
		err = g.tick(sim, KindAction, actions[:size])
	}
	return err
}
