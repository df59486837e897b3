package replay

import (
	"bytes"
	"slices"
	"sort"
)

// A Player that keeps snapshots keeps one after every keepEvery ticks, and one after every keepNear ticks
// among the last keepEvery before a tick that it seeks: from there, a step back runs at most keepNear ticks.
const (
	keepEvery = 64
	keepNear  = 8
	// keepAgain is the number of ticks after which it tries again once a snapshot was larger than its memory.
	keepAgain = 16 * keepEvery
)

// kept are snapshots in memory, by rising ticks.
type kept struct {
	limit, bytes int // of all their data
	list         []keptSnapshot
	scratch      []byte
}

// keptSnapshot is the state in which so many ticks have run.
type keptSnapshot struct {
	ticks uint64
	data  []byte
}

// Keep makes the Player keep snapshots of the ticks that it runs, in up to so many bytes of memory, so that
// Seek to an earlier tick is quick: it runs at most 64 ticks again where it has been. If there is no
// room, it drops those that are farthest from the present tick. 0 drops all and keeps none, as at first.
func (p *Player) Keep(bytes int) {
	p.kept.limit = bytes
	p.kept.makeRoom(p.sim.Ticks(), 0)
}

// keep keeps a snapshot of the present state if one is due after every so many ticks, and there is none.
func (p *Player) keep(every uint64) {
	k, n := &p.kept, p.sim.Ticks()
	if k.limit == 0 || n%every != 0 || len(k.scratch) > k.limit && n%keepAgain != 0 {
		return
	}
	if i := k.find(n); i > 0 && k.list[i-1].ticks == n {
		return
	}
	var err error
	if k.scratch, err = p.sim.Snapshot(k.scratch[:0]); err != nil || len(k.scratch) > k.limit {
		return // then Seek goes back to a snapshot of the log, or to tick 0
	}
	k.makeRoom(n, len(k.scratch))
	k.bytes += len(k.scratch)
	k.list = slices.Insert(k.list, k.find(n), keptSnapshot{n, bytes.Clone(k.scratch)})
}

// find returns how many snapshots have at most so many ticks.
func (k *kept) find(ticks uint64) int {
	return sort.Search(len(k.list), func(i int) bool { return k.list[i].ticks > ticks })
}

// before returns the last snapshot from which the state after a tick can be reached; nil: there is none.
func (k *kept) before(tick uint64) *keptSnapshot {
	if i := k.find(tick + 1); i > 0 {
		return &k.list[i-1]
	}
	return nil
}

// makeRoom drops snapshots until so many bytes more fit: the first or the last one, whichever is farther from the
// present tick.
func (k *kept) makeRoom(now uint64, bytes int) {
	for len(k.list) > 0 && k.bytes+bytes > k.limit {
		i, last := 0, len(k.list)-1
		if k.list[last].ticks > now && (k.list[0].ticks >= now || k.list[last].ticks-now > now-k.list[0].ticks) {
			i = last
		}
		k.bytes -= len(k.list[i].data)
		k.list = slices.Delete(k.list, i, i+1)
	}
}
