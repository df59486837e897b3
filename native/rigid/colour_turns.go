package rigid

// turns puts the contacts of Overflow in an order for blocks. Those with two points come
// first. Each has the first turn after the turns of the contacts before it with which it
// shares a dynamic body: so those of one turn share none, and turn by turn the outcome
// is that of one contact after the other, but for signs of zeros. Where thousands of bodies
// are in one place that fills most lanes; a block for each contact would be gigabytes.
type turns struct {
	after []uint32 // by body: the turn that its next contact can have
	late  []lateContact
	lane  []uint32 // by batch: the contacts in it, then the lane of the next one
}

// lateContact is a contact of a batch: 2 times its turn, and 1 more if one body
// is not dynamic, as those have blocks of their own.
type lateContact struct{ contact, batch uint32 }

func (t *turns) clear() { t.late, t.lane = t.late[:0], t.lane[:0] }

// take gives turns to the contacts that are in the runs of Overflow.
func (t *turns) take(runOf []uint8, contacts []Contact, body []uint32, invMass []float32) {
	t.after = resized(t.after, len(invMass))
	clear(t.after)
	from, last := uint32(0), uint32(0)
	for run := uint8(2 * Overflow); run < numRuns; run++ {
		for i, r := range runOf {
			if r == run {
				batch := t.next(from, body[contacts[i].A], body[contacts[i].B], invMass)
				t.late = append(t.late, lateContact{uint32(i), batch})
				last = max(last, batch/2+1)
			}
		}
		from = last
	}
	t.lane = resized(t.lane, int(2*last))
	clear(t.lane)
	for _, c := range t.late {
		t.lane[c.batch]++
	}
}

// next returns the batch of a contact of two bodies, whose turn is from or later.
func (t *turns) next(from, a, b uint32, invMass []float32) uint32 {
	turn, fixed := from, uint32(0)
	for _, k := range [...]uint32{a, b} {
		if invMass[k] > 0 {
			turn = max(turn, t.after[k])
		} else {
			fixed = 1
		}
	}
	t.after[a], t.after[b] = turn+1, turn+1 // of one that is not dynamic nobody reads it
	return 2*turn + fixed
}

// blocks returns how many blocks the batches fill, each its own.
func (t *turns) blocks() int {
	n := 0
	for _, contacts := range t.lane {
		n += (int(contacts) + Lanes - 1) / Lanes
	}
	return n
}

// deal puts the contacts into the lanes of their blocks.
func (t *turns) deal(lanes []uint32) {
	at := uint32(0)
	for i, contacts := range t.lane {
		t.lane[i] = at
		at += (contacts + Lanes - 1) / Lanes * Lanes
	}
	for _, c := range t.late {
		lanes[t.lane[c.batch]] = c.contact
		t.lane[c.batch]++
	}
}
