package physics3

import (
	"math"
	"strconv"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/statehash"
)

// ColumnHash is the hash of one column of the state.
type ColumnHash = statehash.Column

// Hash returns the hash of the state: the column hashes that AppendColumnHashes returns, folded in that order. It allocates nothing once it was
// called.
func (w *World) Hash() uint64 {
	w.hashes = w.AppendColumnHashes(w.hashes[:0])
	return statehash.Fold(w.hashes)
}

// AppendColumnHashes appends the hash of each column to dst, so that a divergence names the column. A hash is XXH3 (64 bits, seed 0) of the rows
// [0, Rows) in little-endian order, with every NaN replaced by the same NaN. The columns of Columns come first, then the generations of the bodies,
// the shapes, the contacts of the last step with their impulses and with the manifolds from which they are recycled, the gravity, and the number of
// steps. Last, in worlds that have used them, come continuous collision, sleep, ignored pairs, tuning, the origin, masses of SetMassData and joints. It allocates nothing if dst
// has enough capacity.
func (w *World) AppendColumnHashes(dst []ColumnHash) []ColumnHash { return hashedParts.Hash(w, dst) }

// ColumnHashes is AppendColumnHashes to a new slice.
func (w *World) ColumnHashes() []ColumnHash { return w.AppendColumnHashes(nil) }

func (w *World) hashBodies(dst []ColumnHash) []ColumnHash {
	for i := range w.views {
		c := &w.views[i]
		dst = append(dst, ColumnHash{Name: c.Name(), Hash: columns.Hash(c)})
	}
	return append(dst, ColumnHash{Name: "Generation", Hash: statehash.Rows(w.bodies.Generation)})
}

func (w *World) hashShapes(dst []ColumnHash) []ColumnHash {
	return append(dst,
		ColumnHash{Name: "ShapeBody", Hash: statehash.Rows(w.shapes.Owner)},
		ColumnHash{Name: "ShapeDigest", Hash: statehash.Rows(w.shapes.Digest)},
		ColumnHash{Name: "ShapeGeneration", Hash: statehash.Rows(w.shapes.IDs.Generation)},
	)
}

// hashContacts returns one hash for contacts and bases, because bases come and go: a column that did so would be named anew each time.
func (w *World) hashContacts(dst []ColumnHash) []ColumnHash {
	hash := hashContacts(w.solver.contacts)
	if bases := w.solver.keptBases(); len(bases) > 0 {
		hash = statehash.Add(hash, "Base", statehash.Rows(buffer.Words[float32](bases)))
	}
	return append(dst,
		ColumnHash{Name: "Contact", Hash: hashTouches(hash, w.solver.touches)},
		ColumnHash{Name: "ContactGeneration", Hash: statehash.Rows(w.solver.lastGenerations)},
	)
}

func (w *World) hashHeader(dst []ColumnHash) []ColumnHash {
	return append(dst,
		ColumnHash{Name: "Gravity", Hash: statehash.Rows(w.config.Gravity[:])},
		ColumnHash{Name: "Steps", Hash: w.solver.steps},
	)
}

func (w *World) hashPairs(dst []ColumnHash) []ColumnHash {
	if w.solver.ignoredPairs.Empty() {
		return dst
	}
	return append(dst, ColumnHash{Name: "IgnoredPair", Hash: statehash.Rows(w.solver.ignoredPairs.Keys)})
}

func (w *World) hashTuning(dst []ColumnHash) []ColumnHash {
	s := w.solver
	if s.tuning != w.config.tuning() {
		dst = s.tuning.Hash(dst)
	}
	if s.subStepRate != 0 && s.subStepRate != usualSubStepRate {
		dst = append(dst, ColumnHash{Name: "SubStepRate", Hash: uint64(math.Float32bits(s.subStepRate))})
	}
	return dst
}

// usualSubStepRate is the rate of the sub-steps in a world with default Config and steps of 1/60 s.
const usualSubStepRate = float32(4) / float32(1./60)

