package physics_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
)

// direct applies at once to a world the changes that a list of commands records, and keeps the first
// error.
type direct struct {
	w      *physics.World
	list   *physics.Commands
	bodies map[physics.Body]physics.Body // of provisional ones
	shapes map[physics.Shape]physics.Shape
	joints map[physics.Joint]physics.Joint
	known  []physics.Joint // live and stale, and those of the list
	err    error
}

// both records a command, and executes it unless an earlier one has failed.
func (d *direct) both(record func(), do func() error) {
	record()
	if d.err == nil {
		d.err = do()
	}
}

func (d *direct) body(b physics.Body) physics.Body {
	if real, ok := d.bodies[b]; ok {
		return real
	}
	return b
}

func (d *direct) shape(s physics.Shape) physics.Shape {
	if real, ok := d.shapes[s]; ok {
		return real
	}
	return s
}

// A list has the effect of its commands one by one. If one of these fails, it changes nothing and
// returns the same error.
func TestCommandsDoWhatCallsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, err := physics.New(physics.Config{Capacity: 12})
		if err != nil {
			t.Fatal(err)
		}
		var bodies []physics.Body // live and stale
		var shapes []physics.Shape
		var joints []physics.Joint
		for range rapid.IntRange(1, 8).Draw(t, "lists") {
			twin, err := w.Clone()
			if err != nil {
				t.Fatal(err)
			}
			d := &direct{w: twin, list: w.NewCommands(), bodies: map[physics.Body]physics.Body{}, shapes: map[physics.Shape]physics.Shape{}}
			d.joints, d.known = map[physics.Joint]physics.Joint{}, slices.Clone(joints)
			knownBodies, knownShapes := bodies, shapes
			for range rapid.IntRange(0, 12).Draw(t, "commands") {
				d.draw(t, &knownBodies, &knownShapes)
			}
			before := w.Hash()
			err = w.Step(1./60, d.list)
			if (err == nil) != (d.err == nil) {
				t.Fatalf("Apply says %v, the calls %v", err, d.err)
			}
			if err != nil {
				for _, is := range []error{physics.ErrStale, physics.ErrCapacity, physics.ErrNotFinite, physics.ErrRange, physics.ErrUnsupported} {
					if errors.Is(err, is) != errors.Is(d.err, is) {
						t.Fatalf("Apply says %v, the calls %v", err, d.err)
					}
				}
				if w.Hash() != before {
					t.Fatal("a refused list changed the world")
				}
				continue
			}
			if err := twin.Step(1. / 60); err != nil {
				t.Fatal(err)
			}
			if w.Hash() != twin.Hash() {
				t.Fatal("the list and the calls differ")
			}
			if d.list.Len() != 0 {
				t.Fatal("the list was not emptied")
			}
			for _, b := range knownBodies {
				r := d.list.Body(b)
				if r != d.body(b) || w.Valid(r) != twin.Valid(r) {
					t.Fatalf("%v became %v, want %v", b, r, d.body(b))
				}
				bodies = append(bodies, r)
			}
			for _, s := range knownShapes {
				if r := d.list.Shape(s); r != d.shape(s) || w.ValidShape(r) != twin.ValidShape(r) {
					t.Fatalf("%v became %v, want %v", s, r, d.shape(s))
				} else {
					shapes = append(shapes, r)
				}
			}
			for _, j := range d.known {
				if r := d.list.Joint(j); r != d.joint(j) || w.ValidJoint(r) != twin.ValidJoint(r) {
					t.Fatalf("%v became %v, want %v", j, r, d.joint(j))
				} else {
					joints = append(joints, r)
				}
			}
		}
	})
}

