package evertick

import (
	"context"
	"fmt"
	"math"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/schedule"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

// Hash returns the hash of the state after the last step: ecs.Fold of ColumnHashes. It covers all
// that this module keeps between ticks. It does not cover what a physics engine caches, nor the
// forces, commands and inputs that wait for the next step. Of what systems keep outside the world
// it covers what AddState added. See Config.HashOnDemand.
func (s *Sim) Hash() uint64 {
	s.hashIfDue()
	return s.hash
}

// hashIfDue hashes the state if the last step has left that to this call.
func (s *Sim) hashIfDue() {
	if !s.hashDue {
		return
	}
	if s.stepping && !s.inAfterTick {
		panic("evertick: Hash or ColumnHashes within a tick of a Sim with Config.HashOnDemand")
	}
	s.hashState(s.ticks)
	s.hashDue = false
}

// ColumnHashes returns the hashes that make up Hash: seed, ticks, then the columns of the world
// and of the bodies, what Attach, AddState and AddTimer have added, and the mode and the third axis of
// Origin if they are not 0. Where two runs differ, the first pair that differs names the column. The slice is the Sim's own and valid until
// the next step.
func (s *Sim) ColumnHashes() []ecs.ColumnHash {
	s.hashIfDue()
	return s.hashes
}

// hashTick hashes the state at the end of the tick. It also looks for NaN, so that the error names
// the tick in which a system wrote one.
func (s *Sim) hashTick(*Tick) error {
	if s.config.HashOnDemand {
		s.hashDue = true
		return s.nanError()
	}
	s.nextHashes = s.appendHashes(s.nextHashes[:0], s.ticks+1)
	if s.hashedNaN() { // perhaps in a row without an entity
		if err := s.nanError(); err != nil {
			return err
		}
	}
	s.hashes, s.nextHashes = s.nextHashes, s.hashes
	s.hash = ecs.Fold(s.hashes)
	return nil
}

// nanError returns an error if a live entity has a NaN.
func (s *Sim) nanError() error {
	if column, id, found := s.World.FirstNaN(); found {
		return fault.Field(ErrNotFinite, fmt.Sprintf("column %s of %s", column, id), "NaN")
	}
	return nil
}

// hashedNaN reports whether the columns of the world had a NaN when they were hashed.
func (s *Sim) hashedNaN() bool {
	views := s.World.Columns()
	for i := range views {
		if columns.HadNaN(&views[i]) {
			return true
		}
	}
	return false
}

func (s *Sim) hashState(ticks uint64) {
	s.hashes = s.appendHashes(s.hashes[:0], ticks)
	s.hash = ecs.Fold(s.hashes)
}

// AppendColumnHashes appends the hashes of the present state to dst, in the form of ColumnHashes,
// which returns those of the last step. The two differ if the state was changed since that step. So a
// host that draws between calls of Advance can compare the hashes before and after. Pass the previous
// result cut to [:0] to allocate nothing.
func (s *Sim) AppendColumnHashes(dst []ecs.ColumnHash) []ecs.ColumnHash {
	return s.appendHashes(dst, s.ticks)
}

func (s *Sim) appendHashes(dst []ecs.ColumnHash, ticks uint64) []ecs.ColumnHash {
	dst = append(dst, ecs.ColumnHash{Name: "seed", Hash: s.seed}, ecs.ColumnHash{Name: "ticks", Hash: ticks})
	dst = s.appendPartHashes(dst, worldPart)
	if s.mode != 0 {
		dst = append(dst, ecs.ColumnHash{Name: "mode", Hash: uint64(s.mode)})
	}
	if s.third != 0 {
		dst = append(dst, ecs.ColumnHash{Name: "origin.third", Hash: math.Float64bits(s.third)})
	}
	return dst
}

// appendPartHashes appends the hashes of the parts from an index on, those of attached solvers, and those of the states of AddState.
func (s *Sim) appendPartHashes(dst []ecs.ColumnHash, first int) []ecs.ColumnHash {
	for i := range parts[first:] {
		if hash := parts[first+i].hash; hash != nil {
			dst = hash(s, dst)
		}
	}
	for _, v := range s.solvers[1:] {
		dst = v.appendHashes(dst)
	}
	for i := range s.states {
		n := &s.states[i]
		s.stateBytes = n.state.AppendState(s.stateBytes[:0])
		dst = append(dst, ecs.ColumnHash{Name: n.column, Hash: statehash.Bytes(s.stateBytes, 1, false)})
	}
	return dst
}

// bodyPrefix is the prefix of hashes of bodies.
const bodyPrefix = "body."

// Difference is the first place in which two simulations a and b differ.
type Difference struct {
	// Column names what differs, as ColumnHashes does. It is "entities" if World describes the
	// difference.
	Column string
	// World is set if the worlds differ.
	World ecs.Difference
	// Row is the row of a body, -1 if there is none or it is not known. ID is the entity that this
	// body moves, or the entity in which the worlds differ; 0 if there is none.
	Row int
	ID  ecs.ID
	// A and B are the values in a and b: numbers in decimal and hexadecimal.
	A, B string
}

// String describes the difference in one line.
func (d Difference) String() string {
	switch {
	case d.Column == "entities":
		return "entities: " + d.World.String()
	case d.Row < 0:
		return fmt.Sprintf("%s: %s and %s", d.Column, d.A, d.B)
	case d.ID == 0:
		return fmt.Sprintf("%s of body %d: %s and %s", d.Column, d.Row, d.A, d.B)
	}
	return fmt.Sprintf("%s of body %d, that of %v: %s and %s", d.Column, d.Row, d.ID, d.A, d.B)
}

// Diff returns the first difference of two simulations, and false if there is none that Hash would
// show. It compares, in this order: ticks, seed and mode; the worlds, as ecs.Diff does; the columns of
// bodies, and what attached solvers compare; and then the hashes of everything that has no columns: shapes, joints, the
// states of AddState. Hashes are those of the last tick; what was written since then shows only in the
// columns.
func Diff(a, b *Sim) (Difference, bool) {
	if a.ticks != b.ticks {
		return countDifference("ticks", a.ticks, b.ticks), true
	}
	if a.seed != b.seed {
		return countDifference("seed", a.seed, b.seed), true
	}
	if a.mode != b.mode {
		return countDifference("mode", uint64(a.mode), uint64(b.mode)), true
	}
	if d, found := ecs.Diff(a.World, b.World); found {
		return Difference{Column: "entities", World: d, Row: -1, ID: d.ID}, true
	}
	for i, v := range a.solvers {
		if v.Diff != nil && i < len(b.solvers) && b.solvers[i].Name == v.Name {
			if d, found := v.Diff(b.solvers[i]); found {
				return d, true
			}
		}
	}
	return diffHashes(a.ColumnHashes(), b.ColumnHashes())
}

func countDifference(column string, a, b uint64) Difference {
	return Difference{Column: column, Row: -1, A: fmt.Sprintf("%d (%#x)", a, a), B: fmt.Sprintf("%d (%#x)", b, b)}
}

// diffBodies compares the columns of bodies.
func diffBodies(a, b *Sim) (Difference, bool) {
	if rows := a.Physics.Rows(); rows != b.Physics.Rows() {
		return countDifference("body rows", uint64(rows), uint64(b.Physics.Rows())), true
	}
	others := b.Physics.BodyColumns()
	for i, c := range a.Physics.BodyColumns() {
		if row, j, found := columns.FirstDifference(c, others[i]); found {
			return Difference{Column: "body." + c.Name(), Row: int(row), ID: a.ownerOf(int(row)),
				A: columns.Text(c.Value(row, j)), B: columns.Text(others[i].Value(row, j))}, true
		}
	}
	return Difference{}, false
}

// ownerOf returns the entity that the body in a row moves, or 0.
func (s *Sim) ownerOf(row int) ecs.ID {
	slot := s.Physics.Columns().Slot[row]
	if slot == physics.NoSlot {
		return 0
	}
	id, _ := s.World.ID(slot)
	return id
}

func diffHashes(a, b []ecs.ColumnHash) (Difference, bool) {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return Difference{Column: b[i].Name, Row: -1, A: "nothing", B: "a column"}, true
		case i >= len(b) || a[i].Name != b[i].Name:
			return Difference{Column: a[i].Name, Row: -1, A: "a column", B: "nothing"}, true
		case a[i].Hash != b[i].Hash:
			return Difference{Column: a[i].Name, Row: -1, A: fmt.Sprintf("hash %016x", a[i].Hash), B: fmt.Sprintf("hash %016x", b[i].Hash)}, true
		}
	}
	return Difference{}, false
}