func (w *World) hashOrigin(dst []ColumnHash) []ColumnHash {
	if w.origin == [3]float64{} {
		return dst
	}
	return append(dst, ColumnHash{Name: "Origin", Hash: statehash.Rows(w.origin[:])})
}

func (w *World) hashMasses(dst []ColumnHash) []ColumnHash {
	if len(w.solver.massOverrides) == 0 {
		return dst
	}
	return append(dst, ColumnHash{Name: "MassData", Hash: statehash.Rows(buffer.Words[float32](w.solver.massOverrides))})
}

func (w *World) hashSleep(dst []ColumnHash) []ColumnHash {
	s := w.solver
	if s.sleep.Enabled == w.config.DisableSleep {
		dst = append(dst, ColumnHash{Name: "Sleeping", Hash: uint64(bits(s.sleep.Enabled))})
	}
	if s.continuous.enabled == w.config.DisableContinuous {
		dst = append(dst, ColumnHash{Name: "Continuous", Hash: uint64(bits(s.continuous.enabled))})
	}
	switch {
	case !s.sleep.On && s.sleep.OwnThresholds():
		return append(dst, ColumnHash{Name: "SleepThreshold", Hash: statehash.Rows(s.sleep.Threshold[:s.rows()])})
	case !s.sleep.On || len(s.sleepers.resting) == 0 && !s.sleep.Used():
		return dst // as if no body had ever been at rest
	}
	return append(s.sleep.Hash(dst), ColumnHash{Name: "Resting", Hash: hashTouches(hashContacts(s.sleepers.resting), s.sleepers.restingTouches)})
}

// StageHashes returns hashes of the results of each stage of the last step, in order: pairs, manifolds and matched contacts, the states of the bodies
// after each sub-step, and the contacts with their new impulses. Where two runs diverge, the first hash that differs names the stage. The list is
// empty unless Config.StageHashes is set. The slice belongs to the world and is valid until the next step.
func (w *World) StageHashes() []ColumnHash { return w.solver.stages.Hashes.List }

func (s *solver) hashPairs() {
	if h := &s.stages.Hashes; h.On {
		h.Add("pairs.A", statehash.Rows(s.pairs.A))
		h.Add("pairs.B", statehash.Rows(s.pairs.B))
		h.Add("manifolds", statehash.Rows(buffer.Words[float32](s.manifolds)))
		h.Add("matched", hashContacts(s.contacts))
	}
}

func (s *solver) hashStates() {
	if h := &s.stages.Hashes; h.On {
		h.Add("substep."+strconv.Itoa(s.sub), statehash.Rows(buffer.Words[float32](s.sys.States)))
	}
}

func (s *solver) hashSolved() {
	if h := &s.stages.Hashes; h.On {
		if len(s.joints.solved) > 0 {
			h.Add("joints", statehash.Rows(buffer.Words[uint32](s.joints.solved)))
		}
		h.Add("solved", hashContacts(s.contacts))
	}
}

// hashContacts need not replace NaN: impulses are never NaN.
func hashContacts(contacts []rigid3.Contact) uint64 {
	return statehash.Rows(buffer.Words[uint32](contacts))
}

// hashTouches adds those of contacts with surfaces to the hash of contacts, if there are any.
func hashTouches(hash uint64, touches []rigid3.SurfaceTouch) uint64 {
	if len(touches) == 0 {
		return hash
	}
	return statehash.Add(hash, "Touch", statehash.Rows(buffer.Words[uint32](touches)))
}

// keptBases returns the bases of the contacts that have one. The slice is valid until the next call.
func (s *solver) keptBases() []rigid3.BaseManifold {
	kept := s.spareBases[:0]
	for i := range s.contacts {
		if s.contacts[i].Flags&rigid3.FlagBase != 0 {
			kept = append(kept, s.bases[i])
		}
	}
	s.spareBases = kept
	return kept
}
