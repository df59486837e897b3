package rigid3

import (
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// cornerMesh is a mesh of a floor and a wall, of two triangles each.
func cornerMesh(t testing.TB) *mesh.Mesh {
	t.Helper()
	m, _, err := mesh.Cook(
		[][3]float32{{0, 0, -4}, {0, 0, 4}, {8, 0, 4}, {8, 0, -4}, {0, 8, -4}, {0, 8, 4}},
		[][3]uint32{{0, 1, 2}, {0, 2, 3}, {0, 4, 5}, {0, 5, 1}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The box of a surface is the same on all levels, among other shapes.
func TestBoundsOfSurfaces(t *testing.T) {
	run := paritytest.Start(t, "BoundsOfSurfaces")
	var hulls Hulls
	hulls.SetSurface(3, Surface{Surface: cornerMesh(t)})
	for range paritytest.Sample(20) {
		var shapes []Shape
		var poses []Pose
		var bodies []uint32
		for i := range 20 {
			s := NewSurfaceShape([]uint32{3, 3, 2, 9}[run.IntN(4)], randomPose(run))
			if run.IntN(2) == 0 {
				s = NewSphere(Vec{1, 2, 3}, .5)
			}
			shapes, poses, bodies = append(shapes, s), append(poses, randomPose(run)), append(bodies, uint32(i))
		}
		var want, got Boxes
		want.Resize(len(shapes))
		got.Resize(len(shapes))
		Bounds(native.Go, shapes, &hulls, bodies, poses, .1, &want)
		for i := range shapes {
			s, lo, hi := &shapes[i], Vec{want.Min[0][i], want.Min[1][i], want.Min[2][i]}, Vec{want.Max[0][i], want.Max[1][i], want.Max[2][i]}
			if s.Kind != KindSurface {
				continue
			}
			if s.Hull != 3 {
				if lo.X <= hi.X {
					t.Fatalf("a surface that is not there has the box %v, %v", lo, hi)
				}
				continue
			}
			for _, v := range cornerMesh(t).Vertices {
				at := s.Pose.Transform(Vec{v[0], v[1], v[2]})
				if p := poses[i].Transform(at); !(p.X >= lo.X && p.Y >= lo.Y && p.Z >= lo.Z && p.X <= hi.X && p.Y <= hi.Y && p.Z <= hi.Z) {
					t.Fatalf("vertex %v is outside of %v, %v", p, lo, hi)
				}
			}
		}
		for _, level := range native.Levels() {
			run.Case(level)
			Bounds(level, shapes, &hulls, bodies, poses, .1, &got)
			for k := range 3 {
				run.Check(nil, paritytest.Bits("min", got.Min[k], want.Min[k]), paritytest.Bits("max", got.Max[k], want.Max[k]))
			}
		}
	}
}

func randomPose(run *paritytest.Run) Pose {
	f := func() float32 { return 10 * (run.Float32() - .5) }
	q := Quat{f(), f(), f(), f()}
	return Pose{Vec{f(), f(), f()}, q.Normalize()}
}

// surfaceStep is a pair of a mesh and a box from one step to the next.
type surfaceStep struct {
	chunk   SurfaceChunk
	scene   SurfacePairs
	columns [2][3][]float32

	manifolds []Manifold
}

func newSurfaceStep(t testing.TB, mirrored bool) *surfaceStep {
	s := &surfaceStep{}
	hulls := &Hulls{}
	hulls.SetSurface(0, Surface{Surface: cornerMesh(t)})
	shapes := []Shape{NewSurfaceShape(0, Pose{Q: Identity}), NewBoxShape(Vec{1, 1, 1}, Pose{Q: Identity}, 0)}
	if mirrored {
		shapes[0], shapes[1] = shapes[1], shapes[0]
	}
	for k := range s.columns {
		for axis := range 3 {
			s.columns[k][axis] = make([]float32, 2)
		}
	}
	s.scene = SurfacePairs{
		Shapes: shapes, Hulls: hulls, BodyOf: []uint32{0, 1}, Sensors: make([]bool, 2), Poses: []Pose{{Q: Identity}, {Q: Identity}},
		V: &s.columns[0], W: &s.columns[1], Time: dt,
	}
	s.chunk.Pairs = broad.Pairs{A: []uint32{0}, B: []uint32{1}}
	return s
}

// step makes the contacts with the box at a place.
func (s *surfaceStep) step(mirrored bool, at Vec) {
	body := 1
	if mirrored {
		body = 0
	}
	s.scene.Poses[body].P = at
	s.chunk.First, s.chunk.Last = 0, len(s.scene.Old)
	s.chunk.Collide(&s.scene)
	made := s.chunk.contacts(&s.scene)
	s.scene.Old, s.scene.Touches, s.scene.Bases, s.manifolds = made.Contacts, made.Touches, made.Bases, made.Manifolds
}

// Contacts with a surface keep their impulses by their normals, whichever shape is A, and are recycled while the body hardly moves.
func TestContactsOfASurface(t *testing.T) {
	for _, mirrored := range []bool{false, true} {
		s := newSurfaceStep(t, mirrored)
		sign := float32(1)
		if mirrored {
			sign = -1
		}
		s.step(mirrored, Vec{3, .999, 0})
		if len(s.scene.Old) != 1 || s.scene.Touches[0].Normal.Y != sign || len(s.chunk.Began.A) != 1 || s.scene.Old[0].Flags != FlagSurface|FlagBase {
			t.Fatalf("mirrored %v: contacts %+v, touches %+v", mirrored, s.scene.Old, s.scene.Touches)
		}
		s.scene.Old[0].Twist, s.scene.Old[0].Normal[2].Impulse = 7, 5
		before := s.scene.Old[0]
		s.step(mirrored, Vec{3.004, .998, 0})
		if m := &s.manifolds[0]; m.Source != Recycled || s.scene.Old[0] != before || abs(m.Points[0].Separation+.002) > 1e-6 || len(s.chunk.Began.A) > 0 {
			t.Errorf("mirrored %v: not recycled: %+v", mirrored, s.scene.Old[0])
		}
		s.step(mirrored, Vec{1.005, .998, 0}) // near the wall
		if len(s.scene.Old) != 2 || len(s.chunk.Began.A)+len(s.chunk.Ended.A) > 0 {
			t.Fatalf("mirrored %v: %d contacts", mirrored, len(s.scene.Old))
		}
		floor, wall := 0, 1
		if abs(s.scene.Touches[0].Normal.Y) < .5 {
			floor, wall = 1, 0
		}
		if s.scene.Old[floor].Twist != 7 || s.scene.Old[floor].Normal[2].Impulse != 5 || s.scene.Old[wall].Twist != 0 {
			t.Errorf("mirrored %v: impulses went astray: %+v", mirrored, s.scene.Old)
		}
		s.step(mirrored, Vec{1.005, 4, 0}) // at the wall alone
		if len(s.scene.Old) != 1 || s.scene.Old[0].Twist != 0 || len(s.chunk.Ended.A) > 0 {
			t.Errorf("mirrored %v: at the wall: %+v", mirrored, s.scene.Old)
		}
		s.step(mirrored, Vec{4, 4, 0})
		if len(s.scene.Old) != 0 || len(s.chunk.Ended.A) != 1 {
			t.Errorf("mirrored %v: in the air: %+v", mirrored, s.scene.Old)
		}
	}
}

// A chunk of any size recycles what chunks of one pair do.
func TestLargeSurfaceChunk(t *testing.T) {
	run := paritytest.Start(t, "LargeSurfaceChunk")
	hulls := &Hulls{}
	hulls.SetSurface(0, Surface{Surface: cornerMesh(t)})
	const n = 2 * recyclePart / 3 // of two contacts each: more than fit in one call
	shapes, poses, bodies := []Shape{NewSurfaceShape(0, Pose{Q: Identity})}, []Pose{{Q: Identity}}, []uint32{0}
	pairs := broad.Pairs{}
	for i := range uint32(n) {
		shapes, bodies = append(shapes, NewBoxShape(Vec{1, 1, 1}, Pose{Q: Identity}, 0)), append(bodies, i+1)
		poses = append(poses, Pose{Vec{1, 1, 4 * (run.Float32() - .5)}, Identity})
		pairs.Add(0, i+1)
	}
	columns := [3][]float32{make([]float32, n+1), make([]float32, n+1), make([]float32, n+1)}
	s := SurfacePairs{Shapes: shapes, Hulls: hulls, BodyOf: bodies, Sensors: make([]bool, n+1), Poses: poses, V: &columns, W: &columns, Time: dt}
	first := SurfaceChunk{Pairs: pairs}
	first.Collide(&s)
	made := first.contacts(&s)
	s.Old, s.Touches, s.Bases = made.Contacts, made.Touches, made.Bases
	for i := range poses[1:] {
		poses[1+i].P.Y += float32(run.IntN(3)) * .006 // some can be recycled
	}
	all := SurfaceChunk{Pairs: pairs, Last: len(s.Old)}
	all.Collide(&s)
	recycled, next := 0, 0
	for i := range n {
		one := SurfaceChunk{Pairs: broad.Pairs{A: pairs.A[i : i+1], B: pairs.B[i : i+1]}, First: next}
		for ; next < len(s.Old) && s.Old[next].B <= pairs.B[i]; next++ {
		}
		one.Last = next
		one.Collide(&s)
		a, b := &all.runs[i], &one.runs[0]
		if a.count != b.count || a.recycled != b.recycled {
			t.Fatalf("pair %d: %+v, want %+v", i, *a, *b)
		}
		for m := range int32(b.count) {
			if x, y := all.manifold(i, m), one.manifold(0, m); x != y {
				t.Fatalf("pair %d: %+v, want %+v", i, x, y)
			}
		}
		if a.recycled {
			recycled++
		}
	}
	if recycled == 0 || recycled == n {
		t.Errorf("%d of %d pairs are recycled", recycled, n)
	}
}

// Contacts inherit from those with the most equal normals, one after the other.
func TestMatchNormals(t *testing.T) {
	run := paritytest.Start(t, "MatchNormals")
	normals := func() (list []SurfaceTouch) {
		for range 1 + run.IntN(MaxSurfaceManifolds) {
			v := Vec{float32(run.IntN(5)-2) * .2, 1, float32(run.IntN(5)-2) * .2} // some are equal
			list = append(list, SurfaceTouch{Normal: v.Times(1 / v.length())})
		}
		return list
	}
	for range paritytest.Sample(200) {
		touches, oldTouches := normals(), normals()
		got, want, old := make([]Contact, len(touches)), make([]Contact, len(touches)), make([]Contact, len(oldTouches))
		for n := range old {
			old[n].Twist = float32(n + 1)
		}
		used := map[int]bool{}
		for range want {
			best, bestOld, most := -1, 0, float32(sameNormal)
			for i := range want {
				for n := range old {
					if cosine := touches[i].Normal.Dot(oldTouches[n].Normal); want[i].Twist == 0 && !used[n] && cosine > most {
						best, bestOld, most = i, n, cosine
					}
				}
			}
			if best >= 0 {
				want[best].Twist, used[bestOld] = old[bestOld].Twist, true
			}
		}
		matchNormals(got, touches, old, oldTouches)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("contact %d continues %v, want %v, of normals %v and %v", i, got[i].Twist, want[i].Twist, touches, oldTouches)
			}
		}
	}
}
