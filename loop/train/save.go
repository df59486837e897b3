package train

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/wire"
)

// A saved world is, all little-endian, in the frames of package frame:
//
//	"evtk.trn"  uint32 version
//	frame: uint64 seed, number, episode, steps; byte 1 if the episode is over; byte length
//	       and bytes of the name of the definition
//	frame: the state
const (
	savedMagic   = "evtk.trn"
	savedVersion = 1
	savedName    = "train: Load: "
)

// Save appends all of world i to dst: its state, its place in Seed and in the episode, and,
// with Config.Record, the actions for Export. A world that has not begun is ErrStale, any
// world behind a step that has failed ErrWorld. It panics if there is no such world.
func (b *Batch) Save(i int, dst []byte) ([]byte, error) {
	s := b.must(i)
	if b.failed != nil {
		return dst, b.failed
	}
	if s.stage == fresh {
		return dst, fault.Field(fault.ErrStale, "train: Save: Reset has not begun world", i)
	}
	e := frame.Begin(dst, savedMagic, savedVersion)
	at := e.Start()
	for _, v := range [...]uint64{s.seed, s.number, s.episode, uint64(s.steps)} {
		e.U64(v)
	}
	e.U8(s.stage - running)
	e.Name(b.def.Name)
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

// Load makes world i the one that Save has written, which then does what that one does, in
// any batch of the same definition: it keeps its number in Seed, not that of its new place, until Reset gives
// another seed.
// Data that is truncated, altered or contradicts itself is ErrCorrupt; of another definition
// or format, with more steps than an episode has here, or over in a batch of SameStep,
// ErrUnsupported; an altered floating-point environment ErrFloatEnv. The world is then as it
// was. It panics if there is no such world. Observe shows what it has become.
func (b *Batch) Load(i int, data []byte) error {
	s := b.must(i)
	if b.failed != nil {
		return b.failed
	}
	d, err := frame.NewDecoder(data, savedName, savedMagic, savedVersion)
	if err != nil {
		return err
	}
	loaded, err := b.readHead(&d)
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
	*s = loaded
	return nil
}

// readHead reads the first frame.
func (b *Batch) readHead(d *frame.Decoder) (s slot, err error) {
	h, err := d.Next("head")
	if err != nil {
		return s, err
	}
	r := wire.NewReader(h)
	s = slot{seed: r.U64(), number: r.U64(), episode: r.U64()}
	steps, over, name := r.U64(), r.U8(), string(r.Name())
	s.steps, s.stage = int64(steps), running+over
	if r.Done() != nil || over > 1 {
		return s, d.Corrupt("head", len(h))
	}
	if name != b.def.Name {
		return s, fmt.Errorf("%w, this one is %q", fault.Field(fault.ErrUnsupported, savedName+"definition", fmt.Sprintf("%.80q", name)), b.def.Name)
	}
	if steps > maxSteps || b.limit > 0 && (steps > uint64(b.limit) || steps == uint64(b.limit) && s.stage == running) {
		return s, fault.Field(fault.ErrUnsupported, savedName+"steps of an episode", steps)
	}
	if s.stage == ended && b.cfg.Autoreset == SameStep {
		return s, fault.Field(fault.ErrUnsupported, savedName+"an episode that is over, in mode", b.cfg.Autoreset)
	}
	return s, nil
}

// Fork makes world to a copy of world from, as Save and Load do: given the same actions both
// do the same. It panics if there is no such world.
func (b *Batch) Fork(from, to int) error {
	b.must(to)
	data, err := b.Save(from, b.saved[:0])
	if err != nil {
		return err
	}
	b.saved = data
	return b.Load(to, data)
}

// Exported is what Batch.Export has written.
type Exported struct {
	Scenario string
	Seed     uint64 // of the episode
	Steps    int    // of it
	Ticks    uint64 // of the Sim, with the one that begins it
	Hash     uint64 // of the Sim behind the last
}

// Export runs the episode that world i has taken its last step in once more, from its
// beginning to that step, writes it into a log of package worldlog in dir, which must hold
// none, and checks that it ends in the same state. The log can be verified, looked at and
// forked by package replay and the scenario of that name. It is ErrUnsupported without
// Config.Record, which worlds that run no Sim do not have, and of a world that
// was loaded from a batch without; ErrStale of a world that has not begun. It panics if there is
// no such world.
func (b *Batch) Export(i int, dir string) (Exported, error) {
	s := b.must(i)
	if !b.cfg.Record {
		return Exported{}, fault.Field(fault.ErrUnsupported, "train: Export: Config.Record", false)
	}
	if s.stage == fresh {
		return Exported{}, fault.Field(fault.ErrStale, "train: Export: Reset has not begun world", i)
	}
	ex, err := b.worlds.(Exporter).Export(i, dir)
	if err != nil {
		return ex, fmt.Errorf("train: Export: world %d: %w", i, err)
	}
	return ex, nil
}
