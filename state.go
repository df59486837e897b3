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
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/native"
)

// State is what a system keeps between ticks outside the world: queues, timers, handles. With
// AddState it becomes part of Snapshot and of Hash.
type State interface {
	// AppendState appends to dst everything that decides what the system will do. Equal states give
	// equal bytes, on every machine: numbers in a fixed byte order, nothing in the order of a map.
	// It is called at the end of each tick. If it allocates, so does the tick.
	AppendState(dst []byte) []byte
	// RestoreState replaces the state by what AppendState has written. It reads nothing but src,
	// does not keep src, and after an error the state is as it was.
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

// AddState adds what systems keep outside the world to Snapshot and, as column "state.<name>", to
// Hash, from the next step on. A name that is taken, or not 1 to 255 bytes of UTF-8, is ErrRange.
// Check also reports these errors. It panics if st is nil.
func (s *Sim) AddState(name string, st State) error {
	if st == nil {
		panic("evertick: AddState: nil state")
	}
	return s.addState("evertick: AddState", name, st)
}

func (s *Sim) addState(caller, name string, st State) error {
	i, taken := slices.BinarySearchFunc(s.states, name, func(n namedState, name string) int { return cmp.Compare(n.name, name) })
	if taken || name == "" || len(name) > 255 || !utf8.ValidString(name) {
		return s.keepFault(fault.Field(ErrRange, caller+": name", name))
	}
	s.states = slices.Insert(s.states, i, namedState{name, stateColumn + name, st})
	return nil
}

// The format of a snapshot, all little-endian:
//
//	"evtk.sim"  uint32 version
//	frame: uint32 SimVersion, bits of Dt, states, hashes; uint64 ticks, seed, hash; a byte with the
//	       mode, if it or the next is not 0; bits of the origin along the third axis, if it is not 0
//	frame: the hashes: for each uint64 hash and name, a byte with its length and its bytes
//	frame: the snapshot of the world
//	frame: the snapshot of the physics
//	frame: the events of its last step
//	frame: the owners of bodies, in ascending slots: for each uint64 id and body
//	frame: commands that wait
//	frame: inputs that wait
//	frame: points of the index; empty if they are where the entities are
//	frames of the states, by name: name, and its bytes
//	two frames for each solver that was attached, in their order: name, and its bytes; and the owners
//	of its bodies, as above
//
// Package frame defines the frames, and each of the parts its own content.
const (
	snapshotMagic   = "evtk.sim"
	snapshotVersion = 1
	snapshotName    = "evertick: snapshot: "

	headerBytes = 4*4 + 3*8
	ownerBytes  = 2 * 8
)

// part is a part of the state. A new kind of state is another entry of parts, or a State of AddState: Snapshot, Restore, CopyFrom
// and Hash go through all of them, in the order of the snapshot.
type part struct {
	name string // in errors of Restore
	// encode appends the part to a snapshot.
	encode func(s *Sim, dst []byte) ([]byte, error)
	// check prepares for replace what encode has appended. It changes nothing that shows.
	check func(s *Sim, data []byte) error
	// copy prepares for replace the part of another Sim. nil: encode and check do.
	copy func(s, src *Sim) error
	// replace makes what was prepared the state. nil: another part or restoreOutside does.
	replace func(s *Sim) error
	// hash appends the hashes of the part. nil: hashes do not cover it, or appendHashes names it.
	hash func(s *Sim, dst []ecs.ColumnHash) []ecs.ColumnHash
}

var parts = [...]part{
	{name: "header", encode: (*Sim).encodeHeader, check: (*Sim).checkHeader, replace: (*Sim).replaceHeader},
	{name: "hashes", encode: (*Sim).encodeHashes, check: (*Sim).checkHashes, copy: (*Sim).copyHashes, replace: (*Sim).replaceHashes},
	worldPart: {
		name:   "world",
		encode: func(s *Sim, dst []byte) ([]byte, error) { return s.World.Snapshot(dst), nil },
		check:  func(s *Sim, data []byte) error { return s.World.Prepare(data) },
		copy:   func(s, src *Sim) error { return s.World.PrepareCopy(src.World) },
		// replaceBodies replaces the world, too, after the bodies: what it releases may look at them.
		hash: func(s *Sim, dst []ecs.ColumnHash) []ecs.ColumnHash { return s.World.AppendColumnHashes(dst) },
	},
	{
		name:    "physics",
		encode:  func(s *Sim, dst []byte) ([]byte, error) { return s.Physics.Snapshot(dst) },
		check:   func(s *Sim, data []byte) error { return s.solvers[0].prepare(data) },
		copy:    func(s, src *Sim) error { return s.solvers[0].prepareCopy(src.solvers[0]) },
		replace: (*Sim).replaceBodies,
		hash:    func(s *Sim, dst []ecs.ColumnHash) []ecs.ColumnHash { return s.solvers[0].appendHashes(dst) },
	},
	{
		name:   "events", // which replaceBodies replaces
		encode: func(s *Sim, dst []byte) ([]byte, error) { return s.Physics.AppendEvents(dst), nil },
		check:  func(s *Sim, data []byte) error { return s.Physics.PrepareEvents(data) },
		copy:   func(s, src *Sim) error { return nil }, // Physics.PrepareCopy copies them
	},
	{
		name:    "owners",
		encode:  func(s *Sim, dst []byte) ([]byte, error) { return s.solvers[0].encodeOwners(dst), nil },
		check:   func(s *Sim, data []byte) error { return s.solvers[0].checkOwners(data) },
		copy:    func(s, src *Sim) error { return nil }, // replaceOwners reads them from src
		replace: (*Sim).replaceOwners,
	},
	{
		name:    "commands",
		encode:  func(s *Sim, dst []byte) ([]byte, error) { return s.commands.Snapshot(dst), nil },
		check:   func(s *Sim, data []byte) error { return s.commands.Prepare(data) },
		replace: func(s *Sim) error { s.commands.Commit(); return nil },
	},
	{
		name:   "inputs", // which restoreOutside replaces
		encode: func(s *Sim, dst []byte) ([]byte, error) { return s.inputs.encode(dst), nil },
		check:  func(s *Sim, data []byte) error { s.restoring.inputs = data; return nil },
	},
	{name: "index", encode: (*Sim).encodeIndex, check: (*Sim).checkIndex, copy: (*Sim).copyIndex, replace: (*Sim).replaceIndex},
}

// worldPart is the index of the world in parts.
const worldPart = 2

// Snapshot appends the state of the simulation to dst, like the Append functions of strconv, and
// returns the extended slice: the world, the bodies and their owners, what Physics.Events returns
// of the last step, the index, commands and inputs that wait, ticks, seed, mode, timers, and what
// Attach and AddState have added. A Sim that is restored from it continues as this one does, bit for bit, as
// long as systems keep nothing else. A snapshot does not contain the systems themselves, the
// transforms of the tick before (see Config.Previous), or the loop, which follows the clock of the
// host. To allocate nothing, pass the previous result cut to [:0].
//
// Call it between ticks, or in an AfterTick hook: from within a step it panics. A Sim that has
// failed returns its error, and another engine than that of package physics ErrUnsupported; dst is
// then returned unchanged.
func (s *Sim) Snapshot(dst []byte) ([]byte, error) {
	if s.stepping && !s.inAfterTick {
		panic("evertick: Snapshot within a step")
	}
	if s.failed != nil && !s.inAfterTick {
		return dst, s.failed
	}
	out, err := s.encode(dst)
	if err != nil {
		return dst, err
	}
	return out, nil
}

func (s *Sim) encode(dst []byte) ([]byte, error) {
	if s.moveErr != nil {
		return dst, s.moveErr
	}
	s.releaseStaleBodies()
	s.hashIfDue()
	e, fits := frame.Begin(dst, snapshotMagic, snapshotVersion), true
	for i := range parts {
		at := e.Start()
		var err error
		if e.Buf, err = parts[i].encode(s, e.Buf); err != nil {
			return nil, fmt.Errorf("evertick: Snapshot: %w", err)
		}
		fits = e.Finish(at)
	}
	for i := range s.states {
		at := e.Start()
		e.Name(s.states[i].name)
		e.Buf = s.states[i].state.AppendState(e.Buf)
		fits = e.Finish(at)
	}
	for _, v := range s.solvers[1:] {
		var err error
		if fits, err = v.encode(&e); err != nil {
			return nil, fmt.Errorf("evertick: Snapshot: solver %q: %w", v.Name, err)
		}
	}
	if !fits {
		return nil, fault.Field(ErrCapacity, "evertick: Snapshot: bytes", len(e.Buf)-len(dst))
	}
	return e.Buf, nil
}

// restoring is a snapshot that is being restored, or another Sim that is being copied.
type restoring struct {
	frame.Decoder
	call              string // of errors
	src               *Sim   // nil: a snapshot
	ticks, seed, hash uint64
	mode              uint8
	third             float64
	hashCount         uint32
	hashes            []ecs.ColumnHash
	inputs, index     []byte
	states            [][]byte
	backups           []byte // of states that are replaced, for when a later one fails
	ends              []int  // in backups
}

// Restore replaces the state by a snapshot's. The snapshot may come from a Sim of another
// capacity, level or number of workers, with the same rate and rules, systems and states; the seed
// becomes the snapshot's. Handles to columns and tags stay valid. ecs.World.Restore says what
// happens to columns that only the snapshot or only this Sim has, and physics.World.Restore says it
// for bodies and handles to them. Hash is that at the snapshot. A Sim that has failed can go on.
// Observers are not called; what other bindings hold is released if its entity is gone. The inputs
// that wait in the snapshot replace those that wait here, and the history starts anew. Restore
// allocates nothing once it has restored a state as large.
//
// Data that is truncated, altered or contradicts itself is ErrCorrupt. Data of another format
// version, SimVersion, rate, rules or set of states, or with a column of another type, is
// ErrUnsupported. More entities, bodies or inputs than fit are ErrCapacity. The error of a State is
// returned with its name. After any of these the Sim is as it was. After ErrFloatEnv it is as it
// was too, or it has failed if a goroutine other than the caller's has found the error. Restore
// panics within a step.
func (s *Sim) Restore(data []byte) error {
	if s.stepping {
		panic("evertick: Restore within a step")
	}
	err := s.restore(data)
	if err == nil {
		s.startAnew()
	}
	return err
}

// CopyFrom replaces the state by that of src. It does what Restore does with a snapshot of src, and
// has the same errors, but does not encode the world, the bodies and the index, so it takes a
// fraction of the time. Afterwards the next steps of both give the same hashes. src is not changed.
// A copy from s itself does nothing.
//
// Call it between ticks of both, or in an AfterTick hook of src; within any other part of a step it
// panics. If src has failed, CopyFrom returns its error. It allocates nothing once s has held a
// state as large, with columns of all these names, as long as the states of AddState do not allocate.
func (s *Sim) CopyFrom(src *Sim) error {
	if s == src {
		return nil
	}
	switch {
	case src == nil:
		panic("evertick: CopyFrom from a nil Sim")
	case s.stepping, src.stepping && !src.inAfterTick:
		panic("evertick: CopyFrom within a step")
	case src.failed != nil && !src.inAfterTick:
		return src.failed
	case src.moveErr != nil:
		return src.moveErr
	}
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("evertick: CopyFrom: %w", err)
	}
	err := s.replace(s.prepareCopy(src))
	if err == nil {
		s.startAnew()
	}
	return err
}

