//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package rigid3

import (
	"unsafe"

	"github.com/evertick/evertick/csrc/face"
	cspace "github.com/evertick/evertick/csrc/space/face"
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/native"
)

// The C side mirrors these types and constants. It numbers levels in the order of native.Level, from native.C on.
var (
	_ [face.AVX2]byte   = [native.AVX2 - native.C]byte{}
	_ [face.AVX512]byte = [native.AVX512 - native.C]byte{}
	_ [face.NEON]byte   = [native.NEON - native.C]byte{}

	_ [cspace.ContactSize]byte         = [unsafe.Sizeof(Contact{})]byte{}
	_ [cspace.ManifoldSize]byte        = [unsafe.Sizeof(Manifold{})]byte{}
	_ [cspace.HitSize]byte             = [unsafe.Sizeof(Hit{})]byte{}
	_ [cspace.MaterialSize]byte        = [unsafe.Sizeof(Material{})]byte{}
	_ [cspace.StateSize]byte           = [unsafe.Sizeof(State{})]byte{}
	_ [cspace.PoseSize]byte            = [unsafe.Sizeof(Pose{})]byte{}
	_ [cspace.InertiaSize]byte         = [unsafe.Sizeof(inertiaRow{})]byte{}
	_ [cspace.ContactBlockSize]byte    = [unsafe.Sizeof(ContactBlock{})]byte{}
	_ [cspace.JointSize]byte           = [unsafe.Sizeof(Joint{})]byte{}
	_ [cspace.JointBlockSize]byte      = [unsafe.Sizeof(JointBlock{})]byte{}
	_ [cspace.JointPartsSize]byte      = [unsafe.Sizeof(JointParts{})]byte{}
	_ [cspace.SystemSize]byte          = [unsafe.Sizeof(system{})]byte{}
	_ [cspace.ShapeSize]byte           = [unsafe.Sizeof(Shape{})]byte{}
	_ [cspace.HullSize]byte            = [unsafe.Sizeof(flatHull{})]byte{}
	_ [cspace.SceneSize]byte           = [unsafe.Sizeof(placed{})]byte{}
	_ [cspace.BoxesSize]byte           = [unsafe.Sizeof(boxes{})]byte{}
	_ [cspace.RecyclingSize]byte       = [unsafe.Sizeof(recycling{})]byte{}
	_ [cspace.BaseSize]byte            = [unsafe.Sizeof(BaseManifold{})]byte{}
	_ [cspace.CollisionsSize]byte      = [unsafe.Sizeof(collisions{})]byte{}
	_ [cspace.NodeSize]byte            = [unsafe.Sizeof(treeNode{})]byte{}
	_ [cspace.TargetSize]byte          = [unsafe.Sizeof(targetRow{})]byte{}
	_ [cspace.RaySize]byte             = [unsafe.Sizeof(Ray{})]byte{}
	_ [cspace.RayHitSize]byte          = [unsafe.Sizeof(RayHit{})]byte{}
	_ [cspace.TreeSize]byte            = [unsafe.Sizeof(queryTree{})]byte{}
	_ [cspace.WaitingSize]byte         = [unsafe.Sizeof(waitingTarget{})]byte{}
	_ [cspace.RaysSize]byte            = [unsafe.Sizeof(rayBatch{})]byte{}
	_ [cspace.MaxVertices]byte         = [MaxHullVertices]byte{}
	_ [cspace.BranchSize]byte          = [unsafe.Sizeof(mesh.Node{})]byte{}
	_ [cspace.TriangleSize]byte        = [unsafe.Sizeof(mesh.Triangle{})]byte{}
	_ [cspace.FaceSize]byte            = [unsafe.Sizeof(mesh.Face{})]byte{}
	_ [cspace.SurfaceManifoldSize]byte = [unsafe.Sizeof(SurfaceManifold{})]byte{}
	_ [cspace.SurfaceSize]byte         = [unsafe.Sizeof(surfaceData{})]byte{}
	_ [cspace.TouchesSize]byte         = [unsafe.Sizeof(touches{})]byte{}
	_ [cspace.MeshSweepSize]byte       = [unsafe.Sizeof(sweepData{})]byte{}
	_ [cspace.MaxManifolds]byte        = [MaxSurfaceManifolds]byte{}
	_ [cspace.Left]byte                = [surfaceLeft]byte{}
	_ [cspace.SpanSize]byte            = [unsafe.Sizeof(graph.Span{})]byte{}
	_ [cspace.StepOffset]byte          = [unsafe.Offsetof(system{}.step)]byte{}
)

// cKernels are the kernels of the levels from native.C on.
var cKernels = [...]kernels{newKernels(0), newKernels(face.AVX2), newKernels(face.AVX512), newKernels(face.NEON)}

func data[T any](s []T) *T { return unsafe.SliceData(s) }

// columns3 are pointers to the first elements of columns, without lengths.
type columns3 [3]*float32

func columnsOf(c *[3][]float32) columns3 { return columns3{data(c[0]), data(c[1]), data(c[2])} }

