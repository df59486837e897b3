package rigid

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// kernels are the functions that have a form in C, for one level. The Go form of each is its specification.
type kernels struct {
	bounds  func(shapes []Shape, bodyOf []uint32, poses Poses, margin float32, out broad.Boxes) (done int)
	collide func(shapes []Shape, bodyOf []uint32, poses Poses, pairs broad.Pairs, recycled []int32, out []Manifold) (ok bool)
	recycle func(r *Recycling, found int, from []int32, out []Manifold) (recycled int)

	// Of System: solve does all the stages that follow it.
	solve                func(s *System)
	loadStates           func(s *System, lo, hi int)
	prepareJoints        func(s *System, lo, hi int)
	prepareContacts      func(s *System, lo, hi int)
	integrateVelocities  func(s *System, sub, lo, hi int)
	warmStartJoints      func(s *System, lo, hi int)
	warmStartContacts    func(s *System, lo, hi int)
	solveJoints          func(s *System, useBias bool, lo, hi int)
	solveContacts        func(s *System, useBias bool, lo, hi int)
	integratePositions   func(s *System, lo, hi int)
	applyRestitution     func(s *System, lo, hi int)
	storeJointImpulses   func(s *System, lo, hi int)
	storeContactImpulses func(s *System, lo, hi int)
	storeStates          func(s *System, lo, hi int)

	findFast        func(e Extents, states []State, lo, hi int, out []uint32) int
	updateCentres   func(o Origins, p Poses, lo, hi int)
	updateOrigins   func(o Origins, states []State, p Poses, lo, hi int, moved []uint32) int
	allInRange      func(memory []float32, stride, columns, n int) bool
	angles          func(cos, sin, out []float32)
	writeEntities   func(e Entities, o Origins, p Poses, slots []uint32, w Written, lo, hi int)
	firstChanged    func(e Entities, slots []uint32, w Written, lo, hi int) int
	castRaysClosest func(t *QueryTree, rays []Ray, out []RayHit)
	castRaysAll     func(t *QueryTree, rays []Ray, ends []uint32, out []RayHit, fill int) (done int)
}

var goKernels = kernels{
	bounds: boundsGo, collide: collideGo, recycle: (*Recycling).recycleGo,

	loadStates: (*System).loadStatesGo, prepareJoints: (*System).prepareJointsGo, prepareContacts: (*System).prepareContactsGo,
	solve: (*System).solveGo, integrateVelocities: (*System).integrateVelocitiesGo,
	warmStartJoints: (*System).warmStartJointsGo, warmStartContacts: (*System).warmStartContactsGo,
	solveJoints: (*System).solveJointsGo, solveContacts: (*System).solveContactsGo,
	integratePositions: (*System).integratePositionsGo, applyRestitution: (*System).applyRestitutionGo,
	storeJointImpulses: (*System).storeJointImpulsesGo, storeContactImpulses: (*System).storeContactImpulsesGo,
	storeStates: (*System).storeStatesGo,

	findFast: Extents.findFastGo, updateCentres: Origins.updateCentresGo, updateOrigins: Origins.updateOriginsGo,
	allInRange: allInRangeGo, angles: anglesGo, writeEntities: Entities.writeGo, firstChanged: Entities.firstChangedGo,
	castRaysClosest: (*QueryTree).castRaysClosestGo, castRaysAll: (*QueryTree).castRaysAllGo,
}

// kernelsOf returns the kernels of a level. It panics if native.Resolve refuses the level.
func kernelsOf(l native.Level) *kernels {
	l, err := native.Resolve(l)
	if err != nil {
		panic("rigid: the level cannot run here; see native.Resolve")
	}
	if l == native.Go {
		return &goKernels
	}
	return &cKernels[l-native.C]
}

// fewRows is the number of bodies or shapes up to which Go does simple work on them before a call of C, about 40 ns, has
// begun. Tests of kernels set it to 0.
var fewRows = 8

// kernelsFor is kernelsOf for simple work on so many bodies or shapes.
func kernelsFor(l native.Level, rows int) *kernels {
	k := kernelsOf(l)
	if rows <= fewRows {
		k = &goKernels
	}
	return k
}
