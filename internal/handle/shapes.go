package handle

import "github.com/evertick/evertick/internal/buffer"

// Shapes holds the shapes of each body. The engine holds their geometry; a digest represents it in the state hash.
type Shapes struct {
	IDs    Pool
	Lists           // of shapes
	Digest []uint64 // by shape: hash of kind, definition and geometry; 0 if free
}

// NewShapes returns a table of up to limit shapes of so many bodies.
func NewShapes(limit, bodies int) Shapes {
	return Shapes{IDs: NewPool(limit, 0), Lists: MakeLists(bodies)}
}

// Add claims a shape of a body, and returns its generation. The shape is the index that Pool.Next returned.
func (t *Shapes) Add(shape, body int, digest uint64) uint32 {
	t.Grow(shape + 1)
	if shape == len(t.Digest) {
		t.Digest = append(t.Digest, 0)
	}
	t.Digest[shape] = digest
	t.Link(shape, body)
	return t.IDs.Claim(shape)
}

// Release removes a shape.
func (t *Shapes) Release(shape int) {
	t.Unlink(shape)
	t.Digest[shape] = 0
	t.IDs.Release(shape)
}

// ReleaseAll removes the shapes of a body.
func (t *Shapes) ReleaseAll(body int) {
	for t.First(body) != 0 {
		t.Release(int(t.First(body) - 1))
	}
}

// Reset makes n free numbers of shapes, with unspecified generations. Then call IDs.SetLive for each, and Link.
func (t *Shapes) Reset(n int) {
	t.IDs.Reset(n)
	t.Lists.Reset(n)
	t.Digest = buffer.Resized(t.Digest, n)
	clear(t.Digest)
}

// CopyFrom copies the table of a world of another capacity, of whose bodies the first rows have been used.
func (t *Shapes) CopyFrom(src *Shapes, rows int) {
	t.IDs.CopyFrom(&src.IDs)
	t.Lists.CopyFrom(&src.Lists, rows)
	t.Digest = append(t.Digest[:0], src.Digest...)
}
