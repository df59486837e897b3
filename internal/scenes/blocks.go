package scenes

import (
	"errors"

	"github.com/evertick/evertick/native"
)

// blockRows rows of all columns of a phase fit in the cache of a worker.
const blockRows = 4096

// blocks runs all operations of a phase on a block of rows before it begins the next block, so that rows stay in the cache
// from one operation to the next. Workers share the blocks. It implements native.Task.
type blocks struct {
	ops  []native.Ops // one a worker
	errs []error      // one a worker
	rows int
	do   func(o *native.Ops, lo, hi int) error
}

func newBlocks(workers int, level native.Level, rows int, do func(o *native.Ops, lo, hi int) error) *blocks {
	b := &blocks{ops: make([]native.Ops, workers), errs: make([]error, workers), rows: rows, do: do}
	for k := range b.ops {
		b.ops[k].Level = level
	}
	return b
}

func (b *blocks) run(p *native.Pool) error {
	clear(b.errs)
	if err := p.Run((b.rows+blockRows-1)/blockRows, b); err != nil {
		return err
	}
	return errors.Join(b.errs...)
}

// Do runs a block.
func (b *blocks) Do(worker, block int) {
	lo := block * blockRows
	if err := b.do(&b.ops[worker], lo, min(lo+blockRows, b.rows)); err != nil {
		b.errs[worker] = err
	}
}
