package physics3

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/draw3"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/rigid3"
)

func init() {
	draw3.World = func(world any, d *draw3.Drawing, o draw3.Options) { world.(*World).drawShapes(d, o) }
}

// drawShapes fills in a drawing: the shapes as instances where the bodies are now, in their order, and what o selects as lines. It changes no state, and
// leaves out bodies whose pose is not finite. A sphere of a capsule, and a box or a hull with a radius, is drawn with the radius, but with sharp edges.
func (w *World) drawShapes(d *draw3.Drawing, o draw3.Options) {
	d.Up = upOf(w.config.Gravity)
	p := shapePen{s: w.solver, d: d}
	if !o.NoShapes {
		p.shapes()
	}
	p.overlays(w, o)
}

// upOf is the axis that points most against gravity; y without any.
func upOf(gravity [3]float32) (up [3]float32) {
	axis, most := 1, float32(0)
	for i, g := range gravity {
		if size := max(g, -g); size > most {
			axis, most = i, size
		}
	}
	up[axis] = 1
	if gravity[axis] > 0 {
		up[axis] = -1
	}
	return up
}

// shapePen makes instances of shapes.
type shapePen struct {
	s        *solver
	d        *draw3.Drawing
	hulls    []uint32 // by number in the contents of the world: 1 more than the number in the drawing
	surfaces []uint32
}

func (p *shapePen) shapes() {
	t, c, d := &p.s.shapes, p.s.cols, p.d
	body, visible := -1, false // of the shape before: those of one body often follow each other
	var q rigid3.Quat
	var at rigid3.Vec
	var color uint32
	n := len(t.local)
	d.Instances, d.Colors, d.Slots, d.Keys = slices.Grow(d.Instances, n), slices.Grow(d.Colors, n), slices.Grow(d.Slots, n), slices.Grow(d.Keys, n)
	for i := range t.local {
		g := &t.local[i]
		if g.Kind == rigid3.KindNone {
			continue
		}
		if b := int(t.filters.Body[i]); b != body {
			body, q, at = b, p.s.rotation(b), p.s.position(b)
			sum := (at.X + at.Y + at.Z) + (q.X + q.Y + q.Z + q.W) // finite numbers of poses are far below an overflow
			if visible = sum-sum == 0; visible {
				color = p.color(b)
			}
		}
		if !visible {
			continue
		}
		local, key, size := g.Pose.Q, draw3.Key{Sensor: t.sensor[i]}, [3]float32{1, 1, 1}
		switch g.Kind {
		case rigid3.KindSphere:
			key.Form, size = draw3.FormRound, [3]float32{g.Radius, 0, 0}
		case rigid3.KindCapsule:
			half := float32(math.Sqrt(float64(g.Half.Dot(g.Half))))
			key.Form, size, local = draw3.FormRound, [3]float32{g.Radius, half, 0}, turnOfY(g.Half, half)
		case rigid3.KindBox:
			key.Form, size = draw3.FormBox, [3]float32{g.Half.X + g.Radius, g.Half.Y + g.Radius, g.Half.Z + g.Radius}
		case rigid3.KindHull:
			key.Form, key.Content = draw3.FormHull, p.hull(g.Hull, t.hull[i])
		case rigid3.KindSurface:
			key.Form, key.Content = draw3.FormSurface, p.surface(g.Hull, t.surface[i])
		}
		middle, turned := at, q
		if g.Pose.P != (rigid3.Vec{}) {
			middle = at.Add(q.Rotate(g.Pose.P))
		}
		if local != rigid3.Identity {
			turned = q.Mul(local)
		}
		of := color
		if key.Sensor {
			of = colorSensor<<8 | color&0xff | draw3.FlagSensor
		}
		d.Instances = append(d.Instances, draw3.Instance{Position: arrayOf(middle), Rotation: [4]float32{turned.X, turned.Y, turned.Z, turned.W}, Size: size})
		d.Colors = append(d.Colors, of)
		d.Slots, d.Keys = append(d.Slots, c.Slot[body]), append(d.Keys, key)
	}
}

// color returns the colour and the flags of a body.
func (p *shapePen) color(body int) uint32 {
	c := p.s.color(body) << 8
	flags := p.s.cols.Flags[body]
	if flags&FlagAsleep != 0 {
		c |= draw3.FlagAsleep
	}
	if flags&FlagDisabled != 0 {
		c |= draw3.FlagDisabled
	}
	if p.s.cols.Type[body] == StaticBody {
		c |= draw3.FlagStatic
	}
	return c
}

// turnOfY is the least rotation of the y axis into a direction of a length.
func turnOfY(v rigid3.Vec, length float32) rigid3.Quat {
	if v.Y < -0.9999*length {
		return rigid3.Quat{X: 1}
	}
	return rigid3.Quat{X: v.Z, Z: -v.X, W: length + v.Y}.Normalize() // the cross product of the two, and one more than the dot product
}