// hashBeforeHooks hashes the state before hooks are called, for checkHook.
func (s *Sim) hashBeforeHooks() {
	if s.config.CheckRender {
		s.watched = s.appendRenderHashes(s.watched[:0])
	}
}

// checkHook returns an error if a hook, which has run since hashBeforeHooks, has changed the state.
func (s *Sim) checkHook(f any) error {
	if !s.config.CheckRender {
		return nil
	}
	return s.checkRender(funcName(f), s.watched)
}

// checkRender returns an error if the state has other hashes than before.
func (s *Sim) checkRender(what string, before []ecs.ColumnHash) error {
	for name := range statehash.Changes(before, s.appendRenderHashes(nil)) {
		return fmt.Errorf("%s wrote %s, but may only read: %w", what, name, ErrRange)
	}
	return nil
}

// appendRenderHashes appends the hashes of everything that a callback must not change.
func (s *Sim) appendRenderHashes(dst []ecs.ColumnHash) []ecs.ColumnHash {
	dst = append(s.appendAccessHashes(dst),
		ecs.ColumnHash{Name: "ticks", Hash: s.ticks}, ecs.ColumnHash{Name: "mode", Hash: uint64(s.mode)})
	return append(dst, ecs.ColumnHash{Name: "commands", Hash: statehash.Bytes(s.commands.Snapshot(nil), 1, false)})
}

