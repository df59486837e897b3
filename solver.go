package evertick

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/bodyview"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/physics"
)

// Solver moves entities by a state that it keeps outside the World. What it keeps for one entity is a body here, whatever it is:
// a number that only the solver interprets. The rigid bodies of Sim.Physics are moved by a Solver of the Sim, and those of package
// space by another one. Sim.Attach adds a Solver, as a part of the set-up:
//
//   - Two phases, Step and Sync, follow "physics.sync". So systems of BeforePhysics write forces and transforms before them,
//     and those of AfterPhysics see the new transforms.
//   - The state of the solver, and which entity has which body, are part of Snapshot, Restore, CopyFrom, Hash and Diff, and so of
//     histories, logs and replays.
//   - An entity has at most one body, of whichever solver. Its body is destroyed with it. Where Reorder moves the row of an
//     entity, its body follows.
//
// A nil function does nothing, except those that must not be nil. All are called on the goroutine of the call of the Sim that needs
// them, never two at once. As for systems, equal states and inputs must lead to equal bits.
//
// The zero value with Name and functions is ready for Attach. A Solver belongs to one Sim.
type Solver struct {
	// Name precedes the names of the phases, "<Name>.step" and "<Name>.sync", and of the columns in hashes. It is 1 to 200
	// bytes of UTF-8.
	Name string
	// Modes has bit m set if the phases run in mode m: see Sim.SetMode. 0: those of Config.PhysicsModes.
	Modes uint64

	// Step is a phase: it takes over what systems have written to the columns of entities since Sync, and moves the bodies by one
	// tick. It must not be nil.
	Step func(*Tick) error
	// Sync is a phase right after Step: it writes to the columns of entities where their bodies are now, and touches the
	// columns. For a body that was put elsewhere rather than moved it calls World.JumpAt.
	Sync func(*Tick) error
	// Skip is called in place of both in a tick of another mode. It clears the events of the last step.
	Skip func()
	// AppendWritten appends the slots of the entities whose columns were written to since Sync, so that Step will put their bodies
	// there: see Sim.Interpolate. It changes nothing. It is called only with Config.Previous.
	AppendWritten func(dst []ecs.Slot) []ecs.Slot

	// Destroy destroys the body of an entity that is despawned, whose row still exists. After World.Restore, which restores no
	// bodies, it is called for all of them before the next step. The body may be gone already, if the solver offers other ways to
	// destroy it. Destroy must not be nil.
	Destroy func(id ecs.ID, body uint64)
	// Valid reports whether a body exists. nil: until Destroy is called for it.
	Valid func(body uint64) bool
	// MoveSlots is called after a Reorder: what was in row s is in row to[s] now. The row has gone if that is physics.NoSlot, or
	// if to has no element s. Bodies need not care unless the solver keeps slots. Its error ends the next step.
	MoveSlots func(to []ecs.Slot) error
	// ShiftOrigin subtracts offset from all coordinates that the solver keeps, also from its copies of what Sync has written: see
	// Sim.ShiftOrigin. After an error nothing has changed.
	ShiftOrigin func(offset [3]float32) error
	// Origin returns the sum of the offsets of ShiftOrigin, which is a part of the state: see Sim.Origin. nil: the Sim keeps it.
	Origin func() [3]float64
	// SetWorkers replaces the number of goroutines that a step uses: see Sim.SetWorkers.
	SetWorkers func(workers int) error

	// Snapshot appends the state: all that decides what later steps do, and the events of the last step if systems read them.
	// It must not be nil.
	Snapshot func(dst []byte) ([]byte, error)
	// Prepare checks what Snapshot has appended, which may come from anywhere, and prepares it for Commit. Nothing has changed
	// then, after an error as well. data stays as it is until Commit or Discard. World.PreparedSlot returns the slots of
	// entities in the World that will be restored together with it. Prepare must not be nil.
	Prepare func(data []byte) error
	// PrepareCopy prepares a copy of the solver of the same name of another Sim, which does not change until Commit or
	// Discard. Its Data says whose state it is. nil: Snapshot and Prepare are used, which is slower.
	PrepareCopy func(src *Solver) error
	// Commit replaces the state by what was prepared. It cannot fail. The World is still that from before. It must not be nil.
	Commit func()
	// Discard drops what was prepared, if anything: something else could not be restored.
	Discard func()
	// AppendColumnHashes appends hashes of the state, with names that are unique in the solver. A name always stands for the same
	// thing; it may be missing in some ticks. It must not be nil.
	AppendColumnHashes func(dst []ecs.ColumnHash) []ecs.ColumnHash
	// Diff returns the first difference from the solver of the same name of another Sim, for the function Diff. Hashes show
	// what it does not find.
	Diff func(other *Solver) (d Difference, found bool)
	// Counts returns the numbers of bodies and contacts, and Awake that of the bodies that the next step will move. Both are added to Metrics,
	// Counts also to what package profile counts.
	Counts func() (bodies, contacts int)
	Awake  func() int
	// View is what package inspect shows of the bodies. nil: that an entity has one, and hashes. Only solvers of this module have it.
	View bodyview.View

	// Data is for the program, such as for PrepareCopy.
	Data any

	sim     *Sim // nil before Attach
	prefix  string
	columns []string // names of hashes with the prefix
	owners  *ecs.Binding[uint64]
	loaded  []byte // owners that were prepared
	ran     bool   // in the last tick
	// Slots of entities that jumpWritten has marked since the last step, ascending.
	written []ecs.Slot
}

