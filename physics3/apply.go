package physics3

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/rigid3"
)

// Apply executes the lists, one list after the other, and their commands in the order in which they were recorded. Then it empties the lists.
// Step calls it at its start with its own lists.
//
// If one command is invalid, nothing changes, the lists keep their commands, and the error names the list, the command and the fault: ErrStale
// for a handle whose object is destroyed at that point, ErrCapacity, and ErrNotFinite or ErrRange as from the method of World of the same name.
// Two faults depend on the state at that point and are not errors here. A velocity or a force that overflows disables the body at the start of
// the next step (see Events.Disabled), and so does a shape that would make its body too heavy; that shape is not created, and its handle
// becomes the zero Shape. Velocities of bodies that are static or disabled by then are ignored, and so is Enable where World.Enable fails.
//
// Apply panics on a list of another world, and on a list that occurs twice. It allocates nothing unless the world or its lists grow.
func (w *World) Apply(lists ...*Commands) error {
	if w.failed != nil {
		return w.failed
	}
	if len(lists) == 0 {
		return nil
	}
	w.checkLists(lists)
	r := &w.dryRun
	r.begin(w)
	defer r.end()
	for i, c := range lists {
		if k, err := r.list(c); err != nil {
			return fmt.Errorf("physics3: Apply: lists[%d], command %d (%v): %w", i, k, c.commands[k].kind, err)
		}
	}
	for _, c := range lists {
		w.run(c)
		c.Reset()
	}
	return nil
}

func (w *World) checkLists(lists []*Commands) {
	w.applies++
	for _, c := range lists {
		if c == nil || c.world != w {
			panic("physics3: Apply of Commands of another world")
		}
		if !c.recording.Take(w.applies) {
			panic("physics3: Apply of one list twice")
		}
	}
}

// dryRun checks lists without changing the world: it tracks which objects they create and destroy.
type dryRun struct {
	w      *World
	now    *Commands // the list that is being checked
	bodies handle.DryRun
	shapes handle.ShapeDryRun
	joints handle.JointDryRun
	origin [3]float64 // at this point

	nextRow, nextBlast int // of the list that is being checked
}

func (r *dryRun) begin(w *World) {
	r.w, r.origin = w, w.origin
	r.bodies.Begin(&w.bodies)
	r.shapes.Begin(&w.shapes, &r.bodies)
	r.joints.Begin(&w.joints, &r.bodies)
}

func (r *dryRun) end() { r.w, r.now = nil, nil }

// list checks a list, and returns the first invalid command.
func (r *dryRun) list(c *Commands) (int, error) {
	r.now, r.nextRow, r.nextBlast = c, 0, 0
	r.bodies.BeginList(&c.recording, len(c.bodies))
	r.shapes.BeginList(&c.recording, len(c.shapes))
	r.joints.BeginList(&c.recording, len(c.joints))
	for k := range c.commands {
		if err := r.command(&c.commands[k]); err != nil {
			return k, err
		}
	}
	return 0, nil
}

func (r *dryRun) command(o *command) (err error) {
	switch o.kind {
	case createBody:
		return r.createBody(&r.now.bodies[r.bodies.Created()])
	case destroyShape:
		return r.destroyShape(o.shape)
	case createJoint:
		return r.createJoint(&r.now.joints[r.joints.Created()])
	case destroyJoint, setJoint:
		return r.changeJoint(o)
	case shiftOrigin:
		r.origin, err = shiftedOrigin(r.origin, o.first())
		return err
	case enableSleeping, enableContinuous:
		return nil
	case explode:
		r.nextBlast++
		return r.now.blasts[r.nextBlast-1].Validate()
	}
	if !r.lives(o.body) {
		return fault.Field(ErrStale, "physics3: Body", o.body)
	}
	switch o.kind {
	case destroyBody:
		r.bodies.Destroy(o.body.index)
		r.bodies.Free(o.body.index)
	case createShape:
		return r.createShape(o.body, &r.now.shapes[r.shapes.Created()])
	case ignorePair, unignorePair:
		return r.pair(o)
	}
	return o.check()
}

// lives reports whether a body lives at this point of the list.
func (r *dryRun) lives(b Body) bool { return r.bodies.Lives(b.index, b.generation) }

func (r *dryRun) createBody(d *BodyDef) error {
	if err := r.w.checkBodyDef(d); err != nil {
		return err
	}
	if r.bodies.Full() {
		return fault.Field(ErrCapacity, "physics3: Config.Capacity", r.w.config.Capacity)
	}
	r.bodies.Create()
	return nil
}

func (r *dryRun) createShape(b Body, n *newShape) error {
	if _, err := n.check(); err != nil {
		return err
	}
	if err := n.checkType(r.typeOf(b)); err != nil {
		return err
	}
	if r.shapes.Full() {
		return fault.Field(ErrCapacity, "physics3: ShapeCount", r.w.ShapeCount())
	}
	r.shapes.Create(b.index, b.generation)
	return nil
}

// typeOf returns the type of a body that lives at this point of the list. Commands do not change it.
func (r *dryRun) typeOf(b Body) BodyType {
	if b.index < handle.Provisional {
		return r.w.cols.Type[b.index]
	}
	return r.now.bodies[b.index&^handle.Provisional].Type
}

func (r *dryRun) destroyShape(s Shape) error {
	if !r.shapes.Lives(s.index, s.generation) {
		return fault.Field(ErrStale, "physics3: Shape", s)
	}
	r.shapes.Destroy(s.index)
	return nil
}

