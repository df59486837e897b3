package skill

import (
	"cmp"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
	"github.com/google/jsonschema-go/jsonschema"
)

// Scene returns c with the gravity of a scene, 9.81 m/s² along -Y, so that dynamic bodies fall. It does not
// change the gravity that c has, nor a world in the plane XZ, which is seen from above.
func Scene(c evertick.Config) evertick.Config {
	if p := &c.Physics; p.Plane == physics.XY && p.Gravity == [2]float32{} {
		p.Gravity[1] = -9.81
	}
	return c
}

// CreateInput is the input of scene.createEntity. A body is described by Body, or in the short form by the
// fields from Shape on.
type CreateInput struct {
	Position  Vec        `json:"position" jsonschema:"where it is, in metres; a body has two of the axes, and its entity all three"`
	Rotation  *Quat      `json:"rotation,omitempty" jsonschema:"the rotation of a body must be within the plane of the bodies"`
	Scale     *Vec       `json:"scale,omitempty"`
	Tags      []string   `json:"tags,omitempty"`
	Mesh      *Model     `json:"mesh,omitempty" jsonschema:"its resource of the kind mesh"`
	Resources []Resource `json:"resources,omitempty" jsonschema:"others, each of another kind"`
	Body      *bodySpec  `json:"body,omitempty" jsonschema:"if it is missing and neither dynamic nor static is true, the entity has no body"`

	Shape       string   `json:"shape,omitempty" jsonschema:"of a dynamic or static body, default box; ignored for other entities"`
	Collider    string   `json:"collider,omitempty" jsonschema:"the shape of the body, if it differs from shape"`
	Size        *float32 `json:"size,omitempty" jsonschema:"edge of a box, diameter of a sphere, in metres, default 1; of a capsule the length between the centres of its ends and twice its width. Without a body it is the scale"`
	Dynamic     bool     `json:"dynamic,omitempty" jsonschema:"the body moves"`
	Static      bool     `json:"static,omitempty" jsonschema:"the body does not move, even if dynamic is true"`
	Friction    *float32 `json:"friction,omitempty" jsonschema:"of a dynamic or static body"`
	Restitution *float32 `json:"restitution,omitempty" jsonschema:"of a dynamic or static body"`
}

// bodySpec describes a body with one shape around its origin.
type bodySpec struct {
	Type            string        `json:"type" jsonschema:"static, kinematic or dynamic"`
	Shape           shapeSpec     `json:"shape"`
	Material        *materialSpec `json:"material,omitempty"`
	Angle           float32       `json:"angle,omitempty" jsonschema:"in radians, in the plane of the bodies; use this or rotation of the entity"`
	Velocity        *Vec          `json:"velocity,omitempty" jsonschema:"in m/s, in the plane of the bodies"`
	AngularVelocity float32       `json:"angularVelocity,omitempty" jsonschema:"in rad/s"`
	Spin            *Vec          `json:"spin,omitempty" jsonschema:"in rad/s about the axes"`
}

// shapeSpec is a shape. Its cross-section in the plane of the bodies collides.
type shapeSpec struct {
	Type   string  `json:"type" jsonschema:"box, sphere, circle or capsule"`
	Size   *Vec    `json:"size,omitempty" jsonschema:"edges of a box, in metres; the edge along the third axis is ignored"`
	Radius float32 `json:"radius,omitempty" jsonschema:"of a sphere, circle or capsule, in metres"`
	Length float32 `json:"length,omitempty" jsonschema:"between the centres of the ends of a capsule, in metres; along the second axis of the plane"`
	Points []Vec   `json:"points,omitempty" jsonschema:"of which a hull is the convex hull, at least four, in metres"`
}

// materialSpec is the material of a shape. Missing fields are as in physics.DefaultShapeDef.
type materialSpec struct {
	Density     *float32 `json:"density,omitempty" jsonschema:"in kg/m²"`
	Friction    *float32 `json:"friction,omitempty"`
	Restitution *float32 `json:"restitution,omitempty"`
}

// Created is the output of scene.createEntity.
type Created struct {
	ID   string `json:"id"`
	Body string `json:"body,omitempty" jsonschema:"type of its body; missing if it has none"`
}

