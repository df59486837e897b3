package train

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/native"
)

// Autoreset says who begins the next episode of a world when one has ended, and when. The
// modes are those of Gymnasium's vector environments.
type Autoreset uint8

const (
	// NextStep: the step that ends an episode shows its end. The next step begins the
	// next episode and does nothing else: the action is ignored, the reward is 0, neither
	// Terminated nor Truncated is set, and the observation is the first of the new episode.
	NextStep Autoreset = iota
	// SameStep: the step that ends an episode also begins the next one, and shows that;
	// what the world showed at the end is in FinalObs, and Final says so.
	SameStep
	// Disabled: nobody. The caller does, by Reset with Options.Only; to step a world
	// whose episode has ended is an error.
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
	// DefaultChunk is the Definition.Chunk of who does not say.
	DefaultChunk = 64
)

// Config of a Batch. The zero value works: it is one world.
type Config struct {
	// Worlds is how many there are, up to MaxWorlds. 0: 1.
	Worlds int
	// First is the number of the first world in Seed: world i of this batch is world
	// First + i of a larger one.
	First uint64
	// Seed of Seed, until Reset gives another.
	Seed uint64
	// Autoreset says what happens behind an episode.
	Autoreset Autoreset
	// MaxSteps truncates episodes instead of Definition.MaxSteps. 0: that.
	MaxSteps int
	// Workers that step chunks of worlds, 1 to 1024. 0: 1. Results do not depend on it.
	Workers int
	// Record keeps the actions of the running episode of each world and of the one before,
	// for Export.
	Record bool
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var errs []error
	bad := func(field string, v any) { errs = append(errs, fault.Field(fault.ErrRange, "train: Config."+field, v)) }
	if c.Worlds < 0 || c.Worlds > MaxWorlds {
		bad("Worlds", c.Worlds)
	}
	if c.Autoreset >= autoresets {
		bad("Autoreset", c.Autoreset)
	}
	if c.MaxSteps < 0 || c.MaxSteps > maxSteps {
		bad("MaxSteps", c.MaxSteps)
	}
	if c.Workers < 0 || c.Workers > 1024 {
		bad("Workers", c.Workers)
	}
	return errors.Join(errs...)
}

// Stage of the episode of a world.
const (
	fresh   uint8 = iota // none has begun
	running              //
	ended                // and the next has not begun
)

// ErrWorld is wrapped by errors of a world, or of a worker, behind which the batch stands still
// until Reset has begun all worlds anew.
var ErrWorld = errors.New("a world has failed")

var errInterrupted = fmt.Errorf("train: a step was broken off by a panic: %w", ErrWorld)

// slot is what a Batch knows of a world.
type slot struct {
	seed    uint64 // that of the batch, or of Options.Seeds
	number  uint64 // in Seed
	episode uint64 // number of the running one
	steps   int64  // in it
	stage   uint8
}

// Batch is many worlds of one definition that are stepped together. It is not safe for
// concurrent use.
type Batch struct {
	def    Definition
	cfg    Config
	shape  shape
	worlds Worlds
	masker Masker // nil: no opinion
	pool   *native.Pool
	slots  []slot
	skip   []bool
	limit  int64 // steps of an episode; 0: none
	failed error

	// The running call.
	in      Actions
	out     Outcomes
	buf     *Buffers
	errs    []error // by chunk
	check   admitTask
	do      stepTask
	restart restartTask
	only    []bool // of Reset
	saved   []byte // of Fork
}

// New returns a batch whose worlds have not begun: Reset begins them. Errors are those of
// both Validate, and what the definition has to say.
func New(def Definition, cfg Config) (*Batch, error) {
	if err := errors.Join(def.Validate(), cfg.Validate()); err != nil {
		return nil, err
	}
	if cfg.Worlds == 0 {
		cfg.Worlds = 1
	}
	if cfg.MaxSteps == 0 {
		cfg.MaxSteps = def.MaxSteps
	}
	if def.Chunk == 0 {
		def.Chunk = DefaultChunk
	}
	def.Chunk = min(def.Chunk, cfg.Worlds)
	worlds, err := def.New(cfg.Worlds, cfg.Record)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", def.Name, err)
	}
	if _, can := worlds.(Exporter); cfg.Record && !can {
		return nil, fault.Field(fault.ErrUnsupported, "train: Config.Record of "+def.Name, true)
	}
	b := &Batch{
		def: def, cfg: cfg, worlds: worlds, limit: int64(cfg.MaxSteps),
		pool: native.NewPool(cfg.Workers), slots: make([]slot, cfg.Worlds), skip: make([]bool, cfg.Worlds),
		errs: make([]error, (cfg.Worlds+def.Chunk-1)/def.Chunk),
		shape: shape{
			worlds: cfg.Worlds, obs: def.Obs.Size(), obsKind: def.Obs.Kind, action: def.Action.Size(),
			actionKind: def.Action.Kind, choices: def.Action.Choices, final: cfg.Autoreset == SameStep,
		},
	}
	b.masker, _ = worlds.(Masker)
	b.check, b.do, b.restart = admitTask{b}, stepTask{b}, restartTask{b}
	for i := range b.slots {
		b.slots[i] = slot{seed: cfg.Seed, number: cfg.First + uint64(i)}
	}
	return b, nil
}

