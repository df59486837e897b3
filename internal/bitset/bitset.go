// Package bitset has sets of small numbers, such as rows of bodies, as one bit for each.
package bitset

import "github.com/evertick/evertick/internal/buffer"

// Set is a set of small numbers: number i is bit i%64 of word i/64. Methods take numbers for which it has a word.
type Set []uint64

// Make returns an empty set for numbers below n.
func Make(n int) Set { return make(Set, (n+63)/64) }

// Reset makes an empty set for numbers below n, in the memory of b if it has room.
func (b *Set) Reset(n int) {
	*b = buffer.Resized(*b, (n+63)/64)
	clear(*b)
}

// Has reports whether i is in the set.
func (b Set) Has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

// Add puts i into the set.
func (b Set) Add(i int) { b[i/64] |= 1 << (i % 64) }

// Remove takes i out of the set.
func (b Set) Remove(i int) { b[i/64] &^= 1 << (i % 64) }
