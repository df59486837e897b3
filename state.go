package evertick

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// State is what a system keeps between ticks outside the world: queues, timers, handles.
// With AddState it becomes part of Snapshot and of Hash.
type State interface {
	// AppendState appends all that decides what the system will do to dst. Equal states
	// give equal bytes, on every machine: numbers in a fixed byte order, nothing in the
	// order of a map. It is called at the end of each tick, and must not allocate if the
	// tick is not to.
	AppendState(dst []byte) []byte
	// RestoreState replaces the state by what AppendState has written. It reads nothing
	// but src, does not keep it, and leaves all as it was if there is an error.
	RestoreState(src []byte) error
}

// namedState is a State that was added.
type namedState struct {
	name   string
	column string // in the hash
	state  State
}

// stateColumn precedes the name of a State in the hash.
const stateColumn = "state."

// AddState adds what systems keep outside the world to Snapshot and, as column
// "state.<name>", to Hash, from the next step on. A name that is taken, or not 1 to 255
// bytes of UTF-8, is ErrRange. It panics if st is nil.
func (s *Sim) AddState(name string, st State) error {
	if st == nil {
		panic("evertick: AddState: nil state")
	}
	i, taken := s.findState(name)
	if taken || name == "" || len(name) > 255 || !utf8.ValidString(name) {
		return fault.Field(ErrRange, "evertick: AddState: name", name)
	}
	s.states = slices.Insert(s.states, i, namedState{name, stateColumn + name, st})
	return nil
}

func (s *Sim) findState(name string) (int, bool) {
	return slices.BinarySearchFunc(s.states, name, func(n namedState, name string) int { return cmp.Compare(n.name, name) })
}

// hashStates appends the hashes of what systems keep.
func (s *Sim) hashStates() {
	for i := range s.states {
		n := &s.states[i]
		s.stateBytes = n.state.AppendState(s.stateBytes[:0])
		s.hashes = append(s.hashes, ecs.ColumnHash{Name: n.column, Hash: statehash.Bytes(s.stateBytes, 1, false)})
	}
}

// A snapshot is, all little-endian:
//
//	"evtk.sim"  uint32 version
//	frame: uint32 SimVersion, bits of Dt, states, hashes; uint64 ticks, seed, hash
//	frame: the hashes: for each uint64 hash and name, a byte that says its length and its bytes
//	frame: the snapshot of the world
//	frame: the snapshot of the physics
//	frame: the events of its last step
//	frame: who owns bodies, in ascending slots: for each uint64 id and body
//	frame: commands that wait
//	frame: inputs that wait
//	frame: points of the index; empty if they are where the entities are
//	frames of the states, by name: name, and its bytes
//
// Package frame has the frames. Each of the parts says what is in it.
const (
	snapshotMagic   = "evtk.sim"
	snapshotVersion = 1
	snapshotName    = "evertick: snapshot: "

	headerBytes = 4*4 + 3*8
	ownerBytes  = 2 * 8
)

// Snapshot appends the state of the simulation to dst, like the Append functions of
// strconv, and returns the extended slice: the world, the bodies and who owns them, what
// Physics.Events tells of the last step, the index, commands and inputs that wait, ticks, seed, and what AddState has added. A Sim
// that is restored from it goes on as this one does, bit for bit, as far as
// systems keep nothing else. Not in it are the systems themselves,
// the transforms of the tick before (see Config.Previous), and the loop, which follows the
// clock of the host. Pass the previous result cut to [:0] to allocate nothing.
//
// It is taken between ticks, or by a hook behind one: from within a step it panics. A Sim
// that has failed is refused with its error, and another engine than that of package
// physics with ErrUnsupported; dst is returned as it was then.
func (s *Sim) Snapshot(dst []byte) ([]byte, error) {
	if s.stepping && !s.whole {
		panic("evertick: Snapshot within a step")
	}
	if s.failed != nil && !s.whole {
		return dst, s.failed
	}
	s.endRestored()
	out, err := s.encode(dst)
	if err != nil {
		return dst, err
	}
	return out, nil
}