// ownerColumn is the name of the hash of the entities that have bodies, without the prefix of the solver.
const ownerColumn = "Owner"

// Attach adds a solver, with its phases after those of the solvers that were attached before. A snapshot holds the solvers of its Sim,
// so Restore and CopyFrom need the same ones, in the same order. A name that is taken, by a phase or a solver, a name that is
// "body" or "state", empty or too long, a Solver that is attached already, and a call after the first tick has begun are ErrRange. Check also
// reports its errors. Attach panics if a function is nil that must not be.
func (s *Sim) Attach(v *Solver) error {
	if v == nil || v.Step == nil || v.Destroy == nil || v.Snapshot == nil || v.Prepare == nil || v.Commit == nil || v.AppendColumnHashes == nil {
		panic("evertick: Attach: nil Solver, Step, Destroy, Snapshot, Prepare, Commit or AppendColumnHashes")
	}
	const field = "evertick: Attach: "
	name := v.Name
	switch {
	case v.sim != nil:
		return s.keepFault(fault.Field(ErrRange, field+"Solver that is attached already", name))
	case s.begun:
		return fault.Field(ErrRange, field+"Solver after the first tick", name)
	case name == "" || len(name) > 200 || !utf8.ValidString(name) || name+"." == bodyPrefix || name+"." == stateColumn || s.phaseNamed(name+".step") != nil || s.phaseNamed(name+".sync") != nil:
		return s.keepFault(fault.Field(ErrRange, field+"Solver.Name", fmt.Sprintf("%.40q", name)))
	}
	v.Modes = cmp.Or(v.Modes, s.config.PhysicsModes)
	s.attach(v, name+".")
	return nil
}

// attach adds a solver whose columns have a prefix in hashes.
func (s *Sim) attach(v *Solver, prefix string) {
	v.sim, v.prefix = s, prefix
	v.owners = ecs.NewBinding(s.World, v.Destroy)
	s.solvers = append(s.solvers, v)
	s.Solvers = slices.Clone(s.solvers[1:])
	s.addOwnPhase(BeforePhysics, v.Name+".step", v.Modes, v.step, v.skip)
	if v.Sync != nil {
		s.addOwnPhase(BeforePhysics, v.Name+".sync", v.Modes, v.Sync, nil)
	}
}

