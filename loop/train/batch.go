package train

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
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
	// observation; the last observation of the old one is in FinalObs, and Final is true.
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
	// DefaultChunk is the default of Definition.Chunk.
	DefaultChunk = 64
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
	// MaxSteps truncates episodes instead of Definition.MaxSteps. 0: Definition.MaxSteps.
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
	f.Range("Config.MaxSteps", c.MaxSteps, 0, maxSteps)
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

// episode is where a world is.
type episode struct {
	seed    uint64 // that of the batch, or of Options.Seeds
	number  uint64 // in Seed
	episode uint64 // number of the running one
	steps   int64  // in it
	stage   uint8
}

// Batch is many worlds of one definition that are stepped together. It is not safe for
// concurrent use.
type Batch struct {
	def      Definition
	cfg      Config
	shape    shape
	worlds   Worlds
	masker   Masker // nil: all choices make sense
	pool     *native.Pool
	episodes []episode
	skip     []bool
	limit    int64 // steps of an episode; 0: none
	failed   error

	// The running call.
	in     Actions
	out    Outcomes
	buf    *Buffers
	errs   []error // by chunk
	checks checkTask
	steps  stepTask
	resets resetTask
	only   []bool // of Reset
	saved  []byte // of Fork

	drawing physics.Drawing // of Render
}

// New returns a batch whose worlds have not begun: Reset begins them. Errors are those of
// both Validate, and of Definition.New.
func New(def Definition, cfg Config) (*Batch, error) {
	if err := errors.Join(def.Validate(), cfg.Validate()); err != nil {
		return nil, err
	}
	cfg.Worlds, cfg.MaxSteps = cmp.Or(cfg.Worlds, 1), cmp.Or(cfg.MaxSteps, def.MaxSteps)
	def.Chunk = min(cmp.Or(def.Chunk, DefaultChunk), cfg.Worlds)
	worlds, err := def.New(cfg.Worlds, cfg.Record)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", def.Name, err)
	}
	if _, can := worlds.(Exporter); cfg.Record && !can {
		return nil, fault.Field(fault.ErrUnsupported, "train: Config.Record of "+def.Name, true)
	}
	b := &Batch{
		def: def, cfg: cfg, worlds: worlds, limit: int64(cfg.MaxSteps),
		pool: native.NewPool(cfg.Workers), episodes: make([]episode, cfg.Worlds), skip: make([]bool, cfg.Worlds),
		errs: make([]error, (cfg.Worlds+def.Chunk-1)/def.Chunk),
		shape: shape{
			worlds: cfg.Worlds, obs: def.Obs.Size(), obsKind: def.Obs.Kind, action: def.Action.Size(),
			actionKind: def.Action.Kind, choices: def.Action.Choices, final: cfg.Autoreset == SameStep,
		},
	}
	b.masker, _ = worlds.(Masker)
	b.checks, b.steps, b.resets = checkTask{b}, stepTask{b}, resetTask{b}
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

// Options of Reset. The zero value begins the next episode of every world.
type Options struct {
	// Only, if not nil, has an entry for each world: only worlds with true begin.
	Only []bool
	// Reseed makes Seed the seed of the batch: the episodes begin with number 0 again.
	Reseed bool
	Seed   uint64
	// Seeds, if not nil, has a seed for each world instead. The number of a world in Seed stays that of the
	// batch.
	Seeds []uint64
}

// Reset begins an episode of every world, or of those in Options.Only, and writes the observations of
// all worlds into buf. The first episode of a world is number 0 in Seed. Rows of
// worlds that have not begun yet are left as they are. A wrong length is ErrRange, and an altered
// floating-point environment ErrFloatEnv, with nothing changed; the error of a world is ErrWorld.
func (b *Batch) Reset(o Options, buf *Buffers) error {
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
			b.episodes[i].next(o, i, b.cfg.First)
		}
	}
	b.only, b.buf = o.Only, buf
	err := b.run(b.resets)
	b.only, b.buf = nil, nil
	if err != nil {
		b.failed = fmt.Errorf("train: Reset: %w: %w", ErrWorld, err)
	}
	return b.failed
}

// next makes the next episode the running one. A new seed restores the number of the world, which Load
// may have changed.
func (s *episode) next(o Options, i int, first uint64) {
	switch {
	case o.Seeds != nil:
		s.seed, s.number, s.episode = o.Seeds[i], first+uint64(i), 0
	case o.Reseed:
		s.seed, s.number, s.episode = o.Seed, first+uint64(i), 0
	case s.stage != fresh:
		s.episode++
	}
	s.steps, s.stage = 0, running
}

// run runs a task on all chunks, and returns the error of the first chunk that has one.
func (b *Batch) run(task native.Task) error {
	clear(b.errs)
	b.failed = errInterrupted // stays if a world panics
	err := b.pool.Run(len(b.errs), task)
	for i := 0; err == nil && i < len(b.errs); i++ {
		err = b.errs[i]
	}
	b.failed = nil
	return err
}

// bounds of a chunk.
func (b *Batch) bounds(chunk int) (lo, hi int) {
	lo = chunk * b.def.Chunk
	return lo, min(lo+b.def.Chunk, len(b.episodes))
}

// resetTask does the worlds of a chunk up to the first error, as the tasks below do.
type resetTask struct{ *Batch }