func (s *Sim) encode(dst []byte) ([]byte, error) {
	e := frame.Begin(dst, snapshotMagic, snapshotVersion)
	e.Open(headerBytes)
	e.U32(SimVersion)
	e.F32(s.dt)
	e.U32(len(s.states))
	e.U32(len(s.hashes))
	e.U64(s.n)
	e.U64(s.seed)
	e.U64(s.hash)
	e.Seal()

	at := e.Start()
	for i := range s.hashes {
		e.U64(s.hashes[i].Hash)
		e.Name(s.hashes[i].Name)
	}
	fits := e.Finish(at)

	at = e.Start()
	e.Buf = s.World.Snapshot(e.Buf)
	fits = e.Finish(at) && fits

	var err error
	at = e.Start()
	if e.Buf, err = s.Physics.Snapshot(e.Buf); err != nil {
		return nil, fmt.Errorf("evertick: Snapshot: %w", err)
	}
	fits = e.Finish(at) && fits
	at = e.Start()
	e.Buf = s.Physics.AppendEvents(e.Buf)
	fits = e.Finish(at) && fits

	e.Open(ownerBytes * s.bodies.Len())
	for id, body := range s.bodies.All() {
		e.U64(uint64(id))
		e.U64(body.Bits())
	}
	e.Seal()

	at = e.Start()
	e.Buf = s.commands.Snapshot(e.Buf)
	fits = e.Finish(at) && fits
	at = e.Start()
	e.Buf = s.inputs.encode(e.Buf)
	fits = e.Finish(at) && fits
	at = e.Start()
	if p := &s.World.Position; !s.Index.Indexes(p.X, p.Y, p.Z, s.World.LiveMask()) {
		e.Buf = s.Index.Snapshot(e.Buf)
	}
	e.Finish(at)
	for i := range s.states {
		at = e.Start()
		e.Name(s.states[i].name)
		e.Buf = s.states[i].state.AppendState(e.Buf)
		fits = e.Finish(at) && fits
	}
	if !fits {
		return nil, fault.Field(ErrCapacity, "evertick: Snapshot: bytes", len(e.Buf)-len(dst))
	}
	return e.Buf, nil
}

// image is a snapshot that was checked.
type image struct {
	frame.Decoder
	ticks, seed, hash               uint64
	hashes                          []ecs.ColumnHash
	owners, commands, inputs, index []byte
	states                          [][]byte
	backups                         []byte // of states that are replaced, for when a later one fails
	ends                            []int  // in backups
}

// Restore replaces the state by that of a snapshot, which may come from a Sim of another
// capacity, level or number of workers, with the same rate and rules, systems and states;
// the seed is that of the snapshot. Handles to columns and tags stay; columns
// that only the snapshot or only this Sim has are treated as by ecs.World.Restore, bodies and
// handles to them as by physics.World.Restore. Hash is that at the snapshot. A Sim that has
// failed goes on. Observers are told nothing; what other bindings hold is released if its
// entity is gone. Inputs that wait here are forgotten for those of the snapshot, and the
// history begins anew. It
// allocates nothing once a state as large was restored.
//
// Data that is truncated, altered or contradicts itself is ErrCorrupt; of another format
// version, SimVersion, rate, rules or set of states, or with a column of another type,
// ErrUnsupported; more entities, bodies or inputs than fit, ErrCapacity. The error of a State
// is returned with its name. The Sim is then as it was. ErrFloatEnv leaves it as it was, or
// failed if a goroutine beside the caller's has found it. It panics within a step.
func (s *Sim) Restore(data []byte) error {
	if s.stepping {
		panic("evertick: Restore within a step")
	}
	err := s.restore(data)
	if err == nil {
		s.history.clear()
		s.inputs.forgetArrived(false)
	}
	return err
}

// restore is Restore without what belongs to the history.
func (s *Sim) restore(data []byte) error {
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("evertick: Restore: %w", err)
	}
	err := s.prepare(data)
	if err == nil {
		err = s.restoreOutside()
	}
	if err != nil {
		s.World.Discard()
		s.Physics.Discard()
		s.incoming.forget()
		return err
	}
	return s.commit()
}

