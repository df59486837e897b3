package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/team"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// Autoreset says when the next episode of a world begins after one has ended. The
// modes are those of Gymnasium's vector environments.
type Autoreset uint8

const (
	// NextStep: the step that ends an episode returns its last observation. The next step begins the
	// next episode and does nothing else: the action is ignored, the reward is 0, neither
	// Terminated nor Truncated is set, and the observation is the first of the new episode.
	NextStep Autoreset = iota
	// SameStep: the step that ends an episode also begins the next one, and returns its first
	// observation; the last observation of the old one is in FinalObs, its mask in FinalMask, and Final is true.
	SameStep
	// Disabled: the caller begins the next episode, by Reset with Options.Only. Stepping a world whose episode
	// has ended is an error.
	Disabled
	autoresets
)

// String returns the name of the mode.
func (a Autoreset) String() string {
	return enum.Name([]string{"NextStep", "SameStep", "Disabled"}, a, "Autoreset")
}

const (
	// MaxWorlds is the largest Config.Worlds.
	MaxWorlds = 1 << 20
	maxSteps  = 1 << 30
	// NoLimit as Config.MaxSteps never truncates episodes.
	NoLimit = -1
	// defaultChunk is the default of Definition.Chunk.
	defaultChunk = 64
	// defaultRate is the default of Definition.Rate.
	defaultRate = 60

	// checkedWorlds are worlds whose actions a worker checks at a time: about a microsecond.
	checkedWorlds = 1024
	maxTrues      = 1 << 16
)

// Config of a Batch. The zero value works: it is one world.
type Config struct {
	// Worlds is the number of worlds, up to MaxWorlds. 0: 1.
	Worlds int
	// First is the number of the first world in Seed: world i of this batch is world
	// First + i of a larger one.
	First uint64
	// Seed is the seed of the batch, until Reset sets another.
	Seed uint64
	// Autoreset says what happens after an episode.
	Autoreset Autoreset
	// MaxSteps truncates episodes instead of Definition.MaxSteps. 0: Definition.MaxSteps. NoLimit: never.
	MaxSteps int
	// Workers that step chunks of worlds, 1 to 1024. 0: 1. Results do not depend on it.
	Workers int
	// Record keeps the actions of the running episode of each world and of the one before,
	// for Export.
	Record bool
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	f := fault.List{Package: "train"}
	f.Range("Config.Worlds", c.Worlds, 0, MaxWorlds)
	if c.Autoreset >= autoresets {
		f.Add(fault.ErrRange, "Config.Autoreset", c.Autoreset)
	}
	f.Range("Config.MaxSteps", c.MaxSteps, NoLimit, maxSteps)
	f.Range("Config.Workers", c.Workers, 0, native.MaxWorkers)
	return f.Err()
}

// Stage of the episode of a world.
const (
	fresh uint8 = iota // no episode has begun
	running
	ended // and the next has not begun
)

// ErrWorld is wrapped by errors of a world or of a worker. After such an error only a Reset of all worlds
// continues the batch.
var ErrWorld = errors.New("a world has failed")

var errInterrupted = fmt.Errorf("train: a panic has interrupted a step: %w", ErrWorld)

// episode is what a world begins with.
type episode struct {
	seed    uint64 // from the batch, or from Options.Seeds
	number  uint64 // in Seed
	episode uint64 // number of the running one
}

// Batch is many worlds of one definition that are stepped together. It is not safe for
// concurrent use.
type Batch struct {
	def      Definition
	cfg      Config
	shape    shape
	worlds   Worlds
	masker   Masker        // nil: all choices make sense
	columns  RangeObserver // nil: worlds are observed one by one
	team     team.Team
	episodes []episode // of each world, as the next two
	steps    []int64   // in the episode
	stages   []uint8
	skip     []bool // by row
	agents   int    // rows of a world
	live     []bool // by row: the agent has not ended; nil with one agent
	limit    int64  // steps of an episode
	trues    []bool // masks of a chunk of worlds without a Masker
	failed   error

	// The running call.
	in      Actions
	out     Outcomes
	buf     *Buffers
	errs    []error                                               // by chunk
	calls   struct{ checkAndStep, reset func() }                  // bound once
	ranges  struct{ check, step, reset func(worker, lo, hi int) } // bound once
	checked bool                                                  // the actions of this step are good
	only    []bool                                                // of Reset
	saved   []byte                                                // of Fork
	async   asyncStep

	drawing physics.Drawing // of Render
}