// system has the layout of a C struct.
type system struct {
	states                                *State
	poses                                 *Pose
	v, w                                  columns3
	invMass                               *float32
	invInertia                            columns3
	principal                             *Quat
	force, torque                         columns3
	gravityScale, linearDamp, angularDamp *float32
	locks                                 *uint8
	inertia                               *inertiaRow
	free                                  [6]*float32

	bodyOf                 *uint32
	materials              *Material
	shapeCount, firstMixed int64

	contacts  *Contact
	manifolds *Manifold
	hits      *Hit

	blocks       *ContactBlock
	laneContacts *uint32
	blockCount   int64
	spans        *graph.Span
	spanCount    int64

	joints          *Joint
	jointBlocks     *JointBlock
	jointParts      *JointParts
	laneJoints      *uint32
	jointBlockCount int64

	step stepContext
}

func (s *System) c() cspace.System {
	b := &s.Bodies
	v := system{
		states: data(s.States), poses: data(b.Poses), v: columnsOf(&b.V), w: columnsOf(&b.W),
		invMass: data(b.InvMass), invInertia: columnsOf(&b.InvInertia), principal: data(b.Principal),
		force: columnsOf(&b.Force), torque: columnsOf(&b.Torque),
		gravityScale: data(b.GravityScale), linearDamp: data(b.LinearDamping), angularDamp: data(b.AngularDamping),
		locks: data(b.Locks), inertia: data(s.inertia),

		bodyOf: data(s.BodyOf), materials: data(s.Materials), shapeCount: int64(len(s.BodyOf)), firstMixed: int64(len(s.Contacts) - s.Mixed),
		contacts: data(s.Contacts), manifolds: data(s.Manifolds), hits: data(s.Hits),
		blocks: data(s.Blocks), laneContacts: data(s.Colours.Edge),
		blockCount: int64(len(s.Blocks)), spans: data(s.spans), spanCount: int64(len(s.spans)), step: s.step,

		joints: data(s.Joints), jointBlocks: data(s.JointBlocks), jointParts: data(s.jointParts), laneJoints: data(s.JointColours.Edge),
		jointBlockCount: int64(len(s.JointBlocks)),
	}
	for k := range v.free {
		v.free[k] = data(s.free[k])
	}
	return *(*cspace.System)(unsafe.Pointer(&v))
}

// flatHulls, placed and the structs that follow have the layouts of C structs.
type flatHulls struct {
	hulls   *flatHull
	floats  *float32
	indices *uint16
	count   int64
}

func (h *Hulls) c() flatHulls {
	if h == nil {
		return flatHulls{}
	}
	return flatHulls{data(h.flat), data(h.floats), data(h.indices), int64(len(h.flat))}
}

type placed struct {
	shapes             *Shape
	bodyOf             *uint32
	poses              *Pose
	shapeCount, bodies int64
	hulls              flatHulls
}

type collisions struct {
	a, b     *uint32
	n        int64
	recycled *int32
	out      *Manifold
}

type boxes struct{ min, max columns3 }

type recycling struct {
	old    *Contact
	bases  *BaseManifold
	bodyOf *uint32
	poses  *Pose
	from   *int32
	out    *Manifold
}

func (s placedShapes) c() cspace.Scene {
	v := placed{data(s.shapes), data(s.bodyOf), data(s.poses), int64(len(s.shapes)), int64(len(s.poses)), s.hulls.c()}
	return *(*cspace.Scene)(unsafe.Pointer(&v))
}

type surfaceData struct {
	vertices  *[3]float32
	triangles *mesh.Triangle
	branches  *mesh.Node
	faces     *mesh.Face
	starts    *uint32
	twoSided  bool
	_         [7]byte
}

type touches struct {
	shapes  *uint32
	n, room int64
	surface uint32
	_       uint32
	counts  *uint8
	out     *SurfaceManifold
}

type sweepData struct {
	vertices          *[3]float32
	triangles         *mesh.Triangle
	branches          *mesh.Node
	points            *vec64
	n                 int64
	middle            vec64
	coreReach, radius float64
	lo, hi            [3]float32
	out               *uint32
	room              int64
	twoSided          bool
	_                 [7]byte
}

type queryTree struct {
	nodes  *treeNode
	starts *uint32
	rows   *targetRow
	levels int64
	hulls  flatHulls
}

type rayBatch struct {
	rays    *Ray
	out     *RayHit
	waiting *waitingTarget
	n, room int64
	any     bool
	_       [7]byte
}

func (t *QueryTree) c() cspace.Tree {
	v := queryTree{data(t.nodes), data(t.starts), data(t.rows), int64(len(t.starts) - 1), t.hulls.c()}
	return *(*cspace.Tree)(unsafe.Pointer(&v))
}