// Create makes a body for an entity: it calls make with the row of the entity, and remembers the body that make returns, until one of
// both is gone. It is ErrStale if there is no such entity, ErrRange if the entity has a body of this solver or another one, or the error of
// make; there is no body then.
func (v *Solver) Create(id ecs.ID, make func(slot ecs.Slot) (body uint64, err error)) error {
	if v.sim == nil {
		panic("evertick: Solver.Create before Attach")
	}
	return v.create("evertick: "+v.Name+": Create", id, make)
}

func (v *Solver) create(call string, id ecs.ID, make func(slot ecs.Slot) (uint64, error)) error {
	s := v.sim
	slot, ok := s.World.Slot(id)
	if !ok {
		return fault.Field(ErrStale, call+": id", id)
	}
	s.releaseStaleBodies() // a later release would destroy the new body, which may reuse the place of an old one
	for _, other := range s.solvers {
		if _, has := other.Body(id); has {
			return fault.Field(ErrRange, call+": entity with a body", id)
		}
	}
	body, err := make(slot)
	if err != nil {
		return err
	}
	return v.owners.Bind(id, body)
}

// Body returns the body of an entity that this solver has.
func (v *Solver) Body(id ecs.ID) (body uint64, ok bool) {
	if v.sim == nil || v.sim.bodiesStale() {
		return 0, false
	}
	body, ok = v.owners.Get(id)
	if ok && v.Valid != nil && !v.Valid(body) {
		return 0, false
	}
	return body, ok
}

// bodiesStale reports whether the world was restored after the last releaseStaleBodies: the bodies
// then belong to entities of the old state.
func (s *Sim) bodiesStale() bool { return s.generation != s.World.Generation() }

// releaseStaleBodies destroys all bodies, by solvers and in ascending slots, if the world was restored.
func (s *Sim) releaseStaleBodies() {
	if s.bodiesStale() {
		for _, v := range s.solvers {
			v.owners.ReleaseAll()
		}
		s.generation = s.World.Generation()
	}
}

// step is the phase of Step.
func (v *Solver) step(t *Tick) error {
	s := v.sim
	s.releaseStaleBodies()
	if s.moveErr != nil {
		return s.moveErr
	}
	v.ran = true
	v.jumpPulled()
	return v.Step(t)
}

// skip is called in place of step in other modes.
func (v *Solver) skip() {
	v.ran = false
	v.sim.releaseStaleBodies()
	if v.Skip != nil {
		v.Skip()
	}
}

// jumpWritten marks entities as teleported that were written to since bodies moved them, so that they are drawn at
// their new position. In modes without physics, in which systems may move them step by step, it marks none.
func (s *Sim) jumpWritten() {
	if !s.config.Previous {
		return
	}
	for _, v := range s.solvers {
		if !v.ran || v.AppendWritten == nil {
			continue
		}
		v.written = v.AppendWritten(v.written[:0])
		for _, slot := range v.written {
			s.World.JumpAt(slot)
		}
		slices.Sort(v.written)
	}
}

// jumpPulled marks the entities as teleported whose bodies Step will teleport. Those that jumpWritten has marked since
// the last step, and that have stayed there, move on from there.
func (v *Solver) jumpPulled() {
	s := v.sim
	if !s.config.Previous || v.AppendWritten == nil {
		return
	}
	s.slots = v.AppendWritten(s.slots[:0])
	for _, slot := range s.slots {
		if _, marked := slices.BinarySearch(v.written, slot); !marked || movedInTick(s.World, slot) {
			s.World.JumpAt(slot)
		}
	}
	v.written = v.written[:0]
}

