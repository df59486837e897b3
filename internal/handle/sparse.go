package handle

import (
	"cmp"
	"slices"
)

// Sparse has values that only few objects have, such as masses that a program has set, ascending by number.
type Sparse[T any] []SparseValue[T]

// SparseValue is the value of the object with that number.
type SparseValue[T any] struct {
	Number uint32
	Value  T
}

func (s Sparse[T]) find(number int) (at int, ok bool) {
	return slices.BinarySearchFunc(s, number, func(v SparseValue[T], number int) int { return cmp.Compare(int(v.Number), number) })
}

// Of returns the value of an object, if it has one.
func (s Sparse[T]) Of(number int) (v T, ok bool) {
	if len(s) == 0 {
		return v, false
	}
	at, ok := s.find(number)
	if ok {
		v = s[at].Value
	}
	return v, ok
}

// Set stores a value for an object, or removes it unless keep.
func (s *Sparse[T]) Set(number int, v T, keep bool) {
	at, ok := s.find(number)
	switch {
	case ok && keep:
		(*s)[at].Value = v
	case ok:
		*s = slices.Delete(*s, at, at+1)
	case keep:
		*s = slices.Insert(*s, at, SparseValue[T]{uint32(number), v})
	}
}