// startAnew resets what depends on the ticks before a Restore.
func (s *Sim) startAnew() {
	s.history.Clear()
	s.inputs.takeArrived(false)
}

// restore is Restore without the history.
func (s *Sim) restore(data []byte) error {
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("evertick: Restore: %w", err)
	}
	return s.replace(s.prepare(data))
}

// replace replaces the state by the one that was prepared, unless there is an error: that of
// preparing it, or of what can be checked only while it is restored.
func (s *Sim) replace(err error) error {
	if err == nil {
		err = s.restoreOutside()
	}
	if err != nil {
		s.World.Discard()
		for _, v := range s.solvers {
			v.discard()
		}
		s.restoring.reset()
		return err
	}
	return s.commit()
}

// prepare checks everything in a snapshot that can be checked without changing the Sim.
func (s *Sim) prepare(data []byte) (err error) {
	r := &s.restoring
	r.call = snapshotName
	if r.Decoder, err = frame.NewDecoder(data, snapshotName, snapshotMagic, snapshotVersion); err != nil {
		return err
	}
	for i := range parts {
		content, err := r.Next(parts[i].name)
		if err != nil {
			return err
		}
		if err := parts[i].check(s, content); err != nil {
			return err
		}
	}
	r.states = r.states[:0]
	for i := range s.states {
		b, err := r.Next("state")
		if err != nil {
			return err
		}
		in := wire.NewReader(b)
		name := in.Name()
		if in.Err() != nil {
			return r.Corrupt("name of a state", len(b))
		}
		if string(name) != s.states[i].name {
			return r.otherState(string(name), s.states[i].name)
		}
		r.states = append(r.states, in.Rest())
	}
	return s.prepareAttached()
}