func (r *Registry) constrainCreate(s *jsonschema.Schema) {
	e := float64(r.config.Extent)
	bound(s, -e, e, "position")
	bound(s, -maxQuat, maxQuat, "rotation")
	bound(s, -maxScale, maxScale, "scale")
	bound(s, 0, maxSize, "size", "body.shape.size", "body.shape.radius", "body.shape.length")
	bound(s, 0, 1e6, "friction", "restitution", "body.material")
	bound(s, -maxAngle, maxAngle, "body.angle")
	bound(s, -maxSpeed, maxSpeed, "body.velocity", "body.angularVelocity")
	tagList(property(s, "tags"))
	most, resource := maxResources, property(s, "resources").Items
	property(s, "resources").MaxItems = &most
	property(resource, "kind").Pattern = tagPattern
	r.constrainModel(resource)
	r.constrainModel(property(s, "mesh"))
	oneOf(property(s, "body.type"), "static", "kinematic", "dynamic")
	for _, path := range []string{"shape", "collider", "body.shape.type"} {
		oneOf(property(s, path), "box", "sphere", "circle", "capsule")
	}
	r.constrainSpace(s)
}

// expand makes a BodySpec of the short form.
func (in *CreateInput) expand() *Error {
	solid := in.Dynamic || in.Static
	for _, f := range [...]struct {
		name      string
		set       bool
		needsBody bool
	}{
		{"dynamic", in.Dynamic, false}, {"static", in.Static, false}, {"shape", in.Shape != "", false}, {"size", in.Size != nil, false},
		{"collider", in.Collider != "", true}, {"friction", in.Friction != nil, true}, {"restitution", in.Restitution != nil, true},
	} {
		if f.set && in.Body != nil {
			return refuse(InvalidInput, f.name, "cannot be combined with body")
		}
		if f.set && f.needsBody && !solid {
			return refuse(InvalidInput, f.name, "needs a body: dynamic or static must be true")
		}
	}
	size := float32(1)
	if in.Size != nil {
		size = *in.Size
	}
	switch {
	case solid:
		in.Body = in.shortBody(size)
	case in.Size != nil && in.Scale != nil:
		return refuse(InvalidInput, "size", "cannot be combined with scale: without a body both set the scale")
	case in.Size != nil:
		in.Scale = &Vec{size, size, size}
	}
	return nil
}

// shortBody returns the body of the short form. A capsule is half as wide as it is long between the centres of
// its ends.
func (in *CreateInput) shortBody(size float32) *bodySpec {
	b := &bodySpec{Type: "dynamic", Material: &materialSpec{Friction: in.Friction, Restitution: in.Restitution}}
	if in.Static {
		b.Type = "static"
	}
	switch b.Shape.Type = cmp.Or(in.Collider, in.Shape, "box"); b.Shape.Type {
	case "box":
		b.Shape.Size = &Vec{size, size, size}
	case "capsule":
		b.Shape.Radius, b.Shape.Length = size/4, size
	default:
		b.Shape.Radius = size / 2
	}
	return b
}

// createEntity checks everything before it spawns the entity: an id is never issued again, not even after an
// entity that is despawned at once.
func createEntity(c *Call, in CreateInput) (Created, error) {
	if refused := in.expand(); refused != nil {
		return Created{}, refused
	}
	rotation, refused := c.startRotation(&in)
	if refused != nil {
		return Created{}, refused
	}
	resources, refused := in.resources()
	if refused != nil {
		return Created{}, refused
	}
	w := c.Sim.World
	if w.Len() == w.Cap() {
		return Created{}, refuse(CapacityExceeded, "", "the world is full: %d entities", w.Cap())
	}
	var b *bodyPlan
	if in.Body != nil {
		plan := c.planBody
		if c.Registry.config.Space != nil {
			plan = c.planInSpace
		}
		var err error
		if b, err = plan(in.Position, rotation, in.Body); err != nil {
			return Created{}, err
		}
	}
	tags, refused := c.addTags("tags", in.Tags)
	if refused != nil {
		return Created{}, refused
	}
	id, slot, err := w.SpawnSlot()
	if err != nil {
		return Created{}, err
	}
	if b != nil {
		err = b.make(c.Sim, id)
	}
	if err == nil && len(resources) > 0 {
		err = c.storeResources(id, resources)
	}
	if err != nil {
		w.Despawn(id) // of another engine, which the trial does not have, or resources have filled the memory
		return Created{}, err
	}
	setTransform(w, slot, in.Position, rotation)
	if in.Scale != nil {
		w.Scale.X[slot], w.Scale.Y[slot], w.Scale.Z[slot] = in.Scale.X, in.Scale.Y, in.Scale.Z
		w.Scale.Touch()
	}
	for _, t := range tags {
		t.Set(id)
	}
	if b != nil {
		return Created{id.String(), in.Body.Type}, nil
	}
	return Created{ID: id.String()}, nil
}