// New returns a batch whose worlds have not begun: Reset begins them. Errors are those of
// both Validate, and of Definition.New.
func New(def Definition, cfg Config) (*Batch, error) {
	if err := errors.Join(def.Validate(), cfg.Validate()); err != nil {
		return nil, err
	}
	cfg.Worlds, cfg.MaxSteps = cmp.Or(cfg.Worlds, 1), cmp.Or(cfg.MaxSteps, def.MaxSteps)
	def.Chunk = min(cmp.Or(def.Chunk, defaultChunk), cfg.Worlds)
	def.Rate = cmp.Or(def.Rate, defaultRate)
	worlds, err := def.New(cfg.Worlds, cfg.Record)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", def.Name, err)
	}
	if _, can := worlds.(Exporter); cfg.Record && !can {
		return nil, fault.Field(fault.ErrUnsupported, "train: Config.Record of "+def.Name, true)
	}
	masker, masks := worlds.(Masker)
	if err := checkMaskMethod(worlds, masks, def.Action.Kind, "Mask(i int, of []bool)"); err != nil {
		return nil, fmt.Errorf("train: %s: %w", def.Name, err)
	}
	if games, are := worlds.(*simWorlds); are && !games.masked() {
		masker = nil
	}
	agents := max(1, len(def.Agents))
	limit := int64(math.MaxInt64)
	if cfg.MaxSteps > 0 {
		limit = int64(cfg.MaxSteps)
	}
	b := &Batch{
		def: def, cfg: cfg, worlds: worlds, limit: limit, agents: agents, masker: masker,
		episodes: make([]episode, cfg.Worlds), steps: make([]int64, cfg.Worlds), stages: make([]uint8, cfg.Worlds), skip: make([]bool, cfg.Worlds*agents),
		errs: make([]error, (cfg.Worlds+def.Chunk-1)/def.Chunk),
		shape: shape{
			rows: cfg.Worlds * agents, obs: def.Obs.Size(), obsKind: def.Obs.Kind, action: def.Action.Size(),
			actionKind: def.Action.Kind, choices: def.Action.choices(), mask: def.Action.MaskSize(), final: cfg.Autoreset == SameStep,
		},
	}
	if agents > 1 {
		b.live = make([]bool, cfg.Worlds*agents)
	}
	b.columns, _ = worlds.(RangeObserver)
	if most := def.Chunk * b.shape.mask; b.masker == nil && most <= maxTrues {
		b.trues = slices.Repeat([]bool{true}, most)
	}
	b.calls.checkAndStep, b.calls.reset = b.checkAndStep, b.resetAll
	b.ranges.check, b.ranges.step, b.ranges.reset = b.checkRange, b.stepRange, b.resetRange
	for i := range b.episodes {
		b.episodes[i] = episode{seed: cfg.Seed, number: cfg.First + uint64(i)}
	}
	return b, nil
}

// Definition returns the definition, with its defaults filled in.
func (b *Batch) Definition() Definition { return b.def }

// Config returns the configuration, with its defaults filled in.
func (b *Batch) Config() Config { return b.cfg }

// Len returns the number of worlds.
func (b *Batch) Len() int { return len(b.episodes) }

// Agents returns the number of agents of a world: of the rows that each world has in Buffers.
func (b *Batch) Agents() int { return b.agents }

// Masked reports whether the worlds have masks. Otherwise the space has no choices, or all masks are always true.
func (b *Batch) Masked() bool { return b.masker != nil && b.shape.mask > 0 }

// Options of Reset. The zero value begins the next episode of every world.
type Options struct {
	// Only, if not nil, has an entry for each world: only worlds with true begin.
	Only []bool
	// Reseed makes Seed the seed of the batch: the episodes begin with number 0 again.
	Reseed bool
	Seed   uint64
	// Seeds, if not nil, has a seed for each world instead. The number of a world in Seed stays as in the
	// batch.
	Seeds []uint64
}

