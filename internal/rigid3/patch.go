package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/trig"
)

const (
	patchesAcross = 4  // along each edge of the face of a box, and along a capsule
	patchesAround = 16 // a capsule
	patchBands    = 3  // of equal area, of each half ball of a capsule
)

// Patch is a small part of the surface of a shape: where its middle is, its normal of length one, outwards, and its area.
type Patch struct {
	At, Normal Vec
	Area       float32
}

// patchRing is the middles of patches around a circle.
var patchRing = func() (ring [patchesAround][2]float32) {
	for k := range ring {
		sin, cos := trig.SinCos(float32((float32(k) + 0.5) * (2 * math.Pi / patchesAround)))
		ring[k] = [2]float32{cos, sin}
	}
	return ring
}()

// AppendPatches appends parts of the surface of a shape, in the frame of its body: 16 for each face of a box, 4 for each triangle of the faces of a hull,
// and 160 for a capsule. The radius of a box or a hull moves the faces outwards; its edges have none. A sphere and a surface have none.
func (s *Shape) AppendPatches(dst []Patch, hulls *Hulls) []Patch {
	from := len(dst)
	switch s.Kind {
	case KindCapsule:
		dst = s.appendRound(dst)
	case KindBox:
		dst = s.appendBox(dst)
	case KindHull:
		if t := hulls.at(s.Hull); t != nil {
			dst = t.appendPatches(dst, s.Radius)
		}
	}
	for i := from; i < len(dst); i++ {
		p := &dst[i]
		p.At, p.Normal = s.Pose.Transform(p.At), s.Pose.Q.Rotate(p.Normal)
	}
	return dst
}

func (s *Shape) appendBox(dst []Patch) []Patch {
	half := [3]float32{s.Half.X, s.Half.Y, s.Half.Z}
	for face := range 6 {
		axis, sign := face/2, float32(2*(face%2)-1)
		a, b := (axis+1)%3, (axis+2)%3
		area := float32(float32(4*half[a]) * half[b])
		for k := range patchesAcross * patchesAcross {
			var at, n [3]float32
			n[axis] = sign
			at[axis] = float32(sign * (half[axis] + s.Radius))
			at[a] = float32(half[a] * patchPlace(k%patchesAcross))
			at[b] = float32(half[b] * patchPlace(k/patchesAcross))
			dst = append(dst, Patch{Vec{at[0], at[1], at[2]}, Vec{n[0], n[1], n[2]}, area / (patchesAcross * patchesAcross)})
		}
	}
	return dst
}

// patchPlace is the middle of patch k of patchesAcross, from -1 to 1.
func patchPlace(k int) float32 { return float32((2*float32(k)+1)/patchesAcross) - 1 }

func (s *Shape) appendRound(dst []Patch) []Patch {
	length := s.Half.length()
	e := s.Half.unit(Vec{Y: 1})
	u := e.perpendicular()
	v := e.Cross(u)
	side := float32(float32(4*math.Pi*s.Radius)*length) / (patchesAround * patchesAcross)
	cap := float32(float32(2*math.Pi*s.Radius)*s.Radius) / (patchesAround * patchBands)
	for k := range patchRing {
		d := u.Times(patchRing[k][0]).Add(v.Times(patchRing[k][1]))
		for j := range patchesAcross {
			dst = append(dst, Patch{s.Half.Times(patchPlace(j)).Add(d.Times(s.Radius)), d, side})
		}
		for j := range patchBands {
			up := (2*float32(j) + 1) / (2 * patchBands)
			out := d.Times(sqrt(1 - float32(up*up)))
			top, bottom := out.Add(e.Times(up)), out.Sub(e.Times(up))
			dst = append(dst, Patch{s.Half.Add(top.Times(s.Radius)), top, cap}, Patch{bottom.Times(s.Radius).Sub(s.Half), bottom, cap})
		}
	}
	return dst
}

func (t *Polytope) appendPatches(dst []Patch, radius float32) []Patch {
	for i := range t.Faces {
		corners, n := t.Faces[i].Vertices, t.Planes[i].Normal
		for k := 1; k+1 < len(corners); k++ {
			a, b, c := t.Vertices[corners[0]], t.Vertices[corners[k]], t.Vertices[corners[k+1]]
			area := float32(0.125 * b.Sub(a).Cross(c.Sub(a)).length())
			out := n.Times(radius)
			// The middles of the four triangles between the corners and the middles of the sides.
			for _, w := range [4][3]float32{{1. / 3, 1. / 3, 1. / 3}, {2. / 3, 1. / 6, 1. / 6}, {1. / 6, 2. / 3, 1. / 6}, {1. / 6, 1. / 6, 2. / 3}} {
				dst = append(dst, Patch{a.Times(w[0]).Add(b.Times(w[1])).Add(c.Times(w[2])).Add(out), n, area})
			}
		}
	}
	return dst
}
