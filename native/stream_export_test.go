package native

import "unsafe"

// Replaced returns a sieve whose parts are what place makes of them: copies, as
// words, in memory of the caller's.
func (s *Sieve) Replaced(place func(name string, words []uint32) []uint32) *Sieve {
	r := *s
	r.bits, r.rank, r.ids = place("bits", s.bits), place("rank", s.rank), place("ids", s.ids)
	r.wide = place("wide", s.wide)
	r.lists = fromWords[list](place("lists", toWords(s.lists)))
	r.blocks = fromWords[centres](place("blocks", toWords(s.blocks)))
	r.centres = fromWords[centre](place("centres", toWords(s.centres)))
	return &r
}

func toWords[T any](s []T) []uint32 {
	var v T
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(v)/4))
}

func fromWords[T any](words []uint32) []T {
	var v T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*4/int(unsafe.Sizeof(v)))
}

// Counts returns the number of words, short-listed ids and blocks of a sieve.
func (s *Sieve) Counts() (words, ids, blocks int) { return len(s.bits), len(s.ids), len(s.blocks) }

// MostSieveWords and MostSieveEntries bound what a sieve allocates.
const (
	MostSieveWords   = 1 << mostBits / 32
	MostSieveEntries = mostEntries
)