// number returns the number of a content in the drawing, which it adds if it is the first time.
func (p *shapePen) number(known *[]uint32, number uint32, content func() draw3.Content) uint32 {
	for uint(number) >= uint(len(*known)) {
		*known = append(*known, 0)
	}
	of := &(*known)[number]
	if *of == 0 {
		p.d.Contents = append(p.d.Contents, content())
		*of = uint32(len(p.d.Contents))
	}
	return *of - 1
}

func (p *shapePen) hull(number uint32, h *Hull) uint32 {
	return p.number(&p.hulls, number, func() draw3.Content { return drawnHull{h} })
}

func (p *shapePen) surface(number uint32, f surface) uint32 {
	return p.number(&p.surfaces, number, func() draw3.Content { return drawnSurface{f} })
}

// overlays draws what o selects, with the lines of AppendDraw, and contacts with their impulses.
func (p *shapePen) overlays(w *World, o draw3.Options) {
	lines := &pen{s: p.s, lines: p.s.present.lines[:0], o: DrawOptions{Boxes: o.Boxes, Velocities: o.Velocities, VelocityScale: 0.1}}
	selected := -1
	if o.HasSelected {
		selected = slices.Index(w.cols.Slot[:w.Rows()], o.Selected)
	}
	if o.Boxes {
		for i := range p.s.shapes.local {
			if body := int(p.s.shapes.filters.Body[i]); p.s.shapes.local[i].Kind != rigid3.KindNone && lines.placed(body) && p.s.cols.Flags[body]&FlagDisabled == 0 {
				lines.bounds(i, body)
			}
		}
	}
	if o.Joints {
		lines.joints()
		lines.jointFrames()
	}
	for i := range w.Rows() {
		if !o.Velocities {
			break
		}
		if w.cols.Alive[i] != 0 && w.cols.Type[i] != StaticBody && lines.placed(i) {
			lines.body(i)
		}
	}
	if selected >= 0 && lines.placed(selected) {
		lines.motion(selected)
	}
	if o.Contacts || selected >= 0 {
		lines.impulses(o.Contacts, selected)
	}
	for _, l := range lines.lines {
		p.d.Lines = append(p.d.Lines, draw3.Line(l))
	}
	p.s.present.lines = lines.lines
}

const (
	colorSpin   = 0xd08a18
	arrowLength = 0.4 // of the mean impulse, m
	frameLength = 0.2 // of the axes of a joint, m
)

// arrow draws a line with a head, relative to the pose.
func (p *pen) arrow(from, along rigid3.Vec) {
	size := float32(math.Sqrt(float64(along.Dot(along))))
	p.line(from, from.Add(along))
	if !(size > 0) {
		return
	}
	axis, u, v := frameOf(along)
	tip := from.Add(along)
	for _, side := range [...]rigid3.Vec{u, u.Times(-1), v, v.Times(-1)} {
		p.line(tip, tip.Sub(axis.Times(0.2*size)).Add(side.Times(0.08*size)))
	}
}

// motion draws the velocity and the axis of the spin of a body.
func (p *pen) motion(i int) {
	p.pose = rigid3.Pose{P: p.s.pose(i).P, Q: rigid3.Identity}
	p.color = colorVelocity
	p.arrow(rigid3.Vec{}, p.s.linearVelocity(i).Times(0.25))
	p.color = colorSpin
	p.arrow(rigid3.Vec{}, p.s.angularVelocity(i).Times(0.25))
}

// jointFrames draws the axes of each joint on its first body: x red, y green, z blue.
func (p *pen) jointFrames() {
	s := p.s
	for i := range s.joints.rows {
		r := &s.joints.rows[i]
		if r.kind == 0 || JointKind(r.kind) == MouseJoint {
			continue
		}
		row, _ := s.jointTable.Bodies(i)
		if !p.placed(int(row)) {
			continue
		}
		a := s.pose(int(row))
		p.pose = rigid3.Pose{P: a.Transform(vecOf(r.frameA.Point).Sub(s.centre(int(row)))), Q: a.Q.Mul(placedRotation(r.frameA.Rotation))}
		for k, axis := range [...]rigid3.Vec{{X: frameLength}, {Y: frameLength}, {Z: frameLength}} {
			p.color = [...]uint32{0xd0453a, 0x3f9a45, 0x3f6fd8}[k]
			p.line(rigid3.Vec{}, axis)
		}
	}
}

// impulses draws the contact points of all solid shapes, or only those of one body, as crosses, with arrows along the normals. The length of an arrow is
// proportional to the normal impulse. One body has none of these: what pushes it is drawn with the other forces on it.
func (p *pen) impulses(all bool, selected int) {
	s, points, sum := p.s, 0, float32(0)
	cursor := s.allContacts()
	for c := cursor.next(); c.Contact != nil; c = cursor.next() {
		for _, v := range c.Normal[:c.Count] {
			if s.touched(c.Contact) {
				points, sum = points+1, sum+v.Impulse
			}
		}
	}
	if points == 0 {
		return
	}
	scale := float32(0)
	if sum > 0 {
		scale = arrowLength * float32(points) / sum
	}
	cursor = s.allContacts()
	for c := cursor.next(); c.Contact != nil; c = cursor.next() {
		a, b := int(s.shapes.filters.Body[c.A]), int(s.shapes.filters.Body[c.B])
		if !s.touched(c.Contact) || !all && a != selected && b != selected {
			continue
		}
		m := s.presentManifold(c)
		p.pose, p.color = rigid3.Pose{P: s.poses[a].P, Q: rigid3.Identity}, colorContact
		for k := range m.Points[:m.Count] {
			at := m.Points[k].AnchorA
			const size = 0.03
			for _, axis := range [...]rigid3.Vec{{X: size}, {Y: size}, {Z: size}} {
				p.line(at.Sub(axis), at.Add(axis))
			}
			if a == selected || b == selected {
				continue
			}
			p.arrow(at, m.Normal.Times(min(scale*impulseOf(c.Contact, m.Points[k].ID), 8*arrowLength)))
		}
	}
}