// Reset begins an episode of every world, or of those in Options.Only, and writes the observations of
// all worlds into buf. The first episode of a world is number 0 in Seed. Rows of
// worlds that have not begun yet are left as they are. A wrong length is ErrRange, and an altered
// floating-point environment ErrFloatEnv, with nothing changed; the error of a world is ErrWorld.
func (b *Batch) Reset(o Options, buf *Buffers) error {
	if err := b.idle("Reset"); err != nil {
		return err
	}
	if err := buf.check(&b.shape, "Reset", false); err != nil {
		return err
	}
	if b.failed != nil && o.Only != nil {
		return b.failed
	}
	if o.Only != nil && len(o.Only) != len(b.episodes) {
		return fault.Field(fault.ErrRange, "train: Reset: length of Options.Only", len(o.Only))
	}
	if o.Seeds != nil && (len(o.Seeds) != len(b.episodes) || o.Reseed) {
		return fault.Field(fault.ErrRange, "train: Reset: with Reseed "+fmt.Sprint(o.Reseed)+", length of Options.Seeds", len(o.Seeds))
	}
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("train: Reset: %w", err)
	}
	for i := range b.episodes {
		if o.Only == nil || o.Only[i] {
			b.next(o, i)
		}
	}
	b.only, b.buf = o.Only, buf
	err := b.run(b.calls.reset)
	b.only, b.buf = nil, nil
	if err != nil {
		b.failed = fmt.Errorf("train: Reset: %w: %w", ErrWorld, err)
	}
	return b.failed
}

// next makes the next episode the running one. A new seed restores the number of the world, which Load
// may have changed.
func (b *Batch) next(o Options, i int) {
	s, number := &b.episodes[i], b.cfg.First+uint64(i)
	switch {
	case o.Seeds != nil:
		*s = episode{seed: o.Seeds[i], number: number}
	case o.Reseed:
		*s = episode{seed: o.Seed, number: number}
	case b.stages[i] != fresh:
		s.episode++
	}
	b.steps[i], b.stages[i] = 0, running
}

// run runs a call on all workers, and returns the error of the first world that has one.
func (b *Batch) run(call func()) error {
	clear(b.errs)
	b.failed = errInterrupted // stays if a world panics
	err := b.team.Run(min(b.cfg.Workers, len(b.errs)), call)
	if err == nil {
		err = b.firstError()
	}
	b.failed = nil
	return err
}