// Definition returns the definition, with its defaults filled in.
func (b *Batch) Definition() Definition { return b.def }

// Config returns the configuration, with its defaults filled in.
func (b *Batch) Config() Config { return b.cfg }

// Len returns the number of worlds.
func (b *Batch) Len() int { return len(b.slots) }

// Options of Reset. The zero value begins the next episode of every world.
type Options struct {
	// Only, if not nil, has an entry for each world: only those that are true begin.
	Only []bool
	// Reseed makes Seed that of the batch: the episodes begin with number 0 again.
	Reseed bool
	Seed   uint64
	// Seeds, if not nil, has a seed for each world instead, in which its number is that
	// of the batch still.
	Seeds []uint64
}

// Reset begins an episode of every world, or of those that Options name, and shows all
// worlds in the observations of buf. The first one of a world is number 0 in Seed. Rows of
// worlds that have not begun yet are left as they are. Errors are those of lengths,
// ErrRange, and of an altered floating-point environment, ErrFloatEnv, with nothing changed;
// or of a world, ErrWorld.
func (b *Batch) Reset(o Options, buf *Buffers) error {
	if err := buf.check(&b.shape, "Reset", false); err != nil {
		return err
	}
	if b.failed != nil && o.Only != nil {
		return b.failed
	}
	if o.Only != nil && len(o.Only) != len(b.slots) {
		return fault.Field(fault.ErrRange, "train: Reset: length of Options.Only", len(o.Only))
	}
	if o.Seeds != nil && (len(o.Seeds) != len(b.slots) || o.Reseed) {
		return fault.Field(fault.ErrRange, "train: Reset: length of Options.Seeds, beside Reseed "+fmt.Sprint(o.Reseed), len(o.Seeds))
	}
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("train: Reset: %w", err)
	}
	for i := range b.slots {
		if o.Only == nil || o.Only[i] {
			b.slots[i].next(o, i, b.cfg.First)
		}
	}
	b.only, b.buf = o.Only, buf
	err := b.run(b.restart)
	b.only, b.buf = nil, nil
	if err != nil {
		b.failed = fmt.Errorf("train: Reset: %w: %w", ErrWorld, err)
	}
	return b.failed
}

