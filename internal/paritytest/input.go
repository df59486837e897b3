package paritytest

import (
	"errors"
	"testing"
)

// Input is an argument that a kernel only reads, in a Buffer.
type Input[T Number] struct {
	buffer *Buffer[T]
	is, of []T
}

// NewInput returns an Input for slices of up to most elements.
func NewInput[T Number](t testing.TB, most int) *Input[T] {
	return &Input[T]{buffer: NewBuffer[T](t, most)}
}

// Put places a copy of s, unless s is nil.
func (p *Input[T]) Put(s []T, side Side, gap int) []T {
	if p.of, p.is = s, nil; s != nil {
		p.is = p.buffer.PlaceCopy(s, side, gap)
	}
	return p.is
}

// Check returns an error if anything around the copy was written to.
func (p *Input[T]) Check() error { return p.buffer.Check() }

// Unchanged returns an error if the copy, or anything around it, was written to.
func (p *Input[T]) Unchanged(what string) error {
	return errors.Join(Bits(what+" was written to", p.is, p.of), p.Check())
}