// prepareCopy does the part of CopyFrom that can fail, as prepare does for Restore.
func (s *Sim) prepareCopy(src *Sim) (err error) {
	src.releaseStaleBodies()
	src.hashIfDue()
	r := &s.restoring
	r.src, r.call = src, "evertick: CopyFrom: "
	s.copyBuffer = s.copyBuffer[:0]
	for i := range parts {
		if p := &parts[i]; p.copy != nil {
			err = p.copy(s, src)
		} else {
			err = s.copyEncoded(src, p.encode, p.check)
		}
		if err != nil {
			return err
		}
	}
	r.states = r.states[:0]
	for i := range src.states {
		n := &src.states[i]
		if n.name != s.states[i].name {
			return r.otherState(n.name, s.states[i].name)
		}
		from := len(s.copyBuffer)
		s.copyBuffer = n.state.AppendState(s.copyBuffer)
		r.states = append(r.states, slices.Clip(s.copyBuffer[from:]))
	}
	return s.copyAttached(src)
}

// copyEncoded prepares a part of another Sim through its bytes.
func (s *Sim) copyEncoded(src *Sim, encode func(*Sim, []byte) ([]byte, error), check func(*Sim, []byte) error) (err error) {
	from := len(s.copyBuffer)
	if s.copyBuffer, err = encode(src, s.copyBuffer); err != nil {
		return err
	}
	return check(s, slices.Clip(s.copyBuffer[from:]))
}