// startRotation returns the rotation of the entity. If it has a body, the rotation sets the angle of the body, by
// the rule of the plane, and equals what the first Sync will write.
func (c *Call) startRotation(in *CreateInput) (Quat, *Error) {
	q := Quat{W: 1}
	if in.Rotation != nil {
		var refused *Error
		if q, refused = normalised("rotation", *in.Rotation); refused != nil {
			return q, refused
		}
	}
	switch {
	case in.Body == nil || c.Registry.config.Space != nil:
		return q, nil
	case in.Rotation != nil && in.Body.Angle != 0:
		return q, refuse(InvalidInput, "rotation", "cannot be combined with body.angle")
	case in.Rotation != nil:
		a, refused := c.angle("rotation", q)
		if refused != nil {
			return q, refused
		}
		in.Body.Angle = a
	}
	return quatOf(c.plane().Rotation(in.Body.Angle)), nil
}

func setTransform(w *ecs.World, slot ecs.Slot, at Vec, q Quat) {
	w.Position.X[slot], w.Position.Y[slot], w.Position.Z[slot] = at.X, at.Y, at.Z
	w.Position.Touch()
	w.Rotation.X[slot], w.Rotation.Y[slot], w.Rotation.Z[slot], w.Rotation.W[slot] = q.X, q.Y, q.Z, q.W
	w.Rotation.Touch()
	w.JumpAt(slot)
}

// bodyPlan describes a body that can be created.
type bodyPlan struct {
	def         physics.BodyDef
	material    physics.ShapeDef
	createShape func(*physics.World, physics.Body, physics.ShapeDef) (physics.Shape, error)
	inSpace     func(id ecs.ID) error // nil: in the plane
}

func (b *bodyPlan) make(sim *evertick.Sim, id ecs.ID) error {
	if b.inSpace != nil {
		return b.inSpace(id)
	}
	body, err := sim.CreateBody(id, b.def)
	if err == nil {
		_, err = b.createShape(sim.Physics, body, b.material)
	}
	return err
}

// trial is a world of one body, in which a body is created to see whether that fails.
type trial struct{ world *physics.World }

func (t *trial) run(sim *evertick.Sim, b *bodyPlan) error {
	if t.world == nil {
		config := sim.Physics.Config()
		w, err := physics.New(physics.Config{Capacity: 1, Slots: 1, Plane: config.Plane, Level: sim.Level()})
		if err != nil {
			return err
		}
		t.world = w
	}
	body, err := t.world.CreateBody(b.def)
	if err != nil {
		return err
	}
	_, err = b.createShape(t.world, body, b.material)
	if e := t.world.DestroyBody(body); e != nil {
		t.world = nil
	}
	return err
}

