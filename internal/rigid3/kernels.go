package rigid3

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// kernels are the functions that have a form in C, for one level. The Go form of each is its specification.
type kernels struct {
	bounds  func(s placedShapes, margin float32, out Boxes) (done int)
	recycle func(r *Recycling, found int, from []int32, out []Manifold) (recycled int)
	solve   func(s *System) // all the stages that follow
	collide func(s placedShapes, pairs *broad.Pairs, recycled []int32, out []Manifold) (ok bool)

	surface func(p *surfacePart, shapes []uint32, counts []uint8, out []SurfaceManifold) (done int) // nil: SurfaceCollider

	sweep func(s *meshSweep, out []uint32) (found int)

	castRays    func(t *QueryTree, rays []Ray, any bool, out []RayHit, room []waitingTarget) (done, waiting int)
	castRaysAll func(t *QueryTree, rays []Ray, ends []uint32, out []RayHit, fill int) (done int)

	prepareBodies       func(s *System, lo, hi int)
	prepareContacts     func(s *System, lo, hi int)
	integrateVelocities func(s *System, sub, lo, hi int)
	warmStart           func(s *System, lo, hi int)
	solveContacts       func(s *System, lo, hi int)
	integratePositions  func(s *System, lo, hi int)
	relaxContacts       func(s *System, lo, hi int)
	applyRestitution    func(s *System, lo, hi int)
	storeImpulses       func(s *System, lo, hi int)
	finalizeBodies      func(s *System, lo, hi int)

	prepareJoints      func(s *System, lo, hi int)
	warmStartJoints    func(s *System, lo, hi int)
	solveJoints        func(s *System, lo, hi int)
	relaxJoints        func(s *System, lo, hi int)
	storeJointImpulses func(s *System, lo, hi int)
}

var goKernels = kernels{
	bounds: placedShapes.boundsGo, recycle: (*Recycling).recycleGo,
	solve:   (*System).solveGo,
	collide: placedShapes.collideGo,

	sweep: (*meshSweep).findGo,

	castRays: (*QueryTree).castRaysGo, castRaysAll: (*QueryTree).castRaysAllGo,

	prepareBodies: (*System).prepareBodiesGo, prepareContacts: (*System).prepareContactsGo,
	integrateVelocities: (*System).integrateVelocitiesGo, warmStart: (*System).warmStartGo,
	solveContacts: (*System).solveContactsGo, integratePositions: (*System).integratePositionsGo,
	relaxContacts: (*System).relaxContactsGo, applyRestitution: (*System).applyRestitutionGo,
	storeImpulses: (*System).storeImpulsesGo, finalizeBodies: (*System).finalizeBodiesGo,

	prepareJoints: (*System).prepareJointsGo, warmStartJoints: (*System).warmStartJointsGo, solveJoints: (*System).solveJointsGo,
	relaxJoints: (*System).relaxJointsGo, storeJointImpulses: (*System).storeJointImpulsesGo,
}

// kernelsOf returns the kernels of a level. It panics if native.Resolve refuses the level.
func kernelsOf(l native.Level) *kernels {
	l, err := native.Resolve(l)
	if err != nil {
		panic("rigid3: the level cannot run here; see native.Resolve")
	}
	if l == native.Go {
		return &goKernels
	}
	return &cKernels[l-native.C]
}
