package train

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/wire"
)

// A saved world is, all little-endian, in the frames of package frame:
//
//	"evtk.trn"  uint32 version
//	frame: uint64 seed, number, episode, steps; byte 1 if the episode is over; byte length
//	       and bytes of the name of the definition; with several agents a byte for
//	       each, 1 if it takes part
//	frame: the state
const (
	savedMagic   = "evtk.trn"
	savedVersion = 1
	savedName    = "train: Load: "
)

// Save appends the whole of world i to dst: its state, its place in Seed and in the episode, and,
// with Config.Record, the actions for Export. A world that has not begun is ErrStale, any
// world after a step that has failed ErrWorld. It panics if there is no such world.
func (b *Batch) Save(i int, dst []byte) ([]byte, error) {
	if err := b.idle("Save"); err != nil {
		return dst, err
	}
	s := b.episode(i)
	if b.failed != nil {
		return dst, b.failed
	}
	if b.stages[i] == fresh {
		return dst, fault.Field(fault.ErrStale, "train: Save: Reset has not begun world", i)
	}
	e := frame.Begin(dst, savedMagic, savedVersion)
	at := e.Start()
	for _, v := range [...]uint64{s.seed, s.number, s.episode, uint64(b.steps[i])} {
		e.U64(v)
	}
	e.U8(b.stages[i] - running)
	e.Name(b.def.Name)
	for _, live := range b.liveOf(i) {
		e.Buf = wire.AppendBool(e.Buf, live)
	}
	e.Finish(at)
	at = e.Start()
	var err error
	if e.Buf, err = b.worlds.AppendState(i, e.Buf); err != nil {
		return dst, fmt.Errorf("train: Save: world %d: %w", i, err)
	}
	if !e.Finish(at) {
		return dst, fault.Field(fault.ErrCapacity, "train: Save: bytes", len(e.Buf)-len(dst))
	}
	return e.Buf, nil
}

// Load replaces world i by the one that Save has written, in any batch of the same definition. The world then
// goes on as the saved one: it keeps its number in Seed, not the number of its new place, until Reset sets another seed.
//
// Data that is truncated, altered or contradicts itself is ErrCorrupt. Data of another definition
// or format, with more steps than an episode has here, or with an ended episode in a batch of SameStep, is
// ErrUnsupported; an altered floating-point environment is ErrFloatEnv. The world is then as it
// was. It panics if there is no such world. Call Observe for its observation.
func (b *Batch) Load(i int, data []byte) error {
	if err := b.idle("Load"); err != nil {
		return err
	}
	s := b.episode(i)
	if b.failed != nil {
		return b.failed
	}
	d, err := frame.NewDecoder(data, savedName, savedMagic, savedVersion)
	if err != nil {
		return err
	}
	h, err := b.readHead(&d)
	if err != nil {
		return err
	}
	state, err := d.Next("state")
	if err == nil {
		err = d.Done()
	}
	if err != nil {
		return err
	}
	if err := b.worlds.RestoreState(i, state); err != nil {
		return fmt.Errorf("train: Load: world %d: %w", i, err)
	}
	*s, b.steps[i], b.stages[i] = h.episode, h.steps, h.stage
	copy(b.liveOf(i), h.live)
	return nil
}

// savedHead is what the first frame says.
type savedHead struct {
	episode episode
	steps   int64
	stage   uint8
	live    []bool
}

// readHead reads the first frame.
func (b *Batch) readHead(d *frame.Decoder) (h savedHead, err error) {
	data, err := d.Next("head")
	if err != nil {
		return h, err
	}
	r := wire.NewReader(data)
	h.episode = episode{seed: r.U64(), number: r.U64(), episode: r.U64()}
	steps, over, name := r.U64(), r.U8(), string(r.Name())
	h.steps, h.stage = int64(steps), running+over
	if r.Err() == nil && name != b.def.Name {
		return h, fmt.Errorf("%w, this one is %q", fault.Field(fault.ErrUnsupported, savedName+"definition", fmt.Sprintf("%.80q", name)), b.def.Name)
	}
	for range b.liveOf(0) {
		h.live = append(h.live, r.Bool())
	}
	if r.Done() != nil || over > 1 {
		return h, d.Corrupt("head", len(data))
	}
	if err := checkLive(h.live, h.stage); err != nil {
		return h, err
	}
	if steps > math.MaxInt64 || h.steps > b.limit || h.steps == b.limit && h.stage == running {
		return h, fault.Field(fault.ErrUnsupported, savedName+"steps of an episode", steps)
	}
	if h.stage == ended && b.cfg.Autoreset == SameStep {
		return h, fault.Field(fault.ErrUnsupported, savedName+"an ended episode, in mode", b.cfg.Autoreset)
	}
	return h, nil
}

// Fork makes world to a copy of world from, as Save and Load do: with the same actions both
// do the same. It panics if there is no such world.
func (b *Batch) Fork(from, to int) error {
	if err := b.idle("Fork"); err != nil {
		return err
	}
	b.episode(to)
	data, err := b.Save(from, b.saved[:0])
	if err != nil {
		return err
	}
	b.saved = data
	return b.Load(to, data)
}

// Exported describes the log of Batch.Export.
type Exported struct {
	Scenario string
	Seed     uint64 // of the episode
	Steps    int    // of the episode
	Ticks    uint64 // of the Sim, including the one that begins the episode
	Hash     uint64 // of the Sim after the last tick
}

// Export repeats the episode of the last step of world i, from its beginning to that step,
// writes it into a log of package worldlog in dir, which must have
// none, and checks that it ends in the same state. Package replay verifies, seeks and
// forks the log with the scenario of that name. Export returns ErrUnsupported without
// Config.Record, which needs worlds on a Sim, and for a world that was loaded from a batch without
// it; and ErrStale for a world that has not begun. It panics if there is no such world.
func (b *Batch) Export(i int, dir string) (Exported, error) {
	if err := b.idle("Export"); err != nil {
		return Exported{}, err
	}
	b.episode(i)
	if !b.cfg.Record {
		return Exported{}, fault.Field(fault.ErrUnsupported, "train: Export: Config.Record", false)
	}
	if b.stages[i] == fresh {
		return Exported{}, fault.Field(fault.ErrStale, "train: Export: Reset has not begun world", i)
	}
	ex, err := b.worlds.(Exporter).Export(i, dir)
	if err != nil {
		return ex, fmt.Errorf("train: Export: world %d: %w", i, err)
	}
	return ex, nil
}