// planBody makes a plan of a description, and tries it.
func (c *Call) planBody(at Vec, _ Quat, in *bodySpec) (*bodyPlan, error) {
	b := &bodyPlan{def: physics.DefaultBodyDef(), material: physics.DefaultShapeDef()}
	switch in.Type {
	case "kinematic":
		b.def.Type = physics.KinematicBody
	case "dynamic":
		b.def.Type = physics.DynamicBody
	}
	b.def.Position, b.def.Angle, b.def.AngularVelocity = c.inPlane(at), in.Angle, in.AngularVelocity
	if in.Velocity != nil {
		var refused *Error
		if b.def.LinearVelocity, refused = c.direction("body.velocity", *in.Velocity); refused != nil {
			return nil, refused
		}
	}
	if m := in.Material; m != nil {
		override(&b.material.Density, m.Density)
		override(&b.material.Friction, m.Friction)
		override(&b.material.Restitution, m.Restitution)
	}
	var refused *Error
	if b.createShape, refused = in.Shape.createFunc(c.plane()); refused != nil {
		return nil, refused
	}
	if err := c.Registry.trial.run(c.Sim, b); err != nil {
		return nil, &Error{Code: InvalidInput, Field: "body", Text: shorten(err), Cause: err}
	}
	return b, c.roomForBody()
}

func override(to, v *float32) {
	if v != nil {
		*to = *v
	}
}

// roomForBody refuses a body if the world is full, or if bodies cannot drive the next entity.
func (c *Call) roomForBody() error {
	ph := c.Sim.Physics
	if ph.Len() >= ph.Cap() {
		return refuse(CapacityExceeded, "body", "the world is full: %d bodies", ph.Cap())
	}
	if slots := ph.Config().Slots; slots > 0 && slots < c.Sim.World.Cap() && nextSlot(c.Sim.World) >= slots {
		return refuse(CapacityExceeded, "body", "only the first %d entities can have a body", slots)
	}
	return nil
}

// nextSlot returns the lowest free slot, which the next entity gets.
func nextSlot(w *ecs.World) int {
	for i, word := range w.LiveMask() {
		if word != math.MaxUint64 {
			for bit := range 64 {
				if word>>bit&1 == 0 {
					return i*64 + bit
				}
			}
		}
	}
	return w.Cap()
}

// createFunc returns a function that creates the shape. It refuses fields of another shape.
func (s *shapeSpec) createFunc(p physics.Plane) (func(*physics.World, physics.Body, physics.ShapeDef) (physics.Shape, error), *Error) {
	round := s.Type != "box"
	switch {
	case round && s.Size != nil:
		return nil, refuse(InvalidInput, "body.shape.size", "only a box has a size")
	case !round && s.Size == nil:
		return nil, refuse(InvalidInput, "body.shape.size", "is missing: a box needs it")
	case !round && s.Radius != 0:
		return nil, refuse(InvalidInput, "body.shape.radius", "a box has no radius")
	case s.Type != "capsule" && s.Length != 0:
		return nil, refuse(InvalidInput, "body.shape.length", "only a capsule has a length")
	}
	switch s.Type {
	case "box":
		half, _ := p.Split([3]float32{s.Size.X / 2, s.Size.Y / 2, s.Size.Z / 2})
		return func(w *physics.World, b physics.Body, def physics.ShapeDef) (physics.Shape, error) {
			return w.CreatePolygon(b, def, physics.Box(half[0], half[1]))
		}, nil
	case "capsule":
		capsule := physics.Capsule{P1: [2]float32{0, -s.Length / 2}, P2: [2]float32{0, s.Length / 2}, Radius: s.Radius}
		return func(w *physics.World, b physics.Body, def physics.ShapeDef) (physics.Shape, error) {
			return w.CreateCapsule(b, def, capsule)
		}, nil
	}
	circle := physics.Circle{Radius: s.Radius}
	return func(w *physics.World, b physics.Body, def physics.ShapeDef) (physics.Shape, error) {
		return w.CreateCircle(b, def, circle)
	}, nil
}

// entityInput is an input that names an entity and nothing else.
type entityInput struct{ entityRef }

// Destroyed is the output of scene.destroyEntity.
type Destroyed struct {
	ID string `json:"id"`
}

func destroyEntity(c *Call, in entityInput) (Destroyed, error) {
	id, _, refused := c.entity(in.entityRef)
	if refused != nil {
		return Destroyed{}, refused
	}
	c.Sim.World.Despawn(id)
	return Destroyed{id.String()}, nil
}

