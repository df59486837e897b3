package sleep

import (
	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/handle"
)

const (
	// DefaultThreshold is the speed in m/s up to which a body without a threshold of its own counts as being at rest.
	DefaultThreshold = 0.05

	// MaxThreshold is the most that a snapshot may have as a threshold.
	MaxThreshold = 1e6

	// Time is how long all bodies of an island must be at rest, in seconds, before they fall asleep.
	Time = 0.5

	// searchEvery is the number of steps between two searches for islands that fall asleep. The work that follows
	// is then done once for several islands.
	searchEvery = 8
)

// State is what an engine keeps about bodies at rest. A world in which sleep is off from the beginning has no such state
// until Enable turns it on: On is false, and only Threshold and Spans are used, which cover all rows. Once made, it stays: if
// sleep is turned off again, all bodies are awake.
type State struct {
	On      bool
	Enabled bool // bodies fall asleep; only if On
	Count   int  // bodies with the flag Asleep

	// By body.
	Times     []float32 // at rest, in seconds; 0 if asleep
	Threshold []float32 // of the speed up to which it is at rest

	Active     bitset.Set // by body
	ActiveOnce []uint32   // bodies that are active in this step only
	Spans      []Span     // of active bodies, with some others between them
	Shapes     []Span     // of their shapes
	All        bool       // this step updates the bounds of all bodies
	Version    uint64     // counts changes of what is active

	engine        Engine
	bodies        *handle.Pool
	types, flags  []uint8   // of bodies
	slept, woke   *[]uint32 // events
	changes       []uint8   // by body: why it is in changed
	changed       []uint32  // bodies that were woken or changed since the last step, and others
	dirty         bool      // the active bodies must be collected again
	activeShapes  bitset.Set
	allSpans      [2][]Span
	ready         []int // by span: number of bodies that have been at rest long enough
	dt            float32
	islands       graph.Islands
	restless      bitset.Set // bodies, and then islands, that wake or cannot sleep
	restlessNames bitset.Set
	edges         []Edge // scratch
	carried       []uint32
}

// Bits of State.changes.
const (
	woken         = 1 << iota // a call woke the body
	changed                   // a call changed it
	written                   // a program wrote to its columns
	onceActive                // is in ActiveOnce
	newAsleep                 // fell asleep by its definition or by a call since the last step
	createdAsleep             // of those, by its definition

	allChanges = 1<<iota - 1
)

// Config is what a State refers to, which must stay where it is.
type Config struct {
	Engine      Engine
	Bodies      *handle.Pool
	Types       []uint8 // by body, up to the capacity of the world
	Flags       []uint8
	Slept, Woke *[]uint32 // where bodies that fall asleep or wake are reported
	Enabled     bool
}

// Open makes the state of an empty world.
func (z *State) Open(c Config) {
	z.engine, z.bodies, z.types, z.flags, z.slept, z.woke = c.Engine, c.Bodies, c.Types, c.Flags, c.Slept, c.Woke
	z.dirty, z.Version, z.Enabled = true, 1, c.Enabled
	z.Threshold = make([]float32, len(c.Flags))
	z.setOn(z.Enabled)
}

// setOn sets On. It allocates the memory that the state needs when it is first made.
func (z *State) setOn(on bool) {
	if z.On != on {
		z.On, z.dirty = on, true
		z.Version++
	}
	if !on || z.Times != nil {
		return
	}
	n := len(z.Threshold)
	z.Times, z.changes, z.Active = make([]float32, n), make([]uint8, n), bitset.Make(n)
	z.engine.Allocate()
}

// rows returns the number of rows that were ever used.
func (z *State) rows() int { return z.bodies.Used() }

// Awake reports whether a body is simulated: it is not static, disabled or asleep. A row without a body looks like the row of a
// static body.
func (z *State) Awake(row int) bool {
	return z.types[row] != Static && z.flags[row]&(Disabled|Asleep) == 0
}

// AwakeCount returns the number of rows for which Awake is true. It reads all.
func (z *State) AwakeCount() (n int) {
	types := z.types[:z.rows()]
	flags := z.flags[:len(types)]
	for i, t := range types {
		if t != Static && flags[i]&(Disabled|Asleep) == 0 {
			n++
		}
	}
	return n
}

// Sleeper reports whether a body is dynamic and asleep.
func (z *State) Sleeper(row uint32) bool { return z.types[row] == Dynamic && z.flags[row]&Asleep != 0 }