func (b *Batch) firstError() error {
	for _, err := range b.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls f for ranges of worlds, on all workers. From step to step most worlds stay with a worker, and so in its cache.
func (b *Batch) each(size int, f func(worker, lo, hi int)) { b.team.For(0, len(b.stages), size, f) }

func (b *Batch) resetAll() { b.each(b.def.Chunk, b.ranges.reset) }

// resetRange does worlds up to the first error, as the ranges below do. A range begins where a chunk does.
func (b *Batch) resetRange(_, lo, hi int) {
	var err error
	for i := lo; i < hi && err == nil; i++ {
		err = b.resetWorld(i)
	}
	b.errs[lo/b.def.Chunk] = err
}

// resetWorld begins the running episode of a world that Reset resets, and observes every world.
func (b *Batch) resetWorld(i int) error {
	if b.only == nil || b.only[i] {
		if err := b.begin(i); err != nil {
			return err
		}
	}
	b.observe(i)
	return nil
}

// begin begins the running episode of a world.
func (b *Batch) begin(i int) error {
	s := &b.episodes[i]
	b.steps[i], b.stages[i] = 0, running
	b.revive(i)
	if err := b.worlds.Begin(i, Seed(s.seed, s.number, s.episode)); err != nil {
		return fmt.Errorf("world %d: %w", i, err)
	}
	return nil
}

// observe writes the observations and the masks of a world, unless it has not begun.
func (b *Batch) observe(i int) {
	if b.stages[i] == fresh {
		return
	}
	for row := i * b.agents; row < (i+1)*b.agents; row++ {
		b.worlds.Observe(row, rowOf(b.buf.Obs, b.buf.ObsUint8, b.shape.obsKind, row, b.shape.obs, b.buf.ObsStride))
		b.mask(row, b.buf.Mask, b.buf.MaskStride)
	}
	if b.buf.Live != nil {
		b.writeLive(i)
	}
}

// mask writes the mask of a row into one of the buffers, if there is one.
func (b *Batch) mask(i int, to []bool, stride int) {
	if to == nil {
		return
	}
	if stride == 0 {
		stride = b.shape.mask
	}
	row := to[i*stride:][:b.shape.mask:b.shape.mask]
	if b.masker != nil {
		b.masker.Mask(i, row)
		return
	}
	for c := range row {
		row[c] = true
	}
}

// Observe writes the observations of all worlds that have begun into buf, without a step: for use after
// Load and Fork. A wrong length is ErrRange, and after a step that has failed the error is ErrWorld.
func (b *Batch) Observe(buf *Buffers) error {
	if err := b.idle("Observe"); err != nil {
		return err
	}
	if b.failed != nil {
		return b.failed
	}
	if err := buf.check(&b.shape, "Observe", false); err != nil {
		return err
	}
	b.buf = buf
	for i := range b.episodes {
		b.observe(i)
	}
	b.buf = nil
	return nil
}

// Step advances all worlds by one step with the actions in buf, and writes observations, rewards and flags
// into buf. It allocates nothing after warm-up.
//
// A buffer of another length, or an action outside its space, is ErrRange. An action that is not finite is
// ErrNotFinite. Both errors name the world. A world that has not begun, or whose episode has ended in mode
// Disabled, is ErrStale. An altered floating-point environment is ErrFloatEnv. After any of these no world was
// stepped, and no buffer changed. Any other error wraps ErrWorld and the error of the world, which it names.
// Then the content of the buffers is undefined, and every later Step returns the error, until Reset has reset
// all worlds.
func (b *Batch) Step(buf *Buffers) error {
	if err := b.idle("Step"); err != nil {
		return err
	}
	return b.step(buf)
}

func (b *Batch) step(buf *Buffers) error {
	if b.failed != nil {
		return b.failed
	}
	if err := buf.check(&b.shape, "Step", true); err != nil {
		return err
	}
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("train: Step: %w", err)
	}
	b.in, b.buf, b.checked = buf.actions(&b.shape), buf, false
	b.out = Outcomes{Reward: buf.Reward, Terminated: buf.Terminated, Skip: b.skip}
	err := b.run(b.calls.checkAndStep)
	b.in, b.out, b.buf = Actions{}, Outcomes{}, nil
	if err != nil && !b.checked {
		return fmt.Errorf("train: Step: %w", err)
	}
	if err != nil {
		b.failed = fmt.Errorf("train: Step: %w: %w", ErrWorld, err)
	}
	return b.failed
}

// checkAndStep steps all worlds if all actions are good.
func (b *Batch) checkAndStep() {
	chunks := max(1, checkedWorlds/b.def.Chunk)
	b.each(chunks*b.def.Chunk, b.ranges.check)
	if b.checked = b.firstError() == nil; b.checked {
		b.each(b.def.Chunk, b.ranges.step)
	}
}

func (b *Batch) checkRange(_, lo, hi int) {
	var err error
	if len(b.shape.choices) == 1 && b.live == nil {
		err = b.checkChoices(lo, hi)
	} else {
		for i := lo; i < hi && err == nil; i++ {
			err = b.checkWorld(i)
		}
	}
	b.errs[lo/b.def.Chunk] = err
}

// checkChoices does what checkWorld does, for many worlds of one agent with one choice.
func (b *Batch) checkChoices(lo, hi int) error {
	stages, skip := b.stages[lo:hi], b.skip[lo:hi]
	choices, stride, most := b.in.choices[lo*b.in.stride:], b.in.stride, uint32(b.shape.choices[0])
	for i, stage := range stages {
		if stage == running && uint32(choices[i*stride]) < most {
			skip[i] = false
		} else if err := b.checkWorld(lo + i); err != nil {
			return err
		}
	}
	return nil
}