// runWith is loop.RunWith with the checks of CheckRender, if it is set. draw is the function of
// RunFrames, which r.Frame calls, or nil.
func (s *Sim) runWith(ctx context.Context, r loop.Runner, draw func(loop.Frame)) error {
	if !s.config.CheckRender {
		return s.loop.RunWith(ctx, r)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	state := s.appendRenderHashes(nil)
	check := func(what string) {
		if s.failed != nil {
			return
		}
		if err := s.checkRender(what, state); err != nil {
			failed = fmt.Errorf("evertick: before tick %d: %w", s.ticks, err)
			s.failed = failed
			cancel()
		}
	}
	checkOutside := func() { check("code outside of steps, such as another goroutine,") }

	between := true // no step has run since state was hashed
	step, frame, rehearse := r.Step, r.Frame, r.Rehearse
	r.Step = func(tick uint64) error {
		if between {
			checkOutside()
			between = false
		}
		return step(tick)
	}
	r.Frame = func(f loop.Frame) {
		if between {
			checkOutside()
		}
		if failed != nil {
			return
		}
		state = s.appendRenderHashes(state[:0])
		frame(f)
		if draw != nil {
			check(funcName(draw))
		}
		between = true
	}
	if rehearse != nil {
		r.Rehearse = func() {
			checkOutside()
			rehearse()
			check("Config.Rehearse")
		}
	}
	if err := s.loop.RunWith(ctx, r); failed == nil {
		return err
	}
	return failed
}

// funcName returns the name and the place of a function, as in "main.draw (main.go:12)".
func funcName(f any) string {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	file, line := fn.FileLine(fn.Entry())
	return fmt.Sprintf("%s (%s:%d)", fn.Name(), path.Base(file), line)
}

// hashBefore hashes the state before a system runs, for checkWrites.
func (s *Sim) hashBefore(p *phase) {
	if !p.Undeclared() {
		s.watched = s.appendAccessHashes(s.watched[:0])
	}
}

// appendAccessHashes appends a hash of everything that Writes can name and that can be hashed.
func (s *Sim) appendAccessHashes(dst []ecs.ColumnHash) []ecs.ColumnHash {
	w := s.World
	entities := []uint64{w.Version(), w.Generation(), uint64(w.HighWater())}
	dst = append(dst, ecs.ColumnHash{Name: schedule.Entities, Hash: statehash.Rows(entities)})
	dst = append(dst, w.ColumnHashes()[1:]...) // without the identity, which is entities and tags
	for _, t := range w.Describe().Tags {
		if tag, err := w.Tag(t.Name); err == nil && t.Count > 0 {
			dst = append(dst, ecs.ColumnHash{Name: t.Name, Hash: statehash.Rows(tag.Mask())})
		}
	}
	return s.appendPartHashes(dst, worldPart+1)
}

// checkWrites returns an error if a system, which has run since hashBefore, has written something
// that it does not declare. Resources, the index, and the private state of physics engines cannot
// be checked.
func (s *Sim) checkWrites(p *phase) error {
	if p.Undeclared() || p.WritesAllRows() {
		return nil
	}
	for column, added := range statehash.Changes(s.watched, s.appendAccessHashes(nil)) {
		declared := column
		ofBodies := func(v *Solver) bool { return strings.HasPrefix(column, v.prefix) }
		if _, inWorld := s.World.ColumnNamed(column); !inWorld && slices.ContainsFunc(s.solvers, ofBodies) {
			declared = schedule.Bodies
		}
		// A name that no table has, and that had no hash before, was added by the system itself.
		if !s.access.Writes(&p.System, declared) && (s.access.Known(declared) || !added) {
			return fmt.Errorf("wrote %s, which its Writes do not name: %w", column, ErrRange)
		}
	}
	return nil
}
