package physics3

import (
	"math"

	"github.com/evertick/evertick/internal/rigid3"
)

// wrench is a force or an impulse on a body, and its moment about the centre of mass.
type wrench struct{ push, turn rigid3.Vec }

// add adds a force at a point relative to the centre of mass.
func (p *wrench) add(arm, force rigid3.Vec) {
	p.push, p.turn = p.push.Add(force), p.turn.Add(arm.Cross(force))
}

// affected reports whether wind, explosions and water act on a shape: its category has a bit of the mask, it is solid and convex, and its body is dynamic and
// not disabled.
func (s *solver) affected(shape int, mask uint64) bool {
	t := &s.shapes
	if kind := t.local[shape].Kind; kind == rigid3.KindNone || kind == rigid3.KindSurface || t.sensor[shape] || t.filters.Category[shape]&mask == 0 {
		return false
	}
	return s.takesForces(int(t.filters.Body[shape]))
}

// patchesOf returns the patches of a shape in the world, and the centre of mass of its body. They are valid until the next call.
func (s *solver) patchesOf(body, shape int) ([]rigid3.Patch, rigid3.Vec) {
	at := rigid3.Pose{P: s.position(body), Q: s.rotation(body)}
	s.patches = s.shapes.local[shape].AppendPatches(s.patches[:0], &s.contents.Hulls)
	for i := range s.patches {
		p := &s.patches[i]
		p.At, p.Normal = at.Transform(p.At), at.Q.Rotate(p.Normal)
	}
	return s.patches, s.pose(body).P
}

// middleOf returns the middle of the core of a shape in the world.
func (s *solver) middleOf(body, shape int) rigid3.Vec {
	at := rigid3.Pose{P: s.position(body), Q: s.rotation(body)}
	return at.Transform(s.shapes.local[shape].Pose.P)
}

// addQuietly adds a force and its moment to those of the next step, and wakes nobody. It returns false, and changes nothing, if the sum is out of range.
func (s *solver) addQuietly(i int, p *wrench) bool {
	f, t := s.force(i).Add(p.push), s.torque(i).Add(p.turn)
	if !inRange(f) || !inRange(t) {
		return false
	}
	s.putForce(i, f, t)
	return true
}

// lengthOf returns the length of a vector.
func lengthOf(v rigid3.Vec) float32 { return float32(math.Sqrt(float64(v.Dot(v)))) }