func (d *direct) draw(t *rapid.T, bodies *[]physics.Body, shapes *[]physics.Shape) {
	number := rapid.SampledFrom([]float32{0, 0, 1, -1, 0.25, 3, 1e9, nan, inf, 1e25})
	if rapid.IntRange(0, 9).Draw(t, "tame") > 0 {
		number = rapid.SampledFrom([]float32{0, 1, -1, 0.25, 3})
	}
	angle := rapid.SampledFrom([]float32{0, 0, 0, 1, -3, 70000, nan})
	v := func() [2]float32 { return [2]float32{number.Draw(t, "x"), number.Draw(t, "y")} }
	body := func() physics.Body {
		if len(*bodies) == 0 {
			return physics.Body{}
		}
		return rapid.SampledFrom(*bodies).Draw(t, "body")
	}
	l, w := d.list, d.w
	switch rapid.IntRange(0, 21).Draw(t, "kind") {
	case 0, 1, 2:
		def := physics.DefaultBodyDef()
		def.Type = physics.BodyType(rapid.IntRange(0, 2).Draw(t, "type"))
		def.Position, def.Angle = v(), angle.Draw(t, "angle")
		var b physics.Body
		d.both(func() { b = l.CreateBody(def) }, func() error {
			r, err := w.CreateBody(def)
			d.bodies[b] = r
			return err
		})
		*bodies = append((*bodies)[:len(*bodies):len(*bodies)], b)
	case 3, 4, 5:
		b, def := body(), physics.DefaultShapeDef()
		circle := physics.Circle{Center: v(), Radius: number.Draw(t, "radius")}
		capsule := physics.Capsule{P1: v(), P2: v(), Radius: 0.5}
		segment := physics.Segment{P1: v(), P2: v()}
		kind := rapid.IntRange(0, 3).Draw(t, "shape")
		var s physics.Shape
		d.both(func() {
			s = [...]func() physics.Shape{
				func() physics.Shape { return l.CreateCircle(b, def, circle) },
				func() physics.Shape { return l.CreateCapsule(b, def, capsule) },
				func() physics.Shape { return l.CreateSegment(b, def, segment) },
				func() physics.Shape { return l.CreatePolygon(b, def, physics.Box(1, 2)) },
			}[kind]()
		}, func() error {
			var r physics.Shape
			var err error
			switch b := d.body(b); kind {
			case 0:
				r, err = w.CreateCircle(b, def, circle)
			case 1:
				r, err = w.CreateCapsule(b, def, capsule)
			case 2:
				r, err = w.CreateSegment(b, def, segment)
			default:
				r, err = w.CreatePolygon(b, def, physics.Box(1, 2))
			}
			d.shapes[s] = r
			return err
		})
		*shapes = append((*shapes)[:len(*shapes):len(*shapes)], s)
	case 6:
		b := body()
		d.both(func() { l.DestroyBody(b) }, func() error { return w.DestroyBody(d.body(b)) })
	case 7:
		s := physics.Shape{}
		if len(*shapes) > 0 {
			s = rapid.SampledFrom(*shapes).Draw(t, "shape")
		}
		d.both(func() { l.DestroyShape(s) }, func() error { return w.DestroyShape(d.shape(s)) })
	case 20:
		s := physics.Shape{}
		if len(*shapes) > 0 {
			s = rapid.SampledFrom(*shapes).Draw(t, "shape")
		}
		g := rapid.SampledFrom([]shaped{
			circleOf(0, 0, number.Draw(t, "radius")), capsuleOf(0, 0, number.Draw(t, "x"), 1, 0.5),
			segmentOf(0, 0, number.Draw(t, "x"), number.Draw(t, "y")), polygonOf(physics.Box(number.Draw(t, "x"), 1)),
		}).Draw(t, "geometry")
		d.both(func() { g.record(l, s) }, func() error { return g.set(w, d.shape(s)) })
	case 8:
		b, j, at := body(), v(), v()
		if huge(j) || huge(at) {
			return // no error of a list: see TestCommandsThatOverflow
		}
		d.both(func() { l.ApplyLinearImpulse(b, j, at) }, func() error { return w.ApplyLinearImpulse(d.body(b), j, at) })
		d.both(func() { l.ApplyLinearImpulseToCenter(b, j) }, func() error { return w.ApplyLinearImpulseToCenter(d.body(b), j) })
		d.both(func() { l.ApplyAngularImpulse(b, at[0]) }, func() error { return w.ApplyAngularImpulse(d.body(b), at[0]) })
	case 9:
		b, f, at := body(), v(), v()
		if huge(f) || huge(at) {
			return
		}
		d.both(func() { l.ApplyForce(b, f, at) }, func() error { return w.ApplyForce(d.body(b), f, at) })
		d.both(func() { l.ApplyForceToCenter(b, f) }, func() error { return w.ApplyForceToCenter(d.body(b), f) })
		d.both(func() { l.ApplyTorque(b, at[0]) }, func() error { return w.ApplyTorque(d.body(b), at[0]) })
	case 10:
		b, p, turn := body(), v(), angle.Draw(t, "turn")
		d.both(func() { l.SetTransform(b, p, turn) }, func() error { return w.SetTransform(d.body(b), p, turn) })
	case 11:
		b, p, turn := body(), v(), number.Draw(t, "turn")
		d.both(func() { l.SetVelocity(b, p, turn) }, func() error {
			r := d.body(b)
			if !w.Valid(r) || !finite(p) || !finite([2]float32{turn}) || max(p[0], p[1], turn) > 1e19 {
				return w.SetVelocity(r, p, turn)
			}
			if w.Columns().Type[r.Index()] == physics.StaticBody || w.Disabled(r) {
				return nil // ignored by a list
			}
			return w.SetVelocity(r, p, turn)
		})
	case 12:
		b := body()
		d.both(func() { l.Disable(b) }, func() error { return w.Disable(d.body(b)) })
	case 13:
		b := body()
		d.both(func() { l.Enable(b) }, func() error { return w.Enable(d.body(b)) })
	case 14, 15, 16:
		def := physics.JointDef{BodyA: body(), BodyB: body(), FrameA: physics.JointFrame{Point: v(), Angle: angle.Draw(t, "frame")}}
		real := func() physics.JointDef {
			real := def
			real.BodyA, real.BodyB = d.body(def.BodyA), d.body(def.BodyB)
			return real
		}
		m := rapid.SampledFrom(jointMakers).Draw(t, "joint")
		if rapid.Bool().Draw(t, "another definition") && len(d.known) > 0 {
			j := rapid.SampledFrom(d.known).Draw(t, "which")
			d.both(func() { m.redo(l, j, def) }, func() error { return m.set(w, d.joint(j), real()) })
			return
		}
		var j physics.Joint
		d.both(func() { j = m.record(l, def) }, func() error {
			r, err := m.create(w, real())
			d.joints[j] = r
			return err
		})
		d.known = append(d.known, j)
	case 21:
		b, s := body(), physics.Span{Min: number.Draw(t, "least"), Max: number.Draw(t, "most")}
		d.both(func() { l.SetSpan(b, s) }, func() error { return w.SetSpan(d.body(b), s) })
	case 17, 18, 19:
		j := physics.Joint{}
		if len(d.known) > 0 {
			j = rapid.SampledFrom(d.known).Draw(t, "joint")
		}
		switch target := v(); rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			d.both(func() { l.DestroyJoint(j) }, func() error { return w.DestroyJoint(d.joint(j)) })
		case 1:
			d.both(func() { l.SetMotorSpeed(j, target[0]) }, func() error { return w.SetMotorSpeed(d.joint(j), target[0]) })
		case 2:
			def := physics.JointDef{FrameB: physics.JointFrame{Point: target}, CollideConnected: true, ConstraintHertz: target[0]}
			d.both(func() { l.SetJointDef(j, &def) }, func() error { return w.SetJointDef(d.joint(j), &def) })
		default:
			d.both(func() { l.SetMouseTarget(j, target) }, func() error { return w.SetMouseTarget(d.joint(j), target) })
		}
	}
}