// CopyFrom replaces the state by that of src, as Restore does by that of a snapshot of it,
// with the same errors. A copy from s itself does nothing.
func (s *Sim) CopyFrom(src *Sim) error {
	if s == src {
		return nil
	}
	var err error
	if s.copied, err = src.Snapshot(s.copied[:0]); err != nil {
		return err
	}
	return s.Restore(s.copied)
}

// prepare checks all of a snapshot that does not need to be tried.
func (s *Sim) prepare(data []byte) error {
	d, err := frame.NewDecoder(data, snapshotName, snapshotMagic, snapshotVersion)
	im := &s.incoming
	im.Decoder = d
	if err == nil {
		err = im.header(s)
	}
	for _, part := range [...]struct {
		name string
		read func(*Sim, []byte) error
	}{
		{"world", (*Sim).prepareWorld}, {"physics", (*Sim).preparePhysics}, {"events", (*Sim).prepareEvents}, {"owners", (*Sim).prepareOwners},
		{"commands", (*Sim).prepareCommands}, {"inputs", (*Sim).prepareInputs}, {"index", (*Sim).prepareIndex},
	} {
		if err != nil {
			return err
		}
		var content []byte
		if content, err = im.Next(part.name); err == nil {
			err = part.read(s, content)
		}
	}
	if err == nil {
		err = im.readStates(s)
	}
	if err == nil {
		err = im.Done()
	}
	return err
}

func (im *image) header(s *Sim) error {
	b, err := im.Next("header")
	if err != nil {
		return err
	}
	if len(b) != headerBytes {
		return im.Corrupt("length of the header", len(b))
	}
	r := wire.NewReader(b)
	if v := r.U32(); v != SimVersion {
		return fault.Field(ErrUnsupported, snapshotName+"SimVersion", v)
	}
	if dt := r.F32(); math.Float32bits(dt) != math.Float32bits(s.dt) {
		return fault.Field(ErrUnsupported, snapshotName+"Config.Loop: length of a tick in seconds", dt)
	}
	states, hashes := r.U32(), r.U32()
	im.ticks, im.seed, im.hash = r.U64(), r.U64(), r.U64()
	if states != uint32(len(s.states)) {
		return fmt.Errorf("%w, this Sim has %d", fault.Field(ErrUnsupported, snapshotName+"states", states), len(s.states))
	}
	if b, err = im.Next("hashes"); err != nil {
		return err
	}
	return im.readHashes(s, b, hashes)
}

// readHashes reads the hashes, and takes their names from those that are there: they stand in
// the same order, but some are there only while there is something in their columns.
func (im *image) readHashes(s *Sim, b []byte, n uint32) error {
	im.hashes = im.hashes[:0]
	r, from := wire.NewReader(b), 0
	for range n {
		h, name := ecs.ColumnHash{Hash: r.U64()}, r.Name()
		if r.Err() != nil {
			return im.Corrupt("hashes", n)
		}
		at := from
		for at < len(s.hashes) && s.hashes[at].Name != string(name) {
			at++
		}
		if at < len(s.hashes) {
			h.Name, from = s.hashes[at].Name, at+1
		} else {
			h.Name = string(name)
		}
		im.hashes = append(im.hashes, h)
	}
	if r.Len() > 0 || ecs.Fold(im.hashes) != im.hash {
		return im.Corrupt("hash", fmt.Sprintf("%#x", im.hash))
	}
	return nil
}

func (s *Sim) prepareWorld(data []byte) error { return s.World.Prepare(data) }

// preparePhysics knows that the world of the snapshot fits: a body of an entity that does
// not is none of that world.
func (s *Sim) preparePhysics(data []byte) error {
	err := s.Physics.Prepare(data)
	if errors.Is(err, fault.ErrBeyond) {
		return fmt.Errorf("evertick: Restore: %v: %w", err, ErrCorrupt)
	}
	return err
}

func (s *Sim) prepareEvents(data []byte) error { return s.Physics.PrepareEvents(data) }

func (s *Sim) prepareOwners(data []byte) error {
	if len(data)%ownerBytes != 0 {
		return s.incoming.Corrupt("length of the owners", len(data))
	}
	s.incoming.owners = data
	last := -1
	for i := 0; i < len(data)/8; i += 2 {
		id := ecs.ID(wire.U64At(data, i))
		slot, ok := s.World.PreparedSlot(id)
		if !ok || int(slot) <= last {
			return s.incoming.Corrupt("owner of a body", id)
		}
		last = int(slot)
	}
	return nil
}

