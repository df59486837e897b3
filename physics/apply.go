package physics

import (
	"fmt"
	"strconv"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/handle"
)

// Apply executes the lists, one list after the other, and their commands in the
// order in which they were recorded. Then it empties the lists. Step calls it at its start
// with its own lists.
//
// If one command is invalid, nothing changes, the lists keep their commands, and the error
// names the list, the command and the fault: ErrStale for a handle whose object is destroyed at
// that point, ErrCapacity, and ErrNotFinite or ErrRange as from the method of World of the
// same name. Two faults depend on the state at that point and are not errors here. A velocity or a
// force that overflows disables the body at the start of the next step (see
// Events.Disabled), and so does a shape that would make its body too heavy; that shape
// is not created, and its handle becomes the zero Shape, or it keeps its geometry.
//
// Apply panics on a list of another world, and on a list that occurs twice. It allocates nothing
// unless the world or its lists grow. Another engine is ErrUnsupported.
func (w *World) Apply(lists ...*Commands) error {
	if w.failed != nil {
		return w.failed
	}
	if len(lists) == 0 {
		return nil
	}
	if err := w.engine.require(); err != nil {
		return err
	}
	w.checkLists(lists)
	r := &w.dryRun
	r.begin(w)
	defer r.end()
	for i, c := range lists {
		if k, err := r.list(c); err != nil {
			return fmt.Errorf("physics: Apply: lists[%d], command %d (%v): %w", i, k, c.commands[k].kind, err)
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
			panic("physics: Apply of Commands of another world")
		}
		if !c.recording.Take(w.applies) {
			panic("physics: Apply of one list twice")
		}
	}
}