// checkWorld checks the actions of a world, and notes in skip whether this step only begins its episode.
func (b *Batch) checkWorld(i int) error {
	stage := b.stages[i]
	if b.live == nil {
		b.skip[i] = stage == ended
	}
	switch {
	case stage == fresh:
		return fault.Field(fault.ErrStale, "Reset has not begun world", i)
	case stage == ended && b.cfg.Autoreset == Disabled:
		return fault.Field(fault.ErrStale, "the episode has ended of world", i)
	case b.live != nil:
		return b.checkAgents(i)
	case stage == ended: // the action is ignored
		return nil
	}
	return b.checkAction(i)
}

// checkAction checks the action of a row.
func (b *Batch) checkAction(i int) error {
	if b.shape.actionKind != Int32 {
		return b.checkBounds(i)
	}
	choices := b.in.Choices(i)
	for k, n := range b.shape.choices {
		if c := choices[k]; uint32(c) >= uint32(n) {
			return b.refuseChoice(i, k, c, n)
		}
	}
	return nil
}

func (b *Batch) refuseChoice(i, k int, c int32, n int) error {
	err := fault.Element(fault.ErrRange, "choice of "+b.rowName(i), k, c)
	if len(b.shape.choices) == 1 {
		err = fault.Field(fault.ErrRange, "choice of "+b.rowName(i), c)
		if b.live == nil {
			err = fault.Element(fault.ErrRange, "choice of world", i, c)
		}
	}
	return fmt.Errorf("%w: 0 to %d", err, n-1)
}

// checkBounds checks the action of a row against its box.
func (b *Batch) checkBounds(i int) error {
	low, high := b.def.Action.Low, b.def.Action.High
	for k, v := range b.in.Row(i) {
		if v >= low[k] && v <= high[k] && fault.Finite(v) {
			continue
		}
		field := "action of " + b.rowName(i)
		if !fault.Finite(v) {
			return fault.Element(fault.ErrNotFinite, field, k, v)
		}
		return fmt.Errorf("%w: %v to %v", fault.Element(fault.ErrRange, field, k, v), low[k], high[k])
	}
	return nil
}

// stepRange steps whole chunks, whose data stays in the cache from the rules to the observations.
func (b *Batch) stepRange(_, lo, hi int) {
	for ; lo < hi; lo += b.def.Chunk {
		b.errs[lo/b.def.Chunk] = b.stepChunk(lo, min(lo+b.def.Chunk, hi))
	}
}

func (b *Batch) stepChunk(lo, hi int) error {
	if err := b.worlds.Step(lo, hi, &b.in, &b.out); err != nil {
		return err
	}
	if b.live != nil {
		return b.finishAgents(lo, hi)
	}
	if err := b.finishSteps(lo, hi); err != nil {
		return err
	}
	b.observeRange(lo, hi)
	return nil
}

