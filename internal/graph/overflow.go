package graph

import "github.com/evertick/evertick/internal/buffer"

// overflowRounds orders the edges of Overflow for blocks. Each edge is in the first round after those of the earlier
// edges with which it shares a dynamic body. So edges of one round share no dynamic body, and solving round after round
// gives the result of solving one edge after the other, except for signs of zeros. This fills most lanes even where
// thousands of bodies are in one place; a block for each edge would take gigabytes.
type overflowRounds struct {
	nextRound []uint32 // by body: the first round that its next edge can have
	entries   []overflowEntry
	lane      []uint32 // by batch: its number of entries, then the lane of the next one
}

// overflowEntry is an edge of a batch. A batch has blocks of its own. It is 2 times the round, plus 1 if a body is not
// dynamic; or, of Colours in order, a class in a round.
type overflowEntry struct{ edge, batch uint32 }

func (t *overflowRounds) clear() { t.entries, t.lane = t.entries[:0], t.lane[:0] }

// add assigns rounds to the edges in the runs of Overflow.
func (t *overflowRounds) add(c *Colours) {
	t.nextRound = buffer.Resized(t.nextRound, len(c.bodyColours))
	clear(t.nextRound)
	first, classes := c.overflowRun(), uint32(c.classes)
	if c.InOrder {
		rounds := t.addRuns(c, 0, first, first+classes)
		t.count(int(rounds * classes))
		return
	}
	end := uint32(0)
	for run := first; run < first+classes; run++ {
		end = t.addRuns(c, end, run, run+1)
	}
	t.count(int(2 * end))
}

// addRuns assigns rounds, at least from, to the edges in runs [lo, hi), in their order. It returns the end of the rounds.
func (t *overflowRounds) addRuns(c *Colours, from, lo, hi uint32) (end uint32) {
	end = from
	for k, n := range c.kept {
		for _, entry := range c.entries[k*Chunk:][:n] {
			run := entry >> runBit
			if run < lo || run >= hi {
				continue
			}
			i := uint32(k*Chunk) + entry&(1<<runBit-1)
			round, fixed := t.assignRound(from, c.Edges.A[i], c.Edges.B[i], c.bodyColours)
			batch := 2*round + fixed
			if c.InOrder {
				batch = round*(hi-lo) + run - lo
			}
			t.entries = append(t.entries, overflowEntry{i, batch})
			end = max(end, round+1)
		}
	}
	return end
}

// count counts the entries of each batch.
func (t *overflowRounds) count(batches int) {
	t.lane = buffer.Resized(t.lane, batches)
	clear(t.lane)
	for _, l := range t.entries {
		t.lane[l.batch]++
	}
}

// assignRound returns the first round, at least from, that is free for both bodies. fixed is 1 if one of them is not
// dynamic.
func (t *overflowRounds) assignRound(from, a, b uint32, bodies bodyColours) (round, fixed uint32) {
	round = from
	for _, k := range [...]uint32{a, b} {
		if bodies.isDynamic(k) {
			round = max(round, t.nextRound[k])
		} else {
			fixed = 1
		}
	}
	t.nextRound[a], t.nextRound[b] = round+1, round+1 // not read if the body is not dynamic
	return round, fixed
}

// blocks returns how many blocks the batches fill.
func (t *overflowRounds) blocks() int {
	n := 0
	for _, count := range t.lane {
		n += (int(count) + Lanes - 1) / Lanes
	}
	return n
}

// fill puts all entries into lanes.
func (t *overflowRounds) fill(lanes []uint32) {
	at := uint32(0)
	for i, count := range t.lane {
		t.lane[i] = at
		at += (count + Lanes - 1) / Lanes * Lanes
	}
	for _, l := range t.entries {
		lanes[t.lane[l.batch]] = l.edge
		t.lane[l.batch]++
	}
}
