package replay

import (
	"bytes"
	"slices"
	"sort"
)

// A Player with a cache keeps a snapshot after every cacheEvery ticks, and one after every cacheNear ticks among
// the last cacheEvery before a tick that it seeks: from there, a step back runs at most cacheNear ticks.
const (
	cacheEvery = 64
	cacheNear  = 8
	// cacheAgain is the number of ticks after which it tries again once a snapshot was larger than the cache.
	cacheAgain = 16 * cacheEvery
)

// snapshotCache holds snapshots in memory, by rising ticks.
type snapshotCache struct {
	limit, bytes int // of all their data
	list         []cachedSnapshot
	scratch      []byte
}

// cachedSnapshot is the state after a number of ticks.
type cachedSnapshot struct {
	ticks uint64
	data  []byte
}

// CacheSnapshots makes the Player keep snapshots of ticks that it runs, in at most that many bytes of memory, so that
// Seek to an earlier tick is quick: where the Player has been, it runs at most 64 ticks again. If there is no
// room, it drops the snapshot that is farthest from the present tick. 0 drops all and keeps none, which is the default.
func (p *Player) CacheSnapshots(bytes int) {
	p.cache.limit = bytes
	p.cache.makeRoom(p.sim.Ticks(), 0)
}

// cacheState keeps a snapshot of the present state if the number of ticks is a multiple of every, and there is none.
func (p *Player) cacheState(every uint64) {
	c, n := &p.cache, p.sim.Ticks()
	if c.limit == 0 || n%every != 0 || len(c.scratch) > c.limit && n%cacheAgain != 0 {
		return
	}
	if i := c.find(n); i > 0 && c.list[i-1].ticks == n {
		return
	}
	var err error
	if c.scratch, err = p.sim.Snapshot(c.scratch[:0]); err != nil || len(c.scratch) > c.limit {
		return // then Seek goes back to a snapshot of the log, or to tick 0
	}
	c.makeRoom(n, len(c.scratch))
	c.bytes += len(c.scratch)
	c.list = slices.Insert(c.list, c.find(n), cachedSnapshot{n, bytes.Clone(c.scratch)})
}

// find returns how many snapshots have at most that many ticks.
func (c *snapshotCache) find(ticks uint64) int {
	return sort.Search(len(c.list), func(i int) bool { return c.list[i].ticks > ticks })
}

// before returns the last snapshot from which the state after a tick can be reached; nil: there is none.
func (c *snapshotCache) before(tick uint64) *cachedSnapshot {
	if i := c.find(tick + 1); i > 0 {
		return &c.list[i-1]
	}
	return nil
}

// makeRoom drops snapshots until that many more bytes fit: the first or the last one, whichever is farther from the
// present tick.
func (c *snapshotCache) makeRoom(now uint64, bytes int) {
	for len(c.list) > 0 && c.bytes+bytes > c.limit {
		i, last := 0, len(c.list)-1
		if c.list[last].ticks > now && (c.list[0].ticks >= now || c.list[last].ticks-now > now-c.list[0].ticks) {
			i = last
		}
		c.bytes -= len(c.list[i].data)
		c.list = slices.Delete(c.list, i, i+1)
	}
}