func (s *Sim) prepareCommands(data []byte) error { return s.commands.Prepare(data) }

func (s *Sim) prepareInputs(data []byte) error {
	s.incoming.inputs = data
	return nil
}

func (s *Sim) prepareIndex(data []byte) error {
	s.incoming.index = data
	if len(data) == 0 {
		return nil
	}
	return s.Index.CheckSnapshot(data, s.World.Cap())
}

// readStates finds the frames of the states, which stand by name as those of the Sim do.
func (im *image) readStates(s *Sim) error {
	im.states = im.states[:0]
	for i := range s.states {
		b, err := im.Next("state")
		if err != nil {
			return err
		}
		r := wire.NewReader(b)
		name := r.Name()
		if r.Err() != nil {
			return im.Corrupt("name of a state", len(b))
		}
		if string(name) != s.states[i].name {
			return fmt.Errorf("%w, where this Sim has %q", fault.Field(ErrUnsupported, snapshotName+"state", fmt.Sprintf("%.40q", name)), s.states[i].name)
		}
		im.states = append(im.states, r.Rest())
	}
	return nil
}

// restoreOutside restores what can refuse it only by being asked to: states and inputs. It
// puts back those that it has changed if one does.
func (s *Sim) restoreOutside() error {
	im, was := &s.incoming, s.failed
	im.backups, im.ends = im.backups[:0], im.ends[:0]
	for i := range s.states {
		n := &s.states[i]
		im.backups = n.state.AppendState(im.backups)
		im.ends = append(im.ends, len(im.backups))
		s.failed = errInterrupted // for the case that it panics
		err := n.state.RestoreState(im.states[i])
		s.failed = was
		if err != nil {
			return errors.Join(fmt.Errorf("evertick: Restore: state %q: %w", n.name, err), s.putBack(i))
		}
	}
	if err := s.inputs.decode(im.inputs); err != nil {
		return errors.Join(err, s.putBack(len(s.states)))
	}
	return nil
}

// putBack gives the first n states what they had. If one refuses that, the Sim has failed.
func (s *Sim) putBack(n int) (err error) {
	im, from := &s.incoming, 0
	for i := range n {
		to := im.ends[i]
		if e := s.states[i].state.RestoreState(im.backups[from:to:to]); e != nil {
			err = fmt.Errorf("evertick: Restore: state %q does not take back what it had: %w", s.states[i].name, e)
			s.failed = err
		}
		from = to
	}
	return err
}

// commit replaces everything that is left.
func (s *Sim) commit() error {
	im := &s.incoming
	s.failed = errInterrupted // for the case that a release panics
	defer im.forget()
	s.bodies.UnbindAll() // their bodies are those of another life: there is nothing to destroy
	s.Physics.Commit()
	s.World.Commit()
	s.commands.Commit()
	s.n, s.seed, s.hash = im.ticks, im.seed, im.hash
	s.hashes, im.hashes = im.hashes, s.hashes
	s.generation = s.World.Generation()
	for r := wire.NewReader(im.owners); r.Len() > 0; {
		if err := s.bodies.Bind(ecs.ID(r.U64()), physics.BodyOfBits(r.U64())); err != nil {
			panic("evertick: Restore: owner was miscounted")
		}
	}
	s.failed = s.restoreIndex()
	return s.failed
}

func (s *Sim) restoreIndex() error {
	if len(s.incoming.index) > 0 {
		return s.Index.Restore(s.incoming.index)
	}
	err := s.buildIndex(nil)
	if errors.Is(err, ErrNotFinite) { // where somebody has forged the world: the next step will say so
		err = s.Index.Build(nil, nil, nil, nil)
	}
	return err
}

// forget lets go of the snapshot, and keeps its own memory.
func (im *image) forget() {
	clear(im.states)
	*im = image{hashes: im.hashes, states: im.states[:0], backups: im.backups, ends: im.ends}
}
