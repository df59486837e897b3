package inspector

import (
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/draw3"
	"github.com/evertick/evertick/internal/forces"
	"github.com/evertick/evertick/physics"
)

// Watch implements bodyview.View.
func (v plane) Watch() { forces.Plane(v.sim.Physics).Kept.Watch() }

// Forces implements bodyview.View. With another engine some are not known.
func (v plane) Forces(bits uint64, dst *forces.Forces) {
	p, b := v.sim.Physics, physics.BodyOfBits(bits)
	src, c, row := forces.Plane(p), p.Columns(), b.Index()
	mass, err := p.MassData(b)
	if err != nil {
		return
	}
	flat := func(v [2]float32) [3]float32 { return [3]float32{v[0], v[1]} }
	centre, _ := p.WorldCenter(b)
	dst.Centre, dst.Known = flat(centre), true
	box, _ := p.BodyBounds(b)
	dst.Reach(box.Min[:], box.Max[:])
	if c.Type[row] == physics.DynamicBody && c.Flags[row]&physics.FlagDisabled == 0 {
		dst.AddGravity(mass.Mass, c.GravityScale[row], flat(p.Config().Gravity))
		dst.AddApplied(src.Kept.Of(row, uint32(bits>>32)))
	}
	contacts, _ := p.AppendContactData(nil, b)
	for i := range contacts {
		d := &contacts[i]
		rate := src.Rate
		if of, _ := p.ShapeBody(d.B); of != b {
			rate = -rate
		}
		for k := range d.Points[:d.Count] {
			at := &d.Points[k]
			along, across := at.NormalImpulse*rate, at.TangentImpulse*rate
			dst.Add(forces.Contact, flat(at.Point), [3]float32{d.Normal[0] * along, d.Normal[1] * along}, [3]float32{})
			dst.Add(forces.Contact, flat(at.Point), [3]float32{d.Normal[1] * across, -d.Normal[0] * across}, [3]float32{})
		}
		dst.Add(forces.Contact, dst.Centre, [3]float32{}, [3]float32{2: d.RollingImpulse * rate})
	}
	joints, _ := p.AppendJoints(nil, b)
	for _, j := range joints {
		force, err := p.JointForce(j)
		torque, err2 := p.JointTorque(j)
		_, at, err3 := p.JointPoints(j)
		if err != nil || err2 != nil || err3 != nil {
			continue
		}
		sign := float32(1)
		if _, second, _ := p.JointBodies(j); second != b {
			sign = -1
		}
		dst.Add(forces.Joint, flat(at), [3]float32{force[0] * sign, force[1] * sign}, [3]float32{2: torque * sign})
	}
}

// forceHead is what the head of a picture says of the forces on the selected body.
type forceHead struct {
	Name   string   `json:"name"`
	Colour uint32   `json:"colour"` // 0xRRGGBB
	N      *float64 `json:"n"`      // size of the sum, in N; nil: not known before the next step
	Nm     float64  `json:"nm"`     // of the torques besides, in N·m
}

// Kinds of forces, with colours that are neither light nor dark.
var forceNames = [forces.NumKinds]struct {
	name   string
	colour uint32
}{forces.Weight: {"weight", 0x8a63d2}, forces.Applied: {"applied", 0xe06c00}, forces.Contact: {"contacts", 0xd23f7f}, forces.Joint: {"joints", 0x2f9e63}}

// takeForces copies the forces on the selected body, and makes the solvers of the picture keep those of the next steps.
func (c *capture) takeForces(sim *evertick.Sim, o *pictureOptions) {
	c.forces = forces.Forces{List: c.forces.List[:0]}
	c.hasForces = false
	for _, of := range bodiesOf(sim) {
		if _, inSpace := of.view.(draw3.Drawer); inSpace != o.space {
			continue
		}
		of.view.Watch()
		if id, ok := sim.World.ID(o.selected); ok && o.hasSelected && !c.hasForces {
			if bits, has := of.body(id); has {
				of.view.Forces(bits, &c.forces)
				c.hasForces = true
			}
		}
	}
	c.arrows = c.arrows[:0]
	if c.hasForces {
		c.drawForces(!o.space)
	}
}

// watchForces makes all solvers keep the forces of the next steps.
func watchForces(sim *evertick.Sim) {
	for _, of := range bodiesOf(sim) {
		of.view.Watch()
	}
}

