//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package rigid

import (
	"unsafe"

	"github.com/evertick/evertick/csrc/face"
	crigid "github.com/evertick/evertick/csrc/rigid/face"
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// The C side mirrors these types and constants. It numbers levels in the order of native.Level,
// from native.C on.
var (
	_ [face.AVX2]byte   = [native.AVX2 - native.C]byte{}
	_ [face.AVX512]byte = [native.AVX512 - native.C]byte{}
	_ [face.NEON]byte   = [native.NEON - native.C]byte{}

	_ [crigid.ShapeSize]byte        = [unsafe.Sizeof(Shape{})]byte{}
	_ [crigid.ManifoldSize]byte     = [unsafe.Sizeof(Manifold{})]byte{}
	_ [crigid.ContactSize]byte      = [unsafe.Sizeof(Contact{})]byte{}
	_ [crigid.BaseManifoldSize]byte = [unsafe.Sizeof(BaseManifold{})]byte{}
	_ [crigid.CollisionsSize]byte   = [unsafe.Sizeof(collisions{})]byte{}
	_ [crigid.RecyclingSize]byte    = [unsafe.Sizeof(recycling{})]byte{}
	_ [crigid.StateSize]byte        = [unsafe.Sizeof(State{})]byte{}
	_ [crigid.HitSize]byte          = [unsafe.Sizeof(Hit{})]byte{}
	_ [crigid.ContactBlockSize]byte = [unsafe.Sizeof(ContactBlock{})]byte{}
	_ [crigid.JointSize]byte        = [unsafe.Sizeof(Joint{})]byte{}
	_ [crigid.JointBlockSize]byte   = [unsafe.Sizeof(JointBlock{})]byte{}
	_ [crigid.NodeSize]byte         = [unsafe.Sizeof(treeNode{})]byte{}
	_ [crigid.TargetSize]byte       = [unsafe.Sizeof(target{})]byte{}
	_ [crigid.QueryRaySize]byte     = [unsafe.Sizeof(Ray{})]byte{}
	_ [crigid.RayHitSize]byte       = [unsafe.Sizeof(RayHit{})]byte{}
	_ [crigid.SystemSize]byte       = [unsafe.Sizeof(system{})]byte{}
	_ [crigid.StepOffset]byte       = [unsafe.Offsetof(system{}.step)]byte{}
	_ [crigid.OriginsSize]byte      = [unsafe.Sizeof(columns4{})]byte{}
	_ [crigid.PosesSize]byte        = [unsafe.Sizeof(columns4{})]byte{}
	_ [crigid.BoxesSize]byte        = [unsafe.Sizeof(columns4{})]byte{}
	_ [crigid.WrittenSize]byte      = [unsafe.Sizeof(columns4{})]byte{}
	_ [crigid.EntitiesSize]byte     = [unsafe.Sizeof(entities{})]byte{}
	_ [crigid.QueryTreeSize]byte    = [unsafe.Sizeof(queryTree{})]byte{}
)

// cKernels are the kernels of the levels from native.C on. Some of them are not faster with 16 lanes: shapes have few
// vertices, boxes have few neighbours, and wide unaligned loads cross more cache lines.
var cKernels = [...]kernels{
	newKernels(0, 0), newKernels(face.AVX2, face.AVX2), newKernels(face.AVX512, face.AVX2), newKernels(face.NEON, face.NEON),
}

// newKernels returns the kernels of a level of C. narrow is the level for kernels that do not gain from wide vectors.
func newKernels(level, narrow int32) (k kernels) {
	k.geometry(level, narrow)
	k.stages(level)
	k.bodies(level)
	return k
}

func base[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// cast converts a struct to the C struct of the same layout.
func cast[C, T any](v T) C { return *(*C)(unsafe.Pointer(&v)) }

func data[T any](s []T) *T { return unsafe.SliceData(s) }

// columns4, queryTree, entities and system have the layouts of C structs: pointers to the first
// elements of columns, without lengths.
type columns4 [4]*float32

type collisions struct {
	a, b     *uint32
	n        int64
	recycled *int32
	out      *Manifold
}

type recycling struct {
	old    *Contact
	bases  *BaseManifold
	bodyOf *uint32
	poses  columns4
}

type queryTree struct {
	nodes   *treeNode
	starts  *uint32
	targets *target
	levels  int64
}

type entities struct {
	columns [6]*float32
	flip    int32
}

type system struct {
	states                                                                             *State
	vx, vy, w                                                                          *float32
	invMass, invInertia, forceX, forceY, torque, gravityScale, linearDamp, angularDamp *float32
	freeX, freeY, freeW                                                                *float32
	poses                                                                              columns4
	angle                                                                              *float32

	bodyOf                                                 *uint32
	friction, restitution, rollingResistance, tangentSpeed *float32

	contacts  *Contact
	manifolds *Manifold
	hits      *Hit
	bases     *BaseManifold
	baseMarks *uint8
	joints    *Joint

	blocks                                 *ContactBlock
	laneContacts                           *uint32
	jointBlocks                            *JointBlock
	laneJoints                             *uint32
	bodyCount, blockCount, jointBlockCount int64

	sameBlocks int64

	step stepContext
}

func (p *Poses) columns() columns4 { return columns4{data(p.X), data(p.Y), data(p.Cos), data(p.Sin)} }

func (p *Poses) c() crigid.Poses { return cast[crigid.Poses](p.columns()) }

func boxesC(b *broad.Boxes) crigid.Boxes {
	return cast[crigid.Boxes](columns4{data(b.MinX), data(b.MinY), data(b.MaxX), data(b.MaxY)})
}

func (o *Origins) c() crigid.Origins {
	return cast[crigid.Origins](columns4{data(o.X), data(o.Y), data(o.CentreX), data(o.CentreY)})
}

func (w *Written) c() crigid.Written {
	return cast[crigid.Written](columns4{data(w.X), data(w.Y), data(w.HalfSin), data(w.HalfCos)})
}

func (e *Entities) c() crigid.Entities {
	c := entities{columns: [6]*float32{data(e.X), data(e.Y), data(e.QuatAxis), data(e.QuatW), data(e.QuatZero[0]), data(e.QuatZero[1])}}
	if e.Flip {
		c.flip = 1
	}
	return cast[crigid.Entities](c)
}

func (t *QueryTree) c() crigid.QueryTree {
	return cast[crigid.QueryTree](queryTree{data(t.nodes), data(t.starts), data(t.targets), int64(len(t.starts) - 1)})
}

func (s *System) c() crigid.System {
	b, m, same := &s.Bodies, &s.Materials, int64(0)
	if s.SameBlocks {
		same = 1
	}
	return cast[crigid.System](system{
		states: data(s.States), vx: data(b.VX), vy: data(b.VY), w: data(b.W), invMass: data(b.InvMass), invInertia: data(b.InvInertia),
		forceX: data(b.ForceX), forceY: data(b.ForceY), torque: data(b.Torque), gravityScale: data(b.GravityScale),
		linearDamp: data(b.LinearDamping), angularDamp: data(b.AngularDamping),
		freeX: data(b.FreeX), freeY: data(b.FreeY), freeW: data(b.FreeW), poses: s.Poses.columns(), angle: data(s.Angle),

		bodyOf: data(s.BodyOf), friction: data(m.Friction), restitution: data(m.Restitution),
		rollingResistance: data(m.RollingResistance), tangentSpeed: data(m.TangentSpeed),

		contacts: data(s.Contacts), manifolds: data(s.Manifolds), hits: data(s.Hits), bases: data(s.Bases), baseMarks: data(s.BaseMarks), joints: data(s.Joints),
		blocks: data(s.Blocks), laneContacts: data(s.Colours.Edge),
		jointBlocks: data(s.JointBlocks), laneJoints: data(s.JointColours.Edge),
		bodyCount: int64(len(s.States)), blockCount: int64(len(s.Blocks)), jointBlockCount: int64(len(s.JointBlocks)),

		sameBlocks: same, step: s.step,
	})
}

func (k *kernels) geometry(level, narrow int32) {
	k.bounds = func(shapes []Shape, bodyOf []uint32, poses Poses, margin float32, out broad.Boxes) int {
		p, b := poses.c(), boxesC(&out)
		return crigid.Bounds(narrow, base(shapes), bodyOf, &p, len(poses.X), margin, &b)
	}
	k.collide = func(shapes []Shape, bodyOf []uint32, poses Poses, pairs broad.Pairs, recycled []int32, out []Manifold) bool {
		p := poses.c()
		c := cast[crigid.Collisions](collisions{data(pairs.A), data(pairs.B), int64(len(out)), data(recycled), data(out)})
		return crigid.Collide(level, base(shapes), bodyOf, &p, len(poses.X), &c)
	}
	k.recycle = func(r *Recycling, found int, from []int32, out []Manifold) int {
		in := cast[crigid.Recycling](recycling{data(r.Old), data(r.Bases), data(r.BodyOf), r.Poses.columns()})
		return crigid.Recycle(level, &in, r.pairs[:found], r.contacts[:found], from, base(out))
	}
	k.castRaysClosest = func(t *QueryTree, rays []Ray, out []RayHit) {
		tree := t.c()
		crigid.CastRaysClosest(level, &tree, base(rays), len(rays), base(out))
	}
	k.castRaysAll = func(t *QueryTree, rays []Ray, ends []uint32, out []RayHit, fill int) int {
		tree := t.c()
		return crigid.CastRaysAll(level, &tree, base(rays), ends[:len(rays)], base(out), fill, len(out))
	}
}

// stages sets the stages of a step.
func (k *kernels) stages(level int32) {
	k.solve = func(s *System) { c := s.c(); crigid.Solve(level, &c) }
	k.loadStates = func(s *System, lo, hi int) { c := s.c(); crigid.LoadStates(level, &c, lo, hi) }
	k.prepareJoints = func(s *System, lo, hi int) { c := s.c(); crigid.PrepareJoints(level, &c, lo, hi) }
	k.prepareContacts = func(s *System, lo, hi int) { c := s.c(); crigid.PrepareContacts(level, &c, lo, hi) }
	k.integrateVelocities = func(s *System, sub, lo, hi int) { c := s.c(); crigid.IntegrateVelocities(level, &c, sub, lo, hi) }
	k.warmStartJoints = func(s *System, lo, hi int) { c := s.c(); crigid.WarmStartJoints(level, &c, lo, hi) }
	k.warmStartContacts = func(s *System, lo, hi int) { c := s.c(); crigid.WarmStartContacts(level, &c, lo, hi) }
	k.solveJoints = func(s *System, useBias bool, lo, hi int) { c := s.c(); crigid.SolveJoints(level, &c, useBias, lo, hi) }
	k.solveContacts = func(s *System, useBias bool, lo, hi int) {
		c := s.c()
		crigid.SolveContacts(level, &c, useBias, lo, hi)
	}
	k.integratePositions = func(s *System, lo, hi int) { c := s.c(); crigid.IntegratePositions(level, &c, lo, hi) }
	k.applyRestitution = func(s *System, lo, hi int) { c := s.c(); crigid.ApplyRestitution(level, &c, lo, hi) }
	k.storeJointImpulses = func(s *System, lo, hi int) { c := s.c(); crigid.StoreJointImpulses(&c, lo, hi) }
	k.storeContactImpulses = func(s *System, lo, hi int) { c := s.c(); crigid.StoreContactImpulses(&c, lo, hi) }
	k.storeStates = func(s *System, lo, hi int) { c := s.c(); crigid.StoreStates(level, &c, lo, hi) }
}

// bodies sets the other kernels that process bodies.
func (k *kernels) bodies(level int32) {
	k.updateCentres = func(o Origins, p Poses, lo, hi int) {
		origins, poses := o.c(), p.c()
		crigid.UpdateCentres(level, &origins, &poses, lo, hi)
	}
	k.updateOrigins = func(o Origins, states []State, p Poses, lo, hi int, moved []uint32) int {
		origins, poses := o.c(), p.c()
		return crigid.UpdateOrigins(level, &origins, base(states), &poses, lo, hi, moved)
	}
	k.findFast = func(e Extents, states []State, lo, hi int, out []uint32) int {
		return crigid.FindFast(level, e.Min, e.Max, base(states), lo, hi, out)
	}
	k.allInRange = func(memory []float32, stride, columns, n int) bool {
		return crigid.AllInRange(level, memory, stride, columns, n)
	}
	k.angles = func(cos, sin, out []float32) { crigid.Angles(level, cos, sin, out) }
	k.writeEntities = func(e Entities, o Origins, p Poses, slots []uint32, w Written, lo, hi int) {
		to, origins, poses, written := e.c(), o.c(), p.c(), w.c()
		crigid.WriteEntities(level, &to, &origins, &poses, slots, &written, lo, hi)
	}
	k.firstChanged = func(e Entities, slots []uint32, w Written, lo, hi int) int {
		now, written := e.c(), w.c()
		return crigid.FirstChanged(level, &now, slots, &written, lo, hi)
	}
}
