package handle

// Joints holds the joints of each body. Each joint j has two ends: end 2j is in the list of its body A, end 2j+1 in that
// of its body B.
type Joints struct {
	IDs   Pool
	Lists          // of ends; without heads until the first joint
	Count []uint32 // by body: number of ends
}

// NewJoints returns a table of up to limit joints.
func NewJoints(limit int) Joints { return Joints{IDs: NewPool(limit, 0)} }

// Used reports whether there has ever been a joint.
func (t *Joints) Used() bool { return t.IDs.Used() > 0 }

// Bodies returns the two bodies of a joint.
func (t *Joints) Bodies(joint int) (a, b uint32) { return t.Owner[2*joint], t.Owner[2*joint+1] }

// Between reports whether a joint between two bodies has a property.
func (t *Joints) Between(a, b uint32, has func(joint int) bool) bool {
	if !t.Used() {
		return false
	}
	if t.Count[b] < t.Count[a] {
		a, b = b, a // the one with fewer joints
	}
	for end := range t.Of(int(a)) {
		if t.Owner[end^1] == b && has(end/2) {
			return true
		}
	}
	return false
}

// reach extends the lists to so many bodies, and up to a joint.
func (t *Joints) reach(joint, bodies int) {
	if len(t.Head) < bodies {
		t.Head, t.Count = make([]uint32, bodies), make([]uint32, bodies)
	}
	t.Grow(2*joint + 2)
}

// Add claims a joint between two of so many bodies, and returns its generation. The joint is the index that Pool.Next
// returned.
func (t *Joints) Add(joint, a, b, bodies int) uint32 {
	t.reach(joint, bodies)
	t.LinkEnds(joint, a, b)
	return t.IDs.Claim(joint)
}

// LinkEnds links the ends of a joint, after Reset.
func (t *Joints) LinkEnds(joint, a, b int) {
	t.Link(2*joint, a)
	t.Link(2*joint+1, b)
	t.Count[a]++
	t.Count[b]++
}

// Release removes a joint.
func (t *Joints) Release(joint int) {
	for _, end := range [...]int{2 * joint, 2*joint + 1} {
		t.Count[t.Owner[end]]--
		t.Unlink(end)
	}
	t.IDs.Release(joint)
}

// Reset makes n free numbers of joints, with unspecified generations. Then call IDs.SetLive for each.
func (t *Joints) Reset(n, bodies int) {
	t.IDs.Reset(n)
	t.Lists.Reset(0)
	clear(t.Count)
	if n > 0 {
		t.reach(n-1, bodies)
	}
}

// CopyFrom copies the table of a world of another capacity, of whose bodies the first rows have been used.
func (t *Joints) CopyFrom(src *Joints, rows, bodies int) {
	t.Reset(src.IDs.Used(), bodies)
	t.IDs.CopyFrom(&src.IDs)
	t.Lists.CopyFrom(&src.Lists, rows)
	copy(t.Count, src.Count[:min(rows, len(src.Count))])
}
