package rigid

// overflowRounds orders the contacts of Overflow, or the joints, for blocks; contacts with two points come first.
// Each contact is in the first round after those of the earlier contacts with which it shares a dynamic body. So
// contacts of one round share no dynamic body, and solving round after round gives the result of solving one contact
// after the other, except for signs of zeros. This fills most lanes even where thousands of bodies are in one place;
// a block for each contact would take gigabytes.
type overflowRounds struct {
	nextRound []uint32 // by body: the first round that its next contact can have
	entries   []overflowEntry
	lane      []uint32 // by batch: its number of entries, then the lane of the next one
}

// overflowEntry is a contact or a joint of a batch. A batch has blocks of its own: for contacts it is 2 times
// the round, plus 1 if a body is not dynamic; for joints, a class in a round.
type overflowEntry struct{ index, batch uint32 }

func (t *overflowRounds) clear() { t.entries, t.lane = t.entries[:0], t.lane[:0] }

// reset makes the first round free for all bodies.
func (t *overflowRounds) reset(bodies int) {
	t.nextRound = resized(t.nextRound, bodies)
	clear(t.nextRound)
}

// add assigns rounds to the contacts in the runs of Overflow.
func (t *overflowRounds) add(c *Colours, contacts []Contact, body []uint32, invMass []float32) {
	t.reset(len(invMass))
	from, end := uint32(0), uint32(0)
	for run := uint32(2 * Overflow); run < numRuns; run++ {
		for chunk := range c.chunks {
			lo := chunk * ColourChunk
			for _, entry := range c.entries[lo : lo+c.chunks[chunk].entries] {
				if entry>>runBit == run {
					i := uint32(lo) + entry&(1<<runBit-1)
					round, fixed := t.assignRound(from, body[contacts[i].A], body[contacts[i].B], invMass)
					t.entries = append(t.entries, overflowEntry{i, 2*round + fixed})
					end = max(end, round+1)
				}
			}
		}
		from = end
	}
	t.count(int(2 * end))
}

// count counts the entries of each batch.
func (t *overflowRounds) count(batches int) {
	t.lane = resized(t.lane, batches)
	clear(t.lane)
	for _, l := range t.entries {
		t.lane[l.batch]++
	}
}

// assignRound returns the first round, at least from, that is free for both bodies. fixed is 1 if one of them is not
// dynamic.
func (t *overflowRounds) assignRound(from, a, b uint32, invMass []float32) (round, fixed uint32) {
	round = from
	for _, k := range [...]uint32{a, b} {
		if invMass[k] > 0 {
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
		lanes[t.lane[l.batch]] = l.index
		t.lane[l.batch]++
	}
}
