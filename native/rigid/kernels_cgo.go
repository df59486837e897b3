//go:build cgo

package rigid

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
	crigid "github.com/evertick/evertick/csrc/rigid"
	"github.com/evertick/evertick/native"
)

// The C side mirrors these types and constants. It numbers levels in the order of native.Level,
// from native.C on.
var (
	_ [csrc.AVX2]byte   = [native.AVX2 - native.C]byte{}
	_ [csrc.AVX512]byte = [native.AVX512 - native.C]byte{}
	_ [csrc.NEON]byte   = [native.NEON - native.C]byte{}

	_ [crigid.ShapeSize]byte        = [unsafe.Sizeof(Shape{})]byte{}
	_ [crigid.ManifoldSize]byte     = [unsafe.Sizeof(Manifold{})]byte{}
	_ [crigid.ContactSize]byte      = [unsafe.Sizeof(Contact{})]byte{}
	_ [crigid.StateSize]byte        = [unsafe.Sizeof(State{})]byte{}
	_ [crigid.HitSize]byte          = [unsafe.Sizeof(Hit{})]byte{}
	_ [crigid.ContactBlockSize]byte = [unsafe.Sizeof(ContactBlock{})]byte{}
	_ [crigid.JointSize]byte        = [unsafe.Sizeof(Joint{})]byte{}
	_ [crigid.JointBlockSize]byte   = [unsafe.Sizeof(JointBlock{})]byte{}
	_ [crigid.LayerSize]byte        = [unsafe.Sizeof(layer{})]byte{}
	_ [crigid.SummarySize]byte      = [unsafe.Sizeof(summary{})]byte{}
	_ [crigid.NodeSize]byte         = [unsafe.Sizeof(treeNode{})]byte{}
	_ [crigid.TargetSize]byte       = [unsafe.Sizeof(target{})]byte{}
	_ [crigid.QueryRaySize]byte     = [unsafe.Sizeof(Ray{})]byte{}
	_ [crigid.RayHitSize]byte       = [unsafe.Sizeof(RayHit{})]byte{}
	_ [crigid.BroadShapeBits]byte   = [shapeBits]byte{}
	_ [crigid.BroadPadding]byte     = [padding]byte{}
	_ [crigid.BroadLayers]byte      = [maxLayers]byte{}
	_ [crigid.BroadParts]byte       = [maxParts]byte{}
)

// cKernels are the kernels of the levels from native.C on. 16 lanes do not make some of them faster:
// shapes have few vertices, boxes have few neighbours, and wide loads from anywhere cross more cache lines.
var cKernels = [...]kernels{
	newKernels(0, 0), newKernels(csrc.AVX2, csrc.AVX2), newKernels(csrc.AVX512, csrc.AVX2), newKernels(csrc.NEON, csrc.NEON),
}

// newKernels returns the kernels of a level of C; narrow is the level for those that wide vectors do not help.
func newKernels(level, narrow int32) (k kernels) {
	k.geometry(level, narrow)
	k.broadPhase(level, narrow)
	k.bodies(level)
	k.contacts(level)
	k.joints(level)
	return k
}

