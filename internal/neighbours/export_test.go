package neighbours

import (
	"math"
	"unsafe"

	"github.com/evertick/evertick/native"
)

// MeasureKernel and BuildKernel run a level's kernel itself, whatever the number
// of points, of which there is one or more: Measure and Build leave few to Go.
func MeasureKernel(level native.Level, x, y, z []float32, slots []uint32) (lo, hi [3]float32, ok bool) {
	if level == native.Go {
		return measureGo(x, y, z, slots)
	}
	return measureC(level, x, y, z, slots)
}

func BuildKernel(level native.Level, g *Grid, x, y, z []float32, slots []uint32, p *Points, cellOf []uint32) bool {
	if level == native.Go {
		return buildGo(g, x, y, z, slots, p, cellOf)
	}
	return buildC(level, g, x, y, z, slots, p, cellOf)
}

// Edge returns about where cell j of an axis begins.
func (g *Grid) Edge(axis int, j int32) float32 { return g.edge(axis, j) }

// KNNWork returns the rows and blocks of points that the pure-Go KNN looks at, query by
// query.
func KNNWork(g *Grid, p *Points, q *NearestQueries) []int {
	var s nearestSearch
	s.begin(g, p, q)
	var work []int
	for i := range q.X {
		s.centre, s.radius = [3]float32{q.X[i], q.Y[i], q.Z[i]}, math.MaxFloat32
		s.exclude, s.mask, s.n = native.NoSlot, math.MaxUint32, 0
		s.find()
		work = append(work, s.work)
	}
	return work
}

// SetScratch replaces the scratch of a sort.
func (s *Sorter) SetScratch(scratch []uint64) { s.scratch = scratch }

// ScratchLen returns the length of the scratch that a level needs for rows of up
// to n.
func ScratchLen(level native.Level, n int) int {
	if level == native.Go {
		return 2 * (n + pieceLen)
	}
	if n > mergedRow {
		return 2 * n
	}
	return 0
}

// PackedLen is the number of float32 that a Packed takes up.
const PackedLen = int(unsafe.Sizeof(Packed{}) / 4)

// PackLen is the number of points that a Packed holds.
const PackLen = packLen

// PackedIn returns the Packed that lies in mem, PackedLen elements.
func PackedIn(mem []float32) *Packed { return (*Packed)(unsafe.Pointer(&mem[:PackedLen][0])) }

// Traced returns how many spheres the last rays were tested with.
func Traced(tr *Tracer) int {
	n := 0
	for _, s := range tr.spans {
		n += int(s.last - s.first)
	}
	return n
}

// WalkedRows returns how many rows a walk over a box of cells has.
func WalkedRows(g *Grid, start []uint32, lo, hi [3]int32) int {
	w := g.walk(start, lo, hi)
	return int(w.rows) * int(w.layers)
}

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

// PiecedGap returns a lower bound of the distance of v from the points in cell j of an axis with pieces.
func (g *Grid) PiecedGap(axis int, j int32, v float32) float32 { return g.piecedGap(axis, j, v) }

// KNNTested returns how many points the pure-Go kernel of KNN tests.
func KNNTested(g *Grid, p *Points, q *NearestQueries) int {
	var s nearestSearch
	n := len(q.X)
	ends, slots := make([]uint32, n), make([]uint32, n*q.K)
	s.answer(g, p, q, ends, slots, nil)
	return s.tested
}