// otherState returns the error for a state of another name than this Sim's.
func (r *restoring) otherState(name, own string) error {
	return fmt.Errorf("%w, where this Sim has %q", fault.Field(ErrUnsupported, r.call+"state", fmt.Sprintf("%.40q", name)), own)
}

// restoreOutside restores states and inputs, which can refuse the data only while they are
// restored. If one refuses, it puts back those that it has changed.
func (s *Sim) restoreOutside() error {
	r, failed := &s.restoring, s.failed
	r.backups, r.ends = r.backups[:0], r.ends[:0]
	for i := range s.states {
		n := &s.states[i]
		r.backups = n.state.AppendState(r.backups)
		r.ends = append(r.ends, len(r.backups))
		s.failed = errInterrupted // in case it panics
		err := n.state.RestoreState(r.states[i])
		s.failed = failed
		if err != nil {
			return errors.Join(fmt.Errorf("evertick: Restore: state %q: %w", n.name, err), s.rollBackStates(i))
		}
	}
	if err := s.inputs.decode(r.inputs); err != nil {
		return errors.Join(err, s.rollBackStates(len(s.states)))
	}
	return nil
}

// rollBackStates restores the first n states from their backups. If one refuses, the Sim has
// failed.
func (s *Sim) rollBackStates(n int) (err error) {
	r, from := &s.restoring, 0
	for i := range n {
		to := r.ends[i]
		if e := s.states[i].state.RestoreState(r.backups[from:to:to]); e != nil {
			err = fmt.Errorf("evertick: Restore: state %q does not take back what it had: %w", s.states[i].name, e)
			s.failed = err
		}
		from = to
	}
	return err
}

// commit replaces everything else.
func (s *Sim) commit() (err error) {
	s.failed = errInterrupted // in case a release panics
	defer s.restoring.reset()
	for i := range parts {
		if replace := parts[i].replace; replace != nil && err == nil {
			err = replace(s)
		}
	}
	s.failed = err
	return err
}

// reset drops the data of the snapshot, and keeps its own memory.
func (r *restoring) reset() {
	clear(r.states)
	*r = restoring{hashes: r.hashes, states: r.states[:0], backups: r.backups, ends: r.ends}
}

func (s *Sim) encodeHeader(dst []byte) ([]byte, error) {
	dst = wire.AppendU32s(dst, SimVersion, math.Float32bits(s.dt), uint32(len(s.states)), uint32(len(s.hashes)))
	dst = wire.AppendU64s(dst, s.ticks, s.seed, s.hash)
	if s.mode != 0 || s.third != 0 {
		dst = append(dst, s.mode)
	}
	if s.third != 0 {
		dst = wire.AppendU64s(dst, math.Float64bits(s.third))
	}
	return dst, nil
}