// CreatedAsleep reports whether a body was created asleep since the last step. What a program then does to it is part of its
// construction.
func (z *State) CreatedAsleep(row int) bool { return z.On && z.changes[row]&createdAsleep != 0 }

// Wake wakes a body at once, and its island when the next step begins. It has no effect on a static or disabled body.
func (z *State) Wake(row int) {
	if !z.On {
		return
	}
	z.Times[row] = 0
	if z.flags[row]&Asleep != 0 {
		z.flags[row] &^= Asleep
		z.Count--
		z.changes[row] &^= newAsleep | createdAsleep
		z.mark(row, woken)
	}
}

// WakeDynamic wakes a body to which a force or an impulse is applied, if it is dynamic.
func (z *State) WakeDynamic(row int) {
	if z.types[row] == Dynamic {
		z.Wake(row)
	}
}

// WakeWithNeighbours wakes a body that a call changes and the bodies that touch it. The body may be static.
func (z *State) WakeWithNeighbours(row int) {
	if z.On {
		z.Wake(row)
		z.mark(row, changed)
	}
}

// WakeUnlessNew is WakeWithNeighbours for a body that gets a shape, a mass or an ignored pair, unless CreatedAsleep.
func (z *State) WakeUnlessNew(row int) {
	if !z.CreatedAsleep(row) {
		z.WakeWithNeighbours(row)
	}
}

// WakeTeleported wakes a body that a call has teleported, and the bodies that touch it if it is kinematic. The next step
// detects that a static body was moved.
func (z *State) WakeTeleported(row int) {
	z.Wake(row)
	if z.On && z.types[row] == Kinematic {
		z.mark(row, changed)
	}
}

// WakeAll wakes all dynamic bodies.
func (z *State) WakeAll() {
	if z.Count == 0 {
		return
	}
	for i := range z.rows() {
		if z.Sleeper(uint32(i)) {
			z.Wake(i)
		}
	}
}

func (z *State) mark(row int, why uint8) {
	if z.changes[row]&^(onceActive|newAsleep|createdAsleep) == 0 {
		z.changed = append(z.changed, uint32(row))
	}
	z.changes[row] |= why
	z.dirty = true
}

// MassChanged must follow a change of the mass of a body, if ActiveChanged copies it.
func (z *State) MassChanged() { z.dirty = z.dirty || z.On }

// UpdateAllBounds makes this step update the bounds of all bodies, and the broad phase sort all boxes again: the boxes of a
// body that was not active have changed.
func (z *State) UpdateAllBounds() {
	z.Version++
	z.All = true
}

// PosesShifted must come before a call that changes all poses and those at rest: it notes what was written until then.
func (z *State) PosesShifted() {
	z.detectWrites()
	z.dirty = true
}

// Add fills the row of a new body, whose type and flags are known.
func (z *State) Add(row int, threshold float32, asleep bool) {
	z.Remove(row)
	z.Threshold[row] = threshold
	switch {
	case !z.On:
	case asleep && z.Enabled && z.types[row] != Static && z.flags[row]&Disabled == 0:
		z.flags[row] |= Asleep
		z.Count++
		z.engine.Store(row)
		z.mark(row, newAsleep|createdAsleep)
	case z.types[row] != Dynamic:
		z.mark(row, changed)
	}
}

// Remove clears the row of a destroyed body.
func (z *State) Remove(row int) {
	if z.Threshold[row] = 0; !z.On {
		return
	}
	if z.flags[row]&Asleep != 0 {
		z.Count--
	}
	z.Times[row], z.changes[row] = 0, 0
	z.engine.Forget(row)
	z.dirty = true
}

// Enable turns sleep on or off.
func (z *State) Enable(on bool) {
	if z.Enabled == on {
		return
	}
	z.Enabled = on
	switch {
	case on && !z.On:
		z.start()
	case !on:
		for i := range z.rows() {
			if z.flags[i]&Asleep != 0 {
				z.Wake(i)
			}
		}
		clear(z.Times)
	}
}

// start makes the state of a world that has had none. The next step treats the bodies that are not awake as if a program had
// written to them.
func (z *State) start() {
	z.setOn(true)
	for i := range z.rows() {
		if !z.Awake(i) {
			z.engine.Store(i)
			z.mark(i, written)
		}
	}
}
