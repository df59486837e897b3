package spatial

import (
	"sync"
	"unsafe"

	"github.com/evertick/evertick/internal/hugepage"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
)

// scratch is the memory that a batch needs besides the result. The zero scratch is
// ready. Result, RayHits and Sums keep one of their own.
type scratch struct {
	pools   pools
	rows    collector
	radius  radiusSearch
	overlap overlapSearch
	rays    raySearch
	self    selfSearch
	sums    sumTask
	knn     knnSearch
	count   countTask
	closest closestTask
	once    onceBatch
}

// scratchOf returns the scratch that a result keeps.
func scratchOf(kept **scratch) *scratch {
	if *kept == nil {
		*kept = new(scratch)
	}
	return *kept
}

// scratches is a free list for queries whose result keeps no scratch. It holds as many
// as there have been callers at one time.
type scratches struct {
	mu   sync.Mutex
	free []*scratch
}

func (s *scratches) borrow() *scratch {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	if last < 0 {
		return new(scratch)
	}
	b := s.free[last]
	s.free = s.free[:last]
	return b
}

func (s *scratches) giveBack(b *scratch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, b)
}

// pools are the workers of an index, and a single worker for batches that are too small
// to gain from more.
type pools struct{ all, alone *native.Pool }

// fit sizes the pools for an index.
func (p *pools) fit(ix *Index) {
	if p.all == nil || p.all.Workers() != ix.cfg.Workers {
		p.all, p.alone = native.NewPool(ix.cfg.Workers), native.NewPool(1)
	}
}

// run cuts n queries of an index into chunks and runs the task on them.
func (p *pools) run(ix *Index, n, chunk int, task native.Task) error {
	p.fit(ix)
	chunks := (n + chunk - 1) / chunk
	if chunks < ix.parallelFrom {
		return p.alone.Run(chunks, task)
	}
	return p.all.Run(chunks, task)
}

// resize returns a slice of length n, reusing s where it is large enough, and
// otherwise with room to grow. Contents are unspecified.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		s = make([]T, n+n/4)
	}
	return s[:n]
}

// enlarge is resize for rows of results, but keeps the contents of s.
func enlarge[T float32 | uint32](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	larger := makeHuge[T](n + n/8)[:n]
	copy(larger, s)
	return larger
}

// aligned is resize for the large arrays of an index, which begin at the given
// line of 64 bytes within a page, and have huge pages where they can. Many indexes
// never grow: the first allocation has no room left over.
func aligned[T any](s []T, n, line int) []T {
	if cap(s) < n {
		var zero T
		room := 0
		if cap(s) > 0 {
			room = n / 4
		}
		mem := stagger.Bytes((n+room)*int(unsafe.Sizeof(zero)), line)
		hugepage.Advise(mem)
		s = stagger.View[T](mem)
	}
	return s[:n]
}

// makeHuge is make for rows of results with huge pages: many rows are copied in random
// order, and miss the TLB where pages are small.
func makeHuge[T float32 | uint32](n int) []T {
	s := make([]T, n)
	if n > 0 {
		hugepage.Advise(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 4*n))
	}
	return s
}
