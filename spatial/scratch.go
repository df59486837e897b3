package spatial

import (
	"sync"

	"github.com/evertick/evertick/native"
)

// scratch is what answering a batch needs besides the result. The zero scratch is
// ready. Result and RayHits keep one of their own.
type scratch struct {
	pools   pools
	rows    collector
	radius  radiusSearch
	overlap overlapSearch
	rays    raySearch
	self    selfSearch
	nearest nearestBatch
	count   countTask
	closest closestTask
	once    once
}

// scratchOf returns the scratch that a result keeps.
func scratchOf(kept **scratch) *scratch {
	if *kept == nil {
		*kept = new(scratch)
	}
	return *kept
}

// scratches are those of answers that have no place for one, and are not in use:
// there are as many as there have been callers at a time.
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

// pools are the workers of an index, and one that is alone, for what is too small
// to gain from others.
type pools struct{ all, alone *native.Pool }

// fit makes the pools those of an index.
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