func base[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

func (k *kernels) geometry(level, narrow int32) {
	k.bounds = func(shapes []Shape, bodyOf []uint32, p Poses, margin float32, out Boxes) int {
		return crigid.RigidBounds(narrow, base(shapes), bodyOf, p.X, p.Y, p.Cos, p.Sin, margin, out.MinX, out.MinY, out.MaxX, out.MaxY)
	}
	k.collide = func(shapes []Shape, bodyOf []uint32, p Poses, pairs Pairs, out []Manifold) bool {
		return crigid.Collide(level, base(shapes), bodyOf, p.X, p.Y, p.Cos, p.Sin, pairs.A, pairs.B, base(out))
	}
	k.castRaysClosest = func(t *QueryTree, rays []Ray, out []RayHit) {
		crigid.RigidRayClosest(level, base(t.nodes), t.starts, base(t.targets), base(rays), len(rays), base(out))
	}
	k.castRaysAll = func(t *QueryTree, rays []Ray, ends []uint32, out []RayHit, fill int) int {
		return crigid.RigidRayAll(level, base(t.nodes), t.starts, base(t.targets), base(rays), ends[:len(rays)], base(out), fill, len(out))
	}
}

// broadPhase sets the kernels of BroadPhase. Sorting and scattering compute nothing: C has one form for all levels.
func (k *kernels) broadPhase(level, narrow int32) {
	k.measure = func(b *Boxes, members []uint64, lo, hi int, ids []uint32, sum *summary) {
		crigid.BroadMeasure(level, b.MinX, b.MinY, b.MaxX, b.MaxY, lo, hi, members, ids, unsafe.Pointer(sum))
	}
	k.makeKeys = func(p *gridPlan, ids []uint32, layers []layer, to []uint64) {
		b, layerOf := p.boxes, p.layerOf[:]
		if len(layers) == 1 {
			layerOf = nil
		}
		crigid.BroadKeys(b.MinX, b.MinY, b.MaxX, b.MaxY, ids, base(layers), layerOf, p.rowBits, p.columnBits, to)
	}
	k.sortKeys = func(keys, tmp []uint64, count uint) (sorted, rest []uint64) {
		if crigid.BroadSort(keys, tmp, count) {
			return tmp, keys
		}
		return keys, tmp
	}
	k.fillRows = func(b *Boxes, p *gridPlan, s *grid, lo, hi, rows int, layers []layer) int {
		return crigid.BroadPlace(b.MinX, b.MinY, b.MaxX, b.MaxY, s.keys, lo, hi, p.rowBits, p.columnBits, base(layers),
			s.memory, len(s.shape), s.rowStart, s.rowNumber, rows)
	}
	k.searchLayer = func(s, _ *grid, l, whole *layer, from uint32, to *pairBuffer) (at uint32) {
		wide := level
		if l.Rows > 1 {
			wide = narrow
		}
		set := s.columns()
		at, to.n = crigid.BroadSweep(wide, &set, unsafe.Pointer(l), from, to.a, to.b, to.n, to.room(whole.len()))
		return at
	}
	k.searchRows = func(s, t *grid, l, other *layer, from uint32, to *pairBuffer) (at uint32) {
		a, b := s.columns(), t.columns()
		at, to.n = crigid.BroadSpan(narrow, &a, &b, unsafe.Pointer(l), unsafe.Pointer(other), from, to.a, to.b, to.n, to.room(other.len()))
		return at
	}
	k.searchDirectory = func(s, t *grid, l, other *layer, from uint32, to *pairBuffer) (at uint32) {
		a, b := s.columns(), t.columns()
		at, to.n = crigid.BroadCross(narrow, &a, &b, unsafe.Pointer(l), unsafe.Pointer(other), from, to.a, to.b, to.n, to.room(other.len()))
		return at
	}
	k.scatterPairs = func(a, b []uint32, lo uint32, ends []uint32, out Pairs) uint32 {
		return crigid.BroadScatter(a, b, shortRow, lo, ends, out.A, out.B)
	}
	k.bruteForceRow = func(c *bruteForce, i int, r *pairFilter, limits pairLimits, to []uint32) int {
		return crigid.BroadCrowd(level, c.memory, len(c.shape), c.n, i, r.agree[:], limits.moving, limits.stationary, to)
	}
	k.countKeys = func(keys []uint64, shift uint, counts *[maxParts]uint32) { crigid.BroadCountKeys(keys, shift, counts[:]) }
	k.scatterKeys = func(keys []uint64, shift uint, next *[maxParts]uint32, to []uint64) {
		crigid.BroadSpread(keys, shift, next[:], to)
	}
	k.countRows = crigid.BroadCountRows
	k.countPairs = func(p *pairBuffer, shift uint) { crigid.BroadCount(p.a[:p.n], shift, p.partStart[:]) }
	k.partition = func(p *pairBuffer, shift uint, to *pairBuffer) {
		crigid.BroadDivide(p.a[:p.n], p.b[:p.n], shift, p.partStart[:], to.a, to.b)
	}
}

func (s *grid) columns() crigid.BroadSet {
	return crigid.BroadSet{Columns: s.memory, Stride: len(s.shape), RowStart: s.rowStart, RowNumber: s.rowNumber, Directory: s.directory}
}

func (k *kernels) bodies(level int32) {
	k.loadStates = func(s *System, lo, hi int) {
		b := &s.Bodies
		crigid.Start(level, base(s.States), b.VX, b.VY, b.W, b.InvMass, lo, hi)
	}
	k.integrateVelocities = func(s *System, sub, lo, hi int) {
		f := s.forces()
		f.Warm = sub > 0
		crigid.Velocities(level, base(s.States), &f, lo, hi)
	}
	k.subSteps = func(s *System) {
		f, c := s.forces(), &s.step
		crigid.SubSteps(level, base(s.States), len(s.States), &f, base(s.Blocks), len(s.Blocks), c.contactSoftness.numbers(),
			c.staticSoftness.numbers(), c.invH, c.maxBiasVelocity, base(s.JointBlocks), len(s.JointBlocks), c.jointSoftness.numbers(), c.subSteps)
	}
	k.integratePositions = func(s *System, lo, hi int) {
		c := &s.step
		crigid.Positions(level, base(s.States), c.h, c.maxLinearSpeed, c.maxAngularSpeed, lo, hi)
	}
	k.storeStates = func(s *System, lo, hi int) {
		b, p, c := &s.Bodies, &s.Poses, &s.step
		crigid.Finish(level, base(s.States), b.VX, b.VY, b.W, p.X, p.Y, p.Cos, p.Sin, s.Angle, c.maxLinearSpeed, c.maxAngularSpeed, lo, hi)
	}
	k.updateCentres = func(o Origins, p Poses, lo, hi int) {
		c := o.columns(p)
		crigid.MassCentres(level, &c, lo, hi)
	}
	k.updateOrigins = func(o Origins, states []State, p Poses, lo, hi int, moved []uint32) int {
		c := o.columns(p)
		return crigid.Follow(level, base(states), &c, lo, hi, moved)
	}
	k.findFast = func(e Extents, states []State, lo, hi int, out []uint32) int {
		return crigid.Fast(level, base(states), e.Min, e.Max, lo, hi, out)
	}
	k.allInRange = func(memory []float32, stride, columns, n int) bool {
		return crigid.Usable(level, memory, stride, columns, n)
	}
	k.angles = func(cos, sin, out []float32) { crigid.Angles(level, cos, sin, out) }
	k.writeEntities = func(e Entities, o Origins, p Poses, slots []uint32, w Written, lo, hi int) {
		c := e.columns(slots, w)
		c.X, c.Y, c.Cos, c.Sin = o.X, o.Y, p.Cos, p.Sin
		crigid.Put(level, &c, lo, hi)
	}
	k.firstChanged = func(e Entities, slots []uint32, w Written, lo, hi int) int {
		c := e.columns(slots, w)
		return crigid.Differs(level, &c, lo, hi)
	}
}

func (s *System) forces() crigid.Forces {
	b, c := &s.Bodies, &s.step
	return crigid.Forces{
		InvInertia: b.InvInertia, X: b.ForceX, Y: b.ForceY, Torque: b.Torque,
		GravityScale: b.GravityScale, Linear: b.LinearDamping, Angular: b.AngularDamping,
		FreeX: b.FreeX, FreeY: b.FreeY, FreeW: b.FreeW,
		GravityX: c.gravity.X, GravityY: c.gravity.Y, H: c.h, MaxSpeed: c.maxLinearSpeed, MaxTurn: c.maxAngularSpeed,
	}
}

func (s softness) numbers() [3]float32 { return [3]float32{s.biasRate, s.massScale, s.impulseScale} }

func (o Origins) columns(p Poses) crigid.Origins {
	return crigid.Origins{X: o.X, Y: o.Y, CentreX: o.CentreX, CentreY: o.CentreY, Cos: p.Cos, Sin: p.Sin, MassX: p.X, MassY: p.Y}
}

func (e Entities) columns(slots []uint32, w Written) crigid.Synced {
	return crigid.Synced{
		Slot: slots, KeptX: w.X, KeptY: w.Y, KeptSin: w.HalfSin, KeptCos: w.HalfCos,
		ToX: e.X, ToY: e.Y, ToTurn: e.QuatAxis, ToW: e.QuatW, ToZero1: e.QuatZero[0], ToZero2: e.QuatZero[1], Flip: e.Flip,
	}
}

func (k *kernels) contacts(level int32) {
	k.prepareContacts = func(s *System, lo, hi int) {
		m := &s.Materials
		crigid.Prepare(level, base(s.Blocks[lo:hi]), s.Colours.Contact[lo*Lanes:hi*Lanes], hi-lo, base(s.Manifolds), base(s.Contacts),
			base(s.States), s.Bodies.InvInertia, &crigid.Surfaces{
				Body: s.BodyOf, Friction: m.Friction, Restitution: m.Restitution, Rolling: m.RollingResistance,
				TangentSpeed: m.TangentSpeed, MixFriction: int32(s.step.frictionMix), MixRestitution: int32(s.step.restitutionMix),
			})
	}
	k.warmStartContacts = func(s *System, lo, hi int) {
		crigid.WarmStart(level, base(s.Blocks[lo:hi]), hi-lo, base(s.States))
	}
	k.solveContacts = func(s *System, useBias bool, lo, hi int) {
		c, moving, static := &s.step, rigidSoftness, rigidSoftness
		if useBias {
			moving, static = c.contactSoftness, c.staticSoftness
		}
		crigid.Solve(level, base(s.Blocks[lo:hi]), hi-lo, base(s.States), moving.numbers(), static.numbers(), c.invH, c.maxBiasVelocity, useBias)
	}
	k.applyRestitution = func(s *System, lo, hi int) {
		crigid.Restitution(level, base(s.Blocks[lo:hi]), hi-lo, base(s.States), s.step.restitutionThreshold)
	}
	k.storeContactImpulses = func(s *System, lo, hi int) {
		crigid.Store(base(s.Blocks[lo:hi]), s.Colours.Contact[lo*Lanes:hi*Lanes], hi-lo, base(s.Contacts), base(s.Hits))
	}
}

func (k *kernels) joints(level int32) {
	k.prepareJoints = func(s *System, lo, hi int) {
		p := &s.Poses
		crigid.PrepareJoints(level, base(s.JointBlocks[lo:hi]), s.JointColours.Joint[lo*Lanes:hi*Lanes], hi-lo, base(s.Joints), base(s.States),
			&crigid.JointBodies{
				InvInertia: s.Bodies.InvInertia, X: p.X, Y: p.Y, Cos: p.Cos, Sin: p.Sin, Angle: s.Angle, H: s.step.h,
			}, s.step.jointSoftness.numbers())
	}
	k.warmStartJoints = func(s *System, lo, hi int) {
		crigid.WarmStartJoints(level, base(s.JointBlocks[lo:hi]), hi-lo, base(s.States))
	}
	k.solveJoints = func(s *System, useBias bool, lo, hi int) {
		soft := rigidSoftness
		if useBias {
			soft = s.step.jointSoftness
		}
		crigid.SolveJoints(level, base(s.JointBlocks[lo:hi]), hi-lo, base(s.States), soft.numbers(), s.step.invH, useBias)
	}
	k.storeJointImpulses = func(s *System, lo, hi int) {
		crigid.StoreJoints(base(s.JointBlocks[lo:hi]), s.JointColours.Joint[lo*Lanes:hi*Lanes], hi-lo, base(s.Joints))
	}
}