// movedInTick reports whether position or rotation in a slot are others than before the tick.
func movedInTick(w *ecs.World, slot ecs.Slot) bool {
	p, q, before := &w.Position, &w.Rotation, w.Previous()
	p0, q0 := &before.Position, &before.Rotation
	return p.X[slot] != p0.X[slot] || p.Y[slot] != p0.Y[slot] || p.Z[slot] != p0.Z[slot] ||
		q.X[slot] != q0.X[slot] || q.Y[slot] != q0.Y[slot] || q.Z[slot] != q0.Z[slot] || q.W[slot] != q0.W[slot]
}

// moveBodySlots lets solvers follow entities to their new rows. It is an observer of World.OnReorder.
func (s *Sim) moveBodySlots(from []ecs.Slot) {
	if s.generation+1 != s.World.Generation() {
		return // the world was restored: the bodies belong to entities of the old state
	}
	s.generation++
	rows := 0
	for _, slot := range from {
		rows = max(rows, int(slot)+1)
	}
	to := s.slots[:0]
	for range rows {
		to = append(to, physics.NoSlot)
	}
	for i, slot := range from {
		to[slot] = ecs.Slot(i)
	}
	s.slots = to
	for _, v := range s.solvers {
		if s.moveErr == nil && v.MoveSlots != nil { // else bodies are still in the slots before the first Reorder that they could not follow
			s.moveErr = v.MoveSlots(to)
		}
	}
}

// appendHashes appends the hashes of the bodies, and of their owners: these decide which bodies a despawn destroys.
func (v *Solver) appendHashes(dst []ecs.ColumnHash) []ecs.ColumnHash {
	first := len(dst)
	dst = v.AppendColumnHashes(dst)
	var hash uint64
	if v.owners.Len() > 0 {
		hash = statehash.Rows(v.owners.Owners()[:v.sim.World.HighWater()])
	}
	dst = append(dst, ecs.ColumnHash{Name: ownerColumn, Hash: hash})
	for i := range dst[first:] {
		c := &dst[first+i]
		c.Name = v.column(i, c.Name)
	}
	return dst
}

// column returns the name of column i with the prefix of the solver. Names can change from tick to tick, since some columns exist only
// while they hold something.
func (v *Solver) column(i int, name string) string {
	if i == len(v.columns) {
		v.columns = append(v.columns, v.prefix+name)
	} else if v.columns[i][len(v.prefix):] != name {
		v.columns[i] = v.prefix + name
	}
	return v.columns[i]
}

// beyondWorld returns the error of preparing bodies, which comes after the world: a body for an entity
// beyond it contradicts that world.
func beyondWorld(call string, err error) error {
	if errors.Is(err, fault.ErrBeyond) {
		return fmt.Errorf("evertick: %s: %v: %w", call, err, ErrCorrupt)
	}
	return err
}

func (v *Solver) prepare(data []byte) error { return beyondWorld("Restore", v.Prepare(data)) }

// prepareCopy prepares the state of the same solver of another Sim.
func (v *Solver) prepareCopy(src *Solver) error {
	if v.PrepareCopy != nil {
		return beyondWorld("CopyFrom", v.PrepareCopy(src))
	}
	b := &v.sim.copyBuffer
	from := len(*b)
	var err error
	if *b, err = src.Snapshot(*b); err != nil {
		return err
	}
	return v.prepare(slices.Clip((*b)[from:]))
}

// encodeOwners appends the entities that have bodies, in ascending slots.
func (v *Solver) encodeOwners(dst []byte) []byte {
	for id, body := range v.owners.All() {
		dst = wire.AppendU64s(dst, uint64(id), body)
	}
	return dst
}

// checkOwners prepares what encodeOwners has appended.
func (v *Solver) checkOwners(data []byte) error {
	r := &v.sim.restoring
	if len(data)%ownerBytes != 0 {
		return r.Corrupt("length of the owners", len(data))
	}
	v.loaded = data
	last := -1
	for i := 0; i < len(data)/8; i += 2 {
		id := ecs.ID(wire.U64At(data, i))
		slot, ok := v.sim.World.PreparedSlot(id)
		if !ok || int64(slot) <= int64(last) {
			return r.Corrupt("owner of a body", id)
		}
		last = int(slot)
	}
	return nil
}

