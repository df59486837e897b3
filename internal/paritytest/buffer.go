package paritytest

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"
)

// Side is the side of a slice on which its guard page lies.
type Side uint8

const (
	After  Side = iota // the slice ends where the page begins
	Before             // the slice begins where the page ends
)

// Sides lists both sides.
var Sides = []Side{After, Before}

// MaxGap is the most elements that Place can put between a slice and its page.
const MaxGap = 15

// poison is a NaN as a float, an index far out of range as an integer.
const poison = 0x7fc0dead

// bandBytes is the number of bytes of poison on either side of a slice.
const bandBytes = 1024

var band = func() []byte {
	words := make([]uint32, bandBytes/4)
	for i := range words {
		words[i] = poison
	}
	return asBytes(words)
}()

// A Buffer holds one slice at a time, placed next to a page that can be neither read nor written, so that a kernel
// that leaves the slice crashes at once. On systems without such pages (see GuardPages) there is only poison around
// the slice, which Check inspects.
type Buffer[T Number] struct {
	room     []T // everything between the two guard pages
	margin   int // elements of room kept for poison where there are no pages
	from, to int // the slice
}

// NewBuffer returns a buffer for slices of up to most elements. It is released
// when the test ends.
func NewBuffer[T Number](tb testing.TB, most int) *Buffer[T] {
	tb.Helper()
	var v T
	size := int(unsafe.Sizeof(v))
	b := &Buffer[T]{}
	if !GuardPages {
		b.margin = bandElements[T]()
	}
	mem, err := reserve(tb, (most+MaxGap+2*b.margin)*size)
	if err != nil {
		tb.Fatalf("paritytest: no guarded memory: %v", err)
	}
	b.room = unsafe.Slice((*T)(unsafe.Pointer(&mem[0])), len(mem)/size)
	b.Place(0, After, 0)
	return b
}

// Place returns a slice of n elements whose end (After) or beginning (Before) is gap elements away from the guard
// page; gap is at most MaxGap. It fills the slice and its surroundings with poison. The slice of the previous call
// becomes invalid.
func (b *Buffer[T]) Place(n int, side Side, gap int) []T {
	if gap < 0 || gap > MaxGap || n+gap+2*b.margin > len(b.room) {
		panic("paritytest: Place: the buffer is too small")
	}
	if b.from = b.margin + gap; side == After {
		b.from = len(b.room) - b.margin - gap - n
	}
	b.to = b.from + n
	s := b.room[b.from:b.to:b.to]
	for _, part := range [][]byte{asBytes(s), asBytes(b.below()), asBytes(b.above())} {
		for len(part) > 0 {
			part = part[copy(part, band):]
		}
	}
	return s
}

// PlaceCopy is Place for a copy of s.
func (b *Buffer[T]) PlaceCopy(s []T, side Side, gap int) []T {
	placed := b.Place(len(s), side, gap)
	copy(placed, s)
	return placed
}

// Check returns an error if anything around the slice was written to.
func (b *Buffer[T]) Check() error {
	below, above := b.below(), b.above()
	if p := asBytes(below); !bytes.Equal(p, band[:len(p)]) {
		return fmt.Errorf("written before the slice: %w", damage(below, -len(below)))
	}
	if p := asBytes(above); !bytes.Equal(p, band[:len(p)]) {
		return fmt.Errorf("written behind the slice: %w", damage(above, b.to-b.from))
	}
	return nil
}

func (b *Buffer[T]) below() []T {
	return b.room[max(0, b.from-bandElements[T]()):b.from]
}

func (b *Buffer[T]) above() []T {
	return b.room[b.to:min(len(b.room), b.to+bandElements[T]())]
}

func bandElements[T Number]() int {
	var v T
	return bandBytes / int(unsafe.Sizeof(v))
}

// damage names the first element of a band that is no longer poison; first is
// the index of the band's first element, counted from the start of the slice.
func damage[T Number](s []T, first int) error {
	size := int(unsafe.Sizeof(s[0]))
	for i := range s {
		if !bytes.Equal(asBytes(s[i:i+1]), band[:size]) {
			return fmt.Errorf("element %d is now %0*x (%v)", first+i, 2*size, pattern(s[i]), s[i])
		}
	}
	return nil
}
