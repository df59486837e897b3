package physics

import (
	"math"

	"strconv"
	"unsafe"

	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/statehash"
)

// ColumnHash is the hash of one column of the state.
type ColumnHash = statehash.Column

// hashedColumns is the number of columns that the state hash covers.
const hashedColumns = 33

// moreColumns is the number of columns that only some worlds have: those that use the feature.
const moreColumns = 17

// Hash returns the hash of the state: the column hashes that AppendColumnHashes
// returns, folded in that order. It allocates nothing.
func (w *World) Hash() uint64 {
	var columns [hashedColumns + moreColumns]ColumnHash
	return statehash.Fold(w.AppendColumnHashes(columns[:0]))
}

// AppendColumnHashes appends the hash of each column to dst, so that a
// divergence names the column. A hash is XXH3 (64 bits, seed 0) of the rows [0, Rows) in
// little-endian order, with every NaN replaced by the same NaN. The columns of Columns come
// first, then the generations of the bodies, the shapes, and what the solver of this package
// keeps: the contacts of the last step with their impulses and with the manifolds from which they are recycled, the
// gravity, and the number of steps. Last, in worlds that have used them, come sleep, joints, chains, ignored pairs,
// tuning, the origin, masses of SetMassData, material pairs, and switches. It allocates nothing if dst has enough
// capacity.
func (w *World) AppendColumnHashes(dst []ColumnHash) []ColumnHash {
	for i := range w.views {
		c := &w.views[i]
		dst = append(dst, ColumnHash{Name: c.Name(), Hash: columns.Hash(c)})
	}
	dst = append(dst,
		ColumnHash{Name: "Generation", Hash: statehash.Rows(w.bodies.Generation)},
		ColumnHash{Name: "ShapeBody", Hash: statehash.Rows(w.shapes.Owner)},
		ColumnHash{Name: "ShapeDigest", Hash: statehash.Rows(w.shapes.digest)},
		ColumnHash{Name: "ShapeGeneration", Hash: statehash.Rows(w.shapes.ids.Generation)},
	)
	if w.engine.require() != nil {
		return dst
	}
	return w.appendSolverHashes(dst)
}

// appendSolverHashes appends the hashes of contacts, gravity and the number of steps, and then of the
// columns that only some worlds have.
func (w *World) appendSolverHashes(dst []ColumnHash) []ColumnHash {
	s := w.solver
	dst = append(dst,
		ColumnHash{Name: "Contact", Hash: s.hashContactsAndBases()},
		ColumnHash{Name: "ContactGeneration", Hash: statehash.Rows(s.lastGenerations)},
		ColumnHash{Name: "Gravity", Hash: statehash.Rows(w.config.Gravity[:])},
		ColumnHash{Name: "Steps", Hash: s.steps},
	)
	dst = s.appendSleepHashes(dst)
	if w.joints.Used() {
		dst = append(dst,
			ColumnHash{Name: "JointBody", Hash: statehash.Rows(w.joints.Owner)},
			ColumnHash{Name: "JointGeneration", Hash: statehash.Rows(w.joints.IDs.Generation)},
			ColumnHash{Name: "JointDef", Hash: statehash.Rows(s.joints.columns(0, firstJointWords))},
			ColumnHash{Name: "JointImpulse", Hash: statehash.Rows(words[float32](s.joints.allImpulses()))},
		)
		if more := s.joints.columns(firstJointWords, jointWords); !zero(more) {
			dst = append(dst, ColumnHash{Name: "JointDefMore", Hash: statehash.Rows(more)})
		}
	}
	if w.chains.ids.Used() > 0 {
		dst = append(dst,
			ColumnHash{Name: "ChainGeneration", Hash: statehash.Rows(w.chains.ids.Generation)},
			ColumnHash{Name: "Chain", Hash: statehash.Rows(w.chains.digest)},
		)
	}
	if len(s.ignoredPairs.keys) > 0 {
		dst = append(dst, ColumnHash{Name: "IgnoredPair", Hash: statehash.Rows(s.ignoredPairs.keys)})
	}
	if s.tuning != w.config.tuning() {
		var numbers [tuningBytes / 4]float32
		for i, v := range s.tuning.numbers() {
			numbers[i] = *v
		}
		dst = append(dst, ColumnHash{Name: "Tuning", Hash: statehash.Rows(numbers[:])})
	}
	if s.subStepRate != 0 && s.subStepRate != usualSubStepRate {
		dst = append(dst, ColumnHash{Name: "SubStepRate", Hash: uint64(math.Float32bits(s.subStepRate))})
	}
	if w.origin != [2]float64{} {
		dst = append(dst, ColumnHash{Name: "Origin", Hash: statehash.Rows(w.origin[:])})
	}
	if len(s.massOverrides) > 0 {
		dst = append(dst, ColumnHash{Name: "MassData", Hash: statehash.Rows(words[float32](s.massOverrides))})
	}
	dst = s.appendMaterialHash(dst)
	return w.appendSwitchHashes(dst)
}

// usualSubStepRate is the rate of the sub-steps in a world with default Config and steps of 1/60 s.
var usualSubStepRate = (&rigid.Params{}).SubStepRate(1. / 60)

// StageHashes returns hashes of the results of each stage of the last step, in
// order: pairs, manifolds and matched contacts, the states of the bodies
// after each sub-step, and the contacts with their new impulses. Where two runs
// diverge, the first hash that differs names the stage. The list is empty unless
// Config.StageHashes is set. The slice belongs to the world and is valid until the next step.
func (w *World) StageHashes() []ColumnHash { return w.solver.stageHashes }

func (s *solver) hashPairs() {
	if !s.hashStages {
		return
	}
	s.stageHashes = append(s.stageHashes,
		ColumnHash{Name: "pairs.A", Hash: statehash.Rows(s.pairs.A)},
		ColumnHash{Name: "pairs.B", Hash: statehash.Rows(s.pairs.B)},
		ColumnHash{Name: "manifolds", Hash: statehash.Rows(words[float32](s.manifolds))},
		ColumnHash{Name: "matched", Hash: hashContacts(s.contacts)},
	)
}

func (s *solver) hashStates(sub int) {
	if s.hashStages {
		s.stageHashes = append(s.stageHashes, ColumnHash{
			Name: "substep." + strconv.Itoa(sub),
			Hash: statehash.Rows(words[float32](s.sys.States)),
		})
	}
}

func (s *solver) hashSolved() {
	if s.hashStages {
		s.stageHashes = append(s.stageHashes, ColumnHash{Name: "solved", Hash: hashContacts(s.contacts)})
	}
}

// hashContactsAndBases returns one hash, because bases come and go: a column that did so would be named anew each time.
func (s *solver) hashContactsAndBases() uint64 {
	hash := hashContacts(s.contacts)
	if bases := s.keptBases(); len(bases) > 0 {
		hash = statehash.Add(hash, "Base", statehash.Rows(words[float32](bases)))
	}
	return hash
}

// hashContacts need not replace NaN: impulses are never NaN.
func hashContacts(contacts []rigid.Contact) uint64 { return statehash.Rows(words[uint32](contacts)) }

// words returns rows that consist of 32-bit words as a slice of these words.
func words[W uint32 | float32, T rigid.Contact | rigid.BaseManifold | rigid.Manifold | rigid.State | jointRow | jointImpulse | massOverride | MaterialPair](rows []T) []W {
	var zero T
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows)*int(unsafe.Sizeof(zero)/4))
}
