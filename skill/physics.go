package skill

import (
	"math"

	"github.com/evertick/evertick/physics"
	"github.com/google/jsonschema-go/jsonschema"
)

// impulseInput is the input of physics.applyImpulse.
type impulseInput struct {
	entityRef
	Impulse *Vec     `json:"impulse,omitempty" jsonschema:"in N·s, in the plane of the bodies"`
	Point   *Vec     `json:"point,omitempty" jsonschema:"where it acts, in metres, at any height; default: the centre of mass"`
	Angular *float32 `json:"angular,omitempty" jsonschema:"in N·m·s, in the plane of the bodies"`
	Spin    *Vec     `json:"spin,omitempty" jsonschema:"in N·m·s about the axes, for a body in space"`
}

// Pushed is the output of physics.applyImpulse.
type Pushed struct {
	ID string `json:"id"`
	bodyState
}

func (r *Registry) constrainImpulse(s *jsonschema.Schema) {
	e := float64(r.config.Extent)
	needEntity(s)
	bound(s, -maxForce, maxForce, "impulse", "angular", "spin")
	bound(s, -e, e, "point")
	if r.config.Space == nil {
		delete(s.Properties, "spin")
	}
}

func applyImpulse(c *Call, in impulseInput) (Pushed, error) {
	id, _, refused := c.entity(in.entityRef)
	if refused != nil {
		return Pushed{}, refused
	}
	if _, ok := c.spaceState(id); ok {
		return c.pushInSpace(id, in)
	}
	if in.Spin != nil {
		return Pushed{}, refuse(InvalidInput, "spin", "needs a body in space")
	}
	if in.Impulse == nil && (in.Angular == nil || in.Point != nil) {
		return Pushed{}, refuse(InvalidInput, "impulse", "is missing; angular alone needs no point")
	}
	b, ok := c.Sim.Body(id)
	if !ok {
		return Pushed{}, refuse(InvalidInput, in.field(), "%s has no body", id)
	}
	if t := c.Sim.Physics.Columns().Type[b.Index()]; t != physics.DynamicBody {
		return Pushed{}, refuse(InvalidInput, in.field(), "the body of %s is %s: impulses need a dynamic body", id, t)
	}
	if err := c.applyImpulses(b, in); err != nil {
		return Pushed{}, err
	}
	return Pushed{id.String(), c.bodyState(b)}, nil
}

// applyImpulses applies both impulses or none. Another engine has no commands, so it gets one at a time.
func (c *Call) applyImpulses(b physics.Body, in impulseInput) error {
	w := c.Sim.Physics
	var impulse, point [2]float32
	if in.Impulse != nil {
		var refused *Error
		if impulse, refused = c.direction("impulse", *in.Impulse); refused != nil {
			return refused
		}
	}
	if in.Point != nil {
		point = c.inPlane(*in.Point)
	}
	other := w.Config().Engine != nil
	switch {
	case other && in.Impulse != nil && in.Angular != nil:
		return refuse(InvalidInput, "angular", "this engine accepts impulse or angular, not both")
	case other && in.Angular != nil:
		return w.ApplyAngularImpulse(b, *in.Angular)
	case other && in.Point != nil:
		return w.ApplyLinearImpulse(b, impulse, point)
	case other:
		return w.ApplyLinearImpulseToCenter(b, impulse)
	}
	commands := w.NewCommands()
	if in.Impulse != nil && in.Point != nil {
		commands.ApplyLinearImpulse(b, impulse, point)
	} else if in.Impulse != nil {
		commands.ApplyLinearImpulseToCenter(b, impulse)
	}
	if in.Angular != nil {
		commands.ApplyAngularImpulse(b, *in.Angular)
	}
	return w.Apply(commands)
}

// rayInput is the input of physics.raycast.
type rayInput struct {
	From    Vec    `json:"from" jsonschema:"in metres, at any height"`
	To      Vec    `json:"to" jsonschema:"where the ray ends, at the same height; it hits bodies at all heights"`
	Exclude string `json:"exclude,omitempty" jsonschema:"id of an entity whose body is ignored"`
	All     bool   `json:"all,omitempty" jsonschema:"return every body that is hit, not only the first"`
}

// RayHit is a body that a ray hits.
type RayHit struct {
	ID       string  `json:"id" jsonschema:"empty for a body without an entity"`
	Point    Vec     `json:"point"`
	Normal   Vec     `json:"normal" jsonschema:"zero where the ray begins within the body"`
	Distance float32 `json:"distance" jsonschema:"in metres"`
}

// RayOutput is the output of physics.raycast.
type RayOutput struct {
	Hits  []RayHit `json:"hits" jsonschema:"by distance"`
	Total int      `json:"total"`
}

func (r *Registry) constrainRay(s *jsonschema.Schema) {
	e := float64(r.config.Extent)
	bound(s, -e, e, "from", "to")
	property(s, "exclude").Pattern = idPattern
}

func raycast(c *Call, in rayInput) (RayOutput, error) {
	if c.Registry.config.Space != nil {
		return c.castInSpace(in)
	}
	p := c.plane()
	from, height := p.Split(in.From.array())
	translation, refused := c.direction("to", Vec{in.To.X - in.From.X, in.To.Y - in.From.Y, in.To.Z - in.From.Z})
	if refused != nil {
		return RayOutput{}, refused
	}
	rays := physics.Rays{X: from[:1], Y: from[1:], DX: translation[:1], DY: translation[1:]}
	if in.Exclude != "" {
		id, _, refused := c.liveEntity("exclude", in.Exclude)
		if refused != nil {
			return RayOutput{}, refused
		}
		if b, ok := c.Sim.Body(id); ok {
			rays.Exclude = []physics.Body{b}
		}
	}
	var hits physics.RayHits
	cast := c.Sim.Physics.RayClosest
	if in.All {
		cast = c.Sim.Physics.RayAll
	}
	if err := cast(&rays, &hits); err != nil {
		return RayOutput{}, err
	}
	none := physics.Shape{}
	out := RayOutput{Hits: []RayHit{}}
	for i, shape := range hits.Shapes {
		if shape == none {
			continue
		}
		if out.Total++; out.Total > c.Registry.config.Rows {
			continue
		}
		out.Hits = append(out.Hits, RayHit{
			ID: c.entityOf(shape), Point: vecOf(p.Join([2]float32{hits.X[i], hits.Y[i]}, height)),
			Normal:   vecOf(p.Join([2]float32{hits.NormalX[i], hits.NormalY[i]}, 0)),
			Distance: hits.Fractions[i] * length(translation[0], translation[1]),
		})
	}
	return out, nil
}

// entityOf returns the id of the entity that the body of a shape moves.
func (c *Call) entityOf(s physics.Shape) string {
	id, ok := c.Sim.ShapeEntity(s)
	if !ok {
		return ""
	}
	return id.String()
}

func length(x, y float32) float32 {
	return float32(math.Sqrt(float64(float64(x)*float64(x)) + float64(float64(y)*float64(y))))
}

func (c *Call) bodyState(b physics.Body) bodyState {
	i, cols, p := b.Index(), c.Sim.Physics.Columns(), c.plane()
	return bodyState{Type: cols.Type[i].String(), Velocity: vecOf(p.Join([2]float32{cols.VX[i], cols.VY[i]}, 0)), AngularVelocity: cols.W[i]}
}