// replaceOwners binds the bodies to their entities, which are known to exist. src is nil for a snapshot.
func (v *Solver) replaceOwners(src *Solver) {
	bind := func(id ecs.ID, body uint64) {
		if err := v.owners.Bind(id, body); err != nil {
			panic("evertick: Restore: owner was miscounted")
		}
	}
	if src != nil {
		for id, body := range src.owners.All() {
			bind(id, body)
		}
		return
	}
	for in := wire.NewReader(v.loaded); in.Len() > 0; {
		bind(ecs.ID(in.U64()), in.U64())
	}
	v.loaded = nil
}

// discard drops what was prepared.
func (v *Solver) discard() {
	v.loaded = nil
	if v.Discard != nil {
		v.Discard()
	}
}

// encode appends the frames of a solver that was attached: one with its name and its state, and one with its owners. It reports
// whether all frames so far fit.
func (v *Solver) encode(e *frame.Encoder) (fits bool, err error) {
	at := e.Start()
	e.Name(v.Name)
	if e.Buf, err = v.Snapshot(e.Buf); err != nil {
		return false, err
	}
	e.Finish(at)
	at = e.Start()
	e.Buf = v.encodeOwners(e.Buf)
	return e.Finish(at), nil
}

// prepareAttached prepares the solvers that were attached.
func (s *Sim) prepareAttached() error {
	r := &s.restoring
	for _, v := range s.solvers[1:] {
		if !r.More() {
			return r.otherSolver("none", v.Name)
		}
		in, err := r.nextSolver()
		if err != nil {
			return err
		}
		if string(in.name) != v.Name {
			return r.otherSolver(fmt.Sprintf("%.40q", in.name), v.Name)
		}
		if err := v.prepare(in.state); err != nil {
			return fmt.Errorf("%ssolver %q: %w", r.call, v.Name, err)
		}
		owners, err := r.Next("owners")
		if err == nil {
			err = v.checkOwners(owners)
		}
		if err != nil {
			return err
		}
	}
	if r.More() {
		in, err := r.nextSolver()
		if err == nil {
			err = r.otherSolver(fmt.Sprintf("%.40q", in.name), "")
		}
		return err
	}
	return nil
}

// solverFrame is the frame of a solver in a snapshot.
type solverFrame struct{ name, state []byte }

func (r *restoring) nextSolver() (f solverFrame, err error) {
	b, err := r.Next("solver")
	if err != nil {
		return f, err
	}
	in := wire.NewReader(b)
	f.name = in.Name()
	if in.Err() != nil {
		return f, r.Corrupt("name of a solver", len(b))
	}
	f.state = in.Rest()
	return f, nil
}

// otherSolver returns the error for a solver of another name than that of this Sim, or where one of both has none.
func (r *restoring) otherSolver(name, own string) error {
	err := fault.Field(ErrUnsupported, r.call+"solver", name)
	if own == "" {
		return fmt.Errorf("%w, where this Sim has none", err)
	}
	return fmt.Errorf("%w, where this Sim has %q", err, own)
}

// copyAttached prepares copies of the solvers of another Sim.
func (s *Sim) copyAttached(src *Sim) error {
	r := &s.restoring
	for i := 1; i < max(len(s.solvers), len(src.solvers)); i++ {
		switch {
		case i >= len(src.solvers):
			return r.otherSolver("none", s.solvers[i].Name)
		case i >= len(s.solvers):
			return r.otherSolver(strconv.Quote(src.solvers[i].Name), "")
		case src.solvers[i].Name != s.solvers[i].Name:
			return r.otherSolver(strconv.Quote(src.solvers[i].Name), s.solvers[i].Name)
		}
		if err := s.solvers[i].prepareCopy(src.solvers[i]); err != nil {
			return err
		}
	}
	return nil
}
