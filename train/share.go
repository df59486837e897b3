package train

import "github.com/evertick/evertick/internal/fault"

// Share returns the worlds of one of several processes that have a batch in common: n of them from number first on, for
// Config.First and Config.Worlds. Process rank, from 0 to ranks-1, has those after the worlds of the processes before it,
// and the first total%ranks processes have one more than the others. Each of the worlds does what it does in one batch of
// all, bit for bit. Options.Seeds of a process are the entries first to first+n-1 of all.
//
// A rank that is not there, and fewer worlds than processes, are ErrRange.
func Share(total, rank, ranks int) (first uint64, n int, err error) {
	if rank < 0 || rank >= ranks {
		return 0, 0, fault.Field(fault.ErrRange, "train: Share: rank", rank)
	}
	if total < ranks {
		return 0, 0, fault.Field(fault.ErrRange, "train: Share: total", total)
	}
	n, more := total/ranks, total%ranks
	first = uint64(rank)*uint64(n) + uint64(min(rank, more))
	if rank < more {
		n++
	}
	return first, n, nil
}