func (d *direct) joint(j physics.Joint) physics.Joint {
	if real, ok := d.joints[j]; ok {
		return real
	}
	return j
}

func finite(v [2]float32) bool { return v[0]-v[0] == 0 && v[1]-v[1] == 0 }

func huge(v [2]float32) bool { return max(v[0], -v[0], v[1], -v[1]) > 1e9 }

// The error of a list names the command; earlier commands have no effect; destroyed objects free
// their capacity.
func TestBadCommandsAreNamed(t *testing.T) {
	w := newWorld(t, physics.Config{Capacity: 3})
	a := body(t, w, physics.DynamicBody, 0, 0)
	s := box(t, w, a, 1, 1)
	static := body(t, w, physics.StaticBody, 5, 0)
	tie := must[physics.Joint](t)(w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: common(a, static)}))
	gone := body(t, w, physics.DynamicBody, 9, 0)
	if err := w.DestroyBody(gone); err != nil {
		t.Fatal(err)
	}
	other := w.NewCommands()
	foreign := other.CreateBody(physics.DefaultBodyDef())
	def, shape := physics.DefaultBodyDef(), physics.DefaultShapeDef()
	bad := def
	bad.Angle = nan
	hash := w.Hash()
	for name, c := range map[string]struct {
		record func(c *physics.Commands)
		is     error
		words  string
	}{
		"stale":              {func(c *physics.Commands) { c.DestroyBody(a); c.DestroyBody(gone) }, physics.ErrStale, "command 1 (DestroyBody): physics: Body = body_2.1"},
		"twice":              {func(c *physics.Commands) { c.DestroyBody(a); c.DestroyBody(a) }, physics.ErrStale, "command 1"},
		"shape of one gone":  {func(c *physics.Commands) { c.DestroyBody(a); c.DestroyShape(s) }, physics.ErrStale, "command 1 (DestroyShape): physics: Shape"},
		"joint of one gone":  {func(c *physics.Commands) { c.DestroyBody(a); c.DestroyJoint(tie) }, physics.ErrStale, "command 1 (DestroyJoint): physics: Joint = joint_0.1"},
		"joint twice":        {func(c *physics.Commands) { c.DestroyJoint(tie); c.DestroyJoint(tie) }, physics.ErrStale, "command 1"},
		"joint without body": {func(c *physics.Commands) { c.CreateWeldJoint(physics.WeldJointDef{JointDef: common(gone, a)}) }, physics.ErrStale, "command 0 (create a joint): physics: JointDef.BodyA = body_2.1"},
		"joint of one new and gone": {func(c *physics.Commands) {
			b := c.CreateBody(def)
			j := c.CreateWeldJoint(physics.WeldJointDef{JointDef: common(a, b)})
			c.SetMotorSpeed(tie, 3)
			c.DestroyBody(b)
			c.DestroyJoint(j)
		}, physics.ErrStale, "command 4 (DestroyJoint): physics: Joint = new joint 0"},
		"joint of another kind": {func(c *physics.Commands) { c.SetJointDef(tie, &physics.WeldJointDef{}) }, physics.ErrUnsupported, "command 0 (define a joint)"},
		"target":                {func(c *physics.Commands) { c.SetMouseTarget(tie, [2]float32{}) }, physics.ErrUnsupported, "command 0 (SetMouseTarget)"},
		"speed":                 {func(c *physics.Commands) { c.SetMotorSpeed(tie, nan) }, physics.ErrNotFinite, "command 0 (SetMotorSpeed)"},
		"shape twice":           {func(c *physics.Commands) { c.DestroyShape(s); c.DestroyShape(s) }, physics.ErrStale, "command 1"},
		"of another list":       {func(c *physics.Commands) { c.SetVelocity(foreign, [2]float32{}, 0) }, physics.ErrStale, "command 0 (SetVelocity)"},
		"zero":                  {func(c *physics.Commands) { c.ApplyTorque(physics.Body{}, 1) }, physics.ErrStale, "command 0 (ApplyTorque)"},
		"new and gone":          {func(c *physics.Commands) { b := c.CreateBody(def); c.DestroyBody(b); c.ApplyTorque(b, 1) }, physics.ErrStale, "command 2"},
		"shape new and gone": {func(c *physics.Commands) {
			b := c.CreateCircle(a, shape, physics.Circle{Radius: 1})
			c.DestroyShape(b)
			c.DestroyShape(b)
		}, physics.ErrStale, "command 2"},
		"full": {func(c *physics.Commands) { c.CreateBody(def); c.CreateBody(def) }, physics.ErrCapacity, "command 1 (CreateBody): physics: Config.Capacity = 3"},
		"full again": {func(c *physics.Commands) {
			b := c.CreateBody(def)
			c.DestroyBody(b)
			c.CreateBody(def)
			c.CreateBody(def)
		}, physics.ErrCapacity, "command 3"},
		"geometry": {func(c *physics.Commands) { c.SetCircle(s, physics.Circle{Radius: -1}) }, physics.ErrRange, "command 0 (set the geometry of a shape): physics: Circle.Radius = -1"},
		"geometry of one gone": {func(c *physics.Commands) {
			b := c.CreateBody(def)
			n := c.CreateCircle(b, shape, physics.Circle{Radius: 1})
			c.DestroyBody(b)
			c.SetSegment(n, physics.Segment{P2: [2]float32{1, 0}})
		}, physics.ErrStale, "command 3 (set the geometry of a shape): physics: Shape = new shape 0"},
		"definition":   {func(c *physics.Commands) { c.SetVelocity(static, [2]float32{1, 1}, 1); c.CreateBody(bad) }, physics.ErrNotFinite, "command 1 (CreateBody): physics: BodyDef.Angle"},
		"shape":        {func(c *physics.Commands) { c.CreateCircle(a, shape, physics.Circle{Radius: -1}) }, physics.ErrRange, "(create a shape): physics: Circle.Radius = -1"},
		"polygon":      {func(c *physics.Commands) { c.CreatePolygon(a, shape, physics.Polygon{Count: 9}) }, physics.ErrRange, "Polygon.Count = 9"},
		"NaN":          {func(c *physics.Commands) { c.ApplyForce(a, [2]float32{0, nan}, [2]float32{}) }, physics.ErrNotFinite, "ApplyForce: force[1] = NaN"},
		"NaN as place": {func(c *physics.Commands) { c.ApplyLinearImpulse(a, [2]float32{}, [2]float32{nan, 0}) }, physics.ErrNotFinite, "ApplyLinearImpulse: point[0] = NaN"},
		"NaN as turn":  {func(c *physics.Commands) { c.SetVelocity(a, [2]float32{}, nan) }, physics.ErrNotFinite, "SetVelocity: angular = NaN"},
		"span":         {func(c *physics.Commands) { c.SetSpan(a, physics.Span{Min: 2, Max: 1}) }, physics.ErrRange, "command 0 (SetSpan): physics: SetSpan: span.Min = 2: out of range: greater than Max"},
		"NaN in span":  {func(c *physics.Commands) { c.SetSpan(a, physics.Span{Max: nan}) }, physics.ErrNotFinite, "SetSpan: span.Max = NaN"},
		"angle":        {func(c *physics.Commands) { c.SetTransform(a, [2]float32{}, 1e6) }, physics.ErrRange, "angle"},
		"velocity":     {func(c *physics.Commands) { c.SetVelocity(a, [2]float32{1e20}, 0) }, physics.ErrRange, "SetVelocity"},
	} {
		c1, c2 := w.NewCommands(), w.NewCommands()
		c1.ApplyLinearImpulse(a, [2]float32{1, 1}, [2]float32{0, 1})
		c.record(c2)
		n := c2.Len()
		err := w.Step(1./60, c1, c2)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), "physics: Apply: lists[1], ") || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %v", name, err)
		}
		if w.Hash() != hash || c1.Len() != 1 || c2.Len() != n {
			t.Fatalf("%s: the world or the lists have changed", name)
		}
	}
}

