package state

import "github.com/evertick/evertick/internal/wire"

// Lists are the lists of the events E of a step, in the order of their encoding. That is, all little-endian, a uint32
// length of each list, and then the elements of all lists. ListOf makes an entry.
type Lists[E any] []List[E]

// List is one list of events.
type List[E any] struct {
	bytes  int // of an element
	length func(e *E) int
	clear  func(e *E)
	copy   func(e, src *E)
	append func(e *E, dst []byte) []byte
	read   func(e *E, n int, r *wire.Reader)
}

// ListOf returns the list to which field points in an E. An element has a number of bytes, which put appends and get reads.
// get calls Reader.Fail for what no event can have.
func ListOf[E, T any](bytes int, field func(e *E) *[]T, put func(dst []byte, event *T) []byte, get func(r *wire.Reader) T) List[E] {
	return List[E]{
		bytes:  bytes,
		length: func(e *E) int { return len(*field(e)) },
		clear:  func(e *E) { list := field(e); *list = (*list)[:0] },
		copy:   func(e, src *E) { list := field(e); *list = append((*list)[:0], *field(src)...) },
		append: func(e *E, dst []byte) []byte {
			list := *field(e)
			for i := range list {
				dst = put(dst, &list[i])
			}
			return dst
		},
		read: func(e *E, n int, r *wire.Reader) {
			list := field(e)
			for range n {
				*list = append(*list, get(r))
			}
		},
	}
}

// Rows returns a list of rows, such as the bodies that moved.
func Rows[E any](field func(e *E) *[]uint32) List[E] {
	return ListOf(4, field, func(dst []byte, row *uint32) []byte { return wire.AppendU32s(dst, *row) }, (*wire.Reader).U32)
}

// Clear empties all lists, and keeps their memory.
func (l Lists[E]) Clear(e *E) {
	for i := range l {
		l[i].clear(e)
	}
}

// Copy replaces all lists by those of src.
func (l Lists[E]) Copy(e, src *E) {
	for i := range l {
		l[i].copy(e, src)
	}
}

// Append appends the encoding of all lists.
func (l Lists[E]) Append(e *E, dst []byte) []byte {
	for i := range l {
		dst = wire.AppendU32s(dst, uint32(l[i].length(e)))
	}
	for i := range l {
		dst = l[i].append(e, dst)
	}
	return dst
}

// Read replaces all lists by those that Append has encoded in the rest of r. Other data is fault.ErrCorrupt; then the lists
// have unspecified elements, and not more than the data can hold.
func (l Lists[E]) Read(e *E, r *wire.Reader) error {
	l.Clear(e)
	lengths, total := *r, uint64(0)
	for i := range l {
		total += uint64(r.U32()) * uint64(l[i].bytes)
	}
	if total != uint64(r.Len()) {
		r.Fail("length", r.Len())
	}
	for i := range l {
		if n := lengths.U32(); r.Err() == nil {
			l[i].read(e, int(n), r)
		}
	}
	return r.Err()
}