// headOfForces lists the sums of each kind that the body has.
func (c *capture) headOfForces() (heads []forceHead) {
	if !c.hasForces {
		return nil
	}
	for kind, of := range forceNames {
		var sum, turn [3]float64
		some := false
		for _, f := range c.forces.List {
			if int(f.Kind) == kind {
				some = true
				for k := range sum {
					sum[k] += float64(f.Force[k])
					turn[k] += float64(f.Torque[k])
				}
			}
		}
		unknown := kind == forces.Applied && !c.forces.Known
		if !some && !unknown {
			continue
		}
		h := forceHead{Name: of.name, Colour: of.colour, Nm: length64(turn)}
		if n := length64(sum); !unknown {
			h.N = &n
		}
		heads = append(heads, h)
	}
	return heads
}

func length64(v [3]float64) float64 { return math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2]) }

const (
	usualArrow = 1.6 // length of the weight, in sizes of the body: it ends outside of the body
	mostArrow  = 4   // length of an arrow, in these
	usualSize  = 0.5 // of a body without shapes, m
)

// drawForces makes arrows of the forces: those of the body have one scale, by which the weight, or else the greatest force, has the usual length.
// A torque is an arrow along its axis, with two heads, and in the plane an arc. A force of the size of the weight at the rim of the body makes a torque
// as long as the weight.
func (c *capture) drawForces(flat bool) {
	size := float64(c.forces.Size)
	if size == 0 {
		size = usualSize
	}
	usual, most := 0., 0.
	for _, f := range c.forces.List {
		n := length(f.Force)
		most = max(most, n, length(f.Torque)/size)
		if f.Kind == forces.Weight {
			usual = n
		}
	}
	if usual == 0 {
		usual = most
	}
	p := arrows{to: c.arrows, flat: flat}
	for _, f := range c.forces.List {
		p.colour = forceNames[f.Kind].colour
		if n := length(f.Force); n > 0 {
			p.arrow(f.At, f.Force, usualArrow*size*min(n/usual, mostArrow)/n, 1)
		}
		n := length(f.Torque)
		part := min(n/size/usual, mostArrow)
		switch {
		case n == 0:
		case flat:
			p.arc(f.At, size, math.Copysign(part, float64(f.Torque[2])))
		default:
			p.arrow(f.At, f.Torque, usualArrow*size*part/n, 2)
		}
	}
	c.arrows = p.to
}

func length(v [3]float32) float64 {
	return length64([3]float64{float64(v[0]), float64(v[1]), float64(v[2])})
}

// arrows draws lines.
type arrows struct {
	to     []draw3.Line
	flat   bool // in the plane of the first two axes
	colour uint32
}

func (p *arrows) line(from, to [3]float64) {
	p.to = append(p.to, draw3.Line{P1: narrow(from), P2: narrow(to), Color: p.colour})
}

func narrow(v [3]float64) [3]float32 { return [3]float32{float32(v[0]), float32(v[1]), float32(v[2])} }

// arrow draws an arrow from a point, as long as a vector times a scale, with heads: in the plane of two sides, and otherwise of four.
func (p *arrows) arrow(at, vector [3]float32, scale float64, heads int) {
	var from, to, along [3]float64
	for k := range from {
		from[k], along[k] = float64(at[k]), float64(vector[k])*scale
		to[k] = from[k] + along[k]
	}
	p.line(from, to)
	u, v := cross([3]float64{0, 0, 1}, along), [3]float64{}
	if !p.flat {
		if length64(u) < 0.1*length64(along) {
			u = cross([3]float64{1, 0, 0}, along)
		}
		v = cross(u, along)
	}
	long := length64(along)
	for head := range heads {
		for _, across := range [...][3]float64{u, v} {
			n := length64(across)
			if n == 0 {
				continue
			}
			for _, side := range [...]float64{-0.08 * long / n, 0.08 * long / n} {
				var tip, end [3]float64
				for k := range end {
					tip[k] = to[k] - 0.12*float64(head)*along[k]
					end[k] = tip[k] - 0.2*along[k] + side*across[k]
				}
				p.line(tip, end)
			}
		}
	}
}

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// arc draws a part of a circle about a point in the plane, counter-clockwise if the part is positive; 4 is three quarters.
func (p *arrows) arc(at [3]float32, radius, part float64) {
	const pieces = 24
	turn := part / mostArrow * 1.5 * math.Pi
	on := func(angle, r float64) [3]float64 {
		sin, cos := math.Sincos(angle)
		return [3]float64{float64(at[0]) + r*cos, float64(at[1]) + r*sin}
	}
	for i := range pieces {
		p.line(on(turn*float64(i)/pieces, radius), on(turn*float64(i+1)/pieces, radius))
	}
	back := turn - math.Copysign(0.25, part)
	p.line(on(turn, radius), on(back, 0.88*radius))
	p.line(on(turn, radius), on(back, 1.12*radius))
}