// A slot that a list frees can be used by the same list.
func TestCommandsReuseWhatTheyFree(t *testing.T) {
	w := newWorld(t, physics.Config{Capacity: 1})
	a := body(t, w, physics.DynamicBody, 0, 0)
	c := w.NewCommands()
	c.DestroyBody(a)
	b := c.CreateBody(physics.DefaultBodyDef())
	c.DestroyBody(b)
	last := c.CreateBody(physics.DefaultBodyDef())
	if err := w.Apply(c); err != nil {
		t.Fatal(err)
	}
	if w.Valid(a) || w.Valid(c.Body(b)) || !w.Valid(c.Body(last)) || w.Len() != 1 {
		t.Errorf("%d bodies", w.Len())
	}
}

// A value that overflows only when the command is executed disables the body in the next step.
func TestCommandsThatOverflow(t *testing.T) {
	for name, record := range map[string]func(*physics.Commands, physics.Body){
		"impulse": func(c *physics.Commands, b physics.Body) { c.ApplyLinearImpulse(b, [2]float32{3e38}, [2]float32{0, 9}) },
		"force":   func(c *physics.Commands, b physics.Body) { c.ApplyForceToCenter(b, [2]float32{3e38}) },
		"torque":  func(c *physics.Commands, b physics.Body) { c.ApplyTorque(b, -3e38) },
		"heavy":   heavy,
		"together": func(c *physics.Commands, b physics.Body) {
			c.ApplyLinearImpulseToCenter(b, [2]float32{9e18})
			c.ApplyLinearImpulseToCenter(b, [2]float32{9e18})
		},
	} {
		w := newWorld(t, physics.Config{Capacity: 3})
		b, other := body(t, w, physics.DynamicBody, 0, 0), body(t, w, physics.DynamicBody, 0.9, 0)
		must[physics.Shape](t)(w.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}))
		must[physics.Shape](t)(w.CreateCircle(other, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}))
		c := w.NewCommands()
		record(c, b)
		if err := w.Step(1./60, c); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e := w.Events().Disabled; len(e) != 1 || e[0].Body != b || !w.Disabled(b) {
			t.Errorf("%s: disabled are %v", name, e)
		}
		if p, _ := w.Position(other); p != [2]float32{0.9, 0} {
			t.Errorf("%s: the neighbour went to %v", name, p)
		}
	}
}

