package handle

import (
	"fmt"

	"github.com/evertick/evertick/internal/bitset"
)

// Provisional marks the index of a handle to an object that a list of commands will create; no world has so many objects.
// The generation of such a handle is the number of the Recording.
const Provisional = 1 << 31

// Recording numbers a list of commands, so that provisional handles are valid in that list alone, and there only until
// Restart: the number of the list is in the upper half, the number of the recording in the lower half.
type Recording struct {
	number  uint32
	applied uint32 // the number that it had when it was applied last
	taken   uint64 // see Take
}

// NewRecording returns the recording of list number n of a world.
func NewRecording(n uint64) Recording { return Recording{number: uint32(n)<<16 | 1} }

// Restart makes the provisional handles invalid: the commands were removed.
func (r *Recording) Restart() { r.number = r.number&^0xffff | (r.number+1)&0xffff }

// Take gives the list to a call that applies lists; the calls of a world have numbers from 1. It reports false if the call has
// the list already.
func (r *Recording) Take(call uint64) bool {
	again := r.taken == call
	r.taken = call
	return !again
}

// Apply notes that objects are created for the provisional handles.
func (r *Recording) Apply() { r.applied = r.number }

// New returns the provisional handle to new object i of its kind.
func (r *Recording) New(i int) (index, generation uint32) { return Provisional | uint32(i), r.number }

// Created returns what was created for a provisional handle when the list was applied last, of the objects of one kind in
// the order of their commands. It reports false for a handle of another recording.
func Created[H any](r *Recording, objects []H, index, generation uint32) (object H, ok bool) {
	i := index &^ Provisional
	if generation != r.applied || uint64(i) >= uint64(len(objects)) {
		return object, false
	}
	return objects[i], true
}

// DryRun tracks the objects of one kind that lists of commands create and destroy, without changing the world.
type DryRun struct {
	ids       *Pool
	room      int        // for new objects
	destroyed bitset.Set // objects of the world
	list      *Recording
	created   int        // number of new objects of the list
	undone    bitset.Set // new objects of the list that it destroys again
}

// Begin starts with the objects of a world.
func (d *DryRun) Begin(ids *Pool) {
	d.ids, d.room = ids, ids.Room()
	d.destroyed.Reset(ids.Used())
}

// BeginList goes on with the next list, which creates n objects of this kind.
func (d *DryRun) BeginList(r *Recording, n int) {
	d.list, d.created = r, 0
	d.undone.Reset(n)
}

// Full reports whether no object can be created at this point.
func (d *DryRun) Full() bool { return d.room == 0 }

// Created returns how many objects the list has created so far, which is the number of the next one.
func (d *DryRun) Created() int { return d.created }

// Create creates an object, unless Full.
func (d *DryRun) Create() {
	d.room--
	d.created++
}

// Lives reports whether an object lives at this point of the list.
func (d *DryRun) Lives(index, generation uint32) bool {
	i := int(index &^ Provisional)
	if index < Provisional {
		return d.ids.Holds(index, generation) && !d.destroyed.Has(i)
	}
	return generation == d.list.number && i < d.created && !d.undone.Has(i)
}

// Destroyed reports whether lists have destroyed an object that the world has.
func (d *DryRun) Destroyed(index uint32) bool { return d.destroyed.Has(int(index)) }

// Destroy destroys an object that lives. Its index is not free yet: see Free.
func (d *DryRun) Destroy(index uint32) {
	if index < Provisional {
		d.destroyed.Add(int(index))
	} else {
		d.undone.Add(int(index &^ Provisional))
	}
}

// Free makes room for another object in place of one that was destroyed, unless its index is retired. A kind of object
// that is also destroyed with its body, which DryRun does not see, must do without: then room is a lower bound.
func (d *DryRun) Free(index uint32) {
	if index >= Provisional || !d.ids.lastGeneration(index) {
		d.room++
	}
}

// ShapeDryRun is a DryRun of shapes, which are also destroyed with their body. So room is a lower bound.
type ShapeDryRun struct {
	DryRun
	bodies *DryRun
	owner  []uint32    // by shape of the world
	bodyOf [][2]uint32 // by new shape of the list: index and generation of its body
}

// Begin starts with the shapes of a world, of whose bodies bodies is the dry run.
func (d *ShapeDryRun) Begin(shapes *Shapes, bodies *DryRun) {
	d.DryRun.Begin(&shapes.IDs)
	d.bodies, d.owner = bodies, shapes.Owner
}

// BeginList goes on with the next list, which creates n shapes.
func (d *ShapeDryRun) BeginList(r *Recording, n int) {
	d.DryRun.BeginList(r, n)
	d.bodyOf = d.bodyOf[:0]
}

// Create creates a shape of a body that lives, unless Full.
func (d *ShapeDryRun) Create(index, generation uint32) {
	d.DryRun.Create()
	d.bodyOf = append(d.bodyOf, [2]uint32{index, generation})
}

// Lives reports whether a shape and its body live at this point of the list.
func (d *ShapeDryRun) Lives(index, generation uint32) bool {
	if !d.DryRun.Lives(index, generation) {
		return false
	}
	if index < Provisional {
		return !d.bodies.Destroyed(d.owner[index])
	}
	b := d.bodyOf[index&^Provisional]
	return d.bodies.Lives(b[0], b[1])
}

// JointDryRun is a DryRun of joints, which are also destroyed with either of their bodies. So room is a lower bound.
type JointDryRun struct {
	DryRun
	bodies *DryRun
	owner  []uint32       // by end of a joint of the world
	bodyOf [][2][2]uint32 // by new joint of the list: index and generation of its bodies
}

// Begin starts with the joints of a world, of whose bodies bodies is the dry run.
func (d *JointDryRun) Begin(joints *Joints, bodies *DryRun) {
	d.DryRun.Begin(&joints.IDs)
	d.bodies, d.owner = bodies, joints.Owner
}

// BeginList goes on with the next list, which creates n joints.
func (d *JointDryRun) BeginList(r *Recording, n int) {
	d.DryRun.BeginList(r, n)
	d.bodyOf = d.bodyOf[:0]
}

// Create creates a joint of two bodies that live, given by index and generation, unless Full.
func (d *JointDryRun) Create(bodies [2][2]uint32) {
	d.DryRun.Create()
	d.bodyOf = append(d.bodyOf, bodies)
}

// Lives reports whether a joint and its bodies live at this point of the list.
func (d *JointDryRun) Lives(index, generation uint32) bool {
	if !d.DryRun.Lives(index, generation) {
		return false
	}
	if index < Provisional {
		return !d.bodies.Destroyed(d.owner[2*index]) && !d.bodies.Destroyed(d.owner[2*index+1])
	}
	for _, b := range d.bodyOf[index&^Provisional] {
		if !d.bodies.Lives(b[0], b[1]) {
			return false
		}
	}
	return true
}

// Name returns "body_<index>.<generation>" for a handle to a body, or "new body <n>" for a provisional one.
func Name(kind string, index, generation uint32) string {
	if index >= Provisional {
		return fmt.Sprintf("new %s %d", kind, index&^Provisional)
	}
	return fmt.Sprintf("%s_%d.%d", kind, index, generation)
}
