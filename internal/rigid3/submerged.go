package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/trig"
)

// Submerged returns the volume of the part of a shape that is below the plane of the points p with n·p = offset, where n has the length one, and the
// centre of that part in the world. body is the pose of the frame of the shape. The radius of a box or a hull counts as little as in its mass. Surfaces
// have no volume.
func (s *Shape) Submerged(hulls *Hulls, body *Pose, n Vec, offset float32) (volume float32, centre Vec) {
	w := water{n: n.wide64(), offset: float64(offset)}
	var pose pose64
	pose.set(body, &s.Pose)
	switch s.Kind {
	case KindSphere:
		w.addBall(pose.p, float64(s.Radius))
	case KindCapsule:
		w.addCapsule(pose.p, pose.rotate(s.Half.wide64()), float64(s.Radius))
	case KindBox, KindHull:
		var b boxArrays
		t := s.polytope(hulls, &b)
		w.addPolytope(&t, &pose)
	}
	if !(w.volume > 0) {
		return 0, Vec{}
	}
	return float32(w.volume), w.moment.Times(1 / w.volume).Add(w.origin).narrow()
}

// water sums what is below a plane.
type water struct {
	n      vec64
	offset float64
	origin vec64 // of the moments
	volume float64
	moment vec64
}

func (w *water) add(volume float64, at vec64) {
	w.volume += volume
	w.moment = w.moment.addTimes(at.Sub(w.origin), volume)
}

// addBall adds a cap: of depth d it has the volume π·d²·(3r - d)/3, and its centre is 3(2r - d)²/(4(3r - d)) below that of the ball.
func (w *water) addBall(centre vec64, r float64) {
	w.origin = centre
	d := min(max(r-(w.n.Dot(centre)-w.offset), 0), r+r)
	rest := (r + r) - d
	most := float64(3*r) - d
	below := float64(3*rest*rest) / float64(4*most)
	w.add(float64(float64(math.Pi/3*d*d)*most), centre.addTimes(w.n, -below))
}

// addPolytope adds the cones from a point of the plane to the faces, each cut off at the plane. The cut itself has no cone, as the point is in its plane.
func (w *water) addPolytope(t *Polytope, pose *pose64) {
	if len(t.Faces) == 0 {
		return
	}
	centre := pose.apply(t.Centre.wide64())
	w.origin = centre.addTimes(w.n, w.offset-w.n.Dot(centre))
	for i := range t.Faces {
		w.addFace(t, pose, t.Faces[i].Vertices)
	}
}

func (w *water) addFace(t *Polytope, pose *pose64, corners []uint8) {
	var first, last vec64
	count := 0
	put := func(p vec64) {
		p = p.Sub(w.origin)
		switch count++; count {
		case 1:
			first = p
		case 2:
		default:
			volume := first.Dot(last.Cross(p)) / 6
			w.volume += volume
			w.moment = w.moment.addTimes(first.Add(last).Add(p), float64(0.25*volume))
		}
		last = p
	}
	a := pose.apply(t.Vertices[corners[len(corners)-1]].wide64())
	ha := w.n.Dot(a) - w.offset
	for _, c := range corners {
		b := pose.apply(t.Vertices[c].wide64())
		hb := w.n.Dot(b) - w.offset
		if ha < 0 != (hb < 0) {
			put(a.addTimes(b.Sub(a), ha/(ha-hb)))
		}
		if hb < 0 {
			put(b)
		}
		a, ha = b, hb
	}
}

// gauss are the places and weights of the rule of Gauss and Legendre with eight points, from -1 to 1.
var gauss = [8][2]float64{
	{-0.9602898564975363, 0.1012285362903763}, {-0.7966664774136267, 0.2223810344533745}, {-0.5255324099163290, 0.3137066458778873},
	{-0.1834346424956498, 0.3626837833783620}, {0.1834346424956498, 0.3626837833783620}, {0.5255324099163290, 0.3137066458778873},
	{0.7966664774136267, 0.2223810344533745}, {0.9602898564975363, 0.1012285362903763},
}

// addCapsule integrates over the discs along the axis. Between the places where the plane begins to cut the discs, or ends to, the integrand is smooth.
func (w *water) addCapsule(centre, half vec64, r float64) {
	length := half.length()
	e := half.unit(vec64{y: 1})
	slope := w.n.Dot(e)
	height := w.n.Dot(centre) - w.offset
	steep := math.Sqrt(max(1-float64(slope*slope), 0)) // how the height changes across a disc
	across := w.n.addTimes(e, -slope).unit(vec64{})
	w.origin = centre
	ends := [...]float64{-length - r, -length, length, length + r}
	for piece := range 3 {
		lo, hi := ends[piece], ends[piece+1]
		cuts := [6]float64{lo, hi}
		n := 2
		put := func(t float64) {
			if t > lo && t < hi {
				cuts[n] = t
				n++
			}
		}
		middle := [3]float64{-length, 0, length}[piece]
		if piece == 1 {
			if slope != 0 {
				put((float64(steep*r) - height) / slope)
				put((float64(-steep*r) - height) / slope)
			}
		} else if d := height + float64(slope*middle); d < r && d > -r {
			// The circle in which the plane cuts the ball is between these.
			span := float64(steep * math.Sqrt(float64(r*r)-float64(d*d)))
			put(middle - float64(d*slope) - span)
			put(middle - float64(d*slope) + span)
		}
		sortFew(cuts[:n])
		for k := range n - 1 {
			mid, wide := float64(0.5*(cuts[k]+cuts[k+1])), float64(0.5*(cuts[k+1]-cuts[k]))
			for _, g := range gauss {
				t := mid + float64(wide*g[0])
				square := float64(r * r)
				if piece != 1 {
					square -= float64((t - middle) * (t - middle))
				}
				area, moment := discBelow(max(square, 0), height+float64(slope*t), steep)
				dt := float64(wide * g[1])
				w.volume += float64(area * dt)
				w.moment = w.moment.addTimes(e, float64(float64(area*t)*dt)).addTimes(across, float64(moment*dt))
			}
		}
	}
}

func sortFew(v []float64) {
	for i := 1; i < len(v); i++ {
		for k := i; k > 0 && v[k] < v[k-1]; k-- {
			v[k], v[k-1] = v[k-1], v[k]
		}
	}
}

// discBelow returns the area of the part of a disc that is below a plane, and its first moment in the direction in which the height rises. The square
// is that of the radius; height is that of the middle, which rises by steep across.
func discBelow(square, height, steep float64) (area, moment float64) {
	r := math.Sqrt(square)
	switch {
	case height >= float64(steep*r):
		return 0, 0
	case height <= float64(-steep*r):
		return float64(math.Pi * square), 0
	}
	k := -height / steep
	chord := math.Sqrt(max(square-float64(k*k), 0))
	angle := float64(trig.Atan2(float32(k), float32(chord)))
	return float64(square*(0.5*math.Pi+angle)) + float64(k*chord), -2. / 3 * float64(chord*chord) * chord
}
