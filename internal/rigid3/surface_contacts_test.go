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
	n := len(s.chunk.Manifolds)
	contacts, touches, bases := make([]Contact, n), make([]SurfaceTouch, n), make([]BaseManifold, n)
	s.chunk.Match(&s.scene, contacts, touches, bases)
	s.scene.Old, s.scene.Touches, s.scene.Bases = contacts, touches, bases
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
		if m := &s.chunk.Manifolds[0]; m.Source != Recycled || s.scene.Old[0] != before || abs(m.Points[0].Separation+.002) > 1e-6 || len(s.chunk.Began.A) > 0 {
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