func (s *Sim) checkHeader(data []byte) error {
	r := &s.restoring
	n := len(data)
	if n != headerBytes && n != headerBytes+1 && n != headerBytes+1+8 {
		return r.Corrupt("length of the header", n)
	}
	in := wire.NewReader(data)
	if v := in.U32(); v != SimVersion {
		return fault.Field(ErrUnsupported, r.call+"SimVersion", v)
	}
	if dt := in.F32(); math.Float32bits(dt) != math.Float32bits(s.dt) {
		return fault.Field(ErrUnsupported, r.call+"Config.Loop: length of a tick in seconds", dt)
	}
	states := in.U32()
	r.hashCount = in.U32()
	r.ticks, r.seed, r.hash, r.mode, r.third = in.U64(), in.U64(), in.U64(), 0, 0
	if in.Len() > 0 {
		if r.mode = in.U8(); r.mode == 0 && n == headerBytes+1 || r.mode >= modes {
			return r.Corrupt("mode", r.mode)
		}
	}
	if in.Len() > 0 {
		if r.third = math.Float64frombits(in.U64()); !validThird(r.third) || r.third == 0 {
			return r.Corrupt("origin along the third axis", r.third)
		}
	}
	if states != uint32(len(s.states)) {
		return fmt.Errorf("%w, this Sim has %d", fault.Field(ErrUnsupported, r.call+"states", states), len(s.states))
	}
	return nil
}

func (s *Sim) replaceHeader() error {
	r := &s.restoring
	s.ticks, s.seed, s.mode, s.third = r.ticks, r.seed, r.mode, r.third
	return nil
}

func (s *Sim) encodeHashes(dst []byte) ([]byte, error) {
	for i := range s.hashes {
		dst = wire.AppendName(wire.AppendU64s(dst, s.hashes[i].Hash), s.hashes[i].Name)
	}
	return dst, nil
}

// checkHashes reads the hashes. To allocate nothing it reuses the names that the Sim has. They come
// in the same order, but some exist only while their columns hold something.
func (s *Sim) checkHashes(data []byte) error {
	r := &s.restoring
	r.hashes = r.hashes[:0]
	in, from := wire.NewReader(data), 0
	for range r.hashCount {
		h, name := ecs.ColumnHash{Hash: in.U64()}, in.Name()
		if in.Err() != nil {
			return r.Corrupt("hashes", r.hashCount)
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
		r.hashes = append(r.hashes, h)
	}
	if in.Len() > 0 || ecs.Fold(r.hashes) != r.hash {
		return r.Corrupt("hash", fmt.Sprintf("%#x", r.hash))
	}
	return nil
}

func (s *Sim) copyHashes(src *Sim) error {
	s.restoring.hashes = append(s.restoring.hashes[:0], src.hashes...)
	return nil
}

func (s *Sim) replaceHashes() error {
	r := &s.restoring
	s.hash, s.hashDue = r.hash, false
	s.hashes, r.hashes = r.hashes, s.hashes
	return nil
}

// replaceBodies replaces the bodies of all solvers and then the world.
func (s *Sim) replaceBodies() error {
	for _, v := range s.solvers {
		v.owners.UnbindAll() // without destroying the bodies, which are replaced
		v.Commit()
	}
	s.World.Commit()
	s.generation, s.moveErr = s.World.Generation(), nil
	return nil
}

func (s *Sim) replaceOwners() error {
	for i, v := range s.solvers {
		if src := s.restoring.src; src != nil {
			v.replaceOwners(src.solvers[i])
		} else {
			v.replaceOwners(nil)
		}
	}
	return nil
}

// encodeIndex appends the points of the index, or nothing if they are where the entities are.
func (s *Sim) encodeIndex(dst []byte) ([]byte, error) {
	if p := &s.World.Position; !s.Index.Indexes(p.X, p.Y, p.Z, s.World.LiveMask()) {
		dst = s.Index.Snapshot(dst)
	}
	return dst, nil
}

func (s *Sim) checkIndex(data []byte) error {
	s.restoring.index = data
	if len(data) == 0 {
		return nil
	}
	return s.Index.CheckSnapshot(data, s.World.Cap())
}

func (s *Sim) copyIndex(src *Sim) error {
	if src.World.Cap() == s.World.Cap() {
		return nil // replaceIndex copies it
	}
	return s.copyEncoded(src, (*Sim).encodeIndex, (*Sim).checkIndex)
}

func (s *Sim) replaceIndex() error {
	if src := s.restoring.src; src != nil && src.World.Cap() == s.World.Cap() {
		return s.Index.CopyFrom(src.Index)
	}
	if len(s.restoring.index) > 0 {
		return s.Index.Restore(s.restoring.index)
	}
	err := s.buildIndex(nil)
	if errors.Is(err, ErrNotFinite) { // the snapshot was forged: the next step reports it
		err = s.Index.Build(nil, nil, nil, nil)
	}
	return err
}