// pair checks the second body of a pair, of which the first one lives.
func (r *dryRun) pair(o *command) error {
	if !r.lives(o.other) {
		return fault.Field(ErrStale, "physics3: Body", o.other)
	}
	if o.body == o.other {
		return check.Because(fault.Field(ErrRange, "physics3: "+o.kind.String()+": b", o.other), "equals a")
	}
	return nil
}

func (o *command) first() [3]float32    { return [3]float32(o.numbers[:3]) }
func (o *command) second() [3]float32   { return [3]float32(o.numbers[3:6]) }
func (o *command) rotation() [4]float32 { return [4]float32(o.numbers[3:]) }

// check checks the numbers of a command on a body.
func (o *command) check() error {
	names := [2]string{"impulse", "point"}
	switch o.kind {
	case setTransform:
		if err := checkPlace("physics3: SetTransform: position", o.first()); err != nil {
			return err
		}
		return checkRotation("physics3: SetTransform: rotation", o.rotation())
	case setVelocity:
		if err := checkPlace("physics3: SetVelocity: linear", o.first()); err != nil {
			return err
		}
		return checkPlace("physics3: SetVelocity: angular", o.second())
	case applyForce, applyCentralForce:
		names[0] = "force"
	case applyTorque:
		names[0] = "torque"
	}
	for i, v := range o.numbers {
		if !fault.Finite(v) {
			return fault.Element(ErrNotFinite, "physics3: "+o.kind.String()+": "+names[i/3], i%3, v)
		}
	}
	return nil
}

// run executes a checked list.
func (w *World) run(c *Commands) {
	c.recording.Apply()
	c.createdBodies, c.createdShapes, c.createdJoints = c.createdBodies[:0], c.createdShapes[:0], c.createdJoints[:0]
	rows, blasts := c.rows, c.blasts
	for k := range c.commands {
		o := &c.commands[k]
		switch o.kind {
		case createBody:
			b, err := w.CreateBody(c.bodies[len(c.createdBodies)])
			if err != nil {
				panic("physics3: Apply: a body was miscounted")
			}
			c.createdBodies = append(c.createdBodies, b)
		case createShape:
			s, err := w.createShape(c.Body(o.body), &c.shapes[len(c.createdShapes)])
			if err != nil {
				w.solver.invalidateMass(int(c.Body(o.body).index))
			}
			c.createdShapes = append(c.createdShapes, s)
		case destroyBody:
			_ = w.DestroyBody(c.Body(o.body))
		case destroyShape:
			w.destroyCreatedShape(c.Shape(o.shape))
		case createJoint:
			c.createdJoints = append(c.createdJoints, w.createNewJoint(c, &c.joints[len(c.createdJoints)]))
		case destroyJoint:
			w.solver.destroyJoint(int(c.Joint(o.joint).index))
		case setJoint:
			w.solver.redefineJoint(int(c.Joint(o.joint).index), &rows[0])
			rows = rows[1:]
		case ignorePair:
			_ = w.IgnorePair(c.Body(o.body), c.Body(o.other))
		case unignorePair:
			_ = w.UnignorePair(c.Body(o.body), c.Body(o.other))
		case shiftOrigin:
			_ = w.ShiftOrigin(o.first())
		case enableSleeping:
			_ = w.EnableSleeping(o.numbers[0] != 0)
		case enableContinuous:
			_ = w.EnableContinuous(o.numbers[0] != 0)
		case explode:
			w.solver.explode(&blasts[0])
			blasts = blasts[1:]
		default:
			i := int(c.Body(o.body).index)
			w.solver.applyToBody(i, o)
			if o.kind == setTransform {
				w.markTeleported(i)
			}
		}
	}
}

// destroyCreatedShape destroys a shape, unless its creation has failed.
func (w *World) destroyCreatedShape(s Shape) {
	if s == (Shape{}) {
		return
	}
	body := int(w.shapes.Owner[s.index])
	if err := w.DestroyShape(s); err != nil {
		w.solver.invalidateMass(body)
	}
}

// invalidateMass makes the next step disable a body whose mass is out of range.
func (s *solver) invalidateMass(i int) {
	if s.cols.Flags[i]&FlagDisabled != 0 {
		return
	}
	s.cols.InvMass[i] = check.CanonicalNaN(float32(math.NaN()))
	s.sleep.Wake(i)
}

// applyToBody executes a command on a body. disableInvalid handles values that overflow.
func (s *solver) applyToBody(i int, o *command) {
	c, a, b := s.cols, vecOf(o.first()), vecOf(o.second())
	if c.Flags[i]&FlagDisabled != 0 && o.kind != setTransform && o.kind != enableBody {
		return
	}
	switch o.kind {
	case setVelocity:
		if c.Type[i] != StaticBody {
			s.setVelocity(i, a, b)
		}
	case setTransform:
		s.setTransform(i, a, unitRotation(o.rotation()))
	case applyImpulse:
		s.putImpulse(i, a, s.leverArm(i, o.second()).Cross(a))
	case applyCentralImpulse:
		s.putImpulse(i, a, rigid3.Vec{})
	case applyAngularImpulse:
		s.putImpulse(i, rigid3.Vec{}, a)
	case applyForce:
		s.addForce(i, a, s.leverArm(i, o.second()).Cross(a))
	case applyCentralForce:
		s.addForce(i, a, rigid3.Vec{})
	case applyTorque:
		s.addForce(i, rigid3.Vec{}, a)
	case disableBody:
		s.disable(i)
	case enableBody:
		_ = s.enable(i)
	}
}
