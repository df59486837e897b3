package physics

import (
	"strconv"
	"unsafe"

	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/native/rigid"
)

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

// hashContacts need not replace NaN: impulses are never NaN.
func hashContacts(contacts []rigid.Contact) uint64 { return statehash.Rows(words[uint32](contacts)) }

// words returns rows that consist of 32-bit words as a slice of these words.
func words[W uint32 | float32, T rigid.Contact | rigid.Manifold | rigid.State | jointRow | jointImpulse | massOverride](rows []T) []W {
	var zero T
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows)*int(unsafe.Sizeof(zero)/4))
}