// A body that is asleep is disabled, too.
func TestCommandThatOverflowsASleeper(t *testing.T) {
	w := newWorld(t, physics.Config{})
	b := body(t, w, physics.DynamicBody, 0, 0)
	box(t, w, b, 0.5, 0.5)
	steps(t, w, 60)
	if w.Awake(b) {
		t.Fatal("the body is awake")
	}
	c := w.NewCommands()
	heavy(c, b)
	if err := w.Step(1./60, c); err != nil || !w.Disabled(b) || len(w.Events().Disabled) != 1 {
		t.Errorf("disabled %v, events %v, %v", w.Disabled(b), w.Events().Disabled, err)
	}
}

func heavy(c *physics.Commands, b physics.Body) {
	def := physics.DefaultShapeDef()
	def.Density = 1e30
	s := c.CreateCircle(b, def, physics.Circle{Radius: 1000})
	c.DestroyShape(s)
}

func TestMisuseOfCommandsPanics(t *testing.T) {
	w, other := newWorld(t, physics.Config{Capacity: 3}), newWorld(t, physics.Config{Capacity: 3})
	c := w.NewCommands()
	b := c.CreateBody(physics.DefaultBodyDef())
	s := c.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 1})
	j := c.CreateWeldJoint(physics.WeldJointDef{JointDef: common(b, b)})
	for want, call := range map[string]func(){
		"physics: Apply of one list twice":                                 func() { w.Apply(c, c) },
		"physics: Apply of Commands of another world":                      func() { other.Apply(c) },
		"physics: use of Commands that NewCommands did not make":           func() { new(physics.Commands).Enable(b) },
		"physics: Commands.Body: not of this list as it was applied last":  func() { c.Body(b) },
		"physics: Commands.Shape: not of this list as it was applied last": func() { c.Shape(s) },
		"physics: Commands.Joint: not of this list as it was applied last": func() { c.Joint(j) },
	} {
		func() {
			defer func() {
				if r := recover(); r != want {
					t.Errorf("recovered %v, want %s", r, want)
				}
			}()
			call()
		}()
	}
	bw := must[*physics.World](t)(box2d.New(physics.Config{}))
	if err := bw.Apply(bw.NewCommands()); !errors.Is(err, physics.ErrUnsupported) {
		t.Errorf("box2d: %v", err)
	}
}

func TestCommandsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w := newWorld(t, physics.Config{Capacity: 100})
	var bodies []physics.Body
	for i := range 50 {
		b := body(t, w, physics.DynamicBody, float32(2*i), 0)
		box(t, w, b, 0.5, 0.5)
		bodies = append(bodies, b)
	}
	c := w.NewCommands()
	def := physics.DefaultBodyDef()
	def.Type = physics.DynamicBody
	if n := testing.AllocsPerRun(100, func() {
		for _, b := range bodies {
			c.ApplyLinearImpulse(b, [2]float32{1, 2}, [2]float32{})
			c.ApplyForce(b, [2]float32{1, 2}, [2]float32{})
		}
		b := c.CreateBody(def)
		c.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(1, 1))
		j := c.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: common(bodies[0], b)})
		c.SetMotorSpeed(j, 3)
		c.SetJointDef(j, &physics.RevoluteJointDef{})
		c.DestroyBody(b)
		if err := w.Step(1./60, c); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