func newKernels(level int32) kernels {
	k := kernels{
		solve:               func(s *System) { c := s.c(); cspace.Solve(level, &c) },
		prepareJoints:       func(s *System, lo, hi int) { c := s.c(); cspace.PrepareJoints(level, &c, lo, hi) },
		warmStartJoints:     func(s *System, lo, hi int) { c := s.c(); cspace.WarmStartJoints(level, &c, lo, hi) },
		solveJoints:         func(s *System, lo, hi int) { c := s.c(); cspace.SolveJoints(level, &c, lo, hi) },
		relaxJoints:         func(s *System, lo, hi int) { c := s.c(); cspace.RelaxJoints(level, &c, lo, hi) },
		storeJointImpulses:  func(s *System, lo, hi int) { c := s.c(); cspace.StoreJointImpulses(level, &c, lo, hi) },
		prepareBodies:       func(s *System, lo, hi int) { c := s.c(); cspace.PrepareBodies(level, &c, lo, hi) },
		prepareContacts:     func(s *System, lo, hi int) { c := s.c(); cspace.PrepareContacts(level, &c, lo, hi) },
		integrateVelocities: func(s *System, sub, lo, hi int) { c := s.c(); cspace.IntegrateVelocities(level, &c, sub, lo, hi) },
		warmStart:           func(s *System, lo, hi int) { c := s.c(); cspace.WarmStart(level, &c, lo, hi) },
		solveContacts:       func(s *System, lo, hi int) { c := s.c(); cspace.SolveContacts(level, &c, lo, hi) },
		integratePositions:  func(s *System, lo, hi int) { c := s.c(); cspace.IntegratePositions(level, &c, lo, hi) },
		relaxContacts:       func(s *System, lo, hi int) { c := s.c(); cspace.RelaxContacts(level, &c, lo, hi) },
		applyRestitution:    func(s *System, lo, hi int) { c := s.c(); cspace.ApplyRestitution(level, &c, lo, hi) },
		storeImpulses:       func(s *System, lo, hi int) { c := s.c(); cspace.StoreImpulses(level, &c, lo, hi) },
		finalizeBodies:      func(s *System, lo, hi int) { c := s.c(); cspace.FinalizeBodies(level, &c, lo, hi) },
	}
	k.bounds = func(s placedShapes, margin float32, out Boxes) int {
		scene, b := s.c(), boxes{columnsOf(&out.Min), columnsOf(&out.Max)}
		return cspace.Bounds(level, &scene, margin, (*cspace.Boxes)(unsafe.Pointer(&b)))
	}
	k.recycle = func(r *Recycling, found int, from []int32, out []Manifold) int {
		v := recycling{data(r.Old), data(r.Bases), data(r.BodyOf), data(r.Poses), data(from), data(out)}
		return cspace.Recycle(level, (*cspace.Recycling)(unsafe.Pointer(&v)), r.pairs[:found], r.contacts[:found])
	}
	k.collide = func(s placedShapes, pairs *broad.Pairs, recycled []int32, out []Manifold) bool {
		scene, c := s.c(), collisions{data(pairs.A), data(pairs.B), int64(len(out)), data(recycled), data(out)}
		return cspace.Collide(level, &scene, (*cspace.Collisions)(unsafe.Pointer(&c)))
	}
	k.surface = func(p *surfacePart, shapes []uint32, counts []uint8, out []SurfaceManifold) int {
		scene := placedShapes{p.Shapes, p.Hulls, p.BodyOf, p.Poses}.c()
		f := surfaceData{faces: data(p.faces), starts: data(p.starts), twoSided: p.twoSided}
		if m := p.mesh; m != nil {
			f = surfaceData{vertices: data(m.Vertices), triangles: data(m.Triangles), branches: data(m.Nodes), twoSided: p.twoSided}
		}
		t := touches{shapes: data(shapes), n: int64(len(shapes)), room: int64(len(out)), surface: p.shape, counts: data(counts), out: data(out)}
		return cspace.CollideSurface(level, &scene, (*cspace.Surface)(unsafe.Pointer(&f)), (*cspace.Touches)(unsafe.Pointer(&t)))
	}
	k.sweep = func(s *meshSweep, out []uint32) int {
		m, p := s.mesh, s.path
		v := sweepData{
			vertices: data(m.Vertices), triangles: data(m.Triangles), branches: data(m.Nodes), points: &p.local[0], n: int64(p.n),
			middle: p.middle, coreReach: p.coreReach, radius: s.radius, lo: s.box.Min, hi: s.box.Max,
			out: data(out), room: int64(len(out)), twoSided: s.twoSided,
		}
		return cspace.SweepMesh(level, (*cspace.MeshSweep)(unsafe.Pointer(&v)))
	}
	k.castRays = func(t *QueryTree, rays []Ray, any bool, out []RayHit, room []waitingTarget) (done, waiting int) {
		tree, b := t.c(), rayBatch{rays: data(rays), out: data(out), waiting: data(room), n: int64(len(rays)), room: int64(len(room)), any: any}
		return cspace.CastRays(level, &tree, (*cspace.Rays)(unsafe.Pointer(&b)))
	}
	k.castRaysAll = func(t *QueryTree, rays []Ray, ends []uint32, out []RayHit, fill int) int {
		tree := t.c()
		return cspace.CastRaysAll(level, &tree, (*cspace.Ray)(unsafe.Pointer(data(rays))), ends[:len(rays)], (*cspace.RayHit)(unsafe.Pointer(data(out))), fill, len(out))
	}
	return k
}