// dryRun checks lists without changing the world: it tracks which objects they create and destroy.
type dryRun struct {
	w      *World
	bodies handle.DryRun
	joints handle.JointDryRun
	shapes handle.ShapeDryRun

	// For the list that is being checked.
	now           *Commands
	newExplosions int
	newGeometries int
	newMaterials  int
	origin        [2]float64 // at this point
	nextRow       int        // index of the next of the list's rows
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
	r.now, r.nextRow, r.newExplosions, r.newGeometries, r.newMaterials = c, 0, 0, 0, 0
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

func (r *dryRun) command(o *command) error {
	switch o.kind {
	case createBody:
		return r.createBody(&r.now.bodies[r.bodies.Created()])
	case destroyShape:
		return r.destroyShape(o.shape)
	case setGeometry:
		return r.setGeometry(o.shape)
	case createJoint:
		return r.createJoint(&r.now.joints[r.joints.Created()])
	case destroyJoint, setJoint, setMotorSpeed, setMouseTarget:
		return r.changeJoint(o)
	case explode:
		r.newExplosions++
		return r.now.explosions[r.newExplosions-1].Validate()
	case shiftOrigin:
		return r.shiftOrigin(o)
	case enableSleeping, enableContinuous:
		return nil
	case setMaterialPair, removeMaterialPair:
		r.newMaterials++
		return r.now.materials[r.newMaterials-1].Validate()
	}
	if !r.lives(o.body) {
		return fault.Field(ErrStale, "physics: Body", o.body)
	}
	switch o.kind {
	case destroyBody:
		r.destroyBody(o.body)
	case createShape:
		return r.createShape(o.body, &r.now.shapes[r.shapes.Created()])
	case ignorePair, unignorePair:
		return r.pair(o)
	default:
		return o.check()
	}
	return nil
}

// pair checks the second body of a pair, of which the first one lives.
func (r *dryRun) pair(o *command) error {
	if !r.lives(o.other) {
		return fault.Field(ErrStale, "physics: Body", o.other)
	}
	if o.body == o.other {
		return check.Because(fault.Field(ErrRange, "physics: "+o.kind.String()+": b", o.other), "equals a")
	}
	return nil
}

func (r *dryRun) createBody(d *BodyDef) error {
	if err := r.w.checkBodyDef(d); err != nil {
		return err
	}
	if r.bodies.Full() {
		return fault.Field(ErrCapacity, "physics: Config.Capacity", r.w.config.Capacity)
	}
	if err := d.checkSolver(); err != nil {
		return err
	}
	r.bodies.Create()
	return nil
}

func (r *dryRun) createShape(b Body, s *newShape) error {
	if err := s.check(); err != nil {
		return err
	}
	if r.shapes.Full() {
		return fault.Field(ErrCapacity, "physics: ShapeCount", r.w.ShapeCount())
	}
	r.shapes.Create(b.index, b.generation)
	return nil
}

func (s *newShape) check() error {
	if err := s.def.Validate(); err != nil {
		return err
	}
	_, err := s.geometry.checked()
	return err
}

// lives reports whether a body lives at this point of the list.
func (r *dryRun) lives(b Body) bool { return r.bodies.Lives(b.index, b.generation) }

func (r *dryRun) destroyBody(b Body) {
	r.bodies.Destroy(b.index)
	r.bodies.Free(b.index)
}

func (r *dryRun) destroyShape(s Shape) error {
	err := r.changeableShape("physics: DestroyShape", s)
	if err == nil {
		r.shapes.Destroy(s.index)
	}
	return err
}

// changeableShape returns an error unless a shape lives at this point of the list, in no chain.
func (r *dryRun) changeableShape(field string, s Shape) error {
	switch {
	case !r.shapes.Lives(s.index, s.generation):
		return fault.Field(ErrStale, "physics: Shape", s)
	case s.index < provisional:
		return r.w.requireNotInChain(field, s)
	}
	return nil
}

// check checks the numbers of a command on a body.
func (o *command) check() error {
	if o.kind == setSpan { // which may be infinite
		return Span{o.numbers[0], o.numbers[1]}.check("physics: SetSpan: span")
	}
	for i, v := range o.numbers {
		if !fault.Finite(v) {
			return fault.Field(ErrNotFinite, "physics: "+o.kind.String()+": "+o.kind.argument(i), v)
		}
	}
	switch o.kind {
	case setTransform:
		return checkPlace("physics: SetTransform: position", "physics: SetTransform: angle",
			[2]float32(o.numbers[:2]), o.numbers[2])
	case setVelocity:
		for _, v := range o.numbers {
			if !check.InRange(v) {
				return check.Overflow("physics: SetVelocity: linear, angular", [3]float32(o.numbers[:3]))
			}
		}
	}
	return nil
}

// argument names number i of a command on a body.
func (k commandKind) argument(i int) string {
	pair, single := "impulse", "impulse"
	switch k {
	case setTransform:
		pair, single = "position", "angle"
	case setVelocity:
		pair, single = "linear", "angular"
	case applyForce, applyCentralForce:
		pair = "force"
	case applyTorque:
		return "torque"
	case applyAngularImpulse:
		return single
	}
	switch {
	case i < 2:
		return pair + "[" + strconv.Itoa(i) + "]"
	case k == applyForce || k == applyImpulse:
		return "point[" + strconv.Itoa(i-2) + "]"
	}
	return single
}

// run executes a checked list.
func (w *World) run(c *Commands) {
	c.recording.Apply()
	c.createdBodies, c.createdShapes, c.createdJoints = c.createdBodies[:0], c.createdShapes[:0], c.createdJoints[:0]
	rows, blasts, geometries, materials := c.rows, 0, c.geometries, c.materials
	for k := range c.commands {
		o := &c.commands[k]
		switch o.kind {
		case createBody:
			b, err := w.CreateBody(c.bodies[len(c.createdBodies)])
			if err != nil {
				panic("physics: Apply: a body was miscounted")
			}
			c.createdBodies = append(c.createdBodies, b)
		case createShape:
			c.createdShapes = append(c.createdShapes, w.createShapeOrInvalidate(c.Body(o.body), &c.shapes[len(c.createdShapes)]))
		case destroyBody:
			_ = w.DestroyBody(c.Body(o.body))
		case destroyShape:
			w.destroyCreatedShape(c.Shape(o.shape))
		case setGeometry:
			w.setGeometryOrInvalidate(c.Shape(o.shape), geometries[0])
			geometries = geometries[1:]
		case createJoint:
			c.createdJoints = append(c.createdJoints, w.createNewJoint(c, &c.joints[len(c.createdJoints)]))
		case setJoint:
			w.solver.redefineJoint(int(c.Joint(o.joint).index), &rows[0])
			rows = rows[1:]
		case destroyJoint, setMotorSpeed, setMouseTarget:
			w.solver.applyJoint(int(c.Joint(o.joint).index), o)
		case ignorePair:
			_ = w.IgnorePair(c.Body(o.body), c.Body(o.other))
		case unignorePair:
			_ = w.UnignorePair(c.Body(o.body), c.Body(o.other))
		case setSpan:
			_ = w.SetSpan(c.Body(o.body), Span{o.numbers[0], o.numbers[1]})
		case explode:
			w.solver.explode(&c.explosions[blasts])
			blasts++
		case shiftOrigin:
			_ = w.ShiftOrigin([2]float32(o.numbers[:2]))
		case enableSleeping:
			w.solver.sleep.Enable(o.numbers[0] != 0)
		case enableContinuous:
			w.solver.continuous.enabled = o.numbers[0] != 0
		case setMaterialPair:
			_ = w.SetMaterialPair(materials[0])
			materials = materials[1:]
		case removeMaterialPair:
			_ = w.RemoveMaterialPair(materials[0].A, materials[0].B)
			materials = materials[1:]
		default:
			i := int(c.Body(o.body).index)
			w.solver.applyToBody(i, o)
			if o.kind == setTransform {
				w.markTeleported(i)
			}
		}
	}
}

// createShapeOrInvalidate creates a shape. If that fails because of the mass of its body, it sets a value of the body
// to NaN, so that the next step disables it.
func (w *World) createShapeOrInvalidate(b Body, n *newShape) Shape {
	s, err := w.createShape(b, n.def, n.geometry)
	if err != nil {
		w.solver.invalidateMass(int(b.index))
	}
	return s
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
	s.cols.InvMass[i] = floatNaN
	s.sleep.Wake(i)
}

// applyToBody executes a command on a body. disableInvalid handles values that overflow.
func (s *solver) applyToBody(i int, o *command) {
	c, n := s.cols, &o.numbers
	if c.Flags[i]&FlagDisabled != 0 && o.kind != setTransform && o.kind != enableBody {
		return
	}
	switch o.kind {
	case setVelocity:
		if c.Type[i] != StaticBody {
			_ = s.SetVelocity(i, [2]float32{n[0], n[1]}, n[2])
		}
	case setTransform:
		_ = s.SetTransform(i, [2]float32{n[0], n[1]}, n[2])
	case applyImpulse, applyCentralImpulse:
		s.sleep.WakeDynamic(i)
		c.VX[i] += float32(c.InvMass[i] * n[0])
		c.VY[i] += float32(c.InvMass[i] * n[1])
		if o.kind == applyImpulse {
			c.W[i] += s.angularChange(i, [2]float32{n[0], n[1]}, [2]float32{n[2], n[3]})
		}
	case applyAngularImpulse:
		s.sleep.WakeDynamic(i)
		c.W[i] += float32(c.InvInertia[i] * n[0])
	case applyForce, applyCentralForce, applyTorque:
		s.sleep.WakeDynamic(i)
		s.applyForceCommand(i, o)
	case disableBody:
		s.disable(i)
	case enableBody:
		_ = s.enable(i)
	}
	for _, v := range [...]*float32{&c.VX[i], &c.VY[i], &c.W[i], &c.ForceX[i], &c.ForceY[i], &c.Torque[i]} {
		*v = check.CanonicalNaN(*v)
	}
}

func (s *solver) applyForceCommand(i int, o *command) {
	c, n := s.cols, &o.numbers
	switch {
	case c.Type[i] != DynamicBody:
		return
	case o.kind == applyTorque:
		c.Torque[i] += n[0]
		return
	case o.kind == applyForce:
		x, y := s.leverArm(i, [2]float32{n[2], n[3]})
		c.Torque[i] += float32(x*n[1]) - float32(y*n[0])
	}
	c.ForceX[i] += n[0]
	c.ForceY[i] += n[1]
}
