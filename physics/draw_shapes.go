package physics

import (
	"math"
	"strconv"
)

// shape draws shape i, if it exists, in the colour of its body.
func (p *pen) shape(i int) {
	t := &p.s.shapes
	r := &t.local[i]
	body := int(t.filters.Body[i])
	if r.Count == 0 || !p.placed(body) {
		return
	}
	color := p.color(body)
	if t.sensor[i] {
		color = ColorSensor
	}
	d, first := p.d, len(p.d.Points)
	for _, v := range r.Vertices[:r.Count] {
		d.Points = append(d.Points, p.s.worldPoint(body, v.X, v.Y))
	}
	box := emptyBox
	for _, v := range d.Points[first:] {
		box.reach(v, r.Radius)
	}
	d.include(box, p.s.cols.Type[body] != StaticBody)
	if r.Count == 1 {
		axis := [2]float32{p.s.cols.Cos[body], p.s.cols.Sin[body]}
		d.Circles = append(d.Circles, DrawnCircle{d.Points[first], r.Radius, axis, color})
		d.Points = d.Points[:first]
	} else {
		d.Polygons = append(d.Polygons, DrawnPolygon{first, int(r.Count), r.Radius, color})
	}
	if p.o.Boxes {
		p.box(box)
	}
}

func (p *pen) box(b DrawnBox) {
	corners := [...][2]float32{b.Min, {b.Max[0], b.Min[1]}, b.Max, {b.Min[0], b.Max[1]}}
	for i, c := range corners {
		p.line(c, corners[(i+1)%4], ColorBox)
	}
}

// color returns the colour of the shapes of a body.
func (p *pen) color(body int) Color {
	c := p.s.cols
	flags := c.Flags[body]
	switch {
	case flags&FlagDisabled != 0:
		return ColorDisabled
	case c.Type[body] == StaticBody:
		return ColorStatic
	case flags&FlagAsleep != 0:
		return ColorAsleep
	case c.Type[body] == KinematicBody:
		return ColorKinematic
	case flags&FlagBullet != 0:
		return ColorBullet
	}
	return ColorDynamic
}

// body draws what o selects for a body.
func (p *pen) body(i int) {
	c, d, o := p.s.cols, p.d, p.o
	centre := p.s.centreOfMass(i)
	if c.Type[i] != StaticBody {
		if o.Centers {
			half := o.Size / 2
			x, y := float32(half*c.Cos[i]), float32(half*c.Sin[i])
			p.line([2]float32{centre[0] - x, centre[1] - y}, [2]float32{centre[0] + x, centre[1] + y}, ColorCenter)
			p.line([2]float32{centre[0] + y, centre[1] - x}, [2]float32{centre[0] - y, centre[1] + x}, ColorCenter)
		}
		if o.Velocities {
			p.vector(centre, float32(c.VX[i]*o.VelocityScale), float32(c.VY[i]*o.VelocityScale), ColorVelocity)
		}
	}
	if o.Indices {
		first := len(d.Text)
		d.Text = strconv.AppendUint(d.Text, uint64(i), 10)
		d.Labels = append(d.Labels, DrawnLabel{centre, first, len(d.Text) - first, ColorLabel})
	}
}

var (
	infinity = float32(math.Inf(1))
	emptyBox = DrawnBox{[2]float32{infinity, infinity}, [2]float32{-infinity, -infinity}}
)

// reach extends the box by all points within radius of a point.
func (b *DrawnBox) reach(v [2]float32, radius float32) {
	for k := range v {
		b.Min[k] = min(b.Min[k], v[k]-radius)
		b.Max[k] = max(b.Max[k], v[k]+radius)
	}
}

func (b *DrawnBox) join(o DrawnBox) {
	b.reach(o.Min, 0)
	b.reach(o.Max, 0)
}