// finishSteps counts the steps of worlds of one agent, and ends and begins their episodes.
func (b *Batch) finishSteps(lo, hi int) error {
	steps, skip, buf := b.steps[lo:hi], b.skip[lo:hi], b.buf
	terminated, truncated := buf.Terminated[lo:hi], buf.Truncated[lo:hi]
	for i := range steps {
		if skip[i] {
			if err := b.beginSkipped(lo + i); err != nil {
				return err
			}
			continue
		}
		steps[i]++
		late := steps[i] >= b.limit
		truncated[i] = late
		over := terminated[i] || late
		if b.shape.final {
			buf.Final[lo+i] = over
		}
		if over {
			if err := b.end(lo + i); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginSkipped begins the episode of a world that this step has not stepped.
func (b *Batch) beginSkipped(i int) error {
	b.buf.Reward[i], b.buf.Terminated[i], b.buf.Truncated[i] = 0, false, false
	b.episodes[i].episode++
	return b.begin(i)
}

// end ends the episode of a world, and begins the next one in mode SameStep.
func (b *Batch) end(i int) error {
	b.stages[i] = ended
	if b.cfg.Autoreset != SameStep {
		return nil
	}
	b.observeFinal(i)
	b.episodes[i].episode++
	return b.begin(i)
}

// observeFinal writes the last observation and the last mask of a row.
func (b *Batch) observeFinal(row int) {
	buf := b.buf
	b.worlds.Observe(row, rowOf(buf.FinalObs, buf.FinalObsUint8, b.shape.obsKind, row, b.shape.obs, buf.FinalStride))
	b.mask(row, buf.FinalMask, buf.FinalMaskStride)
}

// observeRange writes the observations and masks of a chunk of worlds, all of which have begun.
func (b *Batch) observeRange(lo, hi int) {
	buf := b.buf
	if b.columns != nil {
		b.columns.ObserveRange(lo, hi, Rows{buf.Obs, buf.ObsUint8, cmp.Or(buf.ObsStride, b.shape.obs)})
	} else {
		for i := lo; i < hi; i++ {
			b.worlds.Observe(i, rowOf(buf.Obs, buf.ObsUint8, b.shape.obsKind, i, b.shape.obs, buf.ObsStride))
		}
	}
	if buf.Live != nil {
		for i := lo; i < hi; i++ {
			b.writeLive(i)
		}
	}
	if buf.Mask == nil {
		return
	}
	n := b.shape.mask
	if b.trues != nil && (buf.MaskStride == 0 || buf.MaskStride == n) {
		copy(buf.Mask[lo*n:hi*n], b.trues)
		return
	}
	for i := lo; i < hi; i++ {
		b.mask(i, buf.Mask, buf.MaskStride)
	}
}

// episode returns the episode of world i. It panics if there is no such world, or if a step runs.
func (b *Batch) episode(i int) *episode {
	if b.async.pending {
		panic("train: a call between StepAsync and StepWait")
	}
	if i < 0 || i >= len(b.episodes) {
		panic("train: there is no such world")
	}
	return &b.episodes[i]
}

// Episode returns the number of the running episode of a world, its seed, its number of steps,
// and whether it has ended; ok is false before the first. It panics if there is no such
// world.
func (b *Batch) Episode(i int) (number, seed uint64, steps int, over, ok bool) {
	s := b.episode(i)
	return s.episode, Seed(s.seed, s.number, s.episode), int(b.steps[i]), b.stages[i] == ended, b.stages[i] != fresh
}

// Hash returns a hash of world i: of its whole state, and of its place in the batch. It panics if there is
// no such world.
func (b *Batch) Hash(i int) uint64 {
	s := b.episode(i)
	h := statehash.Add(0, "seed", s.seed)
	h = statehash.Add(h, "number", s.number)
	h = statehash.Add(h, "episode", s.episode)
	h = statehash.Add(h, "steps", uint64(b.steps[i]))
	h = statehash.Add(h, "stage", uint64(b.stages[i]))
	if b.stages[i] == fresh {
		return h
	}
	for _, live := range b.liveOf(i) {
		h = statehash.Add(h, "live", uint64(wire.AppendBool(nil, live)[0]))
	}
	return statehash.Add(h, "world", b.worlds.Hash(i))
}

// AppendHashes appends the hash of every world, in their order.
func (b *Batch) AppendHashes(dst []uint64) []uint64 {
	for i := range b.episodes {
		dst = append(dst, b.Hash(i))
	}
	return dst
}

// Seed returns the seed of an episode, from the seed of a batch, the number of the world and
// the number of the episode, both counted from 0. It is words 0 and 1, the first the low half,
// of loop.Philox4x32 of
//
//	counter words 0, 1   world, low half first
//	counter words 2, 3   episode, low half first
//	key                  seed
//
// so that a world has the same episodes in a batch of any size. Under one seed the 128 bits of a block are
// different for any two episodes of any two worlds. Seed returns 64 of them, which can agree only by chance.
func Seed(seed, world, episode uint64) uint64 {
	b := loop.Philox4x32(
		[4]uint32{uint32(world), uint32(world >> 32), uint32(episode), uint32(episode >> 32)},
		[2]uint32{uint32(seed), uint32(seed >> 32)})
	return uint64(b[1])<<32 | uint64(b[0])
}