func (b resetTask) Do(_, chunk int) {
	var err error
	lo, hi := b.bounds(chunk)
	for i := lo; i < hi && err == nil; i++ {
		err = b.resetWorld(i)
	}
	b.errs[chunk] = err
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
	s.steps, s.stage = 0, running
	if err := b.worlds.Begin(i, Seed(s.seed, s.number, s.episode)); err != nil {
		return fmt.Errorf("world %d: %w", i, err)
	}
	return nil
}

// observe writes the observation and the mask of a world, unless it has not begun.
func (b *Batch) observe(i int) {
	if b.episodes[i].stage == fresh {
		return
	}
	b.worlds.Observe(i, rowOf(b.buf.Obs, b.buf.ObsUint8, b.shape.obsKind, i, b.shape.obs, b.buf.ObsStride))
	b.mask(i)
}

func (b *Batch) mask(i int) {
	if b.buf.Mask == nil {
		return
	}
	stride := b.buf.MaskStride
	if stride == 0 {
		stride = b.shape.choices
	}
	row := b.buf.Mask[i*stride:][:b.shape.choices:b.shape.choices]
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
	if b.failed != nil {
		return b.failed
	}
	if err := buf.check(&b.shape, "Step", true); err != nil {
		return err
	}
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("train: Step: %w", err)
	}
	b.in = buf.actions(&b.shape)
	if err := b.run(b.checks); err != nil {
		b.in = Actions{}
		return fmt.Errorf("train: Step: %w", err)
	}
	b.out = Outcomes{Reward: buf.Reward, Terminated: buf.Terminated, Skip: b.skip}
	b.buf = buf
	err := b.run(b.steps)
	b.in, b.out, b.buf = Actions{}, Outcomes{}, nil
	if err != nil {
		b.failed = fmt.Errorf("train: Step: %w: %w", ErrWorld, err)
	}
	return b.failed
}

type checkTask struct{ *Batch }

func (b checkTask) Do(_, chunk int) {
	var err error
	lo, hi := b.bounds(chunk)
	for i := lo; i < hi && err == nil; i++ {
		err = b.checkWorld(i)
	}
	b.errs[chunk] = err
}

// checkWorld checks the action of a world, and notes in skip whether this step only begins its episode.
func (b *Batch) checkWorld(i int) error {
	stage := b.episodes[i].stage
	b.skip[i] = stage == ended
	switch {
	case stage == fresh:
		return fault.Field(fault.ErrStale, "Reset has not begun world", i)
	case stage == ended && b.cfg.Autoreset == Disabled:
		return fault.Field(fault.ErrStale, "the episode has ended of world", i)
	case stage == ended: // the action is ignored
		return nil
	case b.shape.actionKind == Int32:
		if c := b.in.Choice(i); uint32(c) >= uint32(b.shape.choices) {
			return fmt.Errorf("%w: 0 to %d", fault.Element(fault.ErrRange, "choice of world", i, c), b.shape.choices-1)
		}
		return nil
	}
	return b.checkBounds(i)
}

// checkBounds checks the action of a world against its box.
func (b *Batch) checkBounds(i int) error {
	low, high := b.def.Action.Low, b.def.Action.High
	for k, v := range b.in.Row(i) {
		if v >= low[k] && v <= high[k] && fault.Finite(v) {
			continue
		}
		field := fmt.Sprintf("action of world %d", i)
		if !fault.Finite(v) {
			return fault.Element(fault.ErrNotFinite, field, k, v)
		}
		return fmt.Errorf("%w: %v to %v", fault.Element(fault.ErrRange, field, k, v), low[k], high[k])
	}
	return nil
}

type stepTask struct{ *Batch }

func (b stepTask) Do(_, chunk int) {
	lo, hi := b.bounds(chunk)
	err := b.worlds.Step(lo, hi, &b.in, &b.out)
	for i := lo; i < hi && err == nil; i++ {
		err = b.finishStep(i)
	}
	b.errs[chunk] = err
}

// finishStep counts the step of a world, ends and begins its episodes, and observes it.
func (b *Batch) finishStep(i int) error {
	s, buf := &b.episodes[i], b.buf
	if b.skip[i] {
		buf.Reward[i], buf.Terminated[i], buf.Truncated[i] = 0, false, false
		s.episode++
		if err := b.begin(i); err != nil {
			return err
		}
		b.observe(i)
		return nil
	}
	s.steps++
	buf.Truncated[i] = b.limit > 0 && s.steps >= b.limit
	over := buf.Terminated[i] || buf.Truncated[i]
	if over {
		s.stage = ended
	}
	if b.cfg.Autoreset == SameStep {
		buf.Final[i] = over
		if over {
			b.worlds.Observe(i, rowOf(buf.FinalObs, buf.FinalObsUint8, b.shape.obsKind, i, b.shape.obs, buf.FinalStride))
			s.episode++
			if err := b.begin(i); err != nil {
				return err
			}
		}
	}
	b.observe(i)
	return nil
}

// episode returns that of world i. It panics if there is no such world.
func (b *Batch) episode(i int) *episode {
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
	return s.episode, Seed(s.seed, s.number, s.episode), int(s.steps), s.stage == ended, s.stage != fresh
}

// Hash returns a hash of world i: of its whole state, and of its place in the batch. It panics if there is
// no such world.
func (b *Batch) Hash(i int) uint64 {
	s := b.episode(i)
	h := statehash.Add(0, "seed", s.seed)
	h = statehash.Add(h, "number", s.number)
	h = statehash.Add(h, "episode", s.episode)
	h = statehash.Add(h, "steps", uint64(s.steps))
	h = statehash.Add(h, "stage", uint64(s.stage))
	if s.stage == fresh {
		return h
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
