// Package material has what a world knows of user materials: which shape is of which material, and the coefficients between two
// materials.
package material

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// Pair is the friction and the restitution between two materials; 0 stands for shapes without one. An engine has a public
// type of the same fields.
type Pair struct {
	A, B                  uint64
	Friction, Restitution float32
}

// Check reports every fault of p at once. It puts prefix in front of the fields, as in "physics: MaterialPair.".
func (p *Pair) Check(prefix string) error {
	return check.Coefficients(prefix, check.Number{Name: "Friction", Value: p.Friction}, check.Number{Name: "Restitution", Value: p.Restitution})
}

func compare(p, q Pair) int { return cmp.Or(cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B)) }

// Pairs are ascending by A, then B, and A is the lower material of each.
type Pairs []Pair

func (l Pairs) find(a, b uint64) (at int, ok bool) {
	return slices.BinarySearchFunc(l, Pair{A: min(a, b), B: max(a, b)}, compare)
}

// Of returns the coefficients between two materials, in either order, if they were set.
func (l Pairs) Of(a, b uint64) (friction, restitution float32, ok bool) {
	at, ok := l.find(a, b)
	if !ok {
		return 0, 0, false
	}
	return l[at].Friction, l[at].Restitution, true
}

// Set adds a pair, or replaces it.
func (l *Pairs) Set(p Pair) {
	p.A, p.B = min(p.A, p.B), max(p.A, p.B)
	if at, ok := l.find(p.A, p.B); ok {
		(*l)[at] = p
	} else {
		*l = slices.Insert(*l, at, p)
	}
}

// Remove removes the pair of two materials, in either order, and reports whether it was there.
func (l *Pairs) Remove(a, b uint64) bool {
	at, ok := l.find(a, b)
	if ok {
		*l = slices.Delete(*l, at, at+1)
	}
	return ok
}

// Hash appends the hash of the pairs, if there are any.
func (l Pairs) Hash(dst []statehash.Column) []statehash.Column {
	if len(l) == 0 {
		return dst
	}
	return append(dst, statehash.Column{Name: "MaterialPair", Hash: statehash.Rows(buffer.Words[uint32](l))})
}

// Users are the materials of shapes by their number, 0 for none. Shapes beyond the end have none.
type Users []uint64

// Of returns the material of a shape.
func (u Users) Of(shape int) uint64 {
	if shape >= len(u) {
		return 0
	}
	return u[shape]
}

// Set replaces the material of a shape.
func (u *Users) Set(shape int, v uint64) {
	if shape >= len(*u) {
		if v == 0 {
			return
		}
		*u = append(*u, make([]uint64, shape+1-len(*u))...)
	}
	(*u)[shape] = v
}

// Count returns the number of shapes with a material.
func (u Users) Count() (n int) {
	for _, v := range u {
		if v != 0 {
			n++
		}
	}
	return n
}

const (
	userBytes = 4 + 8
	pairBytes = 3 * 8
)

// Encode appends a uint32 number of shapes with a material; for each, ascending, its uint32 number and the uint64
// material; and for each pair its uint64 materials and its float32 friction and restitution.
func Encode(e *frame.Encoder, u Users, l Pairs) {
	e.U32(u.Count())
	for i, v := range u {
		if v != 0 {
			e.U32(i)
			e.U64(v)
		}
	}
	for _, p := range l {
		e.U64(p.A)
		e.U64(p.B)
		e.F32(p.Friction)
		e.F32(p.Restitution)
	}
}

// Decode reads what Encode has appended, and appends the pairs to l. It calls set for each shape with a material, of at most so
// many shapes; set returns false for a shape that does not live. Other content is fault.ErrCorrupt.
func Decode(d *frame.Decoder, content []byte, shapes int, l Pairs, set func(shape uint32, v uint64) bool) (Pairs, error) {
	r := wire.NewReader(content)
	n := uint64(r.U32())
	pairs := r.Len() - int(userBytes*min(n, uint64(shapes)))
	if r.Err() != nil || n > uint64(shapes) || pairs < 0 || pairs%pairBytes != 0 {
		return l, d.Corrupt("length of the materials", len(content))
	}
	next := uint32(0)
	for i := range int(n) {
		shape, v := r.U32(), r.U64()
		if shape < next || v == 0 || !set(shape, v) {
			return l, d.CorruptElement("user material", i, shape)
		}
		next = shape + 1
	}
	first := len(l)
	for i := range pairs / pairBytes {
		p := Pair{r.U64(), r.U64(), r.F32(), r.F32()}
		if p.A > p.B || i > 0 && compare(l[first+i-1], p) >= 0 || p.Check("") != nil {
			return l, d.CorruptElement("material pair", i, p)
		}
		l = append(l, p)
	}
	return l, nil
}
