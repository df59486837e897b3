package physics

import (
	"strconv"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/statehash"
)

// ColumnHash is the hash of one column of the state.
type ColumnHash = statehash.Column

// Hash returns the hash of the state: the column hashes that AppendColumnHashes
// returns, folded in that order. It allocates nothing once it was called.
func (w *World) Hash() uint64 {
	w.hashes = w.AppendColumnHashes(w.hashes[:0])
	return statehash.Fold(w.hashes)
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
	if w.engine.require() != nil {
		return hashedParts[:partsOfOtherEngines].Hash(w, dst)
	}
	return hashedParts.Hash(w, dst)
}

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

func (w *World) hashContacts(dst []ColumnHash) []ColumnHash {
	return append(dst,
		ColumnHash{Name: "Contact", Hash: w.solver.hashContactsAndBases()},
		ColumnHash{Name: "ContactGeneration", Hash: statehash.Rows(w.solver.lastGenerations)},
	)
}

func (w *World) hashHeader(dst []ColumnHash) []ColumnHash {
	return append(dst,
		ColumnHash{Name: "Gravity", Hash: statehash.Rows(w.config.Gravity[:])},
		ColumnHash{Name: "Steps", Hash: w.solver.steps},
	)
}

// StageHashes returns hashes of the results of each stage of the last step, in
// order: pairs, manifolds and matched contacts, the states of the bodies
// after each sub-step, and the contacts with their new impulses. Where two runs
// diverge, the first hash that differs names the stage. The list is empty unless
// Config.StageHashes is set. The slice belongs to the world and is valid until the next step.
func (w *World) StageHashes() []ColumnHash { return w.solver.stages.Hashes.List }

func (s *solver) hashPairs() {
	if h := &s.stages.Hashes; h.On {
		h.Add("pairs.A", statehash.Rows(s.pairs.A))
		h.Add("pairs.B", statehash.Rows(s.pairs.B))
		h.Add("manifolds", statehash.Rows(buffer.Words[float32](s.manifolds)))
		h.Add("matched", hashContacts(s.contacts))
	}
}

func (s *solver) hashStates(sub int) {
	if h := &s.stages.Hashes; h.On {
		h.Add("substep."+strconv.Itoa(sub), statehash.Rows(buffer.Words[float32](s.sys.States)))
	}
}

func (s *solver) hashSolved() {
	if h := &s.stages.Hashes; h.On {
		h.Add("solved", hashContacts(s.contacts))
	}
}

// hashContactsAndBases returns one hash, because bases come and go: a column that did so would be named anew each time.
func (s *solver) hashContactsAndBases() uint64 {
	hash := hashContacts(s.contacts)
	if bases := s.keptBases(); len(bases) > 0 {
		hash = statehash.Add(hash, "Base", statehash.Rows(buffer.Words[float32](bases)))
	}
	return hash
}

// hashContacts need not replace NaN: impulses are never NaN.
func hashContacts(contacts []rigid.Contact) uint64 {
	return statehash.Rows(buffer.Words[uint32](contacts))
}