// next makes the next episode the running one. A new seed gives back the number, which Load
// may have made another.
func (s *slot) next(o Options, i int, first uint64) {
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

// run lets the workers do the chunks, and returns the error of the first that has one.
func (b *Batch) run(task native.Task) error {
	clear(b.errs)
	b.failed = errInterrupted // stands if a world panics
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
	return lo, min(lo+b.def.Chunk, len(b.slots))
}

// restartTask begins what Reset has made the running episodes.
type restartTask struct{ *Batch }

func (b restartTask) Do(_, chunk int) {
	lo, hi := b.bounds(chunk)
	for i := lo; i < hi; i++ {
		if b.only == nil || b.only[i] {
			if err := b.begin(i); err != nil {
				b.errs[chunk] = err
				return
			}
		}
		b.show(i)
	}
}

// begin begins the running episode of a world.
func (b *Batch) begin(i int) error {
	s := &b.slots[i]
	s.steps, s.stage = 0, running
	if err := b.worlds.Begin(i, Seed(s.seed, s.number, s.episode)); err != nil {
		return fmt.Errorf("world %d: %w", i, err)
	}
	return nil
}

// show writes what a world shows, unless it has not begun.
func (b *Batch) show(i int) {
	if b.slots[i].stage == fresh {
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

// Observe shows all worlds that have begun in the observations of buf, without a step: behind
// Load and Fork. Errors are those of lengths, and ErrWorld behind a step that has failed.
func (b *Batch) Observe(buf *Buffers) error {
	if b.failed != nil {
		return b.failed
	}
	if err := buf.check(&b.shape, "Observe", false); err != nil {
		return err
	}
	b.buf = buf
	for i := range b.slots {
		b.show(i)
	}
	b.buf = nil
	return nil
}

// Step tells each world its action, advances all by one step, and says in buf what of. It
// allocates nothing after warm-up.
//
// A buffer of another length, or an action beyond its space, is ErrRange, an action that is
// not finite ErrNotFinite, both naming the world; a world that has not begun, or whose episode
// is over and nobody begins the next, is ErrStale; and an altered floating-point environment
// ErrFloatEnv. Nothing is stepped then, and no buffer changed. Any other error wraps ErrWorld
// and that of the world, which it names: the buffers are then of no use, and every later Step
// returns it, until Reset has begun all worlds anew.
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
	if err := b.run(b.check); err != nil {
		b.in = Actions{}
		return fmt.Errorf("train: Step: %w", err)
	}
	b.out = Outcomes{Reward: buf.Reward, Terminated: buf.Terminated, Skip: b.skip}
	b.buf = buf
	err := b.run(b.do)
	b.in, b.out, b.buf = Actions{}, Outcomes{}, nil
	if err != nil {
		b.failed = fmt.Errorf("train: Step: %w: %w", ErrWorld, err)
	}
	return b.failed
}

// admitTask checks that all worlds can do what they are told, and says which are only to begin.
type admitTask struct{ *Batch }

func (b admitTask) Do(_, chunk int) {
	lo, hi := b.bounds(chunk)
	for i := lo; i < hi; i++ {
		if err := b.admit(i); err != nil {
			b.errs[chunk] = err
			return
		}
	}
}

func (b *Batch) admit(i int) error {
	stage := b.slots[i].stage
	b.skip[i] = stage == ended
	switch {
	case stage == fresh:
		return fault.Field(fault.ErrStale, "Reset has not begun world", i)
	case stage == ended && b.cfg.Autoreset == Disabled:
		return fault.Field(fault.ErrStale, "the episode is over of world", i)
	case stage == ended: // the action is ignored
		return nil
	case b.shape.actionKind == Int32:
		if c := b.in.Choice(i); uint32(c) >= uint32(b.shape.choices) {
			return fmt.Errorf("%w: 0 to %d", fault.Element(fault.ErrRange, "choice of world", i, c), b.shape.choices-1)
		}
		return nil
	}
	return b.within(i)
}

// within checks the action of a world against its box.
func (b *Batch) within(i int) error {
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

// stepTask steps chunks.
type stepTask struct{ *Batch }

func (b stepTask) Do(_, chunk int) {
	lo, hi := b.bounds(chunk)
	if err := b.worlds.Step(lo, hi, &b.in, &b.out); err != nil {
		b.errs[chunk] = err
		return
	}
	for i := lo; i < hi; i++ {
		if err := b.settle(i); err != nil {
			b.errs[chunk] = err
			return
		}
	}
}

// settle does what is left of the step of a world: count it, end the episode, show it.
func (b *Batch) settle(i int) error {
	s, buf := &b.slots[i], b.buf
	if b.skip[i] {
		buf.Reward[i], buf.Terminated[i], buf.Truncated[i] = 0, false, false
		s.episode++
		if err := b.begin(i); err != nil {
			return err
		}
		b.show(i)
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
	b.show(i)
	return nil
}

// must panics unless world i is there.
func (b *Batch) must(i int) *slot {
	if i < 0 || i >= len(b.slots) {
		panic("train: there is no such world")
	}
	return &b.slots[i]
}

// Episode returns the number of the running episode of a world, its seed, how many steps it
// has had, and whether it is over; ok is false before the first. It panics if there is no such
// world.
func (b *Batch) Episode(i int) (number, seed uint64, steps int, over, ok bool) {
	s := b.must(i)
	return s.episode, Seed(s.seed, s.number, s.episode), int(s.steps), s.stage == ended, s.stage != fresh
}

// Hash returns a hash of world i: of all that decides what it will do, and of what the batch
// knows of it. It panics if there is no such world.
func (b *Batch) Hash(i int) uint64 {
	s := b.must(i)
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
	for i := range b.slots {
		dst = append(dst, b.Hash(i))
	}
	return dst
}
