package physics

import "github.com/evertick/evertick/internal/statehash"

// ColumnHash is the hash of one column of the state.
type ColumnHash = statehash.Column

// hashedColumns is the number of columns that the state hash covers.
const hashedColumns = 30

// Hash returns the hash of the state: the column hashes that AppendColumnHashes
// returns, folded in that order. It allocates nothing.
func (w *World) Hash() uint64 {
	var columns [hashedColumns]ColumnHash
	return statehash.Fold(w.AppendColumnHashes(columns[:0]))
}

// AppendColumnHashes appends the hash of each column to dst, so that a
// divergence names the column: XXH3 (64 bits, seed 0) of the rows [0, Rows) in
// little-endian order, every NaN replaced by one. The columns of Columns come
// first, then the generations of the bodies, the shapes, what the solver of this package
// remembers of the contacts of the last step, and with it their impulses, the
// gravity, and the number of steps that it has done. It allocates nothing if dst has room.
func (w *World) AppendColumnHashes(dst []ColumnHash) []ColumnHash {
	c, rows := &w.cols, w.Rows()
	for _, nc := range c.floatColumns() {
		dst = append(dst, ColumnHash{Name: nc.name, Hash: statehash.Rows((*nc.column)[:rows])})
	}
	dst = append(dst,
		ColumnHash{Name: "Slot", Hash: statehash.Rows(c.Slot[:rows])},
		ColumnHash{Name: "Type", Hash: statehash.Rows(c.Type[:rows])},
		ColumnHash{Name: "Flags", Hash: statehash.Rows(c.Flags[:rows])},
		ColumnHash{Name: "Alive", Hash: statehash.Rows(c.Alive[:rows])},
		ColumnHash{Name: "Generation", Hash: statehash.Rows(w.bodies.generation)},
		ColumnHash{Name: "ShapeBody", Hash: statehash.Rows(w.shapes.body)},
		ColumnHash{Name: "ShapeDigest", Hash: statehash.Rows(w.shapes.digest)},
		ColumnHash{Name: "ShapeGeneration", Hash: statehash.Rows(w.shapes.pool.generation)},
	)
	if w.solver == nil {
		return dst
	}
	s := w.solver
	return append(dst,
		ColumnHash{Name: "Contact", Hash: hashContacts(s.contacts)},
		ColumnHash{Name: "ContactGeneration", Hash: statehash.Rows(s.seen)},
		ColumnHash{Name: "Gravity", Hash: statehash.Rows(w.config.Gravity[:])},
		ColumnHash{Name: "Steps", Hash: s.steps},
	)
}