// drawnHull is a hull as a drawing has it.
type drawnHull struct{ *Hull }

func (h drawnHull) ID() uint64 { return h.digest }

// Triangles are the faces as fans. A radius moves the vertices away from the centre.
func (h drawnHull) Triangles(limit int) (t []draw3.Triangle, all int) {
	corner := func(k uint8) [3]float32 {
		v := h.core.Vertices[k]
		from := v.Sub(h.core.Centre)
		if l := float32(math.Sqrt(float64(from.Dot(from)))); h.radius > 0 && l > 0 {
			v = v.Add(from.Times(h.radius / l))
		}
		return arrayOf(v)
	}
	for _, f := range h.core.Faces {
		n := len(f.Vertices)
		for k := 1; k+1 < n; k++ {
			tri := draw3.Triangle{Corners: [3][3]float32{corner(f.Vertices[0]), corner(f.Vertices[k]), corner(f.Vertices[k+1])}, Edges: 2}
			if k == 1 {
				tri.Edges |= 1
			}
			if k+2 == n {
				tri.Edges |= 4
			}
			t = append(t, tri)
		}
	}
	return t, len(t)
}

// drawnSurface is a surface as a drawing has it.
type drawnSurface struct{ of surface }

func (f drawnSurface) ID() uint64 { return f.of.hash() }

// Triangles are those of the surface. Of a height field or a terrain with too many they are those over every so many samples; of a mesh the box around it.
func (f drawnSurface) Triangles(limit int) (t []draw3.Triangle, all int) {
	s := f.of.triangles().Surface
	all = s.Len()
	if terrain, ok := s.(*mesh.Terrain); ok {
		return terrainTriangles(terrain, limit), all
	}
	if all > limit {
		return boxTriangles(s.Bounds()), all
	}
	t = make([]draw3.Triangle, 0, all)
	for i := range uint32(all) {
		if face := s.Face(i); face.Number != mesh.None {
			t = append(t, draw3.Triangle{Corners: face.Vertices, Edges: 7})
		}
	}
	return t, all
}

// terrainTriangles are two triangles for each block of step × step cells whose first cell is no hole.
func terrainTriangles(t *mesh.Terrain, limit int) (out []draw3.Triangle) {
	cells, step := t.Cells(), 1
	blocks := func() int { return t.Tiles() * ceil(cells[0], step) * ceil(cells[1], step) }
	for 2*blocks() > limit && step < max(cells[0], cells[1]) {
		step *= 2
	}
	if 2*blocks() > limit { // so many tiles
		return boxTriangles(t.Bounds())
	}
	out = make([]draw3.Triangle, 0, 2*blocks())
	for i := range t.Tiles() {
		tile := t.Tile(i)
		f, heights := tile.Field, tile.Field.Heights()
		at := func(x, z int) [3]float32 {
			return [3]float32{float32(tile.X*cells[0]+x) * f.Cell()[0], heights[z*(cells[0]+1)+x], float32(tile.Z*cells[1]+z) * f.Cell()[1]}
		}
		for z := 0; z < cells[1]; z += step {
			for x := 0; x < cells[0]; x += step {
				if f.Hole(x, z) {
					continue
				}
				x1, z1 := min(x+step, cells[0]), min(z+step, cells[1])
				a, b, c, d := at(x, z), at(x1, z), at(x, z1), at(x1, z1)
				out = append(out, draw3.Triangle{Corners: [3][3]float32{a, c, b}, Edges: 5}, draw3.Triangle{Corners: [3][3]float32{b, c, d}, Edges: 6})
			}
		}
	}
	return out
}

func ceil(n, step int) int { return (n + step - 1) / step }

// boxTriangles are the sides of a box.
func boxTriangles(b mesh.Box) (t []draw3.Triangle) {
	corner := func(i int) (v [3]float32) {
		for k := range v {
			if v[k] = b.Min[k]; i>>k&1 != 0 {
				v[k] = b.Max[k]
			}
		}
		return v
	}
	for _, side := range [...][4]int{{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}} {
		c := [4][3]float32{corner(side[0]), corner(side[1]), corner(side[2]), corner(side[3])}
		t = append(t, draw3.Triangle{Corners: [3][3]float32{c[0], c[1], c[2]}, Edges: 3}, draw3.Triangle{Corners: [3][3]float32{c[0], c[2], c[3]}, Edges: 6})
	}
	return t
}
