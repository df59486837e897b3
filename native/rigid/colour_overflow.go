package rigid

// overflowRounds puts the contacts of Overflow, or the joints, in an order for blocks. Contacts with two
// points come first. Each has the first turn after the turns of the contacts before it with which it
// shares a dynamic body: so those of one turn share none, and turn by turn the outcome
// is that of one contact after the other, but for signs of zeros. Where thousands of bodies
// are in one place that fills most lanes; a block for each contact would be gigabytes.
type overflowRounds struct {
	nextRound []uint32 // by body: the turn that its next contact can have
	entries   []overflowEntry
	lane      []uint32 // by batch: how many are in it, then the lane of the next one
}

// overflowEntry is a contact or a joint of a batch, whose blocks are its own. That of a contact is 2 times its
// turn, and 1 more if one body is not dynamic; that of a joint a class of its turn.
type overflowEntry struct{ index, batch uint32 }

func (t *overflowRounds) clear() { t.entries, t.lane = t.entries[:0], t.lane[:0] }

// reset lets all bodies have the first turn.
func (t *overflowRounds) reset(bodies int) {
	t.nextRound = resized(t.nextRound, bodies)
	clear(t.nextRound)
}

// add gives turns to the contacts that are in the runs of Overflow.
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

// count counts what is in each of so many batches.
func (t *overflowRounds) count(batches int) {
	t.lane = resized(t.lane, batches)
	clear(t.lane)
	for _, l := range t.entries {
		t.lane[l.batch]++
	}
}

// assignRound returns the turn, from or later, of what has two bodies, and 1 if one of them is not
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
	t.nextRound[a], t.nextRound[b] = round+1, round+1 // of one that is not dynamic nobody reads it
	return round, fixed
}

// blocks returns how many blocks the batches fill, each its own.
func (t *overflowRounds) blocks() int {
	n := 0
	for _, count := range t.lane {
		n += (int(count) + Lanes - 1) / Lanes
	}
	return n
}

// fill puts all into the lanes of their blocks.
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
