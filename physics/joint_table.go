package physics

// maxJoints bounds the joints of a world.
const maxJoints = 1 << 24

// jointTable holds the lists of the joints of each body. Each joint j has two ends: end 2j is in the list of
// its body A, end 2j+1 in that of its body B.
type jointTable struct {
	ids       idPool
	bodyLists          // of ends; without heads until the first joint
	count     []uint32 // by body: number of ends
}

func newJointTable() jointTable { return jointTable{ids: newIDPool(maxJoints, 0)} }

// used reports whether there has ever been a joint.
func (t *jointTable) used() bool { return t.ids.used() > 0 }

// reach extends the lists to so many bodies, and up to a joint.
func (t *jointTable) reach(joint, bodies int) {
	if len(t.head) < bodies {
		t.head, t.count = make([]uint32, bodies), make([]uint32, bodies)
	}
	t.grow(2*joint + 2)
}

// add claims a joint between two bodies.
func (t *jointTable) add(joint, a, b, bodies int) Joint {
	t.reach(joint, bodies)
	t.linkEnds(joint, a, b)
	return Joint{uint32(joint), t.ids.claim(joint)}
}

func (t *jointTable) linkEnds(joint, a, b int) {
	t.link(2*joint, a)
	t.link(2*joint+1, b)
	t.count[a]++
	t.count[b]++
}

// release removes a joint.
func (t *jointTable) release(joint int) {
	for _, end := range [...]int{2 * joint, 2*joint + 1} {
		t.count[t.body[end]]--
		t.unlink(end)
	}
	t.ids.release(joint)
}

// reset makes n free numbers of joints.
func (t *jointTable) reset(n, bodies int) {
	t.ids.reset(n)
	t.bodyLists.reset(0)
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
	t.bodyLists.copyFrom(&src.bodyLists, rows)
	copy(t.count, src.count[:min(rows, len(src.count))])
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
