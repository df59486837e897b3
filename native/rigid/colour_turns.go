package rigid

// turns puts the contacts of Overflow, or the joints, in an order for blocks. Contacts with two
// points come first. Each has the first turn after the turns of the contacts before it with which it
// shares a dynamic body: so those of one turn share none, and turn by turn the outcome
// is that of one contact after the other, but for signs of zeros. Where thousands of bodies
// are in one place that fills most lanes; a block for each contact would be gigabytes.
type turns struct {
	after []uint32 // by body: the turn that its next contact can have
	late  []late
	lane  []uint32 // by batch: how many are in it, then the lane of the next one
}

// late is a contact or a joint of a batch, whose blocks are its own. That of a contact is 2 times its
// turn, and 1 more if one body is not dynamic; that of a joint a class of its turn.
type late struct{ number, batch uint32 }

func (t *turns) clear() { t.late, t.lane = t.late[:0], t.lane[:0] }

// begin lets all bodies have the first turn.
func (t *turns) begin(bodies int) {
	t.after = resized(t.after, bodies)
	clear(t.after)
}

// take gives turns to the contacts that are in the runs of Overflow.
func (t *turns) take(c *Colours, contacts []Contact, body []uint32, invMass []float32) {
	t.begin(len(invMass))
	from, last := uint32(0), uint32(0)
	for run := uint32(2 * Overflow); run < numRuns; run++ {
		for chunk := range c.chunks {
			lo := chunk * ColourChunk
			for _, entry := range c.dealt[lo : lo+c.chunks[chunk].dealt] {
				if entry>>runBit == run {
					i := uint32(lo) + entry&(1<<runBit-1)
					turn, fixed := t.next(from, body[contacts[i].A], body[contacts[i].B], invMass)
					t.late = append(t.late, late{i, 2*turn + fixed})
					last = max(last, turn+1)
				}
			}
		}
		from = last
	}
	t.count(int(2 * last))
}

// count counts what is in each of so many batches.
func (t *turns) count(batches int) {
	t.lane = resized(t.lane, batches)
	clear(t.lane)
	for _, l := range t.late {
		t.lane[l.batch]++
	}
}

// next returns the turn, from or later, of what has two bodies, and 1 if one of them is not
// dynamic.
func (t *turns) next(from, a, b uint32, invMass []float32) (turn, fixed uint32) {
	turn = from
	for _, k := range [...]uint32{a, b} {
		if invMass[k] > 0 {
			turn = max(turn, t.after[k])
		} else {
			fixed = 1
		}
	}
	t.after[a], t.after[b] = turn+1, turn+1 // of one that is not dynamic nobody reads it
	return turn, fixed
}

// blocks returns how many blocks the batches fill, each its own.
func (t *turns) blocks() int {
	n := 0
	for _, count := range t.lane {
		n += (int(count) + Lanes - 1) / Lanes
	}
	return n
}

// deal puts all into the lanes of their blocks.
func (t *turns) deal(lanes []uint32) {
	at := uint32(0)
	for i, count := range t.lane {
		t.lane[i] = at
		at += (count + Lanes - 1) / Lanes * Lanes
	}
	for _, l := range t.late {
		lanes[t.lane[l.batch]] = l.number
		t.lane[l.batch]++
	}
}
