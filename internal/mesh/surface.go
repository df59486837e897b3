package mesh

// Surface is triangles that shapes collide with. Their numbers are 0 to Len()-1. It does not change once it is made.
// A number may have no triangle: its Face has the number None.
type Surface interface {
	Len() int
	Bounds() Box
	// Face returns the triangle with a number.
	Face(number uint32) Face
	// AppendFaces appends the triangles whose boxes meet a box, ascending by number.
	AppendFaces(dst []Face, box *Box) []Face
	// CastRay returns the first triangle that a ray hits: the front of one, or any side of one for a ray that says so.
	CastRay(r Ray) RayHit
}

// Face is a triangle of a Surface. It is counter-clockwise seen from its front. Edge k begins at vertex k.
type Face struct {
	Vertices   [3][3]float32
	Neighbours [3]uint32 // by edge: the number of the triangle on the other side, or None
	Edges      [3]Edge   // how the two meet
	Number     uint32
}

// Len returns the number of triangles.
func (m *Mesh) Len() int { return len(m.Triangles) }

// Bounds returns the box around all triangles.
func (m *Mesh) Bounds() Box {
	b, root := empty, &m.Nodes[0]
	for lane := range Width {
		for k := range b.Min {
			if lo, hi := root.Min[k][lane], root.Max[k][lane]; lo <= hi {
				b.Min[k], b.Max[k] = min(b.Min[k], lo), max(b.Max[k], hi)
			}
		}
	}
	return b
}

// Face returns the triangle with a number.
func (m *Mesh) Face(number uint32) (f Face) {
	f.set(m, number)
	return f
}

func (f *Face) set(m *Mesh, number uint32) {
	t := &m.Triangles[number]
	f.Vertices[0], f.Vertices[1], f.Vertices[2] = m.Vertices[t.Vertices[0]], m.Vertices[t.Vertices[1]], m.Vertices[t.Vertices[2]]
	f.Neighbours, f.Edges, f.Number = t.Neighbours, t.Edges, number
}