// queryInput is the input of scene.queryEntities.
type queryInput struct {
	Tags    []string `json:"tags,omitempty" jsonschema:"an entity must have all of them"`
	Without []string `json:"without,omitempty" jsonschema:"an entity must have none of them"`
	Tag     string   `json:"tag,omitempty" jsonschema:"one more tag that an entity must have"`
	Center  *Vec     `json:"center,omitempty" jsonschema:"for radius and nearest; distances are between positions, heights included"`
	Near    *Vec     `json:"near,omitempty" jsonschema:"another name of center"`
	Radius  *float32 `json:"radius,omitempty" jsonschema:"in metres"`
	Nearest int      `json:"nearest,omitempty" jsonschema:"how many"`
	Exclude string   `json:"exclude,omitempty" jsonschema:"id of an entity to leave out"`
	Limit   int      `json:"limit,omitempty" jsonschema:"maximum number of entities; default: as many as are allowed"`
	Detail  bool     `json:"detail,omitempty" jsonschema:"also return rotation, scale, tags, body and resources"`
}

// Found is an entity in the output of scene.queryEntities.
type Found struct {
	ID        string     `json:"id"`
	Position  Vec        `json:"position"`
	Distance  *float32   `json:"distance,omitempty"`
	Rotation  *Quat      `json:"rotation,omitempty"`
	Scale     *Vec       `json:"scale,omitempty"`
	Tags      []string   `json:"tags,omitempty"`
	Body      *bodyState `json:"body,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
}

// bodyState is the type and the velocity of a body.
type bodyState struct {
	Type            string  `json:"type"`
	Velocity        Vec     `json:"velocity"`
	AngularVelocity float32 `json:"angularVelocity"`
	Spin            *Vec    `json:"spin,omitempty" jsonschema:"of a body in space, in rad/s about the axes; angularVelocity is its length"`
}

// QueryOutput is the output of scene.queryEntities.
type QueryOutput struct {
	Entities []Found `json:"entities"`
	Total    int     `json:"total" jsonschema:"number of entities found, of which entities may have only the first"`
}

func (r *Registry) constrainQuery(s *jsonschema.Schema) {
	e, rows := float64(r.config.Extent), float64(r.config.Rows)
	bound(s, -e, e, "center", "near")
	bound(s, 0, 4*e, "radius")
	bound(s, 1, math.Min(rows, spatial.MostNeighbours), "nearest")
	bound(s, 1, rows, "limit")
	tagList(property(s, "tags"))
	tagList(property(s, "without"))
	property(s, "tag").Pattern = tagPattern
	property(s, "exclude").Pattern = idPattern
}

// resolveAliases merges fields that have two names.
func (in *queryInput) resolveAliases() *Error {
	if in.Tag != "" {
		in.Tags = append(in.Tags, in.Tag)
	}
	if in.Near == nil {
		return nil
	}
	if in.Center != nil {
		return refuse(InvalidInput, "near", "cannot be combined with center, of which it is another name")
	}
	in.Center = in.Near
	return nil
}

func queryEntities(c *Call, in queryInput) (QueryOutput, error) {
	if refused := in.resolveAliases(); refused != nil {
		return QueryOutput{}, refused
	}
	if in.Center == nil && (in.Radius != nil || in.Nearest > 0) {
		return QueryOutput{}, refuse(InvalidInput, "center", "is missing: radius and nearest need it")
	}
	if in.Center != nil && in.Radius == nil && in.Nearest == 0 {
		return QueryOutput{}, refuse(InvalidInput, "center", "needs radius or nearest")
	}
	exclude := uint32(spatial.NoSlot)
	if in.Exclude != "" {
		_, slot, refused := c.liveEntity("exclude", in.Exclude)
		if refused != nil {
			return QueryOutput{}, refused
		}
		exclude = slot
	}
	limit := c.Registry.config.Rows
	if in.Limit > 0 {
		limit = in.Limit
	}
	mask := c.mask(in.Tags, in.Without)
	if in.Center == nil {
		return c.byAge(mask, exclude, limit, in.Detail), nil
	}
	r := c.Registry
	if err := r.findNear(in, mask, exclude); err != nil {
		return QueryOutput{}, err
	}
	slots, dist := r.found.Row(0), r.found.Dist2
	out := QueryOutput{Entities: make([]Found, 0, min(limit, len(slots))), Total: len(slots)}
	for i, slot := range slots[:min(limit, len(slots))] {
		row := c.row(slot, in.Detail)
		d := float32(math.Sqrt(float64(dist[i])))
		row.Distance = &d
		out.Entities = append(out.Entities, row)
	}
	return out, nil
}

// mask returns the bitmap of the entities that have some tags and lack others. A tag that is not registered is a
// tag that no entity has.
func (c *Call) mask(with, without []string) []uint64 {
	mask := append([]uint64(nil), c.Sim.World.LiveMask()...)
	for _, name := range with {
		t, ok := c.Registry.tag(name)
		if !ok {
			clear(mask)
			continue
		}
		for i, word := range t.Mask() {
			mask[i] &= word
		}
	}
	for _, name := range without {
		if t, ok := c.Registry.tag(name); ok {
			for i, word := range t.Mask() {
				mask[i] &^= word
			}
		}
	}
	return mask
}

func (c *Call) byAge(mask []uint64, exclude uint32, limit int, detail bool) QueryOutput {
	out := QueryOutput{Entities: []Found{}}
	for id := range c.Sim.World.IDs() {
		slot, ok := c.Sim.World.Slot(id)
		if !ok || slot == exclude || mask[slot/64]>>(slot%64)&1 == 0 {
			continue
		}
		if out.Total++; out.Total <= limit {
			out.Entities = append(out.Entities, c.row(slot, detail))
		}
	}
	return out
}

// findNear queries the index of the Sim if it is up to date, and otherwise one of its own.
// Both give the same answer.
func (r *Registry) findNear(in queryInput, mask []uint64, exclude uint32) error {
	ix, err := r.currentIndex()
	if err != nil {
		return err
	}
	x, y, z := []float32{in.Center.X}, []float32{in.Center.Y}, []float32{in.Center.Z}
	if in.Nearest > 0 {
		q := spatial.NearestQueries{X: x, Y: y, Z: z, K: in.Nearest, Exclude: []uint32{exclude}, Live: mask}
		if in.Radius != nil {
			q.Radius = []float32{*in.Radius}
		}
		return ix.KNN(&q, &r.found)
	}
	return ix.Radius(&spatial.Queries{
		X: x, Y: y, Z: z, Radius: []float32{*in.Radius}, Exclude: []uint32{exclude}, Live: mask, Order: spatial.ByDistance,
	}, &r.found)
}

func (r *Registry) currentIndex() (*spatial.Index, error) {
	w := r.sim.World
	p := &w.Position
	if r.sim.Index.Indexes(p.X, p.Y, p.Z, w.LiveMask()) {
		return r.sim.Index, nil
	}
	if r.index == nil {
		ix, err := spatial.New(spatial.Config{Level: r.sim.Level()})
		if err != nil {
			return nil, err
		}
		r.index = ix
	}
	if !r.index.Indexes(p.X, p.Y, p.Z, w.LiveMask()) {
		r.slots = w.LiveSlots(r.slots[:0])
		if err := r.index.Build(p.X, p.Y, p.Z, r.slots); err != nil {
			return nil, err
		}
	}
	return r.index, nil
}

// row returns an entity as output.
func (c *Call) row(slot ecs.Slot, detail bool) Found {
	id, _ := c.Sim.World.ID(slot)
	f := Found{ID: id.String(), Position: c.position(slot)}
	if !detail {
		return f
	}
	q, s := c.rotation(slot), c.scale(slot)
	f.Rotation, f.Scale = &q, &s
	names, tags := c.carriedTags()
	for i, t := range tags {
		if t.Has(id) {
			f.Tags = append(f.Tags, names[i])
		}
	}
	if b, ok := c.Sim.Body(id); ok {
		state := c.bodyState(b)
		f.Body = &state
	} else if state, ok := c.spaceState(id); ok {
		f.Body = &state
	}
	f.Resources = c.resourcesOf(id)
	return f
}
