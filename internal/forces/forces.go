// Package forces holds what tools see of the forces on a body in the last step. A step clears the forces that a program applied, so those of worlds
// that somebody looks at are kept. They are no part of the state.
package forces

import "math"

// Kinds of forces.
const (
	Weight   = iota // mass times gravity
	Applied         // by the program: ApplyForce, wind, water
	Contact         // along the normal, and friction
	Joint           //
	NumKinds = Joint + 1
)

// Force is a force on a body at a point, in N and m, and a torque besides, in N·m, in the axes of the world. In a plane the third axis is that of torques.
type Force struct {
	Kind              uint8
	At, Force, Torque [3]float32
}

// Forces are those on a body in the last step; of contacts and joints those in its last sub-step.
type Forces struct {
	List   []Force
	Centre [3]float32 // of mass
	Size   float32    // how far the body reaches about, in m; 0 without shapes
	// Known reports whether those of the kind Applied are known: somebody looked at the world before the step.
	Known bool
}

// Add adds a force that is not zero, if it is finite.
func (f *Forces) Add(kind uint8, at, force, torque [3]float32) {
	sum := float32(0)
	for k := range 3 {
		sum += (at[k] - at[k]) + (force[k] - force[k]) + (torque[k] - torque[k])
	}
	if sum == 0 && (force != [3]float32{} || torque != [3]float32{}) {
		f.List = append(f.List, Force{kind, at, force, torque})
	}
}

// AddGravity adds the weight of a body.
func (f *Forces) AddGravity(mass, scale float32, gravity [3]float32) {
	for k := range gravity {
		gravity[k] *= mass * scale
	}
	f.Add(Weight, f.Centre, gravity, [3]float32{})
}

// AddApplied adds what Kept has of a body.
func (f *Forces) AddApplied(v [6]float32, known bool) {
	f.Known = known
	f.Add(Applied, f.Centre, [3]float32(v[:3]), [3]float32(v[3:]))
}

// Reach makes Size half the diagonal of a box around the body.
func (f *Forces) Reach(low, high []float32) {
	sum := 0.
	for k := range low {
		d := float64(high[k]) - float64(low[k])
		sum += float64(d * d)
	}
	if size := float32(math.Sqrt(sum) / 2); size-size == 0 {
		f.Size = size
	}
}

// watchSteps is for how many steps after the last look forces are kept: those of a fast world between two pictures, and no more once nobody looks.
const watchSteps = 1 << 10

// Kept are the forces and the torques of the last step, if somebody looks at the world. The zero value keeps none, and costs a step one comparison.
type Kept struct {
	left        int // steps that are still to be kept
	known       bool
	columns     [6][]float32 // force x, y, z and torque x, y, z by row; without elements: zero
	generations []uint32     // of the rows in that step
}

// Watch keeps the forces of the next steps.
func (k *Kept) Watch() { k.left = watchSteps }

// Wanted reports whether this step is to be kept, and counts it. After the last one it frees the memory.
func (k *Kept) Wanted() bool {
	if k.left == 0 {
		if k.known {
			*k = Kept{}
		}
		return false
	}
	k.left--
	return true
}

// Keep keeps the columns of a step, before they are cleared.
func (k *Kept) Keep(generations []uint32, columns *[6][]float32) {
	k.known = true
	k.generations = append(k.generations[:0], generations...)
	for i, c := range columns {
		k.columns[i] = append(k.columns[i][:0], c...)
	}
}

// Forget forgets the step, since another state replaces the world.
func (k *Kept) Forget() { k.known = false }

// Of returns the force and the torque on a body in the last step. A body that was not there then had none.
func (k *Kept) Of(row int, generation uint32) (v [6]float32, known bool) {
	if k.known && row < len(k.generations) && k.generations[row] == generation {
		for i, c := range k.columns {
			if row < len(c) {
				v[i] = c[row]
			}
		}
	}
	return v, k.known
}

// Source is what a world shows besides its interface.
type Source struct {
	Kept *Kept
	Rate float32 // of sub-steps in the last step, 1/s
	// Extent is by row how far a body reaches from its centre of mass; nil: unknown.
	Extent []float32
}

// Plane and Space return those of a world of package physics, and of package physics3 where that is linked: they set it.
var Plane, Space func(world any) Source
