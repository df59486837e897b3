package physics

// maxJoints bounds the joints of a world.
const maxJoints = 1 << 24

// jointTable holds the lists of the joints of each body. Each joint j has two ends: end 2j is in the list of
// its body A, end 2j+1 in that of its body B.
type jointTable struct {
	ids idPool
	// By body, as many as the capacity of the world, or none until its first joint.
	head  []uint32 // its newest end + 1, or 0
	count []uint32 // of ends
	// By end.
	next []uint32 // the next older end of the same body + 1, or 0
	prev []uint32 // the next newer one + 1, or 0
	body []uint32 // NoSlot if the joint is free
}

func newJointTable() jointTable { return jointTable{ids: newIDPool(maxJoints, 0)} }

// used reports whether there has ever been a joint.
func (t *jointTable) used() bool { return t.ids.used() > 0 }

// reach extends the lists to so many bodies, and up to a joint.
func (t *jointTable) reach(joint, bodies int) {
	if len(t.head) < bodies {
		t.head, t.count = make([]uint32, bodies), make([]uint32, bodies)
	}
	for 2*joint >= len(t.body) {
		t.next, t.prev = append(t.next, 0, 0), append(t.prev, 0, 0)
		t.body = append(t.body, NoSlot, NoSlot)
	}
}

// add claims a joint between two bodies.
func (t *jointTable) add(joint, a, b, bodies int) Joint {
	t.reach(joint, bodies)
	t.link(2*joint, a)
	t.link(2*joint+1, b)
	return Joint{uint32(joint), t.ids.claim(joint)}
}

// release removes a joint.
func (t *jointTable) release(joint int) {
	t.unlink(2 * joint)
	t.unlink(2*joint + 1)
	t.ids.release(joint)
}

// link puts an end at the head of the list of its body.
func (t *jointTable) link(end, body int) {
	head := &t.head[body]
	t.body[end], t.next[end], t.prev[end] = uint32(body), *head, 0
	if *head != 0 {
		t.prev[*head-1] = uint32(end) + 1
	}
	*head = uint32(end) + 1
	t.count[body]++
}

func (t *jointTable) unlink(end int) {
	body, next, prev := t.body[end], t.next[end], t.prev[end]
	if next != 0 {
		t.prev[next-1] = prev
	}
	if prev != 0 {
		t.next[prev-1] = next
	} else {
		t.head[body] = next
	}
	t.count[body]--
	t.body[end], t.next[end], t.prev[end] = NoSlot, 0, 0
}

// first returns the newest end of a body + 1, or 0.
func (t *jointTable) first(body int) uint32 {
	if body >= len(t.head) {
		return 0
	}
	return t.head[body]
}

// reset makes n free numbers of joints.
func (t *jointTable) reset(n, bodies int) {
	t.ids.reset(n)
	t.next, t.prev, t.body = t.next[:0], t.prev[:0], t.body[:0]
	clear(t.head)
	clear(t.count)
	if n > 0 {
		t.reach(n-1, bodies)
	}
}

// copyFrom copies the table of a world of another capacity, whose first
// rows have been used.
func (t *jointTable) copyFrom(src *jointTable, rows, bodies int) {
	t.reset(src.ids.used(), bodies)
	t.ids.copyFrom(&src.ids)
	copy(t.next, src.next)
	copy(t.prev, src.prev)
	copy(t.body, src.body)
	if src.used() {
		copy(t.head, src.head[:rows])
		copy(t.count, src.count[:rows])
	}
}

// jointPreventsCollision reports whether a joint keeps two bodies from colliding.
func (s *solver) jointPreventsCollision(a, b uint32) bool {
	t := s.jointTable
	if len(t.head) == 0 {
		return false
	}
	if t.count[b] < t.count[a] {
		a, b = b, a // the one with fewer joints
	}
	for end := t.head[a]; end != 0; end = t.next[end-1] {
		if t.body[(end-1)^1] == b && !s.joints.rows[(end-1)/2].has(jointCollides) {
			return true
		}
	}
	return false
}
